"""Owners by name, and tokens: a secret is shown once, kept as a hash, and valid until it is revoked or expires."""

from __future__ import annotations

import asyncio
import time

import pytest
import sqlalchemy as sa

from citewell.errors import NotFound
from citewell.storage.database import Database
from citewell.storage.owners import DEFAULT_PROJECT, OwnerRepository
from citewell.storage.projects import ProjectRepository
from citewell.storage.tables import request_counts, tokens
from tests.storage.rows import owner_of


async def test_an_owner_is_made_once_with_a_default_project(database: Database) -> None:
    owners = OwnerRepository(database)
    ada = await owners.ensure("ada")
    assert await owners.ensure("ada") == ada
    assert await owners.ensure("ben") != ada
    assert [project.name for project in await ProjectRepository(database).all(ada)] == [DEFAULT_PROJECT]


async def test_an_owner_who_arrives_by_many_requests_at_once_is_made_once(database: Database) -> None:
    owners = OwnerRepository(database)
    ids = await asyncio.gather(*(owners.ensure("ada") for _ in range(8)))
    assert len(set(ids)) == 1
    assert len(await ProjectRepository(database).all(ids[0])) == 1


async def test_a_token_opens_its_owner_until_it_is_revoked(database: Database) -> None:
    owners = OwnerRepository(database)
    ada = await owners.ensure("ada")
    info, secret = await owners.create_token(ada, "laptop")
    assert await owner_of(owners, secret) == ada
    await owners.revoke_token(ada, info.id)
    assert await owner_of(owners, secret) is None
    assert await owners.list_tokens(ada) == []
    with pytest.raises(NotFound):
        await owners.revoke_token(ada, info.id)


async def test_a_token_ends_when_it_expires(database: Database) -> None:
    owners = OwnerRepository(database)
    ada = await owners.ensure("ada")
    _, over = await owners.create_token(ada, "old", expires_at=time.time() - 1)
    _, lasting = await owners.create_token(ada, "new", expires_at=time.time() + 60)
    assert await owner_of(owners, over) is None
    assert await owner_of(owners, lasting) == ada


async def test_secrets_are_not_stored_and_are_long(database: Database) -> None:
    owners = OwnerRepository(database)
    ada = await owners.ensure("ada")
    secrets = [(await owners.create_token(ada, f"t{n}"))[1] for n in range(3)]
    assert len(set(secrets)) == 3
    assert min(map(len, secrets)) >= 40
    stored = str(await database.rows(sa.select(tokens)))
    assert not any(secret in stored or secret[3:] in stored for secret in secrets)


async def test_tokens_are_listed_newest_first_without_their_secrets(database: Database) -> None:
    owners = OwnerRepository(database)
    ada = await owners.ensure("ada")
    made = [(await owners.create_token(ada, name))[0] for name in ("first", "second")]
    assert await owners.list_tokens(ada) == made[::-1]


async def test_a_known_secret_is_adopted_once(database: Database) -> None:
    owners = OwnerRepository(database)
    ada = await owners.ensure("ada")
    await asyncio.gather(*(owners.adopt_token(ada, "this machine", "known secret") for _ in range(6)))
    assert await owner_of(owners, "known secret") == ada
    assert [token.name for token in await owners.list_tokens(ada)] == ["this machine"]


@pytest.mark.parametrize("token", ["", "cw_", "unknown", "ä" * 5000, "\0", "%"])
async def test_any_other_text_opens_nobody(database: Database, token: str) -> None:
    assert await owner_of(OwnerRepository(database), token) is None


async def test_requests_of_a_minute_are_counted_together_by_all_servers(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    ann, bob = [await OwnerRepository(database).ensure(name) for name in ("ann", "bob")]
    servers = [OwnerRepository(database), OwnerRepository(database)]
    counted = [await servers[n % 2].count_request(ann) for n in range(6)]
    # The minute may end while they are counted.
    assert sorted(number for number, _ in counted) in [
        sorted([*range(1, n + 1), *range(1, 7 - n)]) for n in range(1, 7)
    ]
    assert all(0 <= left <= 60 for _, left in counted)
    assert (await servers[0].count_request(bob))[0] == 1


async def test_a_new_minute_begins_anew(database: Database) -> None:
    owners = OwnerRepository(database)
    ann = await owners.ensure("ann")
    async with database.write() as connection:
        await connection.execute(sa.insert(request_counts).values(owner_id=ann, minute=1, requests=500))
    assert (await owners.count_request(ann))[0] == 1
