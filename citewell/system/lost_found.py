"""`lost+found` in the data folder: stored blobs that no database row refers to.

They stay until a command deletes them or a row refers to them again.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class LostFile:
    """A blob: its key, size in bytes, and time of storage (seconds since 1970)."""

    key: str
    size: int
    stored_at: float


class LostAndFound:
    """Stores blobs under their original keys, so that they can be restored."""

    def __init__(self, data: Path) -> None:
        self.folder = data / "lost+found"

    def path(self, key: str) -> Path:
        """Returns the path of a blob."""
        return self.folder / key

    def files(self, below: str = "") -> list[LostFile]:
        """Returns the blobs in the folder `below`, sorted by key.

        Skips names that begin with `#`: if the data folder is the root of a file system, fsck puts such files here.
        """
        found: list[LostFile] = []
        for folder, _, names in os.walk(self.folder / below):
            for name in names:
                path = Path(folder, name)
                key = path.relative_to(self.folder).as_posix()
                if not key.startswith("#"):
                    status = path.lstat()
                    found.append(LostFile(key, status.st_size, status.st_mtime))
        return sorted(found, key=lambda one: one.key)

    def take_in(self, key: str, source: Path) -> None:
        """Moves a file here. Raises `OSError` and leaves it in place if that fails."""
        self.folder.mkdir(mode=0o700, exist_ok=True)
        _move(source, self.path(key))

    def give_back(self, key: str, target: Path) -> None:
        """Moves a blob back into the blob store."""
        _move(self.path(key), target)
        self._tidy()

    def remove(self, keys: Iterable[str]) -> int:
        """Deletes these blobs permanently; returns their number."""
        removed = 0
        for key in keys:
            with suppress(FileNotFoundError):
                self.path(key).unlink()
                removed += 1
        if removed:
            self._tidy()
        return removed

    def remove_below(self, folders: Iterable[str]) -> int:
        """Deletes the blobs in these folders permanently; returns their number."""
        return self.remove([one.key for folder in folders for one in self.files(folder)])

    def _tidy(self) -> None:
        """Removes empty folders."""
        for folder, _, _ in os.walk(self.folder, topdown=False):
            try:
                Path(folder).rmdir()
            except OSError:
                continue


def _move(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    shutil.move(source, target)
