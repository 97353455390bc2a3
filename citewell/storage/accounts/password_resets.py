"""Secrets by which people who forgot their password set a new one: kept as hashes, good for an hour and for one use."""

from __future__ import annotations

import secrets
import time

import sqlalchemy as sa

from citewell.storage.accounts.owners import hash_token
from citewell.storage.accounts.people import person_of, set_password
from citewell.storage.accounts.tables import attempts, password_resets, people
from citewell.storage.database import Database
from citewell.types.accounts import Person, PersonState


class PasswordResetRepository:
    """Makes and uses secrets. Another one leaves those before it valid, or strangers could make them useless by asking."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def create(self, person_id: str | None, seconds: float) -> str:
        """A secret that sets this person's password within so many seconds; for None, one that sets nobody's.

        Both run the same statements and write to the disk, so that the time that it takes does not tell whether there is such a person.
        """
        now, secret = time.time(), secrets.token_urlsafe(32)
        hashed = hash_token(secret)
        wanted = sa.select(sa.literal(hashed), people.c.id, sa.literal(now + seconds)).where(
            people.c.id == (person_id or "")
        )
        async with self._database.write() as connection:
            await connection.execute(sa.delete(password_resets).where(password_resets.c.expires_at <= now))
            columns = password_resets.c.token_hash, password_resets.c.person_id, password_resets.c.expires_at
            await connection.execute(sa.insert(password_resets).from_select(columns, wanted))
            # A transaction that changes nothing does not wait for the disk. This row is gone with the next attempt that is counted.
            await connection.execute(sa.insert(attempts).values(key=hashed, tried=0, until=now))
        return secret

    async def person(self, secret: str) -> Person | None:
        """Whose password a secret sets; None for one that is not valid, and for who is suspended."""
        rows = await self._database.rows(_valid(secret))
        return person_of(rows[0]) if rows else None

    async def use(self, secret: str, password_hash: str) -> Person | None:
        """Set the password, end all sessions and use up all secrets of the person; None where this secret is not valid any more."""
        async with self._database.write() as connection:
            row = (await connection.execute(_valid(secret))).mappings().first()
            if row is None:
                return None
            used = sa.delete(password_resets).where(password_resets.c.token_hash == hash_token(secret))
            if not (await connection.execute(used)).rowcount:  # somebody else was quicker
                return None
            await set_password(connection, row["id"], password_hash)
            return person_of(row)


def _valid(secret: str) -> sa.Select[tuple[object, ...]]:
    return (
        sa.select(people)
        .join(password_resets, password_resets.c.person_id == people.c.id)
        .where(
            password_resets.c.token_hash == hash_token(secret),
            password_resets.c.expires_at > time.time(),
            people.c.state == PersonState.ACTIVE.value,
        )
    )
