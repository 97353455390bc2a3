"""Words of a file that was deleted, unshared or erased are emptied out of every copy, or shown to nobody who may not read the file."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import Any

import pytest
import sqlalchemy as sa

from citewell.storage.accounts.members import InvitationRepository, MemberRepository
from citewell.storage.accounts.owner_data import OwnerDataRepository
from citewell.storage.accounts.owners import OwnerRepository
from citewell.storage.channels.triggers import TriggerRepository
from citewell.storage.channels.webhook_tables import trigger_calls, webhook_deliveries
from citewell.storage.channels.webhooks import DeliveryRepository, WebhookRepository
from citewell.storage.conversations import quotations
from citewell.storage.conversations.threads import ThreadRepository
from citewell.storage.database import Database
from citewell.storage.files.content import insert_chunks
from citewell.storage.files.resources import ResourceRepository
from citewell.storage.tables import citations, messages
from citewell.types import (
    SUBSCRIBED,
    Citation,
    DeliveryState,
    EventType,
    OutgoingEvent,
    Provenance,
    Thread,
    TriggerKind,
)
from citewell.types.accounts import Role
from tests.storage.estates import Estate, add_estate, new_chunk, new_citation

SECRET = "nineteen pelicans"
NAME = "Merger.pdf"
PICTURE = {"mark": "bar", "data": {"values": [{"n": SECRET}]}}
_WORDS = (SECRET, "tagged-secret")


@dataclass(frozen=True, slots=True)
class Reader:
    """Ben, who may use Ada's project, with an answer that quotes her file and another that found it only near."""

    owner: str
    ada: Estate
    thread: Thread
    message: str
    trigger: str


async def _join(database: Database, ada: Estate, name: str) -> str:
    """Somebody who becomes a viewer of Ada's project."""
    member, invitations = await OwnerRepository(database).ensure(name), InvitationRepository(database)
    _, secret = await invitations.create(ada.owner, 60, None, ada.project, Role.VIEWER)
    await invitations.accept(member, f"{name}@example.org", secret)
    return member


async def _reader(database: Database) -> Reader:
    ada = await add_estate(database, "ada")
    ben = await _join(database, ada, "ben")
    for owner in (ada.owner, ben):
        wanted = (*SUBSCRIBED, EventType.CHUNK_STORED)
        await WebhookRepository(database).create(owner, "https://hooks.example/in", wanted, "", "whsec")
    cited = _quoting(ada)
    threads = ThreadRepository(database)
    thread = await threads.create(ben, "About it", {})
    answer = await threads.append(
        ben,
        thread.id,
        "assistant",
        "It is a bird [1].",
        [cited],
        {"picture": PICTURE, "intent": "x"},
        "m1",
        _told(cited),
    )
    near = {"nearest": [{"resource_id": ada.resource, "filename": NAME, "label": NAME}], "intent": "x"}
    await threads.append(ben, thread.id, "assistant", "Nothing was found.", (), near)
    trigger = await TriggerRepository(database).create(ben, TriggerKind.RESULT, "t", None, "hash")
    await _ask(database, trigger.id, {"answer": "A bird [1].", "message_id": answer.id, "citations": [cited.to_json()]})
    async with database.write() as connection:
        await connection.run_sync(insert_chunks, [new_chunk(ada.owner, ada.resource, 7, text=f"It says {SECRET}.")])
    return Reader(ben, ada, thread, answer.id, trigger.id)


def _quoting(of: Estate) -> Citation:
    said = Provenance(record_id="r1", identifier="tagged-secret", metadata={"client": "tagged-secret"})
    return replace(new_citation(of.chunks[0]), quote=SECRET, filename=NAME, label=f"{NAME} (p. 1)", provenance=said)


def _told(cited: Citation, message: str = "m1") -> OutgoingEvent:
    data = {"message_id": message, "thread_id": "t", "answer": "A bird [1].", "citations": [cited.to_json()]}
    return OutgoingEvent(type=EventType.ANSWER_COMPLETED, key=message, data=data, about=message)


