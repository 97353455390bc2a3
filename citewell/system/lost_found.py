"""`lost+found` in the data folder: stored bytes that no row of the database names. Only a command removes them, or the return of a row that names them."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class LostFile:
    """One blob: its key, its size in bytes, and when it was stored (seconds since 1970)."""

    key: str
    size: int
    stored_at: float


class LostAndFound:
    """Keeps blobs under their keys, so that they can return to where they were."""

    def __init__(self, data: Path) -> None:
        self.folder = data / "lost+found"

    def path(self, key: str) -> Path:
        """Where a blob is kept."""
        return self.folder / key

    def files(self, below: str = "") -> list[LostFile]:
        """The blobs in the folder `below`, sorted by key. Names that begin with `#` are left out: the file system's own repair puts those
        into a folder of this name where the data folder is the root of a disk."""
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
        """Move a file here. Raises `OSError` where it cannot be; then it stays where it is."""
        self.folder.mkdir(mode=0o700, exist_ok=True)
        _move(source, self.path(key))

    def give_back(self, key: str, target: Path) -> None:
        """Move a blob back into the blob store."""
        _move(self.path(key), target)
        self._tidy()

    def remove(self, keys: Iterable[str]) -> int:
        """Delete these blobs for good; how many there were."""
        removed = 0
        for key in keys:
            with suppress(FileNotFoundError):
                self.path(key).unlink()
                removed += 1
        if removed:
            self._tidy()
        return removed

    def remove_below(self, folders: Iterable[str]) -> int:
        """Delete the blobs in these folders for good; how many there were."""
        return self.remove([one.key for folder in folders for one in self.files(folder)])

    def _tidy(self) -> None:
        """Remove folders left empty."""
        for folder, _, _ in os.walk(self.folder, topdown=False):
            try:
                Path(folder).rmdir()
            except OSError:
                continue


def _move(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    shutil.move(source, target)
