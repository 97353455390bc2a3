"""What the sandbox enforces on this machine, found out by trying: see `trial.py`."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from dataclasses import dataclass

_SECONDS = 30


@dataclass(frozen=True, slots=True)
class Protection:
    """One thing that a parser must not be able to do, whether this machine prevents it, and by what means."""

    name: str
    enforced: bool
    detail: str


def capabilities() -> tuple[Protection, ...]:
    """What is enforced here and what is missing, tried out in a process of its own (some 200 ms)."""
    with tempfile.TemporaryDirectory() as scratch:
        command = [sys.executable, "-m", "citewell.extract.sandbox.trial", scratch]
        try:
            done = subprocess.run(command, capture_output=True, timeout=_SECONDS, check=True)  # noqa: S603
            return tuple(Protection(**item) for item in json.loads(done.stdout))
        except (OSError, subprocess.SubprocessError, ValueError) as error:
            return (Protection("sandbox", False, f"The trial did not run: {error}"),)