async def _ask(database: Database, trigger: str, answer: dict[str, Any]) -> dict[str, Any]:
    """The answer of a trigger's call under one key, given the first time."""
    calls = TriggerRepository(database)
    call = await calls.begin(trigger, "key", "body")
    if call.answer is None:
        await calls.finish(call.lease, answer)
        return answer
    return dict(call.answer)


async def _kept(database: Database) -> str:
    """Everything that the tables with copies have."""
    tables = (citations, messages, webhook_deliveries, trigger_calls)
    return json.dumps([[dict(row) for row in await database.rows(sa.select(table))] for table in tables], default=str)


async def _exported(database: Database, owner: str) -> str:
    data, names = OwnerDataRepository(database), ("citations", "messages", "webhook_deliveries", "trigger_calls")
    return json.dumps([[row async for row in data.rows(owner, name)] for name in names], default=str)


async def _sent(database: Database) -> list[dict[str, Any]]:
    """The events that would be sent now."""
    queue, found = DeliveryRepository(database), list[dict[str, Any]]()
    while delivery := await queue.claim("here"):
        found.append(json.loads(delivery.body))
        await queue.finish(delivery, DeliveryState.DELIVERED, due=0, status=204, problem="")
    return found


def _has(text: str) -> set[str]:
    return {word for word in _WORDS if word in text}


async def test_what_is_there_to_begin_with(database: Database) -> None:
    ben = await _reader(database)
    assert _has(await _kept(database)) == _has(await _exported(database, ben.owner)) == set(_WORDS)
    sent = await _sent(database)
    assert {event["type"] for event in sent} == {"chunk.stored", "answer.completed"}
    assert SECRET in json.dumps(sent)


@pytest.mark.parametrize("sent_before", [True, False], ids=["delivered bodies", "pending deliveries"])
async def test_a_deleted_file_leaves_no_words_anywhere(database: Database, *, sent_before: bool) -> None:
    ben = await _reader(database)
    if sent_before:
        await _sent(database)
    receipt = await ResourceRepository(database).delete(ben.ada.owner, ben.ada.resource)
    assert receipt.quotations == 2  # Ada's own answer quotes it, too
    assert _has(await _kept(database)) == set()
    for owner in (ben.owner, ben.ada.owner):
        webhooks = WebhookRepository(database)
        for delivery in (await webhooks.deliveries(owner, None, None, 50, None))[0]:
            await webhooks.replay(owner, delivery_id=delivery.id)
    sent = await _sent(database)
    assert _has(json.dumps(sent)) == set()
    data = {event["type"]: event["data"] for event in sent}
    assert data["resource.deleted"]["resource_id"] == ben.ada.resource
    assert data["chunk.stored"].pop("chunk_id")
    assert data["chunk.stored"] == {"resource_id": ben.ada.resource, "version": 1, "truncated": True}
    assert data["answer.completed"] == {"message_id": ben.message, "thread_id": "t", "truncated": True}
    answer = await _ask(database, ben.trigger, {})
    assert (answer["answer"], answer["citations"][0]["quote"]) == ("A bird [1].", "")
    # The answer is its reader's, and says which file it was from.
    [first, _] = await ThreadRepository(database).messages(ben.owner, ben.thread.id)
    assert (first.content, first.citations[0].label) == ("It is a bird [1].", f"{NAME} (p. 1)")
    assert first.details == {"intent": "x"}


async def test_other_files_of_the_same_answer_keep_their_words(database: Database) -> None:
    ben = await _reader(database)
    other = await add_estate(database, "carl")
    gone, kept = _quoting(ben.ada), new_citation(other.chunks[0])
    threads = ThreadRepository(database)
    made = await threads.append(ben.owner, ben.thread.id, "assistant", "Both.", [gone, kept], {}, "m2")
    trigger = await TriggerRepository(database).create(ben.owner, TriggerKind.RESULT, "t", None, "hash")
    both = {"message_id": made.id, "citations": [gone.to_json(), kept.to_json()]}
    await _ask(database, trigger.id, both)
    await ResourceRepository(database).delete(ben.ada.owner, ben.ada.resource)
    rows = await database.rows(sa.select(trigger_calls.c.answer).where(trigger_calls.c.trigger_id == trigger.id))
    assert rows[0]["answer"]["citations"] == [gone.emptied().to_json(), kept.to_json()]
    stored = (await threads.messages(ben.owner, ben.thread.id))[-1]
    assert stored.citations == (gone.emptied(), kept)


