"""Quotas: what is counted, who is refused, and that no two requests take the last place."""

from __future__ import annotations

import asyncio
import time
import uuid
from dataclasses import dataclass, replace
from datetime import UTC, datetime

import pytest
import sqlalchemy as sa

from citewell.errors import (
    BytesQuotaReached,
    CitewellError,
    Conflict,
    FilesQuotaReached,
    NotFound,
    QuestionsQuotaReached,
    SpendQuotaReached,
)
from citewell.storage.accounts.owners import OwnerRepository
from citewell.storage.accounts.service_accounts import ServiceAccountRepository
from citewell.storage.conversations.threads import ThreadRepository
from citewell.storage.database import Database
from citewell.storage.files.new_resources import insert_children
from citewell.storage.files.projects import ProjectRepository
from citewell.storage.files.records import Placing, RecordRepository, TextRecord
from citewell.storage.files.resources import ResourceRepository
from citewell.storage.spending.quota_tables import question_counts
from citewell.storage.spending.quotas import QuotaRepository, month_of
from citewell.storage.spending.usage import UsageRepository
from citewell.types import Chunk, Element, ElementType, Locator, Usage
from citewell.types.quotas import Quota
from tests.storage.estates import new_resource

JANUARY = datetime(2026, 1, 31, 23, 59, 50, tzinfo=UTC).timestamp()
FEBRUARY = datetime(2026, 2, 1, tzinfo=UTC).timestamp()


@dataclass
class Clock:
    """The time that quotas go by."""

    now: float = JANUARY

    def __call__(self) -> float:
        return self.now


class Shelf:
    """Owners of a database, and what they may have."""

    def __init__(self, database: Database) -> None:
        self.database, self.clock = database, Clock()

    async def owner(self, name: str = "ada") -> str:
        return await OwnerRepository(self.database).ensure(name)

    def quotas(self, **defaults: float) -> QuotaRepository:
        return QuotaRepository(self.database, {Quota(name): most for name, most in defaults.items()}, self.clock)

    async def add(self, quotas: QuotaRepository, owner: str, size: int = 10) -> str:
        """A file of so many bytes that nobody has yet; its id."""
        new = replace(new_resource(owner, str(uuid.uuid4())), file_size_bytes=size)
        resource, _ = await ResourceRepository(self.database, quotas).create(new, "")
        return resource.id

    async def used(self, owner: str) -> dict[str, float]:
        return {one.quota.value: one.used for one in await self.quotas().standings(owner)}


@pytest.fixture
def shelf(database: Database) -> Shelf:
    return Shelf(database)


async def test_without_a_quota_there_is_no_limit(shelf: Shelf) -> None:
    owner, quotas = await shelf.owner(), shelf.quotas()
    await shelf.add(quotas, owner, 10**12)
    await quotas.count_question(owner)
    await quotas.require_spend(owner, 1e9)
    assert await quotas.upload_bound(owner) is None
    assert [(one.limit, one.is_own) for one in await quotas.standings(owner)] == [(None, False)] * 4


async def test_a_file_too_many_is_refused_and_says_which_quota_and_how_much(shelf: Shelf) -> None:
    owner, quotas = await shelf.owner(), shelf.quotas(files=2)
    first = await shelf.add(quotas, owner)
    await shelf.add(quotas, owner)
    with pytest.raises(FilesQuotaReached, match="2 of 2") as raised:
        await shelf.add(quotas, owner)
    assert raised.value.details == {"quota": "files", "used": 2, "limit": 2}
    await ResourceRepository(shelf.database).delete(owner, first)
    await shelf.add(quotas, owner)


async def test_a_file_with_too_many_bytes_is_refused_and_deleting_gives_room_back(shelf: Shelf) -> None:
    owner, quotas = await shelf.owner(), shelf.quotas(bytes=100)
    large = await shelf.add(quotas, owner, 60)
    with pytest.raises(BytesQuotaReached, match="60 of 100 are used"):
        await shelf.add(quotas, owner, 41)
    await shelf.add(quotas, owner, 40)
    with pytest.raises(BytesQuotaReached):
        await shelf.add(quotas, owner, 1)
    await ResourceRepository(shelf.database).delete(owner, large)
    assert await shelf.used(owner) == {"files": 1, "bytes": 40, "questions": 0, "spend": 0}
    await shelf.add(quotas, owner, 60)


