"""Ports for server-based vector stores: writes may become visible late, and tables or keys may outlive a dropped index.

`citewell.indexes.ledgered` builds a complete index on a store that holds only vectors.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from citewell.ports import Capability, FloatMatrix, VectorIndex
from citewell.types import Expression, JsonObject, Point, ScoredId, VectorQuery


@runtime_checkable
class EventualIndex(VectorIndex, Protocol):
    """A vector index that declares `EVENTUAL`. Its counts include every acknowledged write and never lag."""

    async def settle(self) -> None:
        """Wait until searches see this process's writes. Raises `Unavailable` after a minute."""
        ...


@runtime_checkable
class RemovableIndex(VectorIndex, Protocol):
    """A vector index with its own table, collection or keys in its store."""

    async def remove(self) -> None:
        """Remove the table, collection or keys if no point is left; only `close` may follow.

        Otherwise change nothing.
        """
        ...


@runtime_checkable
class SizedIndex(VectorIndex, Protocol):
    """A vector index whose store says how many bytes it takes."""

    async def size_bytes(self) -> int:
        """Bytes on the store's disk, of all owners."""
        ...


@runtime_checkable
class RemoteVectors(Protocol):
    """A vector store without counts, lexical search or support for every filter.

    All ids in a call belong to one owner. Writes are acknowledged when the call returns, and may become visible later.
    """

    @property
    def capabilities(self) -> frozenset[Capability]:
        """The capabilities this implementation declares; the ledger adds `SPARSE` and `FILTERS`."""
        ...

    @property
    def max_values(self) -> int:
        """The maximum number of values in a filter's list."""
        ...

    def expresses(self, condition: Expression) -> bool:
        """Whether the store evaluates this condition exactly."""
        ...

    def holds_all_of(self, point: Point) -> bool:
        """Whether everything in the point's payload fits into its record."""
        ...

    async def upsert(self, points: Sequence[Point]) -> None:
        """Write points, each with `dense` or `text`."""
        ...

    async def embedded(self, points: Sequence[Point]) -> set[str]:
        """The ids of points already visible with the same text and payload; empty if the store takes vectors."""
        ...

    async def search(self, query: VectorQuery, ids: Sequence[str] | None = None) -> list[ScoredId]:
        """Like `VectorIndex.search`, by `dense` or `text` and without pulls; among `ids` if given."""
        ...

    async def vectors(self, owner_id: str, ids: Sequence[str]) -> dict[str, FloatMatrix]:
        """As `VectorIndex.vectors`."""
        ...

    async def set_payloads(self, owner_id: str, changes: Sequence[tuple[str, JsonObject, JsonObject]]) -> None:
        """Replace payloads: each id with its old and its new payload."""
        ...

    async def delete(self, owner_id: str, ids: Sequence[str]) -> None:
        """Remove these points; unknown ids are ignored."""
        ...

    async def sweep(self, owner_id: str, resource_ids: Sequence[str] | None) -> None:
        """Remove every visible point of these resources (None: of the owner), including points missing from the ledger."""
        ...

    async def check(self) -> None:
        """Raise `Unavailable` if the store does not respond."""
        ...

    async def settle(self) -> None:
        """As `EventualIndex.settle`."""
        ...

    async def close(self) -> None:
        """Close the connections."""
        ...


@dataclass(frozen=True, slots=True)
class OpenedVectors:
    """An opened store, with the name of its ledger.

    is_new: the store was just created and is empty, whatever the ledger says
    """

    store: RemoteVectors
    name: str
    is_new: bool
