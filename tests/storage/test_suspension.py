"""Nobody who is suspended is told anything or can have anything done: one row a channel, and each works before and afterwards."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TypeAlias

import pytest
import sqlalchemy as sa

from citewell.errors import CitewellError
from citewell.storage.accounts.members import InvitationRepository
from citewell.storage.accounts.owners import OwnerRepository
from citewell.storage.accounts.password_resets import PasswordResetRepository
from citewell.storage.accounts.people import NewPerson, PersonRepository
from citewell.storage.accounts.service_accounts import ServiceAccountRepository
from citewell.storage.accounts.sessions import SessionRepository
from citewell.storage.channels.telegram import TelegramChatRepository, TelegramFile, TelegramLinkRepository
from citewell.storage.channels.triggers import TriggerRepository
from citewell.storage.channels.webhook_tables import webhook_deliveries
from citewell.storage.channels.webhooks import DeliveryRepository, WebhookRepository
from citewell.storage.conversations.shared_answers import SharedAnswerRepository
from citewell.storage.conversations.threads import ThreadRepository
from citewell.storage.database import Database
from citewell.types import SUBSCRIBED, DeliveryState, EventType, OutgoingEvent, TriggerKind
from citewell.types.accounts import Person, PersonState, Role
from tests.storage.estates import Estate, add_estate, new_citation

Works: TypeAlias = Callable[[], Awaitable[bool]]
"""Whether a channel gives anything now."""


@dataclass(frozen=True, slots=True)
class World:
    """Ada, who has an account and one of everything."""

    database: Database
    ada: Person
    estate: Estate


async def _world(database: Database) -> World:
    people = PersonRepository(database)
    await people.create(NewPerson(email="root@example.org", name="root", password_hash="h"), needs_invitation=False)
    new = NewPerson(email="ada@example.org", name="ada", password_hash="h")
    ada = await people.create(new, needs_invitation=False)
    async with database.write() as connection:  # the estate is found by the name of its owner
        await connection.execute(sa.text("UPDATE owners SET name = 'ada' WHERE id = :id"), {"id": ada.owner_id})
    return World(database, ada, await add_estate(database, "ada"))


async def _succeeds(work: Awaitable[object]) -> bool:
    try:
        return bool(await work)
    except CitewellError:
        return False


async def _webhook(world: World) -> WebhookRepository:
    webhooks = WebhookRepository(world.database)
    await webhooks.create(world.ada.owner_id, "https://hooks.example/in", SUBSCRIBED, "", "whsec")
    return webhooks


def _event() -> OutgoingEvent:
    return OutgoingEvent(type=EventType.SYNC_FINISHED, key=str(time.monotonic_ns()), data={})


async def _events(world: World) -> Works:
    webhooks = await _webhook(world)

    async def works() -> bool:
        await webhooks.tell(world.ada.owner_id, _event())
        async with world.database.write() as connection:
            return bool((await connection.execute(sa.delete(webhook_deliveries))).rowcount)

    return works


async def _deliveries(world: World) -> Works:
    webhooks, queue = await _webhook(world), DeliveryRepository(world.database)
    for _ in range(2):
        await webhooks.tell(world.ada.owner_id, _event())

    async def works() -> bool:
        delivery = await queue.claim("here")
        if delivery is not None:
            await queue.finish(delivery, DeliveryState.DELIVERED, due=0, status=204, problem="")
        return delivery is not None

    return works


async def _replays(world: World) -> Works:
    webhooks, queue = await _webhook(world), DeliveryRepository(world.database)
    await webhooks.tell(world.ada.owner_id, _event())

    async def works() -> bool:
        [delivery] = (await webhooks.deliveries(world.ada.owner_id, None, None, 1, None))[0]
        await webhooks.replay(world.ada.owner_id, delivery_id=delivery.id)
        due = await queue.claim("here")
        if due is not None:
            await queue.finish(due, DeliveryState.DELIVERED, due=0, status=204, problem="")
        return due is not None

    return works


async def _triggers(world: World) -> Works:
    triggers = TriggerRepository(world.database)
    made = await triggers.create(world.ada.owner_id, TriggerKind.RESULT, "t", None, "hash")

    async def works() -> bool:
        return await triggers.find(made.id) is not None

    return works


async def _links(world: World) -> Works:
    shared, mine, threads = SharedAnswerRepository(world.database), world.estate, ThreadRepository(world.database)
    cited = [new_citation(mine.chunks[0])]
    answer = await threads.append(mine.owner, mine.thread.id, "assistant", "Due [1].", cited)
    _, secret = await shared.create(mine.owner, mine.thread.id, answer.id, 60)
    return lambda: _succeeds(shared.open(secret))


async def _invitations(world: World) -> Works:
    invitations, owners = InvitationRepository(world.database), OwnerRepository(world.database)

    async def works() -> bool:
        async with world.database.write() as connection:
            await connection.execute(sa.text("DELETE FROM invitations"))
        _, secret = await invitations.create(world.ada.owner_id, 60, None, world.estate.project, Role.VIEWER)
        member = await owners.ensure("ben")

        async def accepted() -> bool:
            await invitations.accept(member, "ben@example.org", secret)
            return True

        return await _succeeds(accepted())

    return works


async def _tokens(world: World) -> Works:
    owners = OwnerRepository(world.database)
    return lambda: _succeeds(owners.principal_of(world.estate.token))


async def _requests_under_way(world: World) -> Works:
    return lambda: OwnerRepository(world.database).is_valid(world.estate.token_id)


async def _keys(world: World) -> Works:
    owners = OwnerRepository(world.database)
    robot = await ServiceAccountRepository(world.database).create(world.ada.owner_id, "robot")
    _, key = await owners.create_token(robot.acts_as, "key")
    return lambda: _succeeds(owners.principal_of(key))


async def _resets(world: World) -> Works:
    resets = PasswordResetRepository(world.database)

    secret = await resets.create(world.ada.id, 60)
    return lambda: _succeeds(resets.person(secret))


async def _telegram(world: World) -> Works:
    links = TelegramLinkRepository(world.database)
    await links.add_code(world.ada.owner_id, "code", time.time() + 60)
    await links.redeem(7, "ada", "code")
    return lambda: _succeeds(links.owner_of(7))


async def _telegram_progress(world: World) -> Works:
    chats = await _sent_file(world)
    return lambda: _succeeds(chats.unfinished(1))


async def _telegram_notices(world: World) -> Works:
    chats = await _sent_file(world)
    file = await chats.file(1, 2, 3)
    assert file is not None
    return lambda: chats.may_be_told(file)


async def _sent_file(world: World) -> TelegramChatRepository:
    chats = TelegramChatRepository(world.database)
    await chats.add_file(
        TelegramFile(
            bot_id=1,
            chat_id=2,
            message_id=3,
            owner_id=world.ada.owner_id,
            resource_id=world.estate.resource,
            topic_id=0,
            user_id=7,
            language="en",
            status_message_id=4,
            question={},
        )
    )
    return chats


async def _sessions(world: World) -> Works:
    """A session ends with the suspension; another one begins afterwards."""
    sessions, people = SessionRepository(world.database), PersonRepository(world.database)
    begun, _ = await sessions.begin(world.ada.id, "browser", "::1", 60)
    current = [begun.id]

    async def works() -> bool:
        if await sessions.person(current[0]) is not None:
            return True
        if (await people.get(world.ada.id))[0].state is PersonState.ACTIVE:
            current[0] = (await sessions.begin(world.ada.id, "browser", "::1", 60))[0].id
        return await sessions.person(current[0]) is not None

    return works


CHANNELS: dict[str, Callable[[World], Awaitable[Works]]] = {
    "events for webhooks": _events,
    "deliveries that wait": _deliveries,
    "deliveries that are replayed": _replays,
    "triggers": _triggers,
    "links to answers": _links,
    "invitations": _invitations,
    "tokens": _tokens,
    "requests under way": _requests_under_way,
    "keys of service accounts": _keys,
    "links that set a password": _resets,
    "Telegram": _telegram,
    "progress of files in Telegram": _telegram_progress,
    "notices of files in Telegram": _telegram_notices,
    "sessions": _sessions,
}


@pytest.mark.full
@pytest.mark.parametrize("channel", CHANNELS)
async def test_a_channel_is_silent_while_its_owner_is_suspended(database: Database, channel: str) -> None:
    world = await _world(database)
    works, people = await CHANNELS[channel](world), PersonRepository(database)
    assert await works()
    await people.set_state(world.ada.id, PersonState.SUSPENDED)
    assert not await works()
    await people.set_state(world.ada.id, PersonState.ACTIVE)
    assert await works()


async def test_what_happens_meanwhile_is_not_told_later(database: Database) -> None:
    world = await _world(database)
    webhooks, people = await _webhook(world), PersonRepository(database)
    await people.set_state(world.ada.id, PersonState.SUSPENDED)
    await webhooks.tell(world.ada.owner_id, _event())
    await people.set_state(world.ada.id, PersonState.ACTIVE)
    assert await DeliveryRepository(database).claim("here") is None