async def test_what_sql_empties_is_what_python_empties(database: Database) -> None:
    ben = await _reader(database)
    bodies = {row["id"]: row["body"] for row in await database.rows(sa.select(webhook_deliveries))}
    await ResourceRepository(database).delete(ben.ada.owner, ben.ada.resource)
    rows = await database.rows(sa.select(webhook_deliveries).where(webhook_deliveries.c.id.in_(list(bodies))))
    assert rows
    for row in rows:
        assert json.loads(row["body"]) == json.loads(quotations.shortened(bodies[row["id"]]))
        assert json.loads(quotations.shortened(row["body"])) == json.loads(row["body"])
    stored = await database.rows(sa.select(citations.c.data).where(citations.c.message_id == ben.message))
    assert [dict(row["data"]) for row in stored] == [_quoting(ben.ada).emptied().to_json()]


@pytest.mark.full
async def test_who_is_no_member_any_more_gets_no_words_by_export_replay_or_repeated_call(database: Database) -> None:
    ben = await _reader(database)
    await _join(database, ben.ada, "carl")  # whose membership opens nothing to others
    await MemberRepository(database).remove(ben.ada.owner, ben.ada.project, ben.owner)
    exported = await _exported(database, ben.owner)
    assert _has(exported) == set()
    assert "It is a bird [1]." in exported
    of_ben = [event for event in await _sent(database) if event["type"] == "answer.completed"]
    assert [event["data"] for event in of_ben] == [{"message_id": "m1", "thread_id": "t", "truncated": True}]
    assert (await _ask(database, ben.trigger, {}))["citations"][0]["quote"] == ""
    # Nothing was destroyed: what is shared again is shown again.
    await _join(database, ben.ada, "ben")
    assert _has(await _exported(database, ben.owner)) == set(_WORDS)


async def test_what_an_owner_erases_is_taken_out_of_the_conversations_of_others_with_its_name(
    database: Database,
) -> None:
    ben = await _reader(database)
    carl = await add_estate(database, "carl")
    withdrawn = await OwnerDataRepository(database).withdraw_quotations(ben.ada.owner)
    assert (withdrawn.citations, withdrawn.answers) == (1, 1)
    exported = await _exported(database, ben.owner)
    assert _has(exported) == set()
    assert NAME not in exported
    assert "It is a bird [1]." in exported
    assert len(await database.rows(sa.select(citations).where(citations.c.resource_id == carl.resource))) == 1
    assert [one.details for one in await ThreadRepository(database).messages(ben.owner, ben.thread.id)] == [
        {"intent": "x"},
        {"intent": "x"},
    ]


async def test_an_answer_that_is_written_after_its_file_was_deleted_is_kept_without_its_words(
    database: Database,
) -> None:
    ben = await _reader(database)
    await ResourceRepository(database).delete(ben.ada.owner, ben.ada.resource)
    cited = _quoting(ben.ada)
    await ThreadRepository(database).append(
        ben.owner, ben.thread.id, "assistant", "Late [1].", [cited], {"picture": PICTURE}, "m3", _told(cited, "m3")
    )
    trigger = await TriggerRepository(database).create(ben.owner, TriggerKind.RESULT, "t", None, "hash")
    await _ask(database, trigger.id, {"message_id": "m3", "citations": [cited.to_json()]})
    assert _has(await _kept(database)) == set()


@pytest.mark.parametrize("how", ["thread", "message"])
async def test_a_deleted_conversation_is_emptied_out_of_deliveries_and_kept_answers(
    database: Database, how: str
) -> None:
    ben = await _reader(database)
    threads = ThreadRepository(database)
    if how == "thread":
        await threads.delete(ben.owner, ben.thread.id)
    else:
        await threads.cut(ben.owner, ben.thread.id, ben.message)
    sent = [event for event in await _sent(database) if event["type"] == "answer.completed"]
    assert [event["data"] for event in sent] == [{"message_id": "m1", "thread_id": "t", "truncated": True}]
    assert "A bird" not in await _kept(database)
    assert await database.rows(sa.select(trigger_calls)) == []
