"""The folder that a parser writes to. Its content comes from a process that read untrusted bytes, so nothing in it is trusted."""

from __future__ import annotations

import json
import os
import shutil
import stat
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from citewell.errors import ExtractionError, LimitExceeded, ParserCrashed, from_code
from citewell.extract.core.sink import ELEMENTS_FILE
from citewell.extract.sandbox.job import LOG_FILE, PROGRESS_FILE, REPORT_FILE, part_folder
from citewell.ingest.parser_checks import parsed, sound_element, well_typed
from citewell.system.disk import disk_bytes
from citewell.types import Element, ExtractionSummary

_MALFORMED = (KeyError, TypeError, ValueError, OverflowError, AttributeError, RecursionError)
_REPORT_BYTES = 64 * 1024 * 1024
_LINE_BYTES = 64 * 1024 * 1024
_LOG_TAIL = 4_000
_MESSAGE = 2_000
_NOT_WRITTEN = "The parser reported a file that it did not write."


@dataclass(frozen=True, slots=True)
class Progress:
    """The parser's progress report; it changes while the parser works."""

    beat: int = 0
    done: int = 0
    total: int | None = None


class Scratch:
    """A parser's folder, seen from the parent process. Create it with `prepare`, and `close` it when done."""

    def __init__(self, folder: Path, progress: int) -> None:
        self.folder = folder
        self._progress = progress

    @staticmethod
    def prepare(folder: Path, files: int = 1) -> Scratch:
        """An empty folder at `folder` (existing content is removed), with a progress file and, for several files, a folder for each."""
        folder = folder.absolute()
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True, mode=0o700)
        for number in range(files if files > 1 else 0):
            part_folder(folder, number).mkdir(mode=0o700)
        return Scratch(folder, os.open(folder / PROGRESS_FILE, os.O_RDONLY | os.O_CREAT | os.O_EXCL, 0o600))

    def part(self, number: int) -> Scratch:
        """The folder of one of several files, seen the same way. Raises `ParserCrashed` if it is not the folder that `prepare` made."""
        folder = part_folder(self.folder, number)
        if not stat.S_ISDIR(folder.lstat().st_mode):
            raise ParserCrashed(_NOT_WRITTEN)
        return Scratch(folder, self._progress)

    def close(self) -> None:
        """Release the progress file; the folder stays."""
        os.close(self._progress)

    def progress(self) -> Progress:
        """The parser's last report; an empty one before the first."""
        try:
            data = json.loads(os.pread(self._progress, 256, 0))
            total = data["total"]
            return Progress(int(data["beat"]), int(data["done"]), None if total is None else int(total))
        except _MALFORMED:
            return Progress()

    def elements_size(self) -> int:
        """Bytes of elements written so far."""
        try:
            return (self.folder / ELEMENTS_FILE).lstat().st_size
        except OSError:
            return 0

    def size(self) -> int:
        """The folder's size on disk, in bytes."""
        return disk_bytes(self.folder)

    def log_tail(self) -> str:
        """The end of the output of the parser and its libraries."""
        try:
            with open_plain(self.folder / LOG_FILE) as file:
                file.seek(max(0, os.fstat(file.fileno()).st_size - _LOG_TAIL))
                return file.read(_LOG_TAIL).decode("utf-8", "replace")
        except ParserCrashed:
            return ""

    def summary(self) -> ExtractionSummary:
        """The parser's report. Raises the error it reported, or `ParserCrashed` if the report is invalid."""
        report = self._report()
        try:
            if "error" in report:
                raise rebuilt(report["error"])
            summary = ExtractionSummary.from_json(report["summary"])
        except _MALFORMED as error:
            raise ParserCrashed("The parser left a report that cannot be read.") from error
        if not well_typed(summary):
            raise ParserCrashed("The parser left a report that cannot be read.")
        declared = {blob.path for blob in summary.blobs} | {child.path for child in summary.children}
        for name in (ELEMENTS_FILE, *declared):
            if os.sep in name or not _is_plain(self.folder / name):
                raise ParserCrashed(_NOT_WRITTEN)
        self._remove_all_but({ELEMENTS_FILE, *declared})
        return summary

    def _report(self) -> dict[str, Any]:
        path = self.folder / REPORT_FILE
        if not _is_plain(path) or path.lstat().st_size > _REPORT_BYTES:
            raise ParserCrashed("The parser left no report.")
        try:
            report = parsed(path.read_bytes())
        except _MALFORMED as error:
            raise ParserCrashed("The parser left a report that cannot be read.") from error
        if not isinstance(report, dict):
            raise ParserCrashed("The parser left a report that cannot be read.")
        return report

    def _remove_all_but(self, kept: set[str]) -> None:
        for path in self.folder.iterdir():
            if path.name in kept:
                continue
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path)
            else:
                path.unlink()


