"""Single-use password reset secrets, stored as hashes and valid for an hour."""

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
    """Creates and uses reset secrets.

    A new one leaves earlier ones valid; otherwise strangers could invalidate them.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    async def create(self, person_id: str | None, seconds: float) -> str:
        """Creates a secret that can set this person's password for so many seconds; for None, a useless one.

        Both run the same statements and write to disk, so that timing does not reveal whether the person exists.
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
            # A transaction without changes would not wait for the disk. The next counted attempt deletes this row.
            await connection.execute(sa.insert(attempts).values(key=hashed, tried=0, until=now))
        return secret

    async def person(self, secret: str) -> Person | None:
        """Returns the person whose password a secret sets; None if it is invalid or the person is suspended."""
        rows = await self._database.rows(_valid(secret))
        return person_of(rows[0]) if rows else None

    async def use(self, secret: str, password_hash: str) -> Person | None:
        """Sets the person's password, ends all their sessions and reset secrets; None if the secret is invalid."""
        async with self._database.write() as connection:
            row = (await connection.execute(_valid(secret))).mappings().first()
            if row is None:
                return None
            used = sa.delete(password_resets).where(password_resets.c.token_hash == hash_token(secret))
            if not (await connection.execute(used)).rowcount:  # a concurrent request used it first
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
