"""The pool of parser processes: one new, locked-down process per file, watched until it reports, fails, or is killed."""

from __future__ import annotations

import asyncio
import logging
import os
import re
import signal
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self, TypeAlias, TypeVar

from citewell.errors import (
    CitewellError,
    DiskFull,
    ExtractionError,
    LimitExceeded,
    ParserCrashed,
    ParserOutOfMemory,
    ParserTimeout,
    Unavailable,
)
from citewell.extract.sandbox import ParserLimits
from citewell.extract.sandbox.job import ParserJob
from citewell.ingest.parser_scratch import Progress, Scratch
from citewell.ingest.parser_template import Ended, TemplateClient, TemplateDiedError
from citewell.system.disk import DiskReserve, disk_errors
from citewell.system.tracing import span
from citewell.types import ExtractionSummary, ExtractOptions

_log = logging.getLogger(__name__)
T = TypeVar("T")

_ENTRY = "citewell.extract.registry:extract_file"
_TICK_SECONDS = 0.2
_SIZE_EVERY_TICKS = 5
_TEMPLATE_ATTEMPTS = 3
_NO_MEMORY = re.compile(r"bad_alloc|memory allocation of|MemoryError|[Oo]ut of memory|Cannot allocate memory")

OnProgress: TypeAlias = Callable[[int, int | None], None]
Named: TypeAlias = tuple[Path, str]
"""A file, and its name at upload."""


@dataclass(frozen=True, slots=True)
class ParsedPart:
    """One of several files read by one process: the folder with its elements, and the report, or why there is none."""

    folder: Path
    outcome: ExtractionSummary | ExtractionError


class ParserPool:
    """Reads files in sandboxed processes.

    workers: the number of files read at once
    entry:   the function that reads a file, as `module:function`, with the signature of `citewell.extract.registry.extract_file`
    space:   parsers stop when free disk space falls below its reserve

    The template process starts with the first file, and again whenever it has died; `close` ends everything.
    """

    def __init__(
        self,
        workers: int,
        *,
        limits: ParserLimits | None = None,
        entry: str = _ENTRY,
        space: DiskReserve | None = None,
    ) -> None:
        self._limits = limits or ParserLimits()
        self._space = space
        self._entry = entry
        self._slots = asyncio.Semaphore(workers)
        self._awaited = asyncio.Semaphore(1)
        self._starting = asyncio.Lock()
        self._template: TemplateClient | None = None
        self._closed = False

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def warm(self) -> None:
        """Start the template now rather than with the first file."""
        await self._running_template()

    async def parse(
        self,
        source: Path,
        filename: str,
        options: ExtractOptions,
        scratch: Path,
        on_progress: OnProgress | None = None,
        *,
        is_awaited: bool = False,
    ) -> ExtractionSummary:
        """Read the file at `source`, called `filename` by its uploader. is_awaited: a request waits for it, so it does not queue behind files.

        `scratch` is emptied first. Afterward it contains the elements (`read_elements`), blobs and children; after an error, do not use
        its content. Raises the `ExtractionError` that says why the file was not read (`ParserTimeout`, `ParserCrashed`,
        `ParserOutOfMemory`, `LimitExceeded`, …), `DiskFull`, or `Unavailable` if no parser can start.
        """
        slots = self._awaited if is_awaited else self._slots
        return await self._parse([(source, filename)], options, scratch, on_progress, Scratch.summary, slots)

    async def parse_together(
        self, files: Sequence[Named], options: ExtractOptions, scratch: Path
    ) -> Sequence[ParsedPart]:
        """Read several short files of one owner in one process, as `parse` does; the limits apply to all of them together.

        Raises like `parse` if the process dies; then none of them has been read.
        """

        def parts(written: Scratch) -> Sequence[ParsedPart]:
            places = [written.part(number) for number in range(len(files))] if len(files) > 1 else [written]
            return [ParsedPart(place.folder, _outcome_of(place)) for place in places]

        return await self._parse(files, options, scratch, None, parts, self._slots)

    async def _parse(
        self,
        files: Sequence[Named],
        options: ExtractOptions,
        scratch: Path,
        on_progress: OnProgress | None,
        collect: Callable[[Scratch], T],
        slots: asyncio.Semaphore,
    ) -> T:
        async with slots:
            for _ in range(_TEMPLATE_ATTEMPTS):
                try:
                    with span("parse", {"citewell.files": len(files)}):
                        return await self._attempt(files, options, scratch, on_progress, collect)
                except TemplateDiedError:
                    _log.warning("The parsers' template process died; starting it again.")
        raise ParserCrashed("The parsers' template process keeps dying. See the server's log.")

    async def close(self) -> None:
        """End the template and every parser; files being read fail. Safe to call twice."""
        self._closed = True
        async with self._starting:
            if self._template is not None:
                await self._template.close()
                self._template = None

    async def _running_template(self) -> TemplateClient:
        async with self._starting:
            if self._closed:
                raise Unavailable("The server is shutting down.")
            if self._template is None or not self._template.alive:
                if self._template is not None:
                    await self._template.close()
                self._template = await TemplateClient.start(self._entry, self._limits)
            return self._template

    async def _attempt(
        self,
        files: Sequence[Named],
        options: ExtractOptions,
        folder: Path,
        on_progress: OnProgress | None,
        collect: Callable[[Scratch], T],
    ) -> T:
        template = await self._running_template()
        with disk_errors():
            scratch, places = await asyncio.to_thread(_prepared, folder, files)
        job = ParserJob(
            id=template.next_id(),
            files=places,
            scratch=str(scratch.folder),
            options=options,
        )
        ended = template.submit(job)
        try:
            verdict = await self._watch(ended, scratch, on_progress)
        finally:
            if not ended.done():
                template.kill(job.id)
                await asyncio.wait({ended})
            scratch.close()
        return await asyncio.to_thread(self._outcome, scratch, ended.result(), verdict, collect)

    async def _watch(
        self, ended: asyncio.Future[Ended], scratch: Scratch, on_progress: OnProgress | None
    ) -> CitewellError | None:
        """Wait for a parser to end. Returns the reason to kill it if it must not continue."""
        watch = _Watch(self._limits, scratch, on_progress, self._space)
        ticks = 0
        while True:
            done, _ = await asyncio.wait({ended}, timeout=_TICK_SECONDS)
            reason = watch.look()
            if done:
                return None
            ticks += 1
            if reason is None and ticks % _SIZE_EVERY_TICKS == 0:
                reason = await asyncio.to_thread(_too_large, scratch, self._limits)
            if reason is not None:
                return reason

    def _outcome(
        self, scratch: Scratch, ended: Ended, verdict: CitewellError | None, collect: Callable[[Scratch], T]
    ) -> T:
        error = verdict or _death(ended, scratch, self._limits) or _too_large(scratch, self._limits)
        # A parser without disk space may fail in any way, and may be unable to say why.
        error = _no_space(self._space) or error if error is not None else None
        if error is not None:
            if not isinstance(error, DiskFull):
                _log.info("Parser ended (%s): %s", error.code, scratch.log_tail())
            raise error
        try:
            return collect(scratch)
        except ExtractionError as failure:
            raise _no_space(self._space) or failure from None


