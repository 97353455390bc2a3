"""What webhooks are told is written with the change itself, sent until it is taken, and never another owner's."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest
import sqlalchemy as sa
import standardwebhooks

from citewell.errors import Conflict, InvalidInput, NotFound, Unavailable
from citewell.features.webhooks.delivery import WAITS, DeliveryRunner
from citewell.features.webhooks.signing import new_secret
from citewell.storage.channels.outbox import MAX_BODY_BYTES, announce_ended
from citewell.storage.channels.webhook_tables import webhook_deliveries
from citewell.storage.channels.webhooks import MAX_WEBHOOKS, DeliveryRepository, WebhookRepository
from citewell.storage.conversations.threads import ThreadRepository
from citewell.storage.database import Database
from citewell.storage.files.content import insert_chunks
from citewell.storage.files.resources import ResourceRepository
from citewell.storage.tables import resources
from citewell.storage.work.jobs import JobRepository
from citewell.types import (
    SUBSCRIBED,
    Acknowledgement,
    DeliveryState,
    ErrorStage,
    EventType,
    OutgoingEvent,
    Stage,
    Status,
    Webhook,
)
from tests.storage.estates import new_chunk
from tests.storage.rows import add_resource

SECRET = new_secret()


@dataclass
class Receiver:
    """Answers as told, the last answer from then on; keeps what it is sent."""

    answers: list[Acknowledgement | Exception] = field(default_factory=lambda: [Acknowledgement(204)])
    seen: list[tuple[str, Mapping[str, str], bytes]] = field(default_factory=list[Any])

    async def post(self, url: str, headers: Mapping[str, str], body: bytes) -> Acknowledgement:
        self.seen.append((url, headers, body))
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, Exception):
            raise answer
        return answer

    @property
    def ids(self) -> list[str]:
        return [headers["webhook-id"] for _, headers, _ in self.seen]


def runner(database: Database, receiver: Receiver, waits: tuple[float, ...] = (0.0, 0.0)) -> DeliveryRunner:
    return DeliveryRunner(name="here", queue=DeliveryRepository(database), sender=receiver, waits=waits)


async def send_all(sending: DeliveryRunner) -> None:
    while await sending.run_once():
        pass


async def register(database: Database, owner_id: str, *events: EventType) -> Webhook:
    return await WebhookRepository(database).create(
        owner_id, "https://hooks.example/in", events or SUBSCRIBED, "", SECRET
    )


async def told(database: Database, owner_id: str) -> list[dict[str, Any]]:
    """The bodies in the owner's outbox, in the order of their types."""
    query = sa.select(webhook_deliveries.c.body).where(webhook_deliveries.c.owner_id == owner_id)
    return sorted((json.loads(row["body"]) for row in await database.rows(query)), key=lambda body: body["type"])


async def finish(database: Database, status: Status, **values: Any) -> None:
    """End the next job of stage 2 in this state."""
    jobs = JobRepository(database)
    job = await jobs.claim(Stage.EXTRACT, "w")
    assert job is not None
    async with jobs.fenced(job) as connection:
        await connection.run_sync(jobs.finish, job, status, **values)


@pytest.mark.parametrize(
    ("status", "stage", "told_of"),
    [
        (Status.INDEXED, None, ["resource.indexed"]),
        (Status.ANALYZED, None, ["resource.indexed"]),
        (Status.DESCRIBED, None, ["resource.indexed"]),
        (Status.PARTIAL, ErrorStage.DESCRIPTION, ["resource.indexed"]),
        (Status.PARTIAL, ErrorStage.INDEXING, ["resource.failed"]),
        (Status.STORED, None, ["resource.failed"]),
        (Status.FAILED, ErrorStage.EXTRACTION, ["resource.failed"]),
        (Status.EXTRACTED, None, []),
    ],
)
async def test_the_end_of_a_files_way_is_told_with_it(
    database: Database, status: Status, stage: ErrorStage | None, told_of: list[str]
) -> None:
    owner, resource = await add_resource(database, "ada")
    await register(database, owner)
    await finish(database, status, error_stage=stage)
    found = await told(database, owner)
    assert [one["type"] for one in found] == told_of
    for one in found:
        assert one["data"]["resource_id"] == resource
        assert one["data"]["filename"] == "a.txt"
        assert one["data"]["status"] == status.value


