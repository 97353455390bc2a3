"""Owners and their tokens. A token is shown once; only its SHA-256 is kept."""

from __future__ import annotations

import contextlib
import hashlib
import secrets
import time
import uuid
from dataclasses import dataclass

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from citewell.errors import DiskFull, NotFound
from citewell.storage.account_tables import is_suspended, people, service_accounts
from citewell.storage.database import Database, insert_new, upsert
from citewell.storage.tables import owners, projects, request_counts, tokens
from citewell.types.accounts import ALL_SCOPES, AccessScope, Principal

DEFAULT_PROJECT = "My files"
_PREFIX_LENGTH = 10  # `cw_` and 42 of 256 bits: enough to tell tokens apart, nothing to guess the rest by
_USE_SECONDS = 60.0  # how exactly the last use of a token is known


@dataclass(frozen=True, slots=True)
class TokenInfo:
    """A token as listed: never the secret itself. project_ids: those it is good for; None for all."""

    id: str
    name: str
    created_at: float
    expires_at: float | None
    prefix: str | None = None
    scopes: frozenset[AccessScope] = ALL_SCOPES
    project_ids: tuple[str, ...] | None = None
    last_used_at: float | None = None


def hash_token(token: str) -> str:
    """The stored form of a token. Tokens are 256 random bits, so a plain hash is enough."""
    return hashlib.sha256(token.encode()).hexdigest()


class OwnerRepository:
    """Creates owners, and finds the owner a token belongs to."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def ensure(self, name: str) -> str:
        """The id of the owner called `name`, created with its default project when new."""
        known = sa.select(owners.c.id).where(owners.c.name == name)
        async with self._database.write() as connection:
            found = await connection.scalar(known) or await add_owner(connection, name)
            # on Postgres, another request may have just created it
            return found or (await connection.execute(known)).scalar_one()

    async def count_request(self, owner_id: str) -> tuple[int, float]:
        """Count a request: how many the owner has made this minute, on all servers of the database, and the seconds that are left of it."""
        now, counts = time.time(), request_counts
        minute = int(now // 60)
        async with self._database.write() as connection:
            if not self._database.is_sqlite:
                now = float(await connection.scalar(sa.text("SELECT extract(epoch FROM clock_timestamp())")) or now)
                minute = int(now // 60)
            # A server that has waited for its turn since the minute before counts for this one.
            goes_on = counts.c.minute >= minute
            row = await upsert(
                connection,
                {counts.c.owner_id: owner_id, counts.c.minute: minute, counts.c.requests: 1},
                {
                    counts.c.minute: sa.case((goes_on, counts.c.minute), else_=minute),
                    counts.c.requests: sa.case((goes_on, counts.c.requests + 1), else_=1),
                },
            )
        return row.requests, (row.minute + 1) * 60 - now

    async def create_token(
        self,
        owner_id: str,
        name: str,
        expires_at: float | None = None,
        scopes: frozenset[AccessScope] = ALL_SCOPES,
        project_ids: tuple[str, ...] | None = None,
    ) -> tuple[TokenInfo, str]:
        """A new token and its secret, which is not stored."""
        async with self._database.write() as connection:
            return await _add_token(connection, owner_id, name, expires_at, scopes, project_ids)

    async def rotate_token(self, owner_id: str, token_id: str) -> tuple[TokenInfo, str]:
        """A new token that is good for the same, and for as long from now as the old one was, which ends; `NotFound` for another owner's."""
        now, valid = time.time(), _valid(owner_id, token_id)
        async with self._database.write() as connection:
            row = (await connection.execute(sa.select(tokens).where(*valid))).mappings().first()
            ended = await connection.execute(sa.update(tokens).where(*valid).values(revoked_at=now))
            if row is None or not ended.rowcount:
                raise NotFound
            old = _info(row)
            expires_at = None if old.expires_at is None else now + old.expires_at - old.created_at
            return await _add_token(connection, owner_id, old.name, expires_at, old.scopes, old.project_ids)

    async def adopt_token(self, owner_id: str, name: str, secret: str) -> None:
        """Make a known secret valid (the local token, kept in the data folder)."""
        async with self._database.write() as connection:
            await connection.execute(
                insert_new(connection, tokens).values(
                    id=str(uuid.uuid4()),
                    owner_id=owner_id,
                    name=name,
                    token_hash=hash_token(secret),
                    created_at=time.time(),
                )
            )

    async def principal_of(self, token: str) -> Principal | None:
        """Whom a valid token speaks for, and what it is good for; None for other tokens, and those of owners who are suspended."""
        now = time.time()
        query = (
            sa.select(
                tokens,
                people.c.id.label("person_id"),
                people.c.is_administrator,
                service_accounts.c.owner_id.label("managed_by"),
            )
            .outerjoin(people, people.c.owner_id == tokens.c.owner_id)
            .outerjoin(service_accounts, service_accounts.c.acts_as == tokens.c.owner_id)
            .where(
                tokens.c.token_hash == hash_token(token),
                tokens.c.revoked_at.is_(None),
                sa.or_(tokens.c.expires_at.is_(None), tokens.c.expires_at > now),
                sa.not_(is_suspended(tokens.c.owner_id)),
            )
        )
        rows = await self._database.rows(query)
        if not rows:
            return None
        row = rows[0]
        if row["prefix"] is not None and (row["last_used_at"] or 0.0) < now - _USE_SECONDS:
            with contextlib.suppress(DiskFull):  # a full disk keeps nobody from reading
                await self._note_use(row["id"], now)
        info = _info(row)
        return Principal(
            owner_id=row["owner_id"],
            scopes=info.scopes,
            project_ids=info.project_ids,
            token_id=info.id,
            person_id=row["person_id"],
            is_administrator=bool(row["is_administrator"]),
            managed_by=row["managed_by"],
        )

    async def list_tokens(self, owner_id: str) -> list[TokenInfo]:
        """Valid tokens of an owner, newest first."""
        query = (
            sa.select(tokens)
            .where(tokens.c.owner_id == owner_id, tokens.c.revoked_at.is_(None))
            .order_by(tokens.c.created_at.desc())
        )
        return [_info(row) for row in await self._database.rows(query)]

    async def revoke_token(self, owner_id: str, token_id: str) -> None:
        """End a token's validity; `NotFound` for another owner's."""
        async with self._database.write() as connection:
            ended = sa.update(tokens).where(*_valid(owner_id, token_id)).values(revoked_at=time.time())
            if not (await connection.execute(ended)).rowcount:
                raise NotFound

    async def _note_use(self, token_id: str, now: float) -> None:
        async with self._database.write() as connection:
            await connection.execute(sa.update(tokens).where(tokens.c.id == token_id).values(last_used_at=now))


