"""Conversations: messages in order with their citations, lists by last use, turns taken back, ratings."""

from __future__ import annotations

import asyncio

import pytest
import sqlalchemy as sa

from citewell.errors import InvalidCursor, NotFound
from citewell.storage.accounts.owners import OwnerRepository
from citewell.storage.conversations.threads import ThreadRepository
from citewell.storage.cursors import encode_cursor
from citewell.storage.database import Database
from citewell.storage.tables import citations, messages
from tests.storage.estates import new_chunk, new_citation
from tests.storage.rows import add_resource


@pytest.fixture
async def ada(database: Database) -> str:
    return await OwnerRepository(database).ensure("ada")


@pytest.fixture
def threads(database: Database) -> ThreadRepository:
    return ThreadRepository(database)


async def test_a_thread_is_kept_as_it_was_made(threads: ThreadRepository, ada: str) -> None:
    scope = {"resource_ids": ["a", "b"], "ä": None}
    made = await threads.create(ada, "Über Gebühren 📏", scope)
    assert await threads.get(ada, made.id) == made
    assert made.scope == scope


async def test_messages_come_back_in_order_with_their_citations(
    database: Database, threads: ThreadRepository, ada: str
) -> None:
    thread = await threads.create(ada, "t", {})
    _, resource_id = await add_resource(database, "ada")
    cited = [new_citation(new_chunk(ada, resource_id, n)) for n in range(3)]
    sent = [
        await threads.append(ada, thread.id, "user", "Why?"),
        await threads.append(ada, thread.id, "assistant", "So [1].", cited, {"intent": "answer"}, message_id="chosen"),
        await threads.append(ada, thread.id, "user", "And?"),
    ]
    assert await threads.messages(ada, thread.id) == sent
    assert await threads.messages(ada, thread.id, last=2) == sent[1:]
    assert sent[1].id == "chosen"
    assert await threads.messages(ada, (await threads.create(ada, "empty", {})).id) == []


async def test_messages_sent_at_once_are_all_kept(threads: ThreadRepository, ada: str) -> None:
    thread = await threads.create(ada, "t", {})
    await asyncio.gather(*(threads.append(ada, thread.id, "user", f"m{n}") for n in range(10)))
    assert sorted(m.content for m in await threads.messages(ada, thread.id)) == [f"m{n}" for n in range(10)]


async def test_the_thread_used_last_is_listed_first(threads: ThreadRepository, ada: str) -> None:
    made = [await threads.create(ada, f"t{n}", {}) for n in range(3)]
    await threads.append(ada, made[0].id, "user", "again")
    await threads.update(ada, made[1].id, title="renamed")
    found, cursor = await threads.page(ada, 10, None)
    assert [thread.title for thread in found] == ["renamed", "t0", "t2"]
    assert cursor is None


async def test_pages_follow_each_other_also_among_equal_times(
    threads: ThreadRepository, ada: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("citewell.storage.conversations.threads.time.time", lambda: 5.0)
    made = {(await threads.create(ada, f"t{n}", {})).id for n in range(5)}
    seen: list[str] = []
    cursor = None
    for _ in range(3):
        found, cursor = await threads.page(ada, 2, cursor)
        seen += [thread.id for thread in found]
    assert cursor is None
    assert len(seen) == 5
    assert set(seen) == made


@pytest.mark.parametrize(
    ("search", "titles"),
    [("FEES", ["About fees", "Other"]), ("100%", ["100% sure"]), ("_", []), ("nothing", []), ("", ["100% sure", "Other", "About fees"])],
)  # fmt: skip
async def test_threads_are_searched_by_title_and_by_what_was_said(
    threads: ThreadRepository, ada: str, search: str, titles: list[str]
) -> None:
    await threads.create(ada, "About fees", {})
    other = await threads.create(ada, "Other", {})
    await threads.append(ada, other.id, "user", "What are the fees?")
    await threads.create(ada, "100% sure", {})
    found, _ = await threads.page(ada, 10, None, search)
    assert sorted(thread.title for thread in found) == sorted(titles)


async def test_a_turn_is_taken_back_with_all_that_follows(
    threads: ThreadRepository, ada: str, database: Database
) -> None:
    thread = await threads.create(ada, "t", {})
    sent = [await threads.append(ada, thread.id, "user", "1")]
    sent += [await threads.append(ada, thread.id, "assistant", "2 [1]", [new_citation(new_chunk(ada, "r"))])]
    sent += [await threads.append(ada, thread.id, "user", "3")]
    await threads.cut(ada, thread.id, sent[1].id)
    assert await threads.messages(ada, thread.id) == sent[:1]
    assert await database.rows(sa.select(citations)) == []
    with pytest.raises(NotFound):
        await threads.cut(ada, thread.id, sent[1].id)
    again = await threads.append(ada, thread.id, "user", "instead")
    assert await threads.messages(ada, thread.id) == [sent[0], again]


async def test_a_deleted_thread_takes_its_messages_and_citations_along(
    threads: ThreadRepository, ada: str, database: Database
) -> None:
    thread = await threads.create(ada, "t", {})
    await threads.append(ada, thread.id, "assistant", "So [1].", [new_citation(new_chunk(ada, "r"))])
    await threads.delete(ada, thread.id)
    assert await database.rows(sa.select(messages.c.id)) == []
    assert await database.rows(sa.select(citations.c.n)) == []
    for gone in (threads.get, threads.delete, threads.messages):
        with pytest.raises(NotFound):
            await gone(ada, thread.id)


async def test_an_answer_is_rated_and_unrated_and_a_question_is_not(threads: ThreadRepository, ada: str) -> None:
    thread = await threads.create(ada, "t", {})
    question = await threads.append(ada, thread.id, "user", "Why?")
    answer = await threads.append(ada, thread.id, "assistant", "So.", details={"intent": "answer"})
    await threads.rate(ada, thread.id, answer.id, {"rating": "down", "note": "ä"})
    details = (await threads.messages(ada, thread.id))[1].details
    assert details == {"intent": "answer", "feedback": {"rating": "down", "note": "ä"}}
    await threads.rate(ada, thread.id, answer.id, None)
    assert (await threads.messages(ada, thread.id))[1].details == {"intent": "answer"}
    with pytest.raises(NotFound):
        await threads.rate(ada, thread.id, question.id, {"rating": "up"})


@pytest.mark.parametrize("cursor", ["x", encode_cursor(1), encode_cursor(1.0, "a\0b"), encode_cursor(10**400, "a")])
async def test_a_cursor_of_anything_else_is_refused(threads: ThreadRepository, ada: str, cursor: str) -> None:
    with pytest.raises(InvalidCursor):
        await threads.page(ada, 10, cursor)
