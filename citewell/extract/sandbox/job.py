"""One file in its own process: locks the process down, reads the file, and leaves the report in the scratch folder."""

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
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import NoReturn, TypeAlias

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
    """One file to read: `source`, uploaded as `filename`; output goes to the folder `scratch`."""

    id: int
    source: str
    filename: str
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
            source=str(data["source"]),
            filename=str(data["filename"]),
            scratch=str(data["scratch"]),
            options=ExtractOptions(**data["options"]),  # pyright: ignore[reportCallIssue]
        )


def run(job: ParserJob, extract: Extract, limits: ParserLimits, *, parent: int, own_user_namespace: bool) -> NoReturn:
    """Runs the job and exits: status 0 with a report; any other status means the parser died. Only for a fresh fork."""
    status = 1
    try:
        scratch = Path(job.scratch)
        _leave_parent_behind(scratch, parent)
        lock_down(limits, source=Path(job.source), scratch=scratch, own_user_namespace=own_user_namespace)
        _write_report(scratch, _report(job, extract, scratch))
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


def _report(job: ParserJob, extract: Extract, scratch: Path) -> dict[str, JsonValue]:
    """Returns the summary, or the error that prevented one."""
    try:
        with Sink(scratch, job.options, _heartbeat(scratch)) as sink:
            return {"summary": extract(Path(job.source), job.filename, sink).to_json()}
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
