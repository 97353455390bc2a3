"""Reports what the sandbox enforces on this machine, determined by trying it: see `trial.py`."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from dataclasses import dataclass

_SECONDS = 30


@dataclass(frozen=True, slots=True)
class Protection:
    """One thing that a parser must not be able to do, whether this machine prevents it, and how."""

    name: str
    enforced: bool
    detail: str


def capabilities() -> tuple[Protection, ...]:
    """Returns what is enforced here and what is missing, tried in a separate process (about 200 ms)."""
    with tempfile.TemporaryDirectory() as scratch:
        command = [sys.executable, "-m", "citewell.extract.sandbox.trial", scratch]
        try:
            done = subprocess.run(command, capture_output=True, timeout=_SECONDS, check=True)  # noqa: S603
            return tuple(Protection(**item) for item in json.loads(done.stdout))
        except (OSError, subprocess.SubprocessError, ValueError) as error:
            return (Protection("sandbox", False, f"The trial did not run: {error}"),)