async def add_owner(connection: AsyncConnection, name: str) -> str | None:
    """A new owner with a default project, inside the caller's transaction: its id, or None where the name is taken."""
    owner_id, now = str(uuid.uuid4()), time.time()
    made = insert_new(connection, owners).values(id=owner_id, name=name, created_at=now)
    if not (await connection.execute(made)).rowcount:
        return None
    await connection.execute(
        sa.insert(projects).values(
            id=str(uuid.uuid4()), owner_id=owner_id, name=DEFAULT_PROJECT, created_at=now, settings={}
        )
    )
    return owner_id


async def _add_token(
    connection: AsyncConnection,
    owner_id: str,
    name: str,
    expires_at: float | None,
    scopes: frozenset[AccessScope],
    project_ids: tuple[str, ...] | None,
) -> tuple[TokenInfo, str]:
    secret = "cw_" + secrets.token_urlsafe(32)
    prefix = secret[:_PREFIX_LENGTH]
    info = TokenInfo(str(uuid.uuid4()), name, time.time(), expires_at, prefix, scopes, project_ids)
    await connection.execute(
        sa.insert(tokens).values(
            id=info.id,
            owner_id=owner_id,
            name=name,
            token_hash=hash_token(secret),
            created_at=info.created_at,
            expires_at=expires_at,
            prefix=prefix,
            scopes=sorted(scopes),
            project_ids=project_ids and list(project_ids),
        )
    )
    return info, secret


def _valid(owner_id: str, token_id: str) -> tuple[sa.ColumnElement[bool], ...]:
    return tokens.c.id == token_id, tokens.c.owner_id == owner_id, tokens.c.revoked_at.is_(None)


def _info(row: sa.RowMapping) -> TokenInfo:
    scopes, projects_of = row["scopes"], row["project_ids"]
    return TokenInfo(
        id=row["id"],
        name=row["name"],
        created_at=row["created_at"],
        expires_at=row["expires_at"],
        prefix=row["prefix"],
        scopes=ALL_SCOPES if scopes is None else frozenset(map(AccessScope, scopes)),
        project_ids=None if projects_of is None else tuple(projects_of),
        last_used_at=row["last_used_at"],
    )
