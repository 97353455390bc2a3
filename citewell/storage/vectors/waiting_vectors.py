"""Passages searchable by keyword whose vectors are still to come, and their order."""

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
# Ranks: passages found by a keyword search, beginnings, everything else.
ASKED, BEGINNING, REST = 0, 1, 2
# About three pages of running text.
_BEGINNING_CHUNKS = 12


def ranks_of(chunks: Sequence[Chunk], before: str | None = None) -> list[int]:
    """Returns the embedding rank of each of these consecutive chunks: beginnings of files and sections come first.

    before: the context of the preceding chunk
    """
    ranks: list[int] = []
    for chunk in chunks:
        begins = chunk.ordinal < _BEGINNING_CHUNKS or chunk.context != before
        ranks.append(BEGINNING if begins else REST)
        before = chunk.context
    return ranks


def insert_waiting(connection: sa.Connection, chunks: Sequence[Chunk], ranks: Sequence[int]) -> None:
    """Queues newly stored chunks for embedding, inside the caller's transaction. Rows are deleted with their chunks."""
    rows = [
        {"chunk_id": chunk.id, "resource_id": chunk.resource_id, "rank": rank, "ordinal": chunk.ordinal}
        for chunk, rank in zip(chunks, ranks, strict=True)
    ]
    if rows:
        connection.execute(sa.insert(waiting_vectors), rows)


def embedded(connection: sa.Connection, resource_id: str, ids: Sequence[str]) -> None:
    """Removes chunks whose vectors every index now has from the queue, inside the caller's transaction."""
    gone = sa.delete(waiting_vectors).where(waiting_vectors.c.chunk_id.in_(ids))
    done = resources.c.vectors_done + connection.execute(gone).rowcount
    connection.execute(sa.update(resources).where(resources.c.id == resource_id).values(vectors_done=done))


class WaitingVectorRepository:
    """All owners' chunks that await vectors; for workers, and for searches that found some of them."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._looked_at = float("-inf")
        self._any = False

    async def next(self, resource_id: str, limit: int, without: Collection[str] = ()) -> list[str]:
        """Returns the ids of the next `limit` chunks of a resource to embed, in order, except those in `without`."""
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
        """Returns which of these few hundred chunks have no vector yet. Costs nothing while no chunks are waiting."""
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
        """Moves these chunks to the front of their files, and their files to the front of their owners' queues."""
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
        """Whether any chunk is waiting, as of at most a second ago."""
        now = time.monotonic()
        if now - self._looked_at > _KNOWN_SECONDS:
            self._looked_at = now
            self._any = bool(await self._database.rows(sa.select(waiting_vectors.c.chunk_id).limit(1)))
        return self._any
