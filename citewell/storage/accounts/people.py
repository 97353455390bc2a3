"""People with accounts. A person's data belongs to the owner created with the account."""

from __future__ import annotations

import time
import uuid
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from citewell.errors import Conflict, Forbidden, NotFound
from citewell.storage.accounts.owners import add_owner, hash_token
from citewell.storage.accounts.tables import invitations, may_act, memberships, password_resets, people, sessions
from citewell.storage.database import Database, insert_new
from citewell.types.accounts import Person, PersonState

_ONE_AT_A_TIME = sa.text("LOCK TABLE people IN SHARE ROW EXCLUSIVE MODE")
_KNOWN = "An account with this e-mail address already exists. Sign in, or use another address."
_LINKED = "Another person on this server already uses this account of the identity provider."
_NOT_INVITED = "This invitation is no longer valid, or not for this e-mail address. Ask for a new one."


@dataclass(frozen=True, slots=True, kw_only=True)
class NewPerson:
    """An account to create. identity: issuer and subject, for sign-in with an identity provider"""

    email: str
    name: str
    password_hash: str | None = None
    identity: tuple[str, str] | None = None


def person_of(row: Any) -> Person:
    """Builds a person from a row of the table, or of a join with it."""
    return Person(
        id=row["id"],
        owner_id=row["owner_id"],
        email=row["email"],
        name=row["name"],
        is_administrator=bool(row["is_administrator"]),
        state=PersonState(row["state"]),
        created_at=row["created_at"],
        has_password=row["password_hash"] is not None,
        issuer=row["issuer"],
    )


class PersonRepository:
    """Creates and finds people. Lookups by person id are for that person or an administrator."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def create(
        self, new: NewPerson, invitation: str | None = None, *, needs_invitation: bool, administrator: bool = False
    ) -> Person:
        """Creates a person with an owner and a default project. The first person is an administrator.

        invitation: its secret, which is used up and makes the person a member of the project that it names. Raises
        `Conflict` for a known address, and `Forbidden` without a valid invitation where one is needed.
        """
        now, person_id = time.time(), str(uuid.uuid4())
        async with self._database.write() as connection:
            if not self._database.is_sqlite:
                await connection.execute(_ONE_AT_A_TIME)
            is_first = await connection.scalar(sa.select(people.c.id).limit(1)) is None
            if await connection.scalar(sa.select(people.c.id).where(people.c.email == new.email)) is not None:
                raise Conflict(_KNOWN)
            leave = await use_invitation(connection, invitation, new.email, now) if invitation else None
            if leave is None and (invitation or (needs_invitation and not is_first and not administrator)):
                raise Forbidden(_NOT_INVITED if invitation else None)
            owner_id = await add_owner(connection, f"person:{person_id}")
            assert owner_id is not None
            issuer, subject = new.identity or (None, None)
            row = {
                "id": person_id,
                "owner_id": owner_id,
                "email": new.email,
                "name": new.name,
                "password_hash": new.password_hash,
                "is_administrator": is_first or administrator,
                "state": PersonState.ACTIVE.value,
                "issuer": issuer,
                "subject": subject,
                "created_at": now,
            }
            await connection.execute(sa.insert(people).values(**row))
            if leave is not None:
                await join_project(connection, leave, owner_id, now)
        return person_of(row)

    async def exist(self) -> bool:
        """Whether there are any accounts."""
        return bool(await self._database.rows(sa.select(people.c.id).limit(1)))

    async def by_email(self, email: str) -> tuple[Person, str | None] | None:
        """Returns the person with this e-mail address, and their password hash."""
        return await self._one(people.c.email == email)

    async def by_identity(self, issuer: str, subject: str) -> Person | None:
        """Returns the person with this subject at an identity provider."""
        found = await self._one(people.c.issuer == issuer, people.c.subject == subject)
        return found and found[0]

    async def get(self, person_id: str) -> tuple[Person, str | None]:
        """Returns a person and their password hash. Raises `NotFound` for an unknown id."""
        found = await self._one(people.c.id == person_id)
        if found is None:
            raise NotFound
        return found

    async def all(self) -> list[Person]:
        """Returns all people, in order of creation."""
        return [person_of(row) for row in await self._database.rows(sa.select(people).order_by(people.c.created_at))]

    async def change(
        self,
        person_id: str,
        *,
        name: str | None = None,
        password_hash: str | None = None,
        keep_session: str | None = None,
    ) -> None:
        """Changes a person's name or password.

        A new password ends every session but `keep_session`, and invalidates all password reset links.
        """
        async with self._database.write() as connection:
            if name is not None:
                await connection.execute(sa.update(people).where(people.c.id == person_id).values(name=name))
            if password_hash is not None:
                await set_password(connection, person_id, password_hash, keep_session)

    async def link(self, person_id: str, issuer: str, subject: str) -> None:
        """Links a person to an identity, replacing an earlier one. Raises `Conflict` for another person's identity."""
        identity = sa.and_(people.c.issuer == issuer, people.c.subject == subject, people.c.id != person_id)
        async with self._database.write() as connection:
            if not self._database.is_sqlite:
                await connection.execute(_ONE_AT_A_TIME)
            if await connection.scalar(sa.select(people.c.id).where(identity)) is not None:
                raise Conflict(_LINKED)
            mine = sa.update(people).where(people.c.id == person_id)
            await connection.execute(mine.values(issuer=issuer, subject=subject))

    async def unlink(self, person_id: str) -> None:
        """Unlinks a person's identity, leaving only the password. Raises `Conflict` if there is none."""
        mine = sa.update(people).where(people.c.id == person_id, people.c.password_hash.is_not(None))
        async with self._database.write() as connection:
            if not (await connection.execute(mine.values(issuer=None, subject=None))).rowcount:
                raise Conflict("This account has no password. Set one first; otherwise you could no longer sign in.")

    async def rehash(self, person_id: str, before: str, after: str) -> None:
        """Replaces the hash of an unchanged password, unless the password has been changed since."""
        async with self._database.write() as connection:
            same = sa.and_(people.c.id == person_id, people.c.password_hash == before)
            await connection.execute(sa.update(people).where(same).values(password_hash=after))

    async def set_state(self, person_id: str, state: PersonState) -> Person:
        """Suspends a person and ends their sessions, or reactivates them.

        Raises `Conflict` for the last active administrator.
        """
        async with self._database.write() as connection:
            if not self._database.is_sqlite:
                await connection.execute(_ONE_AT_A_TIME)
            row = (await connection.execute(sa.select(people).where(people.c.id == person_id))).mappings().first()
            if row is None:
                raise NotFound
            if state is PersonState.SUSPENDED:
                others = sa.select(people.c.id).where(
                    people.c.id != person_id, people.c.is_administrator, people.c.state == PersonState.ACTIVE.value
                )
                if row["is_administrator"] and await connection.scalar(others.limit(1)) is None:
                    raise Conflict("This is the only administrator. Make another person an administrator first.")
                ended = sa.update(sessions).where(sessions.c.person_id == person_id, sessions.c.ended_at.is_(None))
                await connection.execute(ended.values(ended_at=time.time()))
            await connection.execute(sa.update(people).where(people.c.id == person_id).values(state=state.value))
            return person_of({**row, "state": state.value})

    async def _one(self, *conditions: sa.ColumnElement[bool]) -> tuple[Person, str | None] | None:
        rows = await self._database.rows(sa.select(people).where(*conditions))
        return (person_of(rows[0]), rows[0]["password_hash"]) if rows else None