async def test_every_version_of_a_file_takes_room_for_its_bytes_but_is_no_file_more(shelf: Shelf) -> None:
    owner, quotas = await shelf.owner(), shelf.quotas(files=1, bytes=100)
    resources = ResourceRepository(shelf.database, quotas)
    resource = await shelf.add(quotas, owner, 60)
    await resources.add_version(owner, resource, replace(new_resource(owner, "second"), file_size_bytes=40))
    assert await shelf.used(owner) == {"files": 1, "bytes": 100, "questions": 0, "spend": 0}
    with pytest.raises(BytesQuotaReached):
        await resources.add_version(owner, resource, replace(new_resource(owner, "third"), file_size_bytes=1))
    assert (await resources.get(owner, resource)).version == 2


async def test_what_an_owner_has_already_takes_no_room(shelf: Shelf) -> None:
    owner, quotas = await shelf.owner(), shelf.quotas(files=1, bytes=10)
    new = new_resource(owner, "the same")
    resources = ResourceRepository(shelf.database, quotas)
    first, _ = await resources.create(replace(new, file_size_bytes=10), "")
    again, created = await resources.create(replace(new, id=str(uuid.uuid4()), file_size_bytes=10), "")
    assert (again.id, created) == (first.id, False)


@pytest.mark.parametrize("most", [{"files": 4.0}, {"bytes": 40.0}])
async def test_of_many_at_once_exactly_as_many_get_in_as_there_are_places(shelf: Shelf, most: dict[str, float]) -> None:
    owner, other, quotas = await shelf.owner(), await shelf.owner("ben"), shelf.quotas(**most)
    for _ in range(3):
        await shelf.add(quotas, owner)
    attempts = [shelf.add(quotas, owner) for _ in range(8)] + [shelf.add(quotas, other) for _ in range(4)]
    results = await asyncio.gather(*attempts, return_exceptions=True)
    assert sum(isinstance(one, str) for one in results[:8]) == 1
    assert {type(one) for one in results[:8]} - {str} <= {FilesQuotaReached, BytesQuotaReached}
    assert all(isinstance(one, str) for one in results[8:])
    assert (await shelf.used(owner))["files"] == 4


async def test_files_inside_a_file_get_in_while_there_is_room(shelf: Shelf) -> None:
    owner, quotas = await shelf.owner(), shelf.quotas(files=3)
    archive = await shelf.add(quotas, owner)
    inside = [new_resource(owner, f"inside {n}", parent_id=archive) for n in range(4)]
    async with shelf.database.write() as connection:
        done = await connection.run_sync(
            insert_children, inside, "", await connection.run_sync(quotas.file_room, owner)
        )
    assert done.made == {one.id for one in inside[:2]}
    assert set(done.refused) == {one.content_hash for one in inside[2:]}
    assert all("file quota" in reason for reason in done.refused.values())
    assert (await shelf.used(owner))["files"] == 3


async def test_records_are_files_and_only_their_current_text_takes_room(shelf: Shelf) -> None:
    owner, quotas = await shelf.owner(), shelf.quotas(files=2, bytes=20)
    project = (await ProjectRepository(shelf.database).all(owner))[0].id
    records = RecordRepository(shelf.database, quotas)

    async def write(**texts: str) -> None:
        parsed = [
            TextRecord(record_id=name, title=name, has_title=False, text=text, content_hash=name + text, metadata={})
            for name, text in texts.items()
        ]
        elements = [Element(id="e0", type=ElementType.PARAGRAPH, text=one.text, locator=Locator()) for one in parsed]
        chunks: list[Chunk] = []
        await records.write(owner, Placing(project), parsed, await records.plan(owner, parsed), elements, chunks)

    await write(a="ten bytes.", b="ten bytes!")
    with pytest.raises(FilesQuotaReached):
        await write(c="1")
    await write(a="10 bytes.", b="ten bytes?")
    with pytest.raises(BytesQuotaReached):
        await write(a="twelve bytes")
    assert await shelf.used(owner) == {"files": 2, "bytes": 19, "questions": 0, "spend": 0}