async def test_a_change_that_fails_is_not_told_of(database: Database) -> None:
    owner, resource = await add_resource(database, "ada")
    await register(database, owner)
    jobs = JobRepository(database)
    job = await jobs.claim(Stage.EXTRACT, "w")
    assert job is not None
    try:
        async with jobs.fenced(job) as connection:
            await connection.run_sync(jobs.finish, job, Status.INDEXED)
            raise RuntimeError
    except RuntimeError:
        pass
    assert await told(database, owner) == []
    await ResourceRepository(database).delete(owner, resource)
    assert [one["type"] for one in await told(database, owner)] == ["resource.deleted"]


async def test_chunks_and_answers_are_told_where_they_are_wanted(database: Database) -> None:
    owner, resource = await add_resource(database, "ada")
    await register(database, owner, EventType.CHUNK_STORED)
    chunk = new_chunk(owner, resource)
    async with database.write() as connection:
        await connection.run_sync(insert_chunks, [chunk])
    (stored,) = await told(database, owner)
    assert (stored["type"], stored["data"]["text"], stored["data"]["filename"]) == (
        "chunk.stored",
        "Fees are due.",
        "a.txt",
    )
    threads = ThreadRepository(database)
    thread = await threads.create(owner, "t", {})
    event = OutgoingEvent(type=EventType.ANSWER_COMPLETED, key="m", data={"answer": "x"})
    await threads.append(owner, thread.id, "assistant", "x", event=event)
    assert len(await told(database, owner)) == 1
    await register(database, owner)
    await threads.append(owner, thread.id, "assistant", "x", event=event)
    assert [one["type"] for one in await told(database, owner)] == ["answer.completed", "chunk.stored"]


async def test_nobody_is_told_of_what_another_owner_has(database: Database) -> None:
    ada, _ = await add_resource(database, "ada")
    ben, of_ben = await add_resource(database, "ben")
    await register(database, ada)
    await finish(database, Status.INDEXED)
    await finish(database, Status.INDEXED)
    assert len(await told(database, ada)) == 1
    assert of_ben not in str(await told(database, ada))
    assert await told(database, ben) == []


async def test_files_of_several_owners_that_end_together_are_each_told_to_their_own(database: Database) -> None:
    both = [await add_resource(database, "ada"), await add_resource(database, "ben")]
    for owner, _ in both:
        await register(database, owner)
    async with database.write() as connection:
        await connection.execute(sa.update(resources).values(status=Status.INDEXED))
        await connection.run_sync(announce_ended, [resource for _, resource in both])
    for owner, resource in both:
        assert [one["data"]["resource_id"] for one in await told(database, owner)] == [resource]


async def test_a_delivery_is_signed_and_taken_once(database: Database) -> None:
    owner, _ = await add_resource(database, "ada")
    await register(database, owner)
    await finish(database, Status.INDEXED)
    receiver = Receiver()
    await send_all(runner(database, receiver))
    ((url, headers, body),) = receiver.seen
    assert url == "https://hooks.example/in"
    event = standardwebhooks.Webhook(SECRET).verify(body, dict(headers))
    assert event["type"] == "resource.indexed"
    for secret, changed, sent in (
        (new_secret(), {}, body),
        (SECRET, {}, body.replace(b"indexed", b"deleted")),
        (SECRET, {"webhook-id": "msg_other"}, body),
        (SECRET, {"webhook-timestamp": str(int(time.time()) - 1)}, body),
    ):
        with pytest.raises(standardwebhooks.WebhookVerificationError):
            standardwebhooks.Webhook(secret).verify(sent, {**headers, **changed})
    (delivery,), _ = await WebhookRepository(database).deliveries(owner, None, None, 10, None)
    assert (delivery.id, delivery.state, delivery.attempts, delivery.status) == (
        headers["webhook-id"],
        DeliveryState.DELIVERED,
        1,
        204,
    )


