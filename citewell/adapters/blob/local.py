"""Blobs as files in the data folder."""

from __future__ import annotations

import asyncio
import itertools
import os
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from citewell.adapters.blob.keys import checked_key, is_key, missing_blob
from citewell.errors import DamagedFile
from citewell.settings import LocalBlobs
from citewell.system.disk import disk_errors
from citewell.types import BlobLink

_PIECE = 1024 * 1024


class LocalBlobStore:
    """Implements `citewell.ports.BlobStore` on a folder. Files are synced to disk before a write is acknowledged."""

    backend = "local"

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def _path(self, key: str) -> Path:
        return self._folder / checked_key(key)

    async def put_file(self, key: str, path: Path, name: str | None = None) -> None:
        """Move the file into place; it must be on the same file system."""
        with disk_errors():
            await asyncio.to_thread(_install, path, self._path(key))

    @asynccontextmanager
    async def local_copy(self, key: str) -> AsyncGenerator[Path]:
        """The file itself, not a copy: do not write to it."""
        path = self._path(key)
        if not await asyncio.to_thread(path.is_file):
            raise missing_blob(key)
        yield path

    async def get(self, key: str, start: int = 0, end: int | None = None) -> AsyncIterator[bytes]:
        """The bytes [start, end) in pieces of at most 1 MiB. Raises `DamagedFile` if the file is shorter."""
        try:
            file = await asyncio.to_thread(self._path(key).open, "rb")
        except FileNotFoundError as error:
            raise missing_blob(key) from error
        with file:
            if end is not None and os.fstat(file.fileno()).st_size < end:
                raise DamagedFile
            file.seek(start)
            left = None if end is None else end - start
            while left is None or left > 0:
                piece = await asyncio.to_thread(file.read, _PIECE if left is None else min(_PIECE, left))
                if not piece:
                    return
                if left is not None:
                    left -= len(piece)
                yield piece

    async def link(self, key: str, size: int) -> BlobLink | None:
        """None: the server sends these bytes itself. Raises as `citewell.ports.BlobStore.link`."""
        try:
            kept = await asyncio.to_thread(self._path(key).stat)
        except FileNotFoundError as error:
            raise missing_blob(key) from error
        if kept.st_size != size:
            raise DamagedFile
        return None

    async def delete(self, key: str) -> None:
        """Remove the file, and folders left empty."""
        await asyncio.to_thread(_remove, self._path(key), self._folder)

    async def list(self, prefix: str) -> list[str]:
        """All keys that begin with `prefix`, sorted; other files in the folder are ignored."""
        return await asyncio.to_thread(_keys, self._folder, prefix)


def _install(source: Path, target: Path) -> None:
    new = list(itertools.takewhile(lambda folder: not folder.exists(), target.parents))
    target.parent.mkdir(parents=True, exist_ok=True)
    with source.open("rb") as file:
        os.fchmod(file.fileno(), 0o600)
        os.fsync(file.fileno())
    source.replace(target)
    # Sync the directory entries of the file and of newly created folders.
    for changed in (target.parent, *(folder.parent for folder in new)):
        folder = os.open(changed, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


def _remove(path: Path, top: Path) -> None:
    path.unlink(missing_ok=True)
    for parent in path.parents:
        if parent == top or not parent.is_dir():
            return
        try:
            parent.rmdir()
        except OSError:
            return


def _keys(folder: Path, prefix: str) -> list[str]:
    start = folder / prefix.rsplit("/", 1)[0] if "/" in prefix else folder
    found = (p.relative_to(folder).as_posix() for p in start.rglob("*") if p.is_file())
    return sorted(key for key in found if key.startswith(prefix) and is_key(key))


def build(settings: LocalBlobs) -> LocalBlobStore:
    """The blob store in the data folder."""
    return LocalBlobStore(settings.folder)