async def test_what_is_set_for_an_owner_holds_instead_of_the_default(shelf: Shelf) -> None:
    owner, other, quotas = await shelf.owner(), await shelf.owner("ben"), shelf.quotas(files=0, questions=1)
    await quotas.change(owner, {Quota.FILES: 1.0, Quota.QUESTIONS: None})
    await shelf.add(quotas, owner)
    for _ in range(3):
        await quotas.count_question(owner)
    with pytest.raises(FilesQuotaReached):
        await shelf.add(quotas, other)
    standings = {one.quota: (one.limit, one.is_own) for one in await quotas.standings(owner)}
    assert standings[Quota.FILES] == (1.0, True)
    assert standings[Quota.QUESTIONS] == (None, True)
    assert standings[Quota.BYTES] == (None, False)
    await quotas.change(owner, {})
    with pytest.raises(FilesQuotaReached):
        await shelf.add(quotas, owner)
    with pytest.raises(NotFound):
        await quotas.change("nobody", {Quota.FILES: 1.0})


async def test_questions_are_counted_by_month(shelf: Shelf) -> None:
    owner, other, quotas = await shelf.owner(), await shelf.owner("ben"), shelf.quotas(questions=2)
    await quotas.count_question(other)
    await quotas.count_question(owner)
    await quotas.count_question(owner)
    assert (await shelf.used(other))["questions"] == 1
    with pytest.raises(QuestionsQuotaReached, match="2 of 2 this month") as raised:
        await quotas.count_question(owner)
    assert raised.value.retry_after == 10
    assert "2026-02-01" in raised.value.message
    assert (await shelf.used(owner))["questions"] == 2
    shelf.clock.now = FEBRUARY
    assert (await shelf.used(owner))["questions"] == 0
    await quotas.count_question(owner)
    assert (await shelf.used(owner))["questions"] == 1
    kept = await shelf.database.rows(sa.select(question_counts.c.owner_id, question_counts.c.month))
    assert {(row["owner_id"], row["month"]) for row in kept} == {(owner, "2026-02"), (other, "2026-01")}


async def test_of_questions_asked_at_once_no_more_are_answered_than_are_left(shelf: Shelf) -> None:
    owner, other, quotas = await shelf.owner(), await shelf.owner("ben"), shelf.quotas(questions=3)
    asked = [quotas.count_question(owner) for _ in range(10)] + [quotas.count_question(other) for _ in range(3)]
    results = await asyncio.gather(*asked, return_exceptions=True)
    assert sum(one is None for one in results[:10]) == 3
    assert results[10:] == [None] * 3


async def test_a_limit_that_is_set_later_counts_the_questions_of_the_month_before_it(shelf: Shelf) -> None:
    owner, quotas = await shelf.owner(), shelf.quotas()
    threads = ThreadRepository(shelf.database)
    thread = await threads.create(owner, "A conversation", {})
    for role in ("user", "assistant", "user"):
        await threads.append(owner, thread.id, role, "Something.")
    shelf.clock.now = time.time()
    assert (await shelf.used(owner))["questions"] == 2
    await quotas.change(owner, {Quota.QUESTIONS: 3.0})
    await quotas.count_question(owner)
    with pytest.raises(QuestionsQuotaReached):
        await quotas.count_question(owner)


