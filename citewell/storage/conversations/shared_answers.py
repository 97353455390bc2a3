"""Links to single answers, created by the owner of the conversation and open to anyone with the secret."""

from __future__ import annotations

import secrets
import time
import uuid
from collections.abc import Sequence

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from citewell.errors import Conflict, NotFound
from citewell.storage.accounts.owners import hash_token
from citewell.storage.accounts.tables import may_act
from citewell.storage.conversations.sharing_tables import shared_answers
from citewell.storage.database import Database
from citewell.storage.tables import citations, messages, resources, threads
from citewell.types import Citation
from citewell.types.sharing import OpenedAnswer, SharedAnswer, ShownAnswer, ShownPassage

_UNSHARABLE = (
    "This answer cannot be shared: it cites nothing, or a file that was deleted or belongs to someone else. "
    "Ask again with your own files."
)
_WORKS = may_act(shared_answers.c.owner_id, shared_answers.c.made_with)


class SharedAnswerRepository:
    """Links to answers, stored as hashes of their secrets. Deleting any cited file disables the link."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def create(
        self, owner_id: str, thread_id: str, message_id: str, seconds: float, made_with: str | None = None
    ) -> tuple[SharedAnswer, str]:
        """Creates a link, which ends with the token `made_with` if given; returns it with its secret.

        Raises `NotFound` for another owner's answer, and `Conflict` for one that cites nothing or another owner's file.
        """
        now, secret = time.time(), secrets.token_urlsafe(32)
        made = SharedAnswer(
            id=str(uuid.uuid4()),
            thread_id=thread_id,
            message_id=message_id,
            created_at=now,
            expires_at=now + seconds,
        )
        mine = (
            sa.select(messages.c.id)
            .join(threads, threads.c.id == messages.c.thread_id)
            .where(threads.c.owner_id == owner_id, threads.c.id == thread_id)
            .where(messages.c.id == message_id, messages.c.role == "assistant")
        )
        async with self._database.write() as connection:
            if await connection.scalar(mine) is None:
                raise NotFound("The answer does not exist, or you have no access to it.")
            if not await _cited(connection, owner_id, message_id):
                raise Conflict(_UNSHARABLE)
            await connection.execute(
                sa.delete(shared_answers).where(
                    shared_answers.c.owner_id == owner_id, shared_answers.c.expires_at <= now
                )
            )
            await connection.execute(
                sa.insert(shared_answers).values(
                    id=made.id,
                    owner_id=owner_id,
                    message_id=message_id,
                    token_hash=hash_token(secret),
                    created_at=now,
                    expires_at=made.expires_at,
                    made_with=made_with,
                )
            )
        return made, secret

    async def all(self, owner_id: str) -> list[SharedAnswer]:
        """Returns the owner's working links, newest first."""
        query = (
            sa.select(shared_answers, messages.c.thread_id)
            .join(messages, messages.c.id == shared_answers.c.message_id)
            .where(shared_answers.c.owner_id == owner_id, shared_answers.c.expires_at > time.time(), _WORKS)
            .order_by(shared_answers.c.created_at.desc(), shared_answers.c.id)
        )
        return [
            SharedAnswer(
                id=row["id"],
                thread_id=row["thread_id"],
                message_id=row["message_id"],
                created_at=row["created_at"],
                expires_at=row["expires_at"],
            )
            for row in await self._database.rows(query)
        ]

    async def revoke(self, owner_id: str, share_id: str) -> None:
        """Revokes a link. Raises `NotFound` for another owner's."""
        mine = (shared_answers.c.id == share_id, shared_answers.c.owner_id == owner_id)
        async with self._database.write() as connection:
            if not (await connection.execute(sa.delete(shared_answers).where(*mine))).rowcount:
                raise NotFound

    async def open(self, secret: str) -> OpenedAnswer:
        """Returns a link's answer and owner.

        Raises the same `NotFound` whether the link never existed, has ended, or its owner is suspended or deleted a
        cited file.
        """
        query = (
            sa.select(
                shared_answers.c.owner_id, shared_answers.c.id.label("share_id"), shared_answers.c.expires_at, messages
            )
            .join(messages, messages.c.id == shared_answers.c.message_id)
            .join(
                threads, sa.and_(threads.c.id == messages.c.thread_id, threads.c.owner_id == shared_answers.c.owner_id)
            )
            .where(
                shared_answers.c.token_hash == hash_token(secret),
                shared_answers.c.expires_at > time.time(),
                _WORKS,
            )
        )
        async with self._database.read() as connection:
            row = (await connection.execute(query)).mappings().first()
            cited = [] if row is None else await _cited(connection, row["owner_id"], row["id"])
        if row is None or not cited:
            raise NotFound("This link does not work: it has expired, or what it showed is no longer shared.")
        shown = ShownAnswer(
            text=row["content"],
            passages=tuple(
                ShownPassage(n=one.n, label=one.label, quote=one.quote, verdict=one.verdict.value) for one in cited
            ),
            answered_at=row["created_at"],
            expires_at=row["expires_at"],
        )
        return OpenedAnswer(owner_id=row["owner_id"], share_id=row["share_id"], shown=shown)


async def _cited(connection: AsyncConnection, owner_id: str, message_id: str) -> Sequence[Citation]:
    """Returns an answer's citations in order; none unless every cited file exists and is the owner's."""
    query = (
        sa.select(citations.c.data, resources.c.id.label("resource"))
        .outerjoin(resources, sa.and_(resources.c.id == citations.c.resource_id, resources.c.owner_id == owner_id))
        .where(citations.c.message_id == message_id)
        .order_by(citations.c.ordinal)
    )
    rows = (await connection.execute(query)).mappings().all()
    if any(row["resource"] is None for row in rows):
        return []
    return [Citation.from_json(row["data"]) for row in rows]
