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

from citewell.errors import DiskFull, NotFound, Unauthorized
from citewell.storage.accounts.tables import is_suspended, people, service_accounts
from citewell.storage.database import Database, insert_new, upsert
from citewell.storage.tables import owners, projects, request_counts, tokens
from citewell.types.accounts import ALL_SCOPES, AccessScope, Principal

DEFAULT_PROJECT = "My files"
_PREFIX_LENGTH = 10  # `cw_` and 42 of 256 bits: enough to tell tokens apart, too little to guess the rest
_USE_SECONDS = 60.0  # resolution of a token's last use


@dataclass(frozen=True, slots=True)
class TokenInfo:
    """A token as listed, without the secret.

    project_ids: projects that it gives access to; None for all
    made_with:   the token that created it, if any; it ends with that token
    """

    id: str
    name: str
    created_at: float
    expires_at: float | None
    prefix: str | None = None
    scopes: frozenset[AccessScope] = ALL_SCOPES
    project_ids: tuple[str, ...] | None = None
    last_used_at: float | None = None
    made_with: str | None = None


def hash_token(token: str) -> str:
    """Returns the stored form of a token. Tokens are 256 random bits, so a plain hash is enough."""
    return hashlib.sha256(token.encode()).hexdigest()


class OwnerRepository:
    """Creates owners and their tokens, and finds the owner of a token."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def ensure(self, name: str) -> str:
        """Returns the id of the owner called `name`, creating it with a default project if new."""
        known = sa.select(owners.c.id).where(owners.c.name == name)
        async with self._database.write() as connection:
            found = await connection.scalar(known) or await add_owner(connection, name)
            # on Postgres, another request may have created it just now
            return found or (await connection.execute(known)).scalar_one()

    async def count_request(self, owner_id: str) -> tuple[int, float]:
        """Counts a request; returns the owner's requests this minute, on all servers, and the seconds left in it."""
        now, counts = time.time(), request_counts
        minute = int(now // 60)
        async with self._database.write() as connection:
            if not self._database.is_sqlite:
                now = float(await connection.scalar(sa.text("SELECT extract(epoch FROM clock_timestamp())")) or now)
                minute = int(now // 60)
            # A request that has waited for the writer since the previous minute counts for this one.
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
        made_with: str | None = None,
    ) -> tuple[TokenInfo, str]:
        """Creates a token; returns it with its secret, which is not stored.

        Raises `Unauthorized` if the token `made_with` is no longer valid.
        """
        async with self._database.write() as connection:
            return await _add_token(connection, owner_id, name, expires_at, scopes, project_ids, made_with)

    async def rotate_token(
        self, owner_id: str, token_id: str, made_with: str | None = None, ends_at: float | None = None
    ) -> tuple[TokenInfo, str]:
        """Replaces a token with one of the same scopes, projects and lifetime; revokes it and those created with it.

        The new token ends with the requesting token `made_with`, and at `ends_at` at the latest. Raises `NotFound` for
        another owner's token.
        """
        now, valid = time.time(), _valid(owner_id, token_id)
        async with self._database.write() as connection:
            row = (await connection.execute(sa.select(tokens).where(*valid))).mappings().first()
            if row is None or not await _revoke(connection, owner_id, token_id, now):
                raise NotFound
            old = _info(row)
            lifetime = None if old.expires_at is None else now + old.expires_at - old.created_at
            expires_at = min((end for end in (lifetime, ends_at) if end is not None), default=None)
            return await _add_token(connection, owner_id, old.name, expires_at, old.scopes, old.project_ids, made_with)

    async def adopt_token(self, owner_id: str, name: str, secret: str) -> None:
        """Registers a known secret as a token (the local token in the data folder)."""
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
        """Returns the principal of a valid token, with its scopes; None for other tokens and for suspended owners."""
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
                *_usable(now),
            )
        )
        rows = await self._database.rows(query)
        if not rows:
            return None
        row = rows[0]
        if row["prefix"] is not None and (row["last_used_at"] or 0.0) < now - _USE_SECONDS:
            with contextlib.suppress(DiskFull):  # reading works even when the disk is full
                await self._note_use(row["id"], now)
        info = _info(row)
        return Principal(
            owner_id=row["owner_id"],
            scopes=info.scopes,
            project_ids=info.project_ids,
            token_id=info.id,
            expires_at=info.expires_at,
            person_id=row["person_id"],
            is_administrator=bool(row["is_administrator"]),
            managed_by=row["managed_by"],
        )

    async def list_tokens(self, owner_id: str) -> list[TokenInfo]:
        """Returns the owner's valid tokens, newest first."""
        query = (
            sa.select(tokens)
            .where(tokens.c.owner_id == owner_id, tokens.c.revoked_at.is_(None))
            .order_by(tokens.c.created_at.desc())
        )
        return [_info(row) for row in await self._database.rows(query)]

    async def revoke_token(self, owner_id: str, token_id: str) -> None:
        """Revokes a token and every token created with it. Raises `NotFound` for another owner's."""
        async with self._database.write() as connection:
            if not await _revoke(connection, owner_id, token_id, time.time()):
                raise NotFound

    async def is_valid(self, token_id: str) -> bool:
        """Whether a token is valid: not revoked, not expired, and its owner not suspended."""
        query = sa.select(tokens.c.id).where(tokens.c.id == token_id, *_usable(time.time()))
        return bool(await self._database.rows(query))

    async def _note_use(self, token_id: str, now: float) -> None:
        async with self._database.write() as connection:
            await connection.execute(sa.update(tokens).where(tokens.c.id == token_id).values(last_used_at=now))