async def test_what_was_spent_is_counted_by_month_without_what_was_not_spent(shelf: Shelf) -> None:
    owner, other, quotas = await shelf.owner(), await shelf.owner("ben"), shelf.quotas(spend=1)
    ledger = UsageRepository(shelf.database)
    await ledger.add(owner, [Usage(kind="chat", provider="p", model="m", cost=0.75)], at=JANUARY)
    await ledger.add(owner, [Usage(kind="context_stuffing", provider="p", model="m", cost=50.0)], at=JANUARY)
    await quotas.require_spend(owner)
    with pytest.raises(SpendQuotaReached, match=r"1\.00 of 1\.00"):
        await quotas.require_spend(owner, under_way=0.25)
    await ledger.add(owner, [Usage(kind="embedding", provider="p", model="m", cost=0.25)], at=JANUARY)
    with pytest.raises(SpendQuotaReached) as raised:
        await quotas.require_spend(owner)
    assert raised.value.details == {"quota": "spend", "used": 1.0, "limit": 1.0}
    await quotas.require_spend(other)
    shelf.clock.now = FEBRUARY
    await quotas.require_spend(owner)


async def test_service_accounts_bring_no_more_than_their_manager_may_have(shelf: Shelf) -> None:
    owner, other, quotas = await shelf.owner(), await shelf.owner("ben"), shelf.quotas(files=2, questions=2, spend=1)
    accounts = ServiceAccountRepository(shelf.database)
    first, second = [(await accounts.create(owner, name)).acts_as for name in ("first", "second")]
    foreign = (await accounts.create(other, "first")).acts_as
    await shelf.add(quotas, first)
    await shelf.add(quotas, second)
    await quotas.count_question(first)
    await quotas.count_question(owner)
    await UsageRepository(shelf.database).add(
        second, [Usage(kind="chat", provider="p", model="m", cost=1.0)], at=JANUARY
    )
    for one in (owner, first, second):
        with pytest.raises(FilesQuotaReached):
            await shelf.add(quotas, one)
        with pytest.raises(QuestionsQuotaReached):
            await quotas.count_question(one)
        with pytest.raises(SpendQuotaReached):
            await quotas.require_spend(one)
        assert await shelf.used(one) == {"files": 2, "bytes": 20, "questions": 2, "spend": 1}
    await shelf.add(quotas, foreign)
    await quotas.count_question(foreign)
    await quotas.require_spend(foreign)
    with pytest.raises(Conflict, match="of the owner who manages it"):
        await quotas.change(first, {Quota.FILES: 100.0})
    await quotas.change(owner, {Quota.FILES: 3.0})
    assert await quotas.own(first) == {Quota.FILES: 3.0}
    results = await asyncio.gather(*(shelf.add(quotas, one) for one in (owner, first, second)), return_exceptions=True)
    assert sum(isinstance(one, str) for one in results) == 1


async def test_how_large_an_upload_may_be(shelf: Shelf) -> None:
    """A file that is larger than what is left may be one that the owner has, up to the size of the largest."""
    owner, quotas = await shelf.owner(), shelf.quotas(bytes=100)
    await shelf.add(shelf.quotas(), await shelf.owner("ben"), 5_000)
    bound = await quotas.upload_bound(owner)
    assert bound is not None
    assert bound.most_bytes == 100
    await shelf.add(quotas, owner, 30)
    await shelf.add(quotas, owner, 60)
    bound = await quotas.upload_bound(owner)
    assert bound is not None
    assert bound.most_bytes == 60
    assert isinstance(bound.refusal, BytesQuotaReached)


async def test_owners_are_found_by_what_administrators_call_them(shelf: Shelf) -> None:
    owner, quotas = await shelf.owner(), shelf.quotas()
    assert await quotas.find_owner(owner) == owner
    assert await quotas.find_owner("ada") == owner
    with pytest.raises(CitewellError, match="no such owner"):
        await quotas.find_owner("nobody")


def test_months_end_where_the_next_begins() -> None:
    assert month_of(JANUARY) == ("2026-01", datetime(2026, 1, 1, tzinfo=UTC).timestamp(), FEBRUARY)
    assert month_of(FEBRUARY)[:2] == ("2026-02", FEBRUARY)
    december = datetime(2027, 12, 31, tzinfo=UTC).timestamp()
    assert month_of(december)[2] == datetime(2028, 1, 1, tzinfo=UTC).timestamp()
    assert month_of(datetime(2028, 2, 29, tzinfo=UTC).timestamp())[0] == "2028-02"
