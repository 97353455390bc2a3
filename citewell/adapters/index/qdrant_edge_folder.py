"""The folder of an embedded index: numbered shards and a file that names the current one."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

from citewell.errors import Unavailable

_POINTER = "current"
_PREFIX = "shard-"
_SHARD = re.compile(rb"shard-[0-9]{1,9}")
_PIECE = 1 << 20


class ShardFolder:
    """Manages the shards of an index. At most one is current; others are left over from unfinished compactions."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._unindexed = folder / "unindexed"
        self._sole_owner = folder / "sole-owner"

    def current(self) -> Path | None:
        """The current shard; None in a new folder. Raises `Unavailable` if the file that names it is damaged."""
        try:
            name = (self._folder / _POINTER).read_bytes().strip()
        except FileNotFoundError:
            return None
        except IsADirectoryError:
            name = b""
        if not _SHARD.fullmatch(name):
            raise Unavailable(f"The index in {self._folder} cannot be opened: its file {_POINTER!r} is damaged.")
        return self._folder / name.decode()

    def next(self) -> Path:
        """A path for a new shard."""
        numbers = [int(path.name.removeprefix(_PREFIX)) for path in self._shards()]
        return self._folder / f"{_PREFIX}{max(numbers, default=0) + 1}"

    def make_current(self, shard: Path) -> None:
        """Make `shard` the current one, atomically even on a power failure."""
        self._write(self._folder / _POINTER, shard.name)

    def note_unindexed(self, points: int) -> None:
        """Record how many points lack a search graph, which the engine does not report; power failures may lose it."""
        self._unindexed.write_text(str(points), encoding="ascii")

    def unindexed(self) -> int | None:
        """The value last recorded; None if there is none or it is unreadable."""
        try:
            return int(self._unindexed.read_text(encoding="ascii"))
        except (FileNotFoundError, ValueError):
            return None

    def note_sole_owner(self, owner_id: str | None) -> None:
        """Record the only owner whose points were ever written here: empty for none yet, None for several."""
        if owner_id is None:
            self._sole_owner.unlink(missing_ok=True)
            self._sync()
        else:
            self._write(self._sole_owner, owner_id)

    def sole_owner(self) -> str | None:
        """The value last recorded; None also for folders of versions that did not record it."""
        try:
            return self._sole_owner.read_text(encoding="utf-8")
        except (FileNotFoundError, UnicodeDecodeError):
            return None

    def remove_others(self) -> None:
        """Delete every shard but the current one."""
        current = self.current()
        for shard in self._shards():
            if shard != current:
                shutil.rmtree(shard, ignore_errors=True)

    def _write(self, path: Path, text: str) -> None:
        """Replace a file, atomically even on a power failure."""
        temporary = path.with_name(f"{path.name}.new")
        with temporary.open("w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
        self._sync()

    def _sync(self) -> None:
        descriptor = os.open(self._folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)

    def _shards(self) -> list[Path]:
        return [path for path in self._folder.glob(f"{_PREFIX}*") if path.name.removeprefix(_PREFIX).isdigit()]


def copy_sparsely(source: Path, target: Path) -> None:
    """Copy a folder, preserving holes in files, because the engine allocates far more than it fills."""
    shutil.copytree(source, target, copy_function=_copy_file)


def _copy_file(source: str, target: str) -> None:
    with Path(source).open("rb", buffering=0) as read, Path(target).open("wb", buffering=0) as write:
        size = os.fstat(read.fileno()).st_size
        write.truncate(size)
        end = 0
        while (start := _next_data(read.fileno(), end, size)) < size:
            end = os.lseek(read.fileno(), start, os.SEEK_HOLE)
            read.seek(start)
            write.seek(start)
            left = end - start
            while left > 0 and (piece := read.read(min(left, _PIECE))):
                write.write(piece)
                left -= len(piece)


def _next_data(descriptor: int, position: int, size: int) -> int:
    """The offset of the next data after `position`; `size` if only a hole follows."""
    try:
        return os.lseek(descriptor, position, os.SEEK_DATA) if position < size else size
    except OSError:
        return size
