"""Earlier conversations as they are searched: a person's exchanges and their vectors, if the person allows it."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Mapping, Sequence

import numpy as np
import sqlalchemy as sa

from citewell.ports import FloatMatrix
from citewell.storage.conversations.memory_tables import conversation_memories, exchange_vectors
from citewell.storage.conversations.quotations import cites_unreadable
from citewell.storage.database import Database, insert_new
from citewell.storage.tables import citations, messages, owners, threads
from citewell.types.conversations import Exchange

MAX_EXCHANGES = 1_000
"""The newest exchanges of a person that are searched."""


class MemoryRepository:
    """Who lets earlier conversations be searched, and the exchanges in them; every method is scoped by owner."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def is_on(self, owner_id: str) -> bool:
        """Whether the owner's earlier conversations are searched."""
        query = sa.select(conversation_memories.c.owner_id).where(conversation_memories.c.owner_id == owner_id)
        return bool(await self._database.rows(query))

    async def switch(self, owner_id: str, on: bool) -> None:
        """Allows or ends the search. Ending it also deletes the vectors."""
        async with self._database.write() as connection:
            if on:
                row = {"owner_id": owner_id, "since": time.time()}
                await connection.execute(insert_new(connection, conversation_memories), [row])
                return
            mine = sa.select(messages.c.id).join(threads).where(threads.c.owner_id == owner_id)
            await connection.execute(sa.delete(exchange_vectors).where(exchange_vectors.c.message_id.in_(mine)))
            await connection.execute(
                sa.delete(conversation_memories).where(conversation_memories.c.owner_id == owner_id)
            )

    async def exchanges(self, owner_id: str, but: str | None = None) -> list[Exchange]:
        """Returns the newest exchanges, newest first, except those of the thread `but`.

        Leaves out answers that cite a file which is deleted or which the owner may no longer read.
        """
        answer = messages.alias("answer")
        query = (
            sa.select(
                messages.c.id,
                messages.c.thread_id,
                messages.c.content,
                messages.c.details,
                messages.c.created_at,
                answer.c.id.label("answer_id"),
                answer.c.content.label("answer"),
                answer.c.details.label("answer_details"),
            )
            .join(threads, threads.c.id == messages.c.thread_id)
            .join(owners, owners.c.id == threads.c.owner_id)
            .outerjoin(
                answer,
                sa.and_(
                    answer.c.thread_id == messages.c.thread_id,
                    answer.c.ordinal == messages.c.ordinal + 1,
                    answer.c.role == "assistant",
                ),
            )
            .where(threads.c.owner_id == owner_id, messages.c.role == "user")
            .where(sa.or_(answer.c.id.is_(None), sa.not_(cites_unreadable(owners.c.id, answer.c.id))))
            .order_by(messages.c.created_at.desc(), messages.c.id)
            .limit(MAX_EXCHANGES)
        )
        rows = await self._database.rows(query if but is None else query.where(threads.c.id != but))
        cited = await self._cited([row["answer_id"] for row in rows if row["answer_id"]])
        return [_exchange(row, cited.get(row["answer_id"] or "", ())) for row in rows]

    async def vectors(self, fingerprint: str, owner_id: str) -> dict[str, FloatMatrix]:
        """Returns the owner's vectors made with this model, each of shape (dimensions,), by message id."""
        query = (
            sa.select(exchange_vectors.c.message_id, exchange_vectors.c.vector)
            .join(messages, messages.c.id == exchange_vectors.c.message_id)
            .join(threads, threads.c.id == messages.c.thread_id)
            .where(threads.c.owner_id == owner_id, exchange_vectors.c.fingerprint == fingerprint)
        )
        rows = await self._database.rows(query)
        return {row["message_id"]: np.frombuffer(row["vector"], dtype="<f4") for row in rows}

    async def keep_vectors(self, fingerprint: str, vectors: Mapping[str, FloatMatrix]) -> None:
        """Stores vectors by message id; messages that are deleted by now are left out."""
        async with self._database.write() as connection:
            there = sa.select(messages.c.id).where(messages.c.id.in_(list(vectors)))
            found = list((await connection.execute(there)).scalars())
            await connection.execute(sa.delete(exchange_vectors).where(exchange_vectors.c.message_id.in_(found)))
            if found:
                await connection.execute(
                    sa.insert(exchange_vectors),
                    [
                        {"message_id": one, "fingerprint": fingerprint, "vector": vectors[one].astype("<f4").tobytes()}
                        for one in found
                    ],
                )

    async def _cited(self, answers: Sequence[str]) -> dict[str, tuple[str, ...]]:
        """The files that each of the answers cites."""
        found: defaultdict[str, dict[str, None]] = defaultdict(dict)
        if answers:
            query = sa.select(citations.c.message_id, citations.c.resource_id)
            for row in await self._database.rows(query.where(citations.c.message_id.in_(answers))):
                found[row["message_id"]][row["resource_id"]] = None
        return {answer: tuple(files) for answer, files in found.items()}


def _exchange(row: sa.RowMapping, cited: tuple[str, ...]) -> Exchange:
    details = row["answer_details"] or {}
    return Exchange(
        message_id=row["id"],
        thread_id=row["thread_id"],
        said=row["content"],
        answer=row["answer"] or "",
        answer_id=row["answer_id"],
        # What quotes another conversation is quoted from that one, and not at all once it is deleted.
        answered=bool(details.get("answered"))
        and details.get("intent") == "document_query"
        and not details.get("quotes_conversations"),
        scope=row["details"].get("scope") or {},
        cited=cited,
        asked_at=row["created_at"],
    )
