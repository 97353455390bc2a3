"""Full disks: detects them wherever they occur, and keeps some space free to prevent them."""

from __future__ import annotations

import errno
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
