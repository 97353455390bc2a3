"""Service accounts: each has its own owner for its data, and an owner who manages it."""

from __future__ import annotations

import time
import uuid
from collections import defaultdict

import sqlalchemy as sa

from citewell.errors import Conflict, NotFound, named
from citewell.storage.accounts.owners import add_owner, lock_owner
from citewell.storage.accounts.tables import memberships, service_accounts
from citewell.storage.database import Database, insert_new
from citewell.storage.tables import projects, tokens
from citewell.types.accounts import PersonState, Role, ServiceAccount, SharedProject

MAX_SERVICE_ACCOUNTS = 50
"""Of one owner."""
_UNKNOWN = "The service account does not exist, or you have no access to it."


class ServiceAccountRepository:
    """Service accounts; every method is scoped by the managing owner."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def create(self, owner_id: str, name: str) -> ServiceAccount:
        """Creates a service account without keys. Raises `Conflict` if the name is taken or the limit is reached."""
        mine = sa.select(sa.func.count()).select_from(service_accounts).where(service_accounts.c.owner_id == owner_id)
        account_id, now = str(uuid.uuid4()), time.time()
        async with self._database.write() as connection:
            await lock_owner(connection, owner_id)
            if (await connection.scalar(mine) or 0) >= MAX_SERVICE_ACCOUNTS:
                raise Conflict(f"There are already {MAX_SERVICE_ACCOUNTS} service accounts. Delete an unused one.")
            acts_as = await add_owner(connection, f"service:{account_id}")
            assert acts_as is not None
            made = ServiceAccount(
                id=account_id,
                owner_id=owner_id,
                acts_as=acts_as,
                name=name,
                state=PersonState.ACTIVE,
                created_at=now,
            )
            row = {"id": made.id, "owner_id": owner_id, "acts_as": acts_as, "name": name, "state": made.state.value}
            new = insert_new(connection, service_accounts).values(created_at=now, **row)
            if not (await connection.execute(new)).rowcount:
                raise Conflict(_taken(name))
        return made

    async def all(self, owner_id: str) -> list[ServiceAccount]:
        """Returns the owner's service accounts with their projects, oldest first."""
        return await self._found(service_accounts.c.owner_id == owner_id)

    async def get(self, owner_id: str, account_id: str) -> ServiceAccount:
        """Returns one service account. Raises `NotFound` for another owner's."""
        found = await self._found(*_mine(owner_id, account_id))
        if not found:
            raise NotFound(_UNKNOWN)
        return found[0]

    async def change(
        self, owner_id: str, account_id: str, *, name: str | None = None, state: PersonState | None = None
    ) -> None:
        """Renames, suspends or reactivates a service account.

        Raises `NotFound` for another owner's, and `Conflict` if the name is taken.
        """
        given = {"name": name, "state": state and state.value}
        values = {key: value for key, value in given.items() if value is not None}
        taken = sa.select(service_accounts.c.id).where(
            service_accounts.c.owner_id == owner_id,
            service_accounts.c.name == name,
            service_accounts.c.id != account_id,
        )
        async with self._database.write() as connection:
            await lock_owner(connection, owner_id)
            if name is not None and await connection.scalar(taken) is not None:
                raise Conflict(_taken(name))
            changed = sa.update(service_accounts).where(*_mine(owner_id, account_id))
            if values and not (await connection.execute(changed.values(**values))).rowcount:
                raise NotFound(_UNKNOWN)

    async def end(self, owner_id: str, account_id: str) -> None:
        """Suspends a service account, and ends its keys and memberships, before its data is erased.

        Raises `NotFound` for another owner's.
        """
        acts_as = sa.select(service_accounts.c.acts_as).where(*_mine(owner_id, account_id)).scalar_subquery()
        async with self._database.write() as connection:
            suspended = sa.update(service_accounts).where(*_mine(owner_id, account_id))
            if not (await connection.execute(suspended.values(state=PersonState.SUSPENDED.value))).rowcount:
                raise NotFound(_UNKNOWN)
            valid = sa.update(tokens).where(tokens.c.owner_id == acts_as, tokens.c.revoked_at.is_(None))
            await connection.execute(valid.values(revoked_at=time.time()))
            await connection.execute(sa.delete(memberships).where(memberships.c.member_id == acts_as))

    async def _found(self, *conditions: sa.ColumnElement[bool]) -> list[ServiceAccount]:
        rows = await self._database.rows(
            sa.select(service_accounts).where(*conditions).order_by(service_accounts.c.created_at)
        )
        shared = (
            sa.select(projects.c.id, projects.c.name, projects.c.owner_id, memberships.c.role, memberships.c.member_id)
            .join(memberships, memberships.c.project_id == projects.c.id)
            .join(service_accounts, service_accounts.c.acts_as == memberships.c.member_id)
            .where(*conditions)
            .order_by(memberships.c.created_at)
        )
        used: defaultdict[str, list[SharedProject]] = defaultdict(list)
        for row in await self._database.rows(shared):
            one = SharedProject(id=row["id"], name=row["name"], owner_id=row["owner_id"], role=Role(row["role"]))
            used[row["member_id"]].append(one)
        return [
            ServiceAccount(
                id=row["id"],
                owner_id=row["owner_id"],
                acts_as=row["acts_as"],
                name=row["name"],
                state=PersonState(row["state"]),
                created_at=row["created_at"],
                projects=tuple(used[row["acts_as"]]),
            )
            for row in rows
        ]


def _mine(owner_id: str, account_id: str) -> tuple[sa.ColumnElement[bool], ...]:
    return service_accounts.c.id == account_id, service_accounts.c.owner_id == owner_id


def _taken(name: str) -> str:
    return f"There is already a service account called {named(name)}."
