"""A trigger does what it is asked for once per key, however often and whenever the call is repeated, and opens to its own secret only."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from citewell.errors import Conflict, InvalidInput, NotFound, Unauthorized, Unavailable
from citewell.features.triggers.service import TriggerService
from citewell.storage.accounts.owners import OwnerRepository
from citewell.storage.channels.triggers import MAX_TRIGGERS, TriggerRepository
from citewell.storage.database import Database
from citewell.types import JsonObject, JsonValue, Trigger, TriggerKind


class Parts:
    """What triggers have done, and an answer that can be held back or fail."""

    def __init__(self) -> None:
        self.done: list[tuple[Any, ...]] = []
        self.failures: list[Exception] = []
        self.hold: asyncio.Event | None = None
        self.asked = asyncio.Event()

    async def add_records(self, owner: str, records: Sequence[Mapping[str, Any]], project: str | None) -> JsonObject:
        self.done.append((owner, tuple(one["id"] for one in records), project))
        return {"added": len(records)}

    async def describe(
        self, owner: str, resource: str, said: Mapping[str, JsonValue], project: str | None
    ) -> JsonObject:
        self.done.append((owner, resource, dict(said), project))
        return {"resource_id": resource}

    async def ask(self, owner: str, message: str, thread: str | None, project: str | None) -> JsonObject:
        self.done.append((owner, message, thread, project))
        self.asked.set()
        if self.hold is not None:
            await self.hold.wait()
        if self.failures:
            raise self.failures.pop()
        return {"answer": f"{message} {len(self.done)}"}

    async def admit(self, owner: str) -> None:
        pass


async def made(
    database: Database, kind: TriggerKind = TriggerKind.RESULT, project: str | None = None
) -> tuple[TriggerService, Parts, Trigger, str]:
    parts = Parts()
    service = TriggerService(
        repository=TriggerRepository(database),
        add_records=parts.add_records,
        describe=parts.describe,
        ask=parts.ask,
        admit=parts.admit,
    )
    owner = await OwnerRepository(database).ensure("ada")
    trigger, secret = await service.create(owner, kind, "n8n", project)
    return service, parts, trigger, secret


async def test_only_its_own_secret_and_address_open_a_trigger(database: Database) -> None:
    service, _, trigger, secret = await made(database)
    assert await service.open(trigger.id, TriggerKind.RESULT, secret) == trigger
    _, other = await service.create(trigger.owner_id, TriggerKind.RESULT, "other", None)
    for address, kind, sent in (
        (trigger.id, TriggerKind.RESULT, other),
        (trigger.id, TriggerKind.RESULT, None),
        (trigger.id, TriggerKind.RESULT, ""),
        (trigger.id, TriggerKind.FETCH, secret),
        ("nowhere", TriggerKind.RESULT, secret),
        ("nowhere", TriggerKind.RESULT, ""),
    ):
        with pytest.raises(Unauthorized):
            await service.open(address, kind, sent)
    await service.repository.delete(trigger.owner_id, trigger.id)
    with pytest.raises(Unauthorized):
        await service.open(trigger.id, TriggerKind.RESULT, secret)
    with pytest.raises(NotFound):
        await service.repository.delete(trigger.owner_id, trigger.id)


async def test_a_repeated_call_is_answered_alike_and_done_once(database: Database) -> None:
    service, parts, trigger, _ = await made(database)
    first = await service.result(trigger, "Why?", None, "run 1")
    assert await service.result(trigger, "Why?", None, "run 1") == first
    assert len(parts.done) == 1
    assert await service.result(trigger, "Why?", None, "run 2") != first
    await service.result(trigger, "Why?", None, None)
    await service.result(trigger, "Why?", None, None)
    assert len(parts.done) == 4
    with pytest.raises(Conflict, match="a different body"):
        await service.result(trigger, "Who?", None, "run 1")


async def test_a_call_under_way_is_not_begun_a_second_time(database: Database) -> None:
    service, parts, trigger, _ = await made(database)
    parts.hold = asyncio.Event()
    first = asyncio.create_task(service.result(trigger, "Why?", None, "run"))
    await parts.asked.wait()
    with pytest.raises(Conflict, match="in progress"):
        await service.result(trigger, "Why?", None, "run")
    parts.hold.set()
    assert await service.result(trigger, "Why?", None, "other") is not None
    assert (await first)["answer"] == "Why? 1"
    assert len(parts.done) == 2


async def test_a_call_that_failed_or_whose_process_died_can_be_repeated(database: Database) -> None:
    service, parts, trigger, _ = await made(database)
    parts.failures = [Unavailable("down")]
    with pytest.raises(Unavailable):
        await service.result(trigger, "Why?", None, "run")
    assert (await service.result(trigger, "Why?", None, "run"))["answer"] == "Why? 2"
    parts.hold = asyncio.Event()
    parts.asked.clear()
    left = asyncio.create_task(service.result(trigger, "Who?", None, "left"))
    await parts.asked.wait()
    left.cancel()
    await asyncio.gather(left, return_exceptions=True)
    parts.hold = None
    assert (await service.result(trigger, "Who?", None, "left"))["answer"] == "Who? 4"
    repository = TriggerRepository(database)
    await repository.begin(trigger.id, "died", "body")
    await repository.abandon()
    assert (await repository.begin(trigger.id, "died", "body")).answer is None


async def test_a_project_bounds_what_a_trigger_reaches(database: Database) -> None:
    service, parts, trigger, _ = await made(database, TriggerKind.FETCH, "Coast")
    await service.fetch(trigger, [{"id": "r1", "text": "x"}], None)
    await service.chunk(trigger, "file", {"tag": "a"}, None)
    assert [one[-1] for one in parts.done] == ["Coast", "Coast"]
    with pytest.raises(InvalidInput, match="thread_id"):
        await service.result(trigger, "Why?", "thread", None)


async def test_no_more_triggers_are_made_than_an_owner_may_have_however_many_ask_at_once(database: Database) -> None:
    owner, triggers = await OwnerRepository(database).ensure("ada"), TriggerRepository(database)
    work = [triggers.create(owner, TriggerKind.RESULT, "t", None, "hash") for _ in range(MAX_TRIGGERS + 12)]
    refused = [one for one in await asyncio.gather(*work, return_exceptions=True) if isinstance(one, Conflict)]
    assert len(await triggers.all(owner)) == MAX_TRIGGERS
    assert len(refused) == 12