def read_elements(folder: Path) -> Iterator[Element]:
    """The elements that a parser left in `folder`, one at a time. Raises `ParserCrashed` for an invalid line."""
    return (element for element, _ in read_element_lines(folder))


def read_element_lines(folder: Path) -> Iterator[tuple[Element, str]]:
    """Each element with its line of JSON. Raises `ParserCrashed` for an invalid line, `LimitExceeded` for one that is too long."""
    with (folder / ELEMENTS_FILE).open("rb") as file:
        while line := file.readline(_LINE_BYTES + 1):
            yield _element(line), line.decode().rstrip("\n")


def follow_element_lines(folder: Path, wait: Callable[[], bool]) -> Iterator[tuple[Element, str]]:
    """The elements that a parser is still writing to `folder`, one at a time, each with its line. Raises like `read_elements`.

    If there is no file or no complete line yet, `wait` is called: it sleeps briefly and returns whether the parser is still writing.
    """
    while not (folder / ELEMENTS_FILE).exists():
        if not wait():
            return
    rest, is_writing = b"", True
    with open_plain(folder / ELEMENTS_FILE) as file:
        while True:
            rest += file.readline(_LINE_BYTES + 1 - len(rest))
            if rest.endswith(b"\n") or len(rest) > _LINE_BYTES:
                yield _element(rest), rest.decode().rstrip("\n")
                rest = b""
            elif is_writing:
                is_writing = wait()  # its last lines may only have arrived now
            else:
                return


def _element(line: bytes) -> Element:
    if len(line) > _LINE_BYTES:
        raise LimitExceeded(f"One element of this file exceeds {_LINE_BYTES:,} bytes.")
    try:
        element = Element.from_json(parsed(line))
        sound = sound_element(element)
    except _MALFORMED as error:
        raise ParserCrashed("The parser left elements that cannot be read.") from error
    if not sound:
        raise ParserCrashed("The parser left elements that cannot be read.")
    return element


def rebuilt(error: dict[str, Any]) -> ExtractionError:
    """An extraction error from its public form; an unknown code becomes that of `ExtractionError`."""
    details = {str(name): value for name, value in error["details"].items()}
    made = from_code(error["code"], str(error["message"])[:_MESSAGE], details, among=ExtractionError)
    made.code = type(made).code
    return made


def open_plain(path: Path) -> BinaryIO:
    """Open a file that a parser may still be writing, for reading.

    Raises `ParserCrashed` for a link, a pipe or anything else that is not a regular file. The open file is checked, because the path may
    be swapped between checking and opening.
    """
    try:
        file = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        raise ParserCrashed(_NOT_WRITTEN) from error
    if not _is_own(os.fstat(file)):
        os.close(file)
        raise ParserCrashed(_NOT_WRITTEN)
    return os.fdopen(file, "rb")


def _is_plain(path: Path) -> bool:
    try:
        return _is_own(path.lstat())
    except (OSError, ValueError):
        return False


def _is_own(status: os.stat_result) -> bool:
    """Whether it is a regular file with one name: neither a link to another file nor a pipe that would block."""
    return stat.S_ISREG(status.st_mode) and status.st_nlink == 1
