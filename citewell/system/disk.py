"""Full disks: detects them wherever they occur, and keeps some space free to prevent them."""

from __future__ import annotations

import errno
import logging
import os
import sqlite3
from collections.abc import Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from citewell.errors import DiskFull

# Minimum free bytes for writing to an index: it maps sparse files, and filling a hole without disk space kills the
# process (SIGBUS). A batch of points takes about 10 MB.
MIN_FREE_BYTES = 32 * 1024 * 1024
SPARE_BYTES = 16 * 1024 * 1024
"""Enough to sign in thousands of times, and to delete files of some thousand passages: SQLite first writes what changes
beside its file."""
_PORTION_BYTES = SPARE_BYTES // 4
_LITTLE_BYTES = 2 * 1024 * 1024
"""With less than this free, a transaction may not fit."""
_log = logging.getLogger(__name__)
_FULL = {errno.ENOSPC, errno.EDQUOT}
_SQLITE_FULL = {sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR_SHMSIZE}
_POSTGRES_FULL = "53100"


@dataclass(frozen=True, slots=True)
class DiskReserve:
    """Keeps bytes free on the disk of `folder`, so that the database and the index can finish their writes."""

    folder: Path
    reserved: int

    def require(self, more: int = 0) -> None:
        """Raises `DiskFull` if the free space is less than the reserve plus `more` bytes."""
        free = free_bytes(self.folder)
        if free < self.reserved + more:
            raise DiskFull(
                f"The server's disk is full: {free / 1e6:,.0f} MB are left, and {(self.reserved + more) / 1e6:,.0f} MB are needed. "
                "Free some space; accepted files are kept, and processing then resumes automatically."
            )


class SpareSpace:
    """A file of unused space on the disk of `path`, given back when that disk is full.

    People can then still sign in, revoke access and delete files, which are writes, too. It is given back in portions,
    so that a program which fills the disk cannot take all of it at once, and set aside again when there is room.

    reserved: bytes that stay free beside it
    """

    def __init__(self, path: Path, reserved: int) -> None:
        self._path = path
        self._reserved = reserved
        self._is_whole = False

    def tend(self) -> None:
        """Gives a portion back if the disk is full; sets the space aside if there is room. Never raises an `OSError`."""
        with suppress(OSError):
            free = free_bytes(self._path.parent)
            if free < _LITTLE_BYTES:
                self.give_back(_PORTION_BYTES)
            elif not self._is_whole and free >= self._reserved + SPARE_BYTES:
                self._set_aside()

    def give_back(self, most: int = SPARE_BYTES) -> None:
        """Gives back as many bytes, after a write that found no room."""
        with suppress(OSError):
            size = self._path.stat().st_size
            os.truncate(self._path, max(0, size - most))
            self._is_whole = False
            if size:
                _log.warning("The disk is full: %d MB of spare space were given back.", min(most, size) // 2**20)

    def _set_aside(self) -> None:
        with os.fdopen(os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600), "rb+") as file:
            try:
                _allocate(file.fileno())
            except OSError:
                file.truncate(0)
                raise
        self._is_whole = True


def _allocate(descriptor: int) -> None:
    """Fills a file with `SPARE_BYTES` that exist on disk."""
    if hasattr(os, "posix_fallocate"):
        os.posix_fallocate(descriptor, 0, SPARE_BYTES)
        return
    os.lseek(descriptor, 0, os.SEEK_SET)
    for _ in range(SPARE_BYTES // _LITTLE_BYTES):
        os.write(descriptor, bytes(_LITTLE_BYTES))


def free_bytes(folder: Path) -> int:
    """Returns the free bytes on the disk of a folder."""
    found = os.statvfs(folder)
    return found.f_bavail * found.f_frsize


def disk_bytes(folder: Path) -> int:
    """Returns the bytes that a folder occupies on disk, without holes in sparse files.

    Files removed meanwhile may or may not count; unreadable ones do not.
    """
    total = 0
    for entry, _, names in os.walk(folder):
        for name in names:
            with suppress(OSError):
                total += Path(entry, name).lstat().st_blocks * 512
    return total


@contextmanager
def disk_errors() -> Generator[None]:
    """Translates any error in this block that reports a full disk into `DiskFull`."""
    try:
        yield
    except DiskFull:
        raise
    except Exception as error:
        if is_full(error):
            raise DiskFull from error
        raise


def is_full(error: BaseException) -> bool:
    """Whether an error from the system or a database driver, wrapped or not, reports a full disk."""
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, OSError) and cause.errno in _FULL:
            return True
        if isinstance(cause, sqlite3.Error) and getattr(cause, "sqlite_errorcode", None) in _SQLITE_FULL:
            return True
        if getattr(cause, "sqlstate", None) == _POSTGRES_FULL:
            return True
        cause = cause.__cause__
    return False
