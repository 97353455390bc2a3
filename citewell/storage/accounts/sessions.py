"""Sign-in sessions with single-use refresh tokens: a second use indicates theft, by or from the user."""

from __future__ import annotations

import secrets
import time
import uuid

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from citewell.errors import NotFound
from citewell.storage.accounts.owners import hash_token
from citewell.storage.accounts.people import person_of
from citewell.storage.accounts.tables import people, refresh_tokens, sessions
from citewell.storage.database import Database
from citewell.types.accounts import Person, PersonState, SignedIn


class SessionRepository:
    """Sessions of people, each a family of refresh tokens, which are stored as hashes."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def begin(self, person_id: str, agent: str, address: str, seconds: float) -> tuple[SignedIn, str]:
        """Starts a session, which ends after `seconds` at the latest; returns it with its first refresh token."""
        now, secret = time.time(), secrets.token_urlsafe(32)
        begun = SignedIn(
            id=str(uuid.uuid4()),
            person_id=person_id,
            created_at=now,
            last_used_at=now,
            expires_at=now + seconds,
            agent=agent,
            address=address,
        )
        async with self._database.write() as connection:
            await connection.execute(
                sa.insert(sessions).values(
                    id=begun.id,
                    person_id=person_id,
                    agent=agent,
                    address=address,
                    created_at=now,
                    last_used_at=now,
                    expires_at=begun.expires_at,
                )
            )
            await connection.execute(
                sa.insert(refresh_tokens).values(token_hash=hash_token(secret), session_id=begun.id)
            )
        return begun, secret

    async def rotate(self, secret: str) -> tuple[SignedIn, Person, str] | None:
        """Exchanges a refresh token for the next one; None if it is not valid. Reuse of a token ends its session."""
        now, fresh, digest = time.time(), secrets.token_urlsafe(32), hash_token(secret)
        async with self._database.write() as connection:
            token = refresh_tokens
            mine = sa.update(token).where(token.c.token_hash == digest, token.c.used_at.is_(None))
            is_first_use = (await connection.execute(mine.values(used_at=now))).rowcount == 1
            session_id = await connection.scalar(sa.select(token.c.session_id).where(token.c.token_hash == digest))
            if session_id is None:
                return None
            if not is_first_use:
                await _end(connection, sessions.c.id == session_id)
                return None
            row = (await connection.execute(_alive(now).where(sessions.c.id == session_id))).mappings().first()
            if row is None:
                return None
            await connection.execute(sa.update(sessions).where(sessions.c.id == session_id).values(last_used_at=now))
            await connection.execute(sa.insert(token).values(token_hash=hash_token(fresh), session_id=session_id))
        return _signed_in(row), person_of(row), fresh

    async def person(self, session_id: str) -> Person | None:
        """Returns the person signed in; None once the session has ended or the person is suspended."""
        rows = await self._database.rows(_alive(time.time()).where(sessions.c.id == session_id))
        return person_of(rows[0]) if rows else None

    async def all(self, person_id: str) -> list[SignedIn]:
        """Returns a person's sessions, latest first."""
        query = _alive(time.time()).where(people.c.id == person_id).order_by(sessions.c.last_used_at.desc())
        return [_signed_in(row) for row in await self._database.rows(query)]

    async def end(self, person_id: str, session_id: str) -> None:
        """Ends one of a person's sessions. Raises `NotFound` for another person's."""
        async with self._database.write() as connection:
            if not await _end(connection, sessions.c.person_id == person_id, sessions.c.id == session_id):
                raise NotFound

    async def end_by_token(self, secret: str) -> None:
        """Ends the session of a refresh token, if there is one."""
        family = sa.select(refresh_tokens.c.session_id).where(refresh_tokens.c.token_hash == hash_token(secret))
        async with self._database.write() as connection:
            await _end(connection, sessions.c.id.in_(family))

    async def end_all(self, person_id: str) -> int:
        """Ends all sessions of a person; returns their number."""
        async with self._database.write() as connection:
            return await _end(connection, sessions.c.person_id == person_id)


def _alive(now: float) -> sa.Select[*tuple[object, ...]]:
    named = (sessions.c.id.label("session_id"), sessions.c.created_at.label("begun_at"))
    details = (sessions.c.last_used_at, sessions.c.expires_at, sessions.c.agent, sessions.c.address)
    joined = sa.select(people, *named, *details).join(sessions, sessions.c.person_id == people.c.id)
    return joined.where(
        sessions.c.ended_at.is_(None), sessions.c.expires_at > now, people.c.state == PersonState.ACTIVE.value
    )


def _signed_in(row: sa.RowMapping) -> SignedIn:
    return SignedIn(
        id=row["session_id"],
        person_id=row["id"],
        created_at=row["begun_at"],
        last_used_at=row["last_used_at"],
        expires_at=row["expires_at"],
        agent=row["agent"],
        address=row["address"],
    )


async def _end(connection: AsyncConnection, *conditions: sa.ColumnElement[bool]) -> int:
    ended = sa.update(sessions).where(*conditions, sessions.c.ended_at.is_(None)).values(ended_at=time.time())
    return (await connection.execute(ended)).rowcount
