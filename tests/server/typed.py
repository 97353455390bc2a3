"""Commands as typed, each in a process of its own that is forked from one in which the command line is loaded already.

For commands that open nothing themselves: loading takes longer than what they do.
"""

from __future__ import annotations

import multiprocessing
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

SECONDS = 200.0
_CONTEXT = multiprocessing.get_context("forkserver")
_CONTEXT.set_forkserver_preload(["citewell.cli", "citewell.client", "citewell.settings"])


def citewell(
    arguments: tuple[str, ...], folder: Path, environment: Mapping[str, str]
) -> subprocess.CompletedProcess[str]:
    """The outcome of `citewell ARGUMENTS` in a folder, with this environment alone."""
    with tempfile.TemporaryDirectory() as kept:
        said = (Path(kept) / "stdout", Path(kept) / "stderr")
        process = _CONTEXT.Process(target=_run, args=(arguments, folder, dict(environment), said))
        process.start()
        process.join(SECONDS)
        if process.exitcode is None:
            process.kill()
            process.join()
            raise subprocess.TimeoutExpired(arguments, SECONDS)
        out, err = (path.read_text(encoding="utf-8") for path in said)
        return subprocess.CompletedProcess(arguments, process.exitcode, out, err)


def _run(arguments: tuple[str, ...], folder: Path, environment: dict[str, str], said: tuple[Path, Path]) -> None:
    for descriptor, path in enumerate(said, 1):
        with path.open("wb") as file:
            os.dup2(file.fileno(), descriptor)
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(folder)
    sys.argv = ["citewell", *arguments]
    from citewell.cli import main

    main()
