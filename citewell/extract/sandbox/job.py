"""One file, or a few short texts of one owner, in a process: locks it down, reads them, and leaves reports in the scratch folder."""

from __future__ import annotations

import errno
import faulthandler
import json
import os
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import NoReturn, TypeAlias, cast

from citewell.errors import ExtractionError, LimitExceeded, ParserOutOfMemory
from citewell.extract.core.sink import Sink
from citewell.extract.sandbox import ParserLimits, die_with_parent, lock_down
from citewell.types import ExtractionSummary, ExtractOptions, JsonValue

REPORT_FILE = "report.json"
PROGRESS_FILE = "progress.json"
LOG_FILE = "parser.log"
_BEAT_SECONDS = 0.1

Extract: TypeAlias = Callable[[Path, str, Sink], ExtractionSummary]


@dataclass(frozen=True, slots=True, kw_only=True)
class ParserJob:
    """Files to read, as (path, name at upload) pairs; output goes to the folder `scratch`.

    Each of several files has a numbered folder in it (`part_folder`), which exists.
    """

    id: int
    files: tuple[tuple[str, str], ...]
    scratch: str
    options: ExtractOptions

    def to_json(self) -> dict[str, JsonValue]:
        """Returns the job as one line of the template's input."""
        return asdict(self)

    @staticmethod
    def from_json(data: dict[str, object]) -> ParserJob:
        """The inverse of `to_json`."""
        return ParserJob(
            id=int(str(data["id"])),
            files=tuple((str(path), str(name)) for path, name in cast("list[list[str]]", data["files"])),
            scratch=str(data["scratch"]),
            options=ExtractOptions(**data["options"]),  # pyright: ignore[reportCallIssue]
        )

    def outputs(self) -> Iterator[tuple[Path, str, Path]]:
        """Yields each file's path, its name at upload, and the folder for its output."""
        scratch = Path(self.scratch)
        for number, (path, name) in enumerate(self.files):
            yield Path(path), name, scratch if len(self.files) == 1 else part_folder(scratch, number)


def part_folder(scratch: Path, number: int) -> Path:
    """Returns where the output of one of several files goes."""
    return scratch / str(number)


def run(job: ParserJob, extract: Extract, limits: ParserLimits, *, parent: int, own_user_namespace: bool) -> NoReturn:
    """Runs the job and exits: status 0 with a report for each file; any other status means the parser died. Only for a fresh fork."""
    status = 1
    try:
        scratch = Path(job.scratch)
        _leave_parent_behind(scratch, parent)
        sources = [Path(path) for path, _ in job.files]
        lock_down(limits, sources=sources, scratch=scratch, own_user_namespace=own_user_namespace)
        heartbeat = _heartbeat(scratch)
        for source, filename, folder in job.outputs():
            _write_report(folder, _report(extract, source, filename, partial(Sink, folder, job.options, heartbeat)))
        status = 0
    except BaseException:  # noqa: BLE001 - the process boundary: nothing may run on in the template's copy
        traceback.print_exc()
    finally:
        os._exit(status)


def _leave_parent_behind(scratch: Path, parent: int) -> None:
    """Dies with the template, shares no descriptor with it, and sends the output of native code to a log in scratch."""
    die_with_parent(parent, signal.SIGKILL)
    log = os.open(scratch / LOG_FILE, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND, 0o600)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.dup2(log, 1)
    os.dup2(log, 2)
    os.closerange(3, 256)
    faulthandler.enable(file=2)
    os.chdir(scratch)
    tempfile.tempdir = str(scratch)
    os.environ.update(TMPDIR=str(scratch), HOME=str(scratch), XDG_CACHE_HOME=str(scratch))


def _report(extract: Extract, source: Path, filename: str, opened: Callable[[], Sink]) -> dict[str, JsonValue]:
    """Returns the summary, or the error that prevented one."""
    try:
        with opened() as sink:
            return {"summary": extract(source, filename, sink).to_json()}
    except Exception as error:  # noqa: BLE001 - the process boundary: whatever a reader raises becomes a typed reason
        traceback.print_exc()
        reason = _reason(error)
        return {"error": {"code": reason.code, "message": reason.message, "details": reason.details}}


def _reason(error: Exception) -> ExtractionError:
    if isinstance(error, ExtractionError):
        return error
    if isinstance(error, MemoryError):
        return ParserOutOfMemory()
    if isinstance(error, RecursionError):
        return LimitExceeded("The file is nested too deeply.")
    if isinstance(error, OSError) and error.errno in (errno.EFBIG, errno.ENOSPC, errno.EDQUOT):
        return LimitExceeded("Reading the file needs more disk space than a parser may use.")
    return ExtractionError(exception=type(error).__name__)


def _heartbeat(scratch: Path) -> Callable[[int, int | None], None]:
    """Returns a function that writes progress to a file watched by the parent, at most ten times a second."""
    descriptor = os.open(scratch / PROGRESS_FILE, os.O_WRONLY)
    last, beats = 0.0, 0

    def beat(done: int, total: int | None) -> None:
        nonlocal last, beats
        now = time.monotonic()
        if now - last >= _BEAT_SECONDS:
            last, beats = now, beats + 1
            line = json.dumps({"beat": beats, "done": done, "total": total})
            os.pwrite(descriptor, line.ljust(96).encode() + b"\n", 0)

    return beat


def _write_report(scratch: Path, report: dict[str, JsonValue]) -> None:
    text = json.dumps(report, ensure_ascii=False).replace("\\u0000", "")
    (scratch / REPORT_FILE).write_text(text, encoding="utf-8", errors="replace")
    sys.stdout.flush()
    sys.stderr.flush()