@pytest.mark.parametrize(
    "failure",
    [
        Acknowledgement(500),
        Acknowledgement(429, 0.0),
        Acknowledgement(302),
        Acknowledgement(404),
        Unavailable("late"),
        InvalidInput("inside"),
    ],
)
async def test_what_is_not_taken_is_sent_again_under_the_same_id(
    database: Database, failure: Acknowledgement | Exception
) -> None:
    owner, _ = await add_resource(database, "ada")
    await register(database, owner)
    await finish(database, Status.INDEXED)
    receiver = Receiver([failure, Acknowledgement(200)])
    await send_all(runner(database, receiver))
    assert len(receiver.seen) == 2
    assert len(set(receiver.ids)) == 1
    assert len({body for _, _, body in receiver.seen}) == 1


async def test_what_is_never_taken_is_given_up_listed_and_can_be_replayed(database: Database) -> None:
    owner, _ = await add_resource(database, "ada")
    webhook = await register(database, owner)
    await finish(database, Status.INDEXED)
    receiver = Receiver([Acknowledgement(500)])
    await send_all(runner(database, receiver))
    assert len(receiver.seen) == 3
    webhooks = WebhookRepository(database)
    (dead,), _ = await webhooks.deliveries(owner, DeliveryState.DEAD, webhook.id, 10, None)
    assert (dead.status, dead.problem) == (500, "The receiver responded 500.")
    assert await webhooks.replay(owner, webhook_id=webhook.id) == 1
    receiver.answers = [Acknowledgement(200)]
    await send_all(runner(database, receiver))
    assert set(receiver.ids) == {dead.id}
    assert (await webhooks.delivery(owner, dead.id)).state is DeliveryState.DELIVERED


def test_attempts_go_on_for_a_day() -> None:
    assert 0.9 * 86_400 < sum(WAITS) < 1.1 * 86_400
    assert list(WAITS) == sorted(WAITS)


async def test_a_receiver_may_ask_for_more_time(database: Database) -> None:
    owner, _ = await add_resource(database, "ada")
    await register(database, owner)
    await finish(database, Status.INDEXED)
    before = time.time()
    assert await runner(database, Receiver([Acknowledgement(429, 600.0)])).run_once()
    (waiting,), _ = await WebhookRepository(database).deliveries(owner, DeliveryState.PENDING, None, 10, None)
    assert 600 <= waiting.due - before < 700


async def test_a_receiver_that_is_gone_is_told_nothing_more_until_it_is_enabled(database: Database) -> None:
    owner, _ = await add_resource(database, "ada")
    await add_resource(database, "ada")
    webhook = await register(database, owner)
    await finish(database, Status.INDEXED)
    await finish(database, Status.INDEXED)
    receiver = Receiver([Acknowledgement(410)])
    await send_all(runner(database, receiver))
    assert len(receiver.seen) == 1
    webhooks = WebhookRepository(database)
    gone = await webhooks.get(owner, webhook.id)
    assert not gone.enabled
    assert "410" in gone.problem
    assert len((await webhooks.deliveries(owner, DeliveryState.DEAD, None, 10, None))[0]) == 2
    again = await webhooks.change(owner, webhook.id, enabled=True)
    assert (again.enabled, again.problem) == (True, "")


async def test_a_process_that_dies_while_it_sends_loses_nothing(database: Database) -> None:
    owner, _ = await add_resource(database, "ada")
    await register(database, owner)
    await finish(database, Status.INDEXED)
    queue = DeliveryRepository(database)
    first = await queue.claim("dead")
    assert first is not None
    assert await queue.claim("other") is None
    await queue.release("dead")
    second = await queue.claim("other")
    assert second is not None
    assert (second.id, second.body) == (first.id, first.body)
    await queue.finish(first, DeliveryState.DEAD, due=0, status=None, problem="late")
    await queue.finish(second, DeliveryState.DELIVERED, due=time.time(), status=200, problem="")
    assert (await WebhookRepository(database).delivery(owner, first.id)).state is DeliveryState.DELIVERED


