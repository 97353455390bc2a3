"""The parent's side of the template process: starts it, sends it jobs, and reports how each job's process ended."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from asyncio.subprocess import PIPE, Process
from contextlib import suppress
from dataclasses import asdict, dataclass
from typing import Any

from citewell.errors import Unavailable
from citewell.extract.sandbox import ParserLimits
from citewell.extract.sandbox.job import ParserJob

_START_SECONDS = 120.0
_STOP_SECONDS = 5.0
_INHERITED = ("PATH", "LANG", "LC_ALL", "LC_CTYPE", "LD_LIBRARY_PATH", "PYTHONHOME", "SYSTEMROOT", "TZ")
_ENVIRONMENT = {
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "ORT_DISABLE_TELEMETRY": "1",
    "PYTHONDONTWRITEBYTECODE": "1",
}
"""Keeps libraries from starting threads in the template, and turns off ONNX Runtime's telemetry."""


class TemplateDiedError(Exception):
    """The template process ended while it was needed."""


@dataclass(frozen=True, slots=True)
class Ended:
    """How a job's process ended: its wait status, and its peak memory."""

    status: int
    peak_bytes: int


class TemplateClient:
    """A running template process. Created by `start`; bound to one event loop."""

    def __init__(self, process: Process) -> None:
        self._process = process
        self._waiting: dict[int, asyncio.Future[Ended]] = {}
        self._last_job = 0
        self._listener = asyncio.create_task(self._listen())
        self.alive = True

    @staticmethod
    async def start(entry: str, limits: ParserLimits) -> TemplateClient:
        """Start a template and wait until its imports are done. Raises `Unavailable` if that fails.

        Its environment contains only what a program needs to run, and none of the server's keys.
        """
        environment = {name: os.environ[name] for name in _INHERITED if name in os.environ} | _ENVIRONMENT
        environment["PYTHONPATH"] = os.pathsep.join(path for path in sys.path if path)
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            *("-P", "-m", "citewell.extract.sandbox.worker", str(os.getpid()), json.dumps(asdict(limits)), entry),
            stdin=PIPE,
            stdout=PIPE,
            env=environment,
            start_new_session=True,
        )
        assert process.stdout is not None
        try:
            ready = json.loads(await asyncio.wait_for(process.stdout.readline(), _START_SECONDS))
            assert ready["ready"]
        except (ValueError, TimeoutError) as error:
            await _end(process)
            raise Unavailable("The parser process does not start. See `citewell doctor`.") from error
        except asyncio.CancelledError:
            await _end(process)
            raise
        return TemplateClient(process)

    def next_id(self) -> int:
        """The number of the next job."""
        self._last_job += 1
        return self._last_job

    def submit(self, job: ParserJob) -> asyncio.Future[Ended]:
        """Start a job. The future completes when its process ends, or raises `TemplateDiedError`."""
        future: asyncio.Future[Ended] = asyncio.get_running_loop().create_future()
        self._waiting[job.id] = future
        if self.alive:
            self._send(job.to_json())
        else:
            future.set_exception(TemplateDiedError())
        return future

    def kill(self, job: int) -> None:
        """Kill a job's process; its future then completes."""
        if self.alive:
            self._send({"kill": job})

    async def close(self) -> None:
        """End the template and every process it forked."""
        await _end(self._process)
        await self._listener

    def _send(self, message: object) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(message).encode() + b"\n")

    async def _listen(self) -> None:
        assert self._process.stdout is not None
        with suppress(ConnectionError):
            while line := await self._process.stdout.readline():
                message: dict[str, Any] = json.loads(line)
                future = self._waiting.pop(message["exited"], None)
                if future is not None and not future.done():
                    future.set_result(Ended(message["status"], message["peak_bytes"]))
        self.alive = False
        for future in self._waiting.values():
            if not future.done():
                future.set_exception(TemplateDiedError())
        self._waiting.clear()


async def _end(process: Process) -> None:
    """Close the input, which ends the template and its children; kill it if that is not enough."""
    assert process.stdin is not None
    process.stdin.close()
    try:
        await asyncio.wait_for(process.wait(), _STOP_SECONDS)
    except TimeoutError:
        process.kill()
        await process.wait()