async def lock_owner(connection: AsyncConnection, owner_id: str) -> None:
    """Locks an owner until the end of the caller's transaction, to enforce limits by count.

    Not needed on SQLite, which has one writer at a time.
    """
    if connection.dialect.name != "sqlite":
        # Rows that refer to the owner can still be inserted meanwhile.
        await connection.execute(sa.select(owners.c.id).where(owners.c.id == owner_id).with_for_update(key_share=True))


async def add_owner(connection: AsyncConnection, name: str) -> str | None:
    """Creates an owner with a default project, in the caller's transaction; returns its id, None for a taken name."""
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
    made_with: str | None,
) -> tuple[TokenInfo, str]:
    if made_with is not None:
        # Locked on Postgres, so that the creating token cannot be revoked between this check and the commit.
        maker = sa.select(tokens.c.id).where(tokens.c.id == made_with, *_usable(time.time()))
        if await connection.scalar(maker.with_for_update(read=True)) is None:
            raise Unauthorized
    secret = "cw_" + secrets.token_urlsafe(32)
    prefix = secret[:_PREFIX_LENGTH]
    info = TokenInfo(str(uuid.uuid4()), name, time.time(), expires_at, prefix, scopes, project_ids, made_with=made_with)
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
            made_with=made_with,
        )
    )
    return info, secret


async def _revoke(connection: AsyncConnection, owner_id: str, token_id: str, now: float) -> bool:
    """Revokes an owner's token and all those created with it, for any owner; False if there was none."""
    revoked = sa.update(tokens).values(revoked_at=now)
    if not (await connection.execute(revoked.where(*_valid(owner_id, token_id)))).rowcount:
        return False
    made = sa.select(tokens.c.id).where(tokens.c.made_with == token_id).cte(recursive=True)
    made = made.union(sa.select(tokens.c.id).where(tokens.c.made_with == made.c.id))
    below = revoked.where(tokens.c.id.in_(sa.select(made.c.id)), tokens.c.revoked_at.is_(None))
    # On Postgres, a statement does not see commits made while it waits for a lock, so it repeats until it finds
    # nothing.
    while (await connection.execute(below.returning(tokens.c.id))).all():
        pass
    return True


def _usable(now: float) -> tuple[sa.ColumnElement[bool], ...]:
    in_time = sa.or_(tokens.c.expires_at.is_(None), tokens.c.expires_at > now)
    return tokens.c.revoked_at.is_(None), in_time, sa.not_(is_suspended(tokens.c.owner_id))


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
        made_with=row["made_with"],
    )
