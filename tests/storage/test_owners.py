"""Owners by name, and tokens: a secret is shown once, kept as a hash, and valid until it is revoked or expires."""

from __future__ import annotations

import asyncio
import time

import pytest
import sqlalchemy as sa

from citewell.errors import CitewellError, NotFound, Unauthorized
from citewell.storage.accounts.members import InvitationRepository
from citewell.storage.accounts.owners import DEFAULT_PROJECT, OwnerRepository
from citewell.storage.channels.triggers import TriggerRepository
from citewell.storage.channels.webhooks import DeliveryRepository, WebhookRepository
from citewell.storage.conversations.shared_answers import SharedAnswerRepository
from citewell.storage.conversations.threads import ThreadRepository
from citewell.storage.database import Database
from citewell.storage.files.projects import ProjectRepository
from citewell.storage.tables import request_counts, tokens
from citewell.types import SUBSCRIBED, EventType, OutgoingEvent, TriggerKind
from citewell.types.accounts import Role
from tests.storage.estates import add_estate, new_citation
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


async def _chain(owners: OwnerRepository, owner: str, expires_at: float | None = None) -> list[tuple[str, str]]:
    """Ids and secrets of three tokens, each made with the one before."""
    found: list[tuple[str, str]] = []
    for number in range(3):
        made_with = found[-1][0] if found else None
        info, secret = await owners.create_token(owner, f"t{number}", expires_at, made_with=made_with)
        found.append((info.id, secret))
    return found


@pytest.mark.parametrize("how", ["revoked", "rotated"])
async def test_a_token_ends_with_the_one_that_made_it(database: Database, how: str) -> None:
    owners = OwnerRepository(database)
    ada = await owners.ensure("ada")
    first, second, third = await _chain(owners, ada)
    _, other = await owners.create_token(ada, "other")
    if how == "revoked":
        await owners.revoke_token(ada, first[0])
    else:
        await owners.rotate_token(ada, first[0])
    assert [await owner_of(owners, secret) for _, secret in (first, second, third)] == [None] * 3
    assert await owner_of(owners, other) == ada


async def test_revoking_the_last_of_a_chain_leaves_those_before_it(database: Database) -> None:
    owners = OwnerRepository(database)
    ada = await owners.ensure("ada")
    first, second, third = await _chain(owners, ada)
    await owners.revoke_token(ada, second[0])
    assert [await owner_of(owners, secret) for _, secret in (first, second, third)] == [ada, None, None]


async def test_a_token_that_has_ended_makes_none(database: Database) -> None:
    owners = OwnerRepository(database)
    ada = await owners.ensure("ada")
    revoked, _ = await owners.create_token(ada, "revoked")
    await owners.revoke_token(ada, revoked.id)
    expired, _ = await owners.create_token(ada, "expired", expires_at=time.time() - 1)
    for maker in (revoked, expired):
        with pytest.raises(Unauthorized):
            await owners.create_token(ada, "child", made_with=maker.id)


async def test_nothing_made_while_its_maker_is_revoked_outlives_it(database: Database) -> None:
    owners = OwnerRepository(database)
    ada = await owners.ensure("ada")
    maker, _ = await owners.create_token(ada, "maker")
    work = [owners.create_token(ada, f"t{n}", made_with=maker.id) for n in range(12)]
    made = await asyncio.gather(*work[:6], owners.revoke_token(ada, maker.id), *work[6:], return_exceptions=True)
    secrets = [one[1] for one in made if isinstance(one, tuple)]
    assert [await owner_of(owners, secret) for secret in secrets] == [None] * len(secrets)
    assert await owners.list_tokens(ada) == []


async def test_a_rotated_token_lasts_no_longer_than_what_rotates_it(database: Database) -> None:
    owners = OwnerRepository(database)
    ada, now = await owners.ensure("ada"), time.time()
    old, _ = await owners.create_token(ada, "key", now + 1_000)
    maker, _ = await owners.create_token(ada, "maker", now + 100)
    new, _ = await owners.rotate_token(ada, old.id, maker.id, maker.expires_at)
    assert (new.expires_at, new.made_with) == (maker.expires_at, maker.id)


@pytest.mark.parametrize("how", ["revoked", "expired"])
async def test_links_triggers_webhooks_and_invitations_end_with_the_token_that_made_them(
    database: Database, how: str
) -> None:
    ada, owners = await add_estate(database, "ada"), OwnerRepository(database)
    cited = [new_citation(ada.chunks[0])]
    answer = await ThreadRepository(database).append(ada.owner, ada.thread.id, "assistant", "Due [1].", cited)
    shared, triggers, webhooks = (
        SharedAnswerRepository(database),
        TriggerRepository(database),
        WebhookRepository(database),
    )
    invitations = InvitationRepository(database)

    async def works(made_with: str) -> list[bool]:
        _, link = await shared.create(ada.owner, ada.thread.id, answer.id, 60, made_with)
        trigger = await triggers.create(ada.owner, TriggerKind.RESULT, "t", None, "hash", made_with)
        webhook = await webhooks.create(ada.owner, "https://hooks.example/in", SUBSCRIBED, "", "s", made_with)
        _, secret = await invitations.create(ada.owner, 60, None, ada.project, Role.VIEWER, made_with=made_with)
        member = await owners.ensure(secret)
        opened = await asyncio.gather(
            shared.open(link), invitations.accept(member, "b@example.org", secret), return_exceptions=True
        )
        return [
            *(not isinstance(one, CitewellError) for one in opened),
            await triggers.find(trigger.id) is not None,
            trigger in await triggers.all(ada.owner),
            (await webhooks.get(ada.owner, webhook.id)).enabled,
        ]

    maker, _ = await owners.create_token(ada.owner, "maker", time.time() + 60)
    assert await works(maker.id) == [True] * 5
    if how == "revoked":
        await owners.revoke_token(ada.owner, maker.id)
    else:
        async with database.write() as connection:
            past = sa.update(tokens).where(tokens.c.id == maker.id).values(expires_at=time.time() - 1)
            await connection.execute(past)
    assert await works(maker.id) == [False] * 5
    event = OutgoingEvent(type=EventType.SYNC_FINISHED, key="k", data={})
    await webhooks.tell(ada.owner, event)
    assert await DeliveryRepository(database).claim("here") is None
    [one, *_] = await webhooks.all(ada.owner)
    assert "token" in one.problem
    again = await webhooks.change(ada.owner, one.id, enabled=True, made_with=None)
    assert (again.enabled, again.problem) == (True, "")