async def set_password(
    connection: AsyncConnection, person_id: str, password_hash: str, keep_session: str | None = None
) -> None:
    """Sets a password, inside the caller's transaction.

    Ends every session but `keep_session`, and invalidates all password reset links.
    """
    await connection.execute(sa.update(people).where(people.c.id == person_id).values(password_hash=password_hash))
    await connection.execute(sa.delete(password_resets).where(password_resets.c.person_id == person_id))
    others = sa.update(sessions).where(sessions.c.person_id == person_id, sessions.c.ended_at.is_(None))
    if keep_session is not None:
        others = others.where(sessions.c.id != keep_session)
    await connection.execute(others.values(ended_at=time.time()))


async def use_invitation(connection: AsyncConnection, secret: str, email: str, now: float) -> sa.RowMapping | None:
    """Uses up an invitation, inside the caller's transaction; None if it is not valid for this address."""
    query = sa.select(invitations).where(
        invitations.c.token_hash == hash_token(secret),
        invitations.c.used_at.is_(None),
        invitations.c.expires_at > now,
        may_act(invitations.c.invited_by, invitations.c.made_with),
        sa.or_(invitations.c.email.is_(None), invitations.c.email == email),
    )
    found = (await connection.execute(query)).mappings().first()
    if found is None:
        return None
    used = sa.update(invitations).where(invitations.c.id == found["id"], invitations.c.used_at.is_(None))
    done = await connection.execute(used.values(used_at=now))
    return found if done.rowcount else None


async def join_project(connection: AsyncConnection, leave: sa.RowMapping, owner_id: str, now: float) -> None:
    """Makes the owner a member of the project that an invitation names, inside the caller's transaction."""
    if leave["project_id"] is None:
        return
    row = {"project_id": leave["project_id"], "member_id": owner_id, "role": leave["role"], "created_at": now}
    await connection.execute(insert_new(connection, memberships).values(**row))