class _Watch:
    """Watches one parser's progress and the clock."""

    def __init__(
        self, limits: ParserLimits, scratch: Scratch, on_progress: OnProgress | None, space: DiskReserve | None
    ) -> None:
        self._limits = limits
        self._space = space
        self._scratch = scratch
        self._on_progress = on_progress
        self._started = self._moved = time.monotonic()
        self._seen = (Progress(), 0)

    def look(self) -> CitewellError | None:
        """Forward progress. Returns the reason to kill the parser, if there is one."""
        now = time.monotonic()
        seen = (self._scratch.progress(), self._scratch.elements_size())
        if seen != self._seen:
            if self._on_progress is not None and seen[0] != self._seen[0]:
                self._on_progress(seen[0].done, seen[0].total)
            self._seen, self._moved = seen, now
        if now - self._moved > self._limits.stall_seconds:
            return ParserTimeout(f"Reading the file made no progress for {self._limits.stall_seconds:g} seconds.")
        if now - self._started > self._limits.total_seconds:
            return ParserTimeout(f"Reading the file took longer than {self._limits.total_seconds:g} seconds.")
        return _no_space(self._space)


def _no_space(space: DiskReserve | None) -> DiskFull | None:
    try:
        if space is not None:
            space.require()
    except DiskFull as error:
        return error
    return None


def _prepared(folder: Path, files: Sequence[Named]) -> tuple[Scratch, tuple[tuple[str, str], ...]]:
    return Scratch.prepare(folder, len(files)), tuple((str(path.absolute()), name) for path, name in files)


def _outcome_of(scratch: Scratch) -> ExtractionSummary | ExtractionError:
    try:
        return scratch.summary()
    except ExtractionError as error:
        return error


def _too_large(scratch: Scratch, limits: ParserLimits) -> LimitExceeded | None:
    if scratch.size() <= limits.scratch_bytes:
        return None
    return LimitExceeded(f"Reading the file writes more than {limits.scratch_bytes:,} bytes.")


def _death(ended: Ended, scratch: Scratch, limits: ParserLimits) -> ExtractionError | None:
    """Why a parser died; None if it ended normally."""
    if not os.WIFSIGNALED(ended.status):
        code = os.WEXITSTATUS(ended.status)
        if code == 0:
            return None
        if _NO_MEMORY.search(scratch.log_tail()):
            return ParserOutOfMemory()
        return ParserCrashed(f"The parser process ended with status {code}.", status=code)
    number = os.WTERMSIG(ended.status)
    if number == signal.SIGXCPU:
        return ParserTimeout(f"Reading the file took longer than {limits.total_seconds:g} seconds of processor time.")
    if ended.peak_bytes > limits.memory_bytes * 3 // 4 or _NO_MEMORY.search(scratch.log_tail()):
        return ParserOutOfMemory()
    name = signal.Signals(number).name
    return ParserCrashed(f"The parser process died of {name} while reading the file.", signal=name)
