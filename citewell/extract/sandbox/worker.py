"""The template process: imports all readers once, then forks a locked-down process per file.

Run as `python -m citewell.extract.sandbox.worker`. It reads no file itself and has one thread, so that a fork is a
clean copy. Its input is lines of JSON: jobs (`citewell.extract.sandbox.job.ParserJob`) and `{"kill": id}`; its output
is `{"ready": …}` and `{"exited": id, …}`. When the input ends, it exits and kills every process it forked.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import select
import signal
import sys
from collections.abc import Iterable
from contextlib import suppress
from typing import cast

from citewell.extract.content_model import content_model
from citewell.extract.registry import READERS
from citewell.extract.sandbox import ParserLimits, die_with_parent, leave_network, readable
from citewell.extract.sandbox.job import Extract, ParserJob, run
from citewell.types import JsonValue

HEAVY_PACKAGES = (
    "av",
    "cv2",
    "duckdb",
    "lxml.etree",
    "magika",
    "numpy",
    "onnxruntime",
    "PIL.Image",
    "pypdfium2",
    "rapidocr",
)
"""Imported before the first fork. OCR models load in the fork that needs them, because their sessions own threads."""


class TemplateProcess:
    """Forks a process per job and reports how each ended."""

    def __init__(self, extract: Extract, limits: ParserLimits, *, own_user_namespace: bool) -> None:
        self._extract = extract
        self._limits = limits
        self._own_user_namespace = own_user_namespace
        self._jobs: dict[int, int] = {}
        self._pending = b""

    def serve(self) -> None:
        """Takes jobs until the input ends."""
        woken, wake = os.pipe()
        os.set_blocking(wake, False)
        signal.signal(signal.SIGCHLD, _nothing)
        signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
        while True:
            ready, _, _ = select.select([0, woken], [], [])
            if woken in ready:
                os.read(woken, 4096)
                self._reap()
            if 0 in ready and not self._take():
                break
        for process in self._jobs:
            os.kill(process, signal.SIGKILL)
        while self._jobs:
            self._jobs.pop(os.wait()[0], None)

    def _take(self) -> bool:
        """Handles the lines received; False at the end of the input."""
        data = os.read(0, 65_536)
        *lines, self._pending = (self._pending + data).split(b"\n")
        for line in lines:
            request = cast(dict[str, object], json.loads(line))
            if "kill" in request:
                self._kill(request["kill"])
            else:
                self._fork(ParserJob.from_json(request))
        return bool(data)

    def _fork(self, job: ParserJob) -> None:
        template = os.getpid()
        process = os.fork()
        if process == 0:
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            run(job, self._extract, self._limits, parent=template, own_user_namespace=self._own_user_namespace)
        self._jobs[process] = job.id

    def _kill(self, job: object) -> None:
        for process, known in self._jobs.items():
            if known == job:
                os.kill(process, signal.SIGKILL)

    def _reap(self) -> None:
        while self._jobs:
            process, status, usage = os.wait4(-1, os.WNOHANG)
            if process == 0:
                return
            job = self._jobs.pop(process)
            _say({"exited": job, "status": status, "peak_bytes": usage.ru_maxrss * 1024})


def warm(modules: Iterable[str]) -> None:
    """Imports what is installed and loads the content-type model; readers report missing optional packages."""
    for name in modules:
        with suppress(ImportError):
            importlib.import_module(name)
    content_model()
    readable()
    gc.collect()
    gc.freeze()


def _nothing(_signal: int, _frame: object) -> None:
    """Does nothing; its presence makes the signal wake `select`."""


def _say(message: dict[str, JsonValue]) -> None:
    os.write(1, json.dumps(message).encode() + b"\n")


def main(arguments: list[str]) -> None:
    """Arguments: the parent's process id, limits as JSON, and the `module:function` that reads a file."""
    parent, limits, entry = arguments
    die_with_parent(int(parent), signal.SIGKILL)
    own_user_namespace = leave_network()
    module, _, function = entry.partition(":")
    extract = cast(Extract, getattr(importlib.import_module(module), function))
    warm((*HEAVY_PACKAGES, *READERS.values()))
    threads = len(os.listdir("/proc/self/task"))  # noqa: PTH208 - a list of numbers, not of paths
    _say({"ready": True, "network_namespace": own_user_namespace, "threads": threads})
    TemplateProcess(extract, ParserLimits(**json.loads(limits)), own_user_namespace=own_user_namespace).serve()
    os._exit(0)


if __name__ == "__main__":
    main(sys.argv[1:])
