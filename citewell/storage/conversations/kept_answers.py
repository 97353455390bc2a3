"""Answers that may be given again to an equal question, while the files that it draws on are unchanged."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Sequence
from dataclasses import dataclass

import sqlalchemy as sa

from citewell.storage.conversations.memory_tables import answers_kept
from citewell.storage.database import Database
from citewell.storage.files.projects import ProjectRepository
from citewell.storage.tables import messages, resource_projects, resources, threads
from citewell.types import JsonObject, Scope

MAX_FILES = 5_000
"""In scope; with more, no answer is kept, as comparing their state would take longer than a search."""
MAX_COMPARED = 500
"""The newest answers under one key that a question is compared with."""


@dataclass(frozen=True, slots=True)
class KeptAnswer:
    """A question that was answered, and where and when."""

    question: str
    message_id: str
    thread_id: str
    answered_at: float


class KeptAnswerRepository:
    """Stored answers by their owner and a key: what was asked of, in which state, and how. They end with their message."""

    def __init__(self, database: Database, projects: ProjectRepository) -> None:
        self._database = database
        self._projects = projects

    async def state(self, owner_id: str, scope: Scope) -> str | None:
        """Returns a hash of the files in scope, their versions and what is said of them; None if they are too many.

        It changes with every file that is added, changed, deleted, described, processed again or moved.
        """
        named = await self._projects.named_within(owner_id, scope)
        table = resources.c
        query = sa.select(
            table.id, table.version, table.status, table.filename, table.indexed_at, table.extracted_at,
            table.chunk_count, table.vectors_done, table.metadata, table.identifier,
        ).where(table.owner_id == owner_id)  # fmt: skip
        if named is not None:
            if len(named) > MAX_FILES:
                return None
            query = query.where(table.id.in_(named))
        elif scope.project_ids is not None:
            ids = await self._projects.resolve_all(owner_id, scope.project_ids)
            held = sa.select(resource_projects.c.resource_id).where(resource_projects.c.project_id.in_(ids))
            query = query.where(table.id.in_(held))
        rows = await self._database.rows(query.order_by(table.id).limit(MAX_FILES + 1))
        if len(rows) > MAX_FILES:
            return None
        digest = hashlib.sha256()
        for row in rows:
            digest.update(repr(tuple(row.values())).encode("utf-8", "surrogatepass"))
        return digest.hexdigest()

    async def find(self, owner_id: str, key: str) -> Sequence[KeptAnswer]:
        """Returns the answers under this key, newest first, without those that the reader rated down."""
        query = (
            sa.select(answers_kept, messages.c.thread_id, messages.c.details)
            .join(messages, messages.c.id == answers_kept.c.message_id)
            .join(threads, threads.c.id == messages.c.thread_id)
            .where(answers_kept.c.owner_id == owner_id, threads.c.owner_id == owner_id, answers_kept.c.key == key)
            .order_by(answers_kept.c.created_at.desc())
            .limit(MAX_COMPARED)
        )
        return [
            KeptAnswer(row["question"], row["message_id"], row["thread_id"], row["created_at"])
            for row in await self._database.rows(query)
            if (row["details"].get("feedback") or {}).get("rating") != "down"
        ]

    async def keep(self, owner_id: str, key: str, question: str, message_id: str) -> None:
        """Lets an answer of the owner's be given again, if it is still there."""
        values: JsonObject = {"message_id": message_id, "owner_id": owner_id, "key": key, "question": question}
        mine = sa.select(messages.c.id).join(threads).where(messages.c.id == message_id, threads.c.owner_id == owner_id)
        async with self._database.write() as connection:
            if await connection.scalar(mine):
                await connection.execute(sa.insert(answers_kept).values(**values, created_at=time.time()))
