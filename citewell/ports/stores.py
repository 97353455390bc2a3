"""Storage for vectors and bytes: `VectorIndex` and `BlobStore`."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Protocol, runtime_checkable

from citewell.ports.capability import Capability
from citewell.ports.embedding import FloatMatrix
from citewell.types import BlobLink, Filter, JsonObject, Point, ScoredId, VectorQuery


@runtime_checkable
class VectorIndex(Protocol):
    """All chunks embedded by one model: a derived view that can be rebuilt from SQL at any time."""

    @property
    def capabilities(self) -> frozenset[Capability]:
        """The capabilities this implementation declares."""
        ...

    async def upsert(self, points: Sequence[Point]) -> None:
        """Write points; durable on return (`PERSISTENT`). A point with an existing id is replaced."""
        ...

    async def search(self, query: VectorQuery) -> list[ScoredId]:
        """Up to `query.limit` points that match the filter, best first.

        Lexical scores use inverse document frequencies over `query.filter.corpus`, else over all of the owner's points,
        so that other points neither affect the scores nor leak through them.
        """
        ...

    async def vectors(self, ids: Sequence[str]) -> dict[str, FloatMatrix]:
        """The stored dense vectors, shape (dimensions,), of those ids that exist."""
        ...

    async def set_payload(self, filter: Filter, payload: JsonObject) -> None:
        """Replace these payload fields of every point that matches the filter. Vectors and other fields do not change.

        Durable on return (`PERSISTENT`). None, an empty list or an empty object clears a field.
        """
        ...

    async def delete(self, filter: Filter) -> None:
        """Delete every point that matches the filter."""
        ...

    async def delete_ids(self, ids: Sequence[str]) -> None:
        """Remove these points; unknown ids are ignored."""
        ...

    async def count(self, filter: Filter | None = None) -> int:
        """The number of points that match the filter, or of all points of all owners.

        Exact even if the store shows writes late.
        """
        ...

    async def close(self) -> None:
        """Flush and release. Safe to call twice."""
        ...


@runtime_checkable
class BlobStore(Protocol):
    """Bytes by key. Citewell chooses the keys (never a user's file name): `[a-z0-9/_.-]+`."""

    @property
    def backend(self) -> str:
        """`local`, `s3`, `gcs`, `azure` or `memory`."""
        ...

    async def put_file(self, key: str, path: Path, name: str | None = None) -> None:
        """Move the file at `path` into the store, durably and atomically: after an error, `key` is unchanged. `name` is the file name in a `link`."""
        ...

    def local_copy(self, key: str) -> AbstractAsyncContextManager[Path]:
        """A local, read-only file with the bytes, valid within the block. Raises `NotFound` if `key` does not exist."""
        ...

    def get(self, key: str, start: int = 0, end: int | None = None) -> AsyncIterator[bytes]:
        """The bytes [start, end) in pieces. Raises `NotFound` if `key` does not exist."""
        ...

    async def link(self, key: str, size: int) -> BlobLink | None:
        """A URL for a browser to download these `size` bytes without credentials; None if the store offers none.

        Raises as `get`, and `DamagedFile` if the size differs.
        """
        ...

    async def delete(self, key: str) -> None:
        """Remove a key; an unknown key is ignored."""
        ...

    async def list(self, prefix: str) -> list[str]:
        """All keys that begin with `prefix`."""
        ...
