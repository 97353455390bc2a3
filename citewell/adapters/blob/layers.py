"""A blob store layered over the previously used one."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from citewell.errors import NotFound
from citewell.ports import BlobStore
from citewell.types import BlobLink


class LayeredBlobStore:
    """Implements `citewell.ports.BlobStore`: writes to `upper`, reads `upper` or else `lower`, deletes from both."""

    def __init__(self, upper: BlobStore, lower: BlobStore) -> None:
        self.backend = upper.backend
        self._upper = upper
        self._lower = lower

    async def put_file(self, key: str, path: Path, name: str | None = None) -> None:
        """As `citewell.ports.BlobStore.put_file`, into the upper store."""
        await self._upper.put_file(key, path, name)

    @asynccontextmanager
    async def local_copy(self, key: str) -> AsyncGenerator[Path]:
        """As `citewell.ports.BlobStore.local_copy`."""
        found = self._upper.local_copy(key)
        try:
            path = await found.__aenter__()
        except NotFound:
            async with self._lower.local_copy(key) as path:
                yield path
            return
        try:
            yield path
        finally:
            await found.__aexit__(None, None, None)

    async def get(self, key: str, start: int = 0, end: int | None = None) -> AsyncIterator[bytes]:
        """As `citewell.ports.BlobStore.get`."""
        try:
            async for piece in self._upper.get(key, start, end):
                yield piece
        except NotFound:  # raised only before the first piece
            async for piece in self._lower.get(key, start, end):
                yield piece

    async def link(self, key: str, size: int) -> BlobLink | None:
        """As `citewell.ports.BlobStore.link`."""
        try:
            return await self._upper.link(key, size)
        except NotFound:
            return await self._lower.link(key, size)

    async def delete(self, key: str) -> None:
        """As `citewell.ports.BlobStore.delete`, in both stores."""
        await self._upper.delete(key)
        await self._lower.delete(key)

    async def list(self, prefix: str) -> list[str]:
        """As `citewell.ports.BlobStore.list`, of both stores."""
        return sorted({*await self._upper.list(prefix), *await self._lower.list(prefix)})
