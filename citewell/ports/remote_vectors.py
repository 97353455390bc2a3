"""What Citewell needs of stores on servers: of those that show late what was written, or leave something behind when an index is dropped.

Of one that only holds vectors, `citewell.indexes.ledgered` makes an index.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from citewell.ports import Capability, FloatMatrix, VectorIndex
from citewell.types import Expression, JsonObject, Point, ScoredId, VectorQuery


@runtime_checkable
class EventualIndex(VectorIndex, Protocol):
    """A vector index that declares `EVENTUAL`. Its counts tell what was acknowledged, and never lag."""

    async def settle(self) -> None:
        """Wait until searches see what this process has written; `Unavailable` when that takes longer than a minute."""
        ...


@runtime_checkable
class RemovableIndex(VectorIndex, Protocol):
    """A vector index that has a table, a collection or keys of its own in its store."""

    async def remove(self) -> None:
        """Take these away where no point is left, so that only `close` can follow; an index with points stays as it is."""
        ...


@runtime_checkable
class RemoteVectors(Protocol):
    """A store of vectors that cannot count, find words or evaluate every filter.

    Ids are those of one owner in each call. What is written is acknowledged when the call returns, and may be visible later.
    """

    @property
    def capabilities(self) -> frozenset[Capability]:
        """What this implementation declares; `SPARSE` and `FILTERS` come with the ledger."""
        ...

    @property
    def max_values(self) -> int:
        """The most values that a filter may list."""
        ...

    def expresses(self, condition: Expression) -> bool:
        """Whether a search evaluates this condition exactly."""
        ...

    def holds_all_of(self, point: Point) -> bool:
        """Whether everything in the point's payload fits into its record."""
        ...

    async def upsert(self, points: Sequence[Point]) -> None:
        """Write points, each with `dense` or `text`."""
        ...

    async def embedded(self, points: Sequence[Point]) -> set[str]:
        """Which of these points it shows with the same text and payload, so that their text need not be embedded again; none where it is given vectors."""
        ...

    async def search(self, query: VectorQuery, ids: Sequence[str] | None = None) -> list[ScoredId]:
        """As `VectorIndex.search`, by `dense` or `text` and without pulls; among `ids` where they are given."""
        ...

    async def vectors(self, owner_id: str, ids: Sequence[str]) -> dict[str, FloatMatrix]:
        """As `VectorIndex.vectors`."""
        ...

    async def set_payloads(self, owner_id: str, changes: Sequence[tuple[str, JsonObject, JsonObject]]) -> None:
        """For each id, what its payload was and what it is from now on."""
        ...

    async def delete(self, owner_id: str, ids: Sequence[str]) -> None:
        """Remove these points; unknown ids are ignored."""
        ...

    async def sweep(self, owner_id: str, resource_ids: Sequence[str] | None) -> None:
        """Remove every point of these resources (None: of the owner) that is visible, also those that nobody knows of."""
        ...

    async def check(self) -> None:
        """`Unavailable` when the store does not answer."""
        ...

    async def settle(self) -> None:
        """As `EventualIndex.settle`."""
        ...

    async def close(self) -> None:
        """Close the connections."""
        ...


@dataclass(frozen=True, slots=True)
class OpenedVectors:
    """A store that was opened, with the name that its ledger goes by.

    is_new: it was created just now, so it is empty, whatever the ledger says
    """

    store: RemoteVectors
    name: str
    is_new: bool
