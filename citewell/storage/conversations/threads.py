"""Conversations, stored in SQL so that they survive restarts."""

from __future__ import annotations

import time
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import sqlalchemy as sa

from citewell.errors import NotFound
from citewell.storage.channels.outbox import announce
from citewell.storage.conversations.memory_tables import remembered
from citewell.storage.conversations.quotations import empty, forget_messages, gone
from citewell.storage.cursors import decode_cursor, encode_cursor
from citewell.storage.database import Database
from citewell.storage.tables import chunks, citations, messages, threads
from citewell.types import Citation, JsonObject, Message, OutgoingEvent, Thread
from citewell.types.conversations import Remembered

_CITATIONS_PER_ANSWER = 20


@dataclass(frozen=True, slots=True)
class AskedQuestion:
    """A question, and the ids of the passages that its answer cited and that still exist."""

    question: str
    cited: tuple[str, ...]


class ThreadRepository:
    """Threads and messages; every method is scoped by owner."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def create(self, owner_id: str, title: str, scope: JsonObject) -> Thread:
        """Creates an empty thread."""
        now = time.time()
        thread = Thread(
            id=str(uuid.uuid4()), owner_id=owner_id, title=title, scope=scope, created_at=now, updated_at=now
        )
        async with self._database.write() as connection:
            await connection.execute(
                sa.insert(threads).values(
                    id=thread.id, owner_id=owner_id, title=title, scope=scope, created_at=now, updated_at=now
                )
            )
        return thread

    async def get(self, owner_id: str, thread_id: str) -> Thread:
        """Returns one thread. Raises `NotFound` if it is not the owner's."""
        query = sa.select(threads).where(threads.c.id == thread_id, threads.c.owner_id == owner_id)
        rows = await self._database.rows(query)
        if not rows:
            raise NotFound("The thread does not exist, or you have no access to it.")
        return Thread(**rows[0])

    async def page(
        self, owner_id: str, limit: int, cursor: str | None, search: str | None = None
    ) -> tuple[list[Thread], str | None]:
        """Returns a page of threads, most recently used first, and the next cursor."""
        query = sa.select(threads).where(threads.c.owner_id == owner_id)
        if search:
            # EXISTS per thread: a list of all threads with such a message would scan every owner's messages.
            said = sa.exists().where(
                messages.c.thread_id == threads.c.id, messages.c.content.icontains(search, autoescape=True)
            )
            query = query.where(sa.or_(threads.c.title.icontains(search, autoescape=True), said))
        if cursor:
            updated, last = decode_cursor(cursor, float, str)
            query = query.where(sa.tuple_(threads.c.updated_at, threads.c.id) < sa.tuple_(updated, last))
        query = query.order_by(threads.c.updated_at.desc(), threads.c.id.desc()).limit(limit + 1)
        async with self._database.read() as connection:
            found = [Thread(**row) for row in (await connection.execute(query)).mappings()]
        more = len(found) > limit
        found = found[:limit]
        return found, encode_cursor(found[-1].updated_at, found[-1].id) if more else None

    async def update(self, owner_id: str, thread_id: str, **values: Any) -> Thread:
        """Changes `title` or `scope`."""
        async with self._database.write() as connection:
            await connection.execute(
                sa.update(threads)
                .where(threads.c.id == thread_id, threads.c.owner_id == owner_id)
                .values(**values, updated_at=time.time())
            )
        return await self.get(owner_id, thread_id)

    async def delete(self, owner_id: str, thread_id: str) -> None:
        """Deletes a thread with its messages and citations."""
        async with self._database.write() as connection:
            mine = sa.and_(threads.c.id == thread_id, threads.c.owner_id == owner_id)
            said = messages.c.thread_id.in_(sa.select(threads.c.id).where(mine))
            await connection.run_sync(forget_messages, said)
            done = await connection.execute(sa.delete(threads).where(mine))
            if not done.rowcount:
                raise NotFound("The thread does not exist, or you have no access to it.")

    async def append(
        self,
        owner_id: str,
        thread_id: str,
        role: Literal["user", "assistant"],
        content: str,
        cited: Sequence[Citation] = (),
        details: JsonObject | None = None,
        message_id: str | None = None,
        event: OutgoingEvent | None = None,
        quoted: Sequence[Remembered] = (),
    ) -> Message:
        """Appends a message to the owner's thread, and queues `event`, if given, for webhooks.

        quoted: what it quotes from other conversations
        """
        message_id, now = message_id or str(uuid.uuid4()), time.time()
        async with self._database.write() as connection:
            mine = sa.and_(threads.c.id == thread_id, threads.c.owner_id == owner_id)
            if not (await connection.execute(sa.update(threads).where(mine).values(updated_at=now))).rowcount:
                raise NotFound("The thread does not exist, or you have no access to it.")
            last = sa.select(sa.func.max(messages.c.ordinal)).where(messages.c.thread_id == thread_id)
            newest = await connection.scalar(last)
            await connection.execute(
                sa.insert(messages).values(
                    id=message_id,
                    thread_id=thread_id,
                    ordinal=0 if newest is None else newest + 1,
                    role=role,
                    content=content,
                    details=details or {},
                    created_at=now,
                )
            )
            if cited:
                await connection.execute(sa.insert(citations), _citation_rows(message_id, cited))
            if quoted:
                # A conversation may have been deleted while the answer was being written.
                there = sa.select(messages.c.id).where(messages.c.id.in_([one.message_id for one in quoted]))
                found = set((await connection.execute(there)).scalars())
                if kept := _remembered_rows(message_id, [one for one in quoted if one.message_id in found]):
                    await connection.execute(sa.insert(remembered), kept)
            if event is not None:
                await connection.run_sync(announce, owner_id, [event])
            # A file may have been deleted while the answer was being written.
            if cited and (lost := await connection.run_sync(gone, [one.resource_id for one in cited])):
                await connection.run_sync(empty, lost)
        return Message(
            id=message_id,
            thread_id=thread_id,
            role=role,
            content=content,
            created_at=now,
            citations=tuple(cited),
            remembered=tuple(quoted),
            details=details or {},
        )

    async def messages(self, owner_id: str, thread_id: str, last: int | None = None) -> list[Message]:
        """Returns the messages of a thread, oldest first; only the `last` ones if given."""
        await self.get(owner_id, thread_id)
        query = sa.select(messages).where(messages.c.thread_id == thread_id).order_by(messages.c.ordinal.desc())
        rows = await self._database.rows(query.limit(last) if last else query)
        cited = (
            sa.select(citations.c.message_id, citations.c.data)
            .where(citations.c.message_id.in_([row["id"] for row in rows]))
            .order_by(citations.c.ordinal)
        )
        by_message: dict[str, list[Citation]] = {}
        for row in await self._database.rows(cited) if rows else ():
            by_message.setdefault(row["message_id"], []).append(Citation.from_json(row["data"]))
        quoted = await self._quoted([row["id"] for row in rows])
        return [
            Message(
                id=row["id"],
                thread_id=row["thread_id"],
                role=row["role"],
                content=row["content"],
                created_at=row["created_at"],
                citations=tuple(by_message.get(row["id"], ())),
                remembered=tuple(quoted.get(row["id"], ())),
                details=row["details"],
            )
            for row in reversed(rows)
        ]

    async def _quoted(self, ids: Sequence[str]) -> dict[str, list[Remembered]]:
        """What each message quotes from other conversations that still exist."""
        found: dict[str, list[Remembered]] = {}
        query = sa.select(remembered.c.message_id, remembered.c.data).where(remembered.c.message_id.in_(ids))
        for row in await self._database.rows(query.order_by(remembered.c.ordinal)) if ids else ():
            found.setdefault(row["message_id"], []).append(Remembered.from_json(row["data"]))
        return found

    async def thread_of(self, owner_id: str, message_id: str) -> str:
        """Returns the id of the owner's thread that has this answer. Raises `NotFound`."""
        query = (
            sa.select(messages.c.thread_id)
            .join(threads, threads.c.id == messages.c.thread_id)
            .where(messages.c.id == message_id, messages.c.role == "assistant", threads.c.owner_id == owner_id)
        )
        for row in await self._database.rows(query):
            return row["thread_id"]
        raise NotFound("There is no such answer, or you have no access to it.")

    async def asked(self, owner_id: str, limit: int) -> list[AskedQuestion]:
        """Returns the owner's latest distinct questions whose answers cite passages that still exist, with those."""
        question = messages.alias("question")
        query = (
            sa.select(messages.c.id, question.c.content, citations.c.chunk_id)
            .join(threads, threads.c.id == messages.c.thread_id)
            .join(citations, citations.c.message_id == messages.c.id)
            .join(chunks, chunks.c.id == citations.c.chunk_id)
            .join(
                question,
                sa.and_(
                    question.c.thread_id == messages.c.thread_id,
                    question.c.ordinal == messages.c.ordinal - 1,
                    question.c.role == "user",
                ),
            )
            .where(threads.c.owner_id == owner_id, chunks.c.owner_id == owner_id, messages.c.role == "assistant")
            .order_by(messages.c.created_at.desc(), messages.c.id, citations.c.ordinal)
            .limit(limit * _CITATIONS_PER_ANSWER)
        )
        cited: dict[str, dict[str, None]] = {}
        told_by: dict[str, str] = {}
        for row in await self._database.rows(query):
            if told_by.setdefault(row["content"], row["id"]) == row["id"]:
                cited.setdefault(row["content"], {})[row["chunk_id"]] = None
        return [AskedQuestion(text, tuple(ids)) for text, ids in list(cited.items())[:limit]]

    async def cut(self, owner_id: str, thread_id: str, message_id: str) -> None:
        """Deletes a message and all later ones. Raises `NotFound` if the thread has no such message."""
        await self.get(owner_id, thread_id)
        mine = sa.and_(messages.c.id == message_id, messages.c.thread_id == thread_id)
        async with self._database.write() as connection:
            ordinal = await connection.scalar(sa.select(messages.c.ordinal).where(mine))
            if ordinal is None:
                raise NotFound("There is no such message in this thread.")
            after = sa.and_(messages.c.thread_id == thread_id, messages.c.ordinal >= ordinal)
            await connection.run_sync(forget_messages, after)
            await connection.execute(sa.delete(messages).where(after))

    async def rate(self, owner_id: str, thread_id: str, message_id: str, feedback: JsonObject | None) -> None:
        """Records the reader's feedback on an answer, or removes it."""
        await self.get(owner_id, thread_id)
        mine = sa.and_(messages.c.id == message_id, messages.c.thread_id == thread_id, messages.c.role == "assistant")
        async with self._database.write() as connection:
            details = await connection.scalar(sa.select(messages.c.details).where(mine))
            if details is None:
                raise NotFound("There is no such answer in this thread.")
            kept = {name: value for name, value in details.items() if name != "feedback"}
            changed = kept | {"feedback": feedback} if feedback else kept
            await connection.execute(sa.update(messages).where(mine).values(details=changed))


def _citation_rows(message_id: str, cited: Sequence[Citation]) -> list[dict[str, Any]]:
    return [
        {
            "message_id": message_id,
            "ordinal": ordinal,
            "n": c.n,
            "chunk_id": c.chunk_id,
            "resource_id": c.resource_id,
            "version": c.version,
            "data": c.to_json(),
        }
        for ordinal, c in enumerate(cited)
    ]


def _remembered_rows(message_id: str, quoted: Sequence[Remembered]) -> list[dict[str, Any]]:
    return [
        {"message_id": message_id, "ordinal": ordinal, "source_id": one.message_id, "data": one.to_json()}
        for ordinal, one in enumerate(quoted)
    ]