async def test_a_slow_receiver_holds_up_nobody_else(database: Database) -> None:
    ada, _ = await add_resource(database, "ada")
    await add_resource(database, "ada")
    ben, _ = await add_resource(database, "ben")
    slow, quick = await register(database, ada), await register(database, ben)
    for _ in range(3):
        await finish(database, Status.INDEXED)
    queue = DeliveryRepository(database)
    under_way = [await queue.claim("w"), await queue.claim("w"), await queue.claim("w")]
    assert sorted(one.webhook_id for one in under_way if one is not None) == sorted([slow.id, quick.id])


async def test_what_happens_twice_under_one_key_is_sent_once(database: Database) -> None:
    owner, _ = await add_resource(database, "ada")
    await register(database, owner)
    event = OutgoingEvent(type=EventType.SYNC_FINISHED, key="run-1", data={"source": "airtable", "added": 3})
    for _ in range(2):
        await WebhookRepository(database).tell(owner, event)
    (body,) = await told(database, owner)
    assert body["data"] == {"source": "airtable", "added": 3}


async def test_an_event_that_is_too_large_is_sent_with_its_ids(database: Database) -> None:
    owner, _ = await add_resource(database, "ada")
    await register(database, owner)
    data = {"thread_id": "t", "answer": "x" * MAX_BODY_BYTES}
    await WebhookRepository(database).tell(owner, OutgoingEvent(type=EventType.ANSWER_COMPLETED, key="m", data=data))
    (body,) = await told(database, owner)
    assert body["data"] == {"thread_id": "t", "truncated": True}


async def test_what_is_settled_is_forgotten_after_some_days(database: Database) -> None:
    owner, _ = await add_resource(database, "ada")
    await register(database, owner)
    await finish(database, Status.INDEXED)
    await send_all(runner(database, Receiver()))
    queue = DeliveryRepository(database)
    assert await queue.forget_old() == 0
    async with database.write() as connection:
        await connection.execute(sa.update(webhook_deliveries).values(due=time.time() - 4 * 86_400))
    assert await queue.forget_old() == 1


async def test_what_was_held_for_a_month_is_forgotten_unsent(database: Database) -> None:
    owner, _ = await add_resource(database, "ada")
    await register(database, owner)
    await finish(database, Status.INDEXED)
    queue = DeliveryRepository(database)
    async with database.write() as connection:
        await connection.execute(sa.update(webhook_deliveries).values(started_at=time.time() - 29 * 86_400))
    assert await queue.forget_old() == 0
    async with database.write() as connection:
        await connection.execute(sa.update(webhook_deliveries).values(started_at=time.time() - 31 * 86_400))
    assert await queue.forget_old() == 1


async def test_webhooks_are_few_and_go_with_what_waits_for_them(database: Database) -> None:
    owner, _ = await add_resource(database, "ada")
    made = [await register(database, owner) for _ in range(MAX_WEBHOOKS)]
    with pytest.raises(Conflict):
        await register(database, owner)
    await finish(database, Status.INDEXED)
    assert len(await told(database, owner)) == MAX_WEBHOOKS
    for webhook in made:
        await WebhookRepository(database).delete(owner, webhook.id)
    assert await told(database, owner) == []
    with pytest.raises(NotFound):
        await WebhookRepository(database).delete(owner, made[0].id)


async def test_no_more_webhooks_are_made_than_an_owner_may_have_however_many_ask_at_once(database: Database) -> None:
    owner, _ = await add_resource(database, "ada")
    work = [register(database, owner) for _ in range(MAX_WEBHOOKS + 12)]
    refused = [one for one in await asyncio.gather(*work, return_exceptions=True) if isinstance(one, Conflict)]
    assert len(await WebhookRepository(database).all(owner)) == MAX_WEBHOOKS
    assert len(refused) == 12
