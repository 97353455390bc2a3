"""The journal of blobs: the keys a process is storing or removing, so that the next start can finish if the process dies.

Bytes are stored before the row that names them is committed, and removed after it is deleted. A key is in the journal while rows and
bytes may disagree. The next start deletes keys in the journal that no row names, and keeps everything else that no row names.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Collection, Generator, Iterable
from contextlib import contextmanager, suppress
from pathlib import Path

from citewell.system.disk import disk_errors

_BOOT_ID = Path("/proc/sys/kernel/random/boot_id")
_STORED, _REMADE, _ENDED = "+", "~", "-"
_MAX_BYTES = 1024 * 1024
"""At this size, the journal is rewritten with only the keys still in it."""


class BlobJournal:
    """A file of lines, each with a sign and a key, after a first line that identifies the file and the run of the machine.

    A key leaves the journal before the upload is acknowledged, so bytes of an acknowledged upload are never deleted, even if the next
    start finds an older copy of the database. After a power failure that line may be missing, so keys of uploads count as unknown
    then, and so does everything in a copy of the journal, which may be from any moment.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file: int | None = None
        self._size = 0
        self._open: dict[str, str] = {}

    @contextmanager
    def begun(self, keys: Collection[str], *, remade: bool = False) -> Generator[None]:
        """Store or remove bytes under these keys within the block; at its end, rows and bytes agree.

        After an error the keys stay in the journal. remade: the bytes can be made again from a stored original. Raises `DiskFull`.
        """
        self._begin(keys, _REMADE if remade else _STORED)
        yield
        self.end(keys)

    def end(self, keys: Iterable[str]) -> None:
        """Remove keys whose rows and bytes agree, or may agree. The next start then deletes none of them."""
        ended = [key for key in keys if self._open.pop(key, None)]
        if not ended:
            return
        try:
            self._write("".join(f"{_ENDED}{key}\n" for key in ended))
        except OSError:  # no room for a line: an empty journal deletes nothing
            self._rewrite({})

    def left(self) -> set[str]:
        """The keys that the previous process left and that may be deleted if no row names them."""
        try:
            lines = self._path.read_text(encoding="ascii").split("\n")[:-1]  # ignore a line that was cut off
            boot, _, inode = lines[0].partition(" ")
            if inode != str(self._path.stat().st_ino):
                return set()
        except (OSError, UnicodeDecodeError, IndexError):
            return set()
        found: dict[str, str] = {}
        for line in lines[1:]:
            if line[:1] == _ENDED:
                found.pop(line[1:], None)
            else:
                found[line[1:]] = line[:1]
        is_same_run = bool(boot) and boot == _boot()
        return {key for key, sign in found.items() if sign == _REMADE or (sign == _STORED and is_same_run)}

    def restart(self) -> None:
        """Forget the previous process's keys."""
        with disk_errors():
            self._rewrite({})

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            os.close(self._file)
            self._file = None

    def _begin(self, keys: Collection[str], sign: str) -> None:
        if not keys:
            return
        with disk_errors():
            if self._size > _MAX_BYTES:
                self._rewrite(self._open)
            self._write("".join(f"{sign}{key}\n" for key in keys))
        self._open |= dict.fromkeys(keys, sign)

    def _write(self, text: str) -> None:
        if self._file is None:
            self._rewrite(self._open)
        assert self._file is not None
        if not self._size:
            text = f"{_boot()} {os.fstat(self._file).st_ino}\n{text}"
        data = text.encode("ascii")
        written = os.write(self._file, data)
        if written < len(data):  # a full disk may write only a part
            os.ftruncate(self._file, self._size)
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        self._size += written

    def _rewrite(self, kept: dict[str, str]) -> None:
        """Empty the file, then write the keys still in it. If the process dies in between, they are forgotten, so nothing is deleted."""
        if self._file is None:
            self._file = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
        os.ftruncate(self._file, 0)
        self._open, self._size = dict(kept), 0
        if kept:
            self._write("".join(f"{sign}{key}\n" for key, sign in kept.items()))


def _boot() -> str:
    """The id of the machine's current run; empty if the system has none."""
    with suppress(OSError):
        return _BOOT_ID.read_text(encoding="ascii").strip()
    return ""
