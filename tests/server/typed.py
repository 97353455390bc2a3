"""Commands as typed, each in a process of its own that is forked from one in which Citewell's modules are loaded already.

Loading them takes longer than what most commands do. The process that is forked has read no setting, and has no thread.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

SECONDS = 200.0
_CONTEXT = multiprocessing.get_context("forkserver")
_CONTEXT.set_forkserver_preload(
    [
        "citewell.cli",
        "citewell.client",
        "citewell.server",
        "citewell.app",
        "citewell.adapters.embedder.builtin",
        "citewell.adapters.index.qdrant_edge",
        "langchain_core.language_models.chat_models",
    ]
)


def citewell(
    arguments: tuple[str, ...], folder: Path, environment: Mapping[str, str], code: str = ""
) -> subprocess.CompletedProcess[str]:
    """The outcome of `citewell ARGUMENTS` in a folder, with this environment alone; `code` runs before it in the same process."""
    with tempfile.TemporaryDirectory() as kept:
        said = (Path(kept) / "stdout", Path(kept) / "stderr")
        process = _CONTEXT.Process(target=_run, args=(arguments, folder, dict(environment), code, said))
        process.start()
        process.join(SECONDS)
        if process.exitcode is None:
            process.kill()
            process.join()
            raise subprocess.TimeoutExpired(arguments, SECONDS)
        out, err = (path.read_text(encoding="utf-8") for path in said)
        return subprocess.CompletedProcess(arguments, process.exitcode, out, err)


def _run(
    arguments: tuple[str, ...], folder: Path, environment: dict[str, str], code: str, said: tuple[Path, Path]
) -> None:
    for descriptor, path in enumerate(said, 1):
        with path.open("wb") as file:
            os.dup2(file.fileno(), descriptor)
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(folder)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    sys.argv = ["citewell", *arguments]
    from citewell.cli import main

    exec(code, {})
    main()
