"""Passages that are found by their words and whose vectors follow: which they are, and which of them come first."""

from __future__ import annotations

import time
from collections.abc import Collection, Sequence
from typing import Any

import sqlalchemy as sa

from citewell.storage.database import Database
from citewell.storage.tables import resources, waiting_vectors
from citewell.types import Chunk, Status

_BATCH = 500
_KNOWN_SECONDS = 1.0
# Ranks: what a search has found by words, beginnings, everything else.
ASKED, BEGINNING, REST = 0, 1, 2
# Some three pages of running text.
_BEGINNING_CHUNKS = 12


def ranks_of(chunks: Sequence[Chunk], before: str | None = None) -> list[int]:
    """How soon each chunk of consecutive ones gets its vector: those that begin a file or a section come first.

    before: the context of the chunk that precedes them
    """
    ranks: list[int] = []
    for chunk in chunks:
        begins = chunk.ordinal < _BEGINNING_CHUNKS or chunk.context != before
        ranks.append(BEGINNING if begins else REST)
        before = chunk.context
    return ranks


def insert_waiting(connection: sa.Connection, chunks: Sequence[Chunk], ranks: Sequence[int]) -> None:
    """Note, inside the caller's transaction, that chunks just stored have no vectors yet. The rows go with their chunks."""
    rows = [
        {"chunk_id": chunk.id, "resource_id": chunk.resource_id, "rank": rank, "ordinal": chunk.ordinal}
        for chunk, rank in zip(chunks, ranks, strict=True)
    ]
    if rows:
        connection.execute(sa.insert(waiting_vectors), rows)


def embedded(connection: sa.Connection, resource_id: str, ids: Sequence[str]) -> None:
    """Note, inside the caller's transaction, that every index has the vectors of these chunks of a resource."""
    gone = sa.delete(waiting_vectors).where(waiting_vectors.c.chunk_id.in_(ids))
    done = resources.c.vectors_done + connection.execute(gone).rowcount
    connection.execute(sa.update(resources).where(resources.c.id == resource_id).values(vectors_done=done))


class WaitingVectorRepository:
    """The chunks of everybody that wait for their vectors; for workers, and for searches that found some of them."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._looked_at = float("-inf")
        self._any = False

    async def next(self, resource_id: str, limit: int, without: Collection[str] = ()) -> list[str]:
        """The ids of up to `limit` chunks of a resource whose turn it is, in the order of their turns; none of `without`."""
        table = waiting_vectors.c
        query = (
            sa.select(table.chunk_id)
            .where(table.resource_id == resource_id)
            .order_by(table.rank, table.ordinal)
            .limit(limit + len(without))
        )
        found = [row["chunk_id"] for row in await self._database.rows(query)]
        return [one for one in found if one not in without][:limit]

    async def among(self, ids: Sequence[str]) -> set[str]:
        """Those of some hundred chunks that have no vector yet. Costs nothing while no chunk of anybody waits."""
        if not ids or not await self._waits():
            return set()
        found: set[str] = set()
        for start in range(0, len(ids), _BATCH):
            chosen = waiting_vectors.c.chunk_id.in_(ids[start : start + _BATCH])
            found |= {
                row["chunk_id"]
                for row in await self._database.rows(sa.select(waiting_vectors.c.chunk_id).where(chosen))
            }
        return found

    async def prefer(self, ids: Sequence[str]) -> None:
        """Embed these chunks before others of their files, and their files before others of their owner."""
        table = waiting_vectors
        chosen = sa.and_(table.c.chunk_id.in_(ids[:_BATCH]), table.c.rank > ASKED)
        async with self._database.write() as connection:
            raised = sa.update(table).where(chosen).values(rank=ASKED).returning(table.c.resource_id)
            files = set((await connection.execute(raised)).scalars())
            first: dict[str, Any] = {"due": 0.0}
            wanted = sa.and_(resources.c.id.in_(files), resources.c.status == Status.EMBEDDING)
            if files:
                await connection.execute(sa.update(resources).where(wanted).values(**first))

    async def _waits(self) -> bool:
        """Whether any chunk waited at most a second ago."""
        now = time.monotonic()
        if now - self._looked_at > _KNOWN_SECONDS:
            self._looked_at = now
            self._any = bool(await self._database.rows(sa.select(waiting_vectors.c.chunk_id).limit(1)))
        return self._any
