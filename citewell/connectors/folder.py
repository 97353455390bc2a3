"""Connector for a folder and its subfolders; the smallest connector, to start others from."""

from __future__ import annotations

import asyncio
import os
import stat
from collections.abc import AsyncIterator, Collection, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import BinaryIO

from citewell.connectors.beneath import open_beneath
from citewell.connectors.frames import stamp_of
from citewell.connectors.interface import SourceEntry
from citewell.errors import ConfigurationError, SourceProblem

_SKIPPED = frozenset({".DS_Store", "Thumbs.db", "desktop.ini"})
MAX_FILES = 100_000
"""Most files in one folder; more suggests a wrong path."""


class FolderSource:
    """Every file below a folder, by its relative path. Links are not followed; hidden files and folders are skipped."""

    kind = "folder"

    def __init__(self, folder: Path) -> None:
        if not folder.is_dir():
            raise ConfigurationError(f"{folder} is not a folder.")
        self.folder = folder.resolve()
        self._found: dict[str, os.stat_result] = {}

    async def present(self) -> Mapping[str, str]:
        """Relative paths with stamps made of size and modification time."""
        if not self.folder.is_dir():
            raise ConfigurationError(f"{self.folder} is no longer there. Nothing was deleted.")
        self._found = await asyncio.to_thread(lambda: dict(_files(self.folder)))
        return {path: stamp_of(status) for path, status in self._found.items()}

    async def read(self, since: str | None, keys: Collection[str]) -> AsyncIterator[SourceEntry]:
        """The files with these paths; `since` is ignored, because a folder has no cursor."""
        for path, status in self._found.items():
            if path in keys:
                yield SourceEntry(
                    key=path,
                    stamp=stamp_of(status),
                    filename=path.rsplit("/", 1)[-1],
                    metadata={"source_path": path[-512:], "modified": _day(status.st_mtime)},
                )

    async def fetch(self, entry: SourceEntry, folder: Path) -> BinaryIO:
        """The open file, which is inside the folder even if paths were swapped."""
        try:
            return await asyncio.to_thread(open_beneath, self.folder, entry.key.split("/"))
        except OSError as error:
            raise SourceProblem("The file no longer exists, or cannot be read. The next run tries again.") from error

    def cursor(self) -> str | None:
        """None: every run scans the whole folder."""
        return None


def _day(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


def _files(top: Path) -> Iterator[tuple[str, os.stat_result]]:
    count = 0
    for folder, below, names, opened in os.fwalk(top):
        below[:] = sorted(name for name in below if not name.startswith("."))
        for name in sorted(names):
            status = None if name.startswith(".") or name in _SKIPPED else _status(name, opened)
            if status is None or not stat.S_ISREG(status.st_mode):
                continue
            count += 1
            if count > MAX_FILES:
                raise ConfigurationError(f"{top} has more than {MAX_FILES:,} files. Choose a folder inside it.")
            relative = Path(folder, name).relative_to(top).as_posix()
            if relative.isprintable():
                yield relative, status


def _status(name: str, folder: int) -> os.stat_result | None:
    """The status of a name in an open folder, without following a link; None if it no longer exists."""
    try:
        return os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return None
