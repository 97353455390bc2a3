"""Records: a text is new, a new version, or unchanged; a batch is written whole or not at all."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace

import pytest

from citewell.errors import Conflict, Forbidden
from citewell.storage.accounts.owners import OwnerRepository
from citewell.storage.database import Database
from citewell.storage.files.content import ContentRepository
from citewell.storage.files.projects import ProjectRepository
from citewell.storage.files.records import Placing, RecordRepository, StoredRecord, TextRecord
from citewell.storage.files.resources import ResourceRepository
from citewell.storage.work.jobs import JobRepository
from citewell.storage.work.payload_changes import PayloadChangeRepository
from citewell.types import Stage, Status
from tests.storage.estates import new_chunk, new_element


class Shelf:
    """An owner who writes records."""

    def __init__(self, database: Database, owner: str, project: str) -> None:
        self.database, self.owner, self.project = database, owner, project
        self.records = RecordRepository(database)

    async def plan(self, *records: TextRecord) -> list[StoredRecord]:
        return await self.records.plan(self.owner, records)

    async def write(
        self, records: Sequence[TextRecord], places: Sequence[StoredRecord], placing: Placing | None = None
    ) -> None:
        changed = [(r, p) for r, p in zip(records, places, strict=True) if not p.unchanged]
        chunks = [new_chunk(self.owner, p.resource_id, version=p.version, text=r.text) for r, p in changed]
        await self.records.write(
            self.owner,
            placing or Placing(self.project),
            records,
            places,
            [new_element(0, r.text) for r, _ in changed],
            chunks,
        )

    async def add(self, *records: TextRecord, placing: Placing | None = None) -> list[StoredRecord]:
        places = await self.plan(*records)
        await self.write(records, places, placing)
        await self.records.mark_indexed({place.resource_id: 1 for place in places})
        return places

    async def texts(self, place: StoredRecord) -> list[str]:
        chunks, _ = await ContentRepository(self.database).chunks_page(place.resource_id, 10)
        return [chunk.text for chunk in chunks]


@pytest.fixture
async def shelf(database: Database) -> Shelf:
    owner = await OwnerRepository(database).ensure("ada")
    return Shelf(database, owner, await ProjectRepository(database).resolve(owner, None))


def _record(record_id: str = "r1", text: str = "Fees are due.") -> TextRecord:
    return TextRecord(
        record_id=record_id,
        title=f"Title of {record_id}",
        has_title=True,
        text=text,
        content_hash=f"{record_id} {text}",
        metadata={"ä": ("1",)},
    )


async def test_a_new_record_is_a_resource_without_a_file(shelf: Shelf) -> None:
    (place,) = await shelf.add(_record())
    assert (place.version, place.is_new, place.unchanged) == (1, True, False)
    found = await ResourceRepository(shelf.database).get(shelf.owner, place.resource_id)
    assert (found.record_id, found.filename, found.status) == ("r1", "Title of r1", Status.INDEXED)
    assert (found.chunk_count, found.project_ids, found.extraction_metadata) == (1, (shelf.project,), {"ä": ["1"]})
    assert await shelf.texts(place) == ["Fees are due."]


async def test_the_same_text_again_changes_nothing(shelf: Shelf) -> None:
    (first,) = await shelf.add(_record())
    before = await ResourceRepository(shelf.database).get(shelf.owner, first.resource_id)
    (again,) = await shelf.plan(_record())
    assert again == StoredRecord(first.resource_id, 1, unchanged=True, is_new=False)
    await shelf.write([_record()], [again])
    assert await ResourceRepository(shelf.database).get(shelf.owner, first.resource_id) == before


async def test_another_text_is_the_next_version_and_replaces_the_chunks(shelf: Shelf) -> None:
    (first,) = await shelf.add(_record())
    (changed,) = await shelf.add(_record(text="Fees have risen."))
    assert changed == StoredRecord(first.resource_id, 2, unchanged=False, is_new=False)
    assert await shelf.texts(changed) == ["Fees have risen."]
    elements, _ = await ContentRepository(shelf.database).elements_page(first.resource_id, 2, 10)
    assert [element["text"] for element in elements] == ["Fees have risen."]


async def test_new_changed_and_unchanged_records_go_together(shelf: Shelf) -> None:
    await shelf.add(_record("a"), _record("b"))
    places = await shelf.add(_record("b"), _record("c"), _record("a", "changed"))
    assert [(p.version, p.is_new, p.unchanged) for p in places] == [
        (1, False, True),
        (1, True, False),
        (2, False, False),
    ]
    assert [await shelf.texts(place) for place in places] == [["Fees are due."], ["Fees are due."], ["changed"]]


async def test_more_records_than_a_statement_takes_are_planned(shelf: Shelf) -> None:
    known = await shelf.add(*(_record(f"r{n}") for n in range(3)))
    wanted = [_record(f"r{n}") for n in range(1_100)]
    planned = await shelf.plan(*wanted)
    assert [place.resource_id for place in planned[:3]] == [place.resource_id for place in known]
    assert sum(place.is_new for place in planned) == 1_097
    assert len({place.resource_id for place in planned}) == 1_100


async def test_what_was_not_indexed_before_a_crash_is_taken_up_by_a_worker(shelf: Shelf) -> None:
    (place,) = await shelf.plan(_record())
    await shelf.write([_record()], [place])
    jobs = JobRepository(shelf.database)
    assert await jobs.claim(Stage.INDEX, "w") is None  # leased to who wrote it
    await jobs.release_all("records", died=False)
    job = await jobs.claim(Stage.INDEX, "w")
    assert job
    assert job.resource_id == place.resource_id
    (again,) = await shelf.plan(_record())
    assert not again.unchanged  # it was never indexed


async def test_a_batch_that_fails_leaves_nothing(shelf: Shelf) -> None:
    records = [_record("a"), _record("b")]
    places = await shelf.plan(*records)
    twice = [places[0], replace(places[1], resource_id=places[0].resource_id)]
    with pytest.raises(Conflict):
        await shelf.write(records, twice)
    assert await ResourceRepository(shelf.database).counts(shelf.owner) == {}
    assert await ContentRepository(shelf.database).count_chunks() == 0


@pytest.mark.parametrize("known", [False, True])
async def test_the_same_record_sent_twice_at_once_is_written_once(shelf: Shelf, known: bool) -> None:
    if known:
        await shelf.add(_record(text="before"))
    plans = await asyncio.gather(*(shelf.plan(_record()) for _ in range(3)))
    outcomes = await asyncio.gather(*(shelf.write([_record()], plan) for plan in plans), return_exceptions=True)
    assert sum(outcome is None for outcome in outcomes) == 1
    conflicts = [outcome for outcome in outcomes if outcome is not None]
    assert all(isinstance(conflict, Conflict) and "Send them again" in conflict.message for conflict in conflicts)
    (place,) = await shelf.plan(_record())
    assert await shelf.texts(place) == ["Fees are due."]


async def test_nothing_to_write_is_nothing(shelf: Shelf) -> None:
    await shelf.add()
    await shelf.records.mark_indexed({})
    assert await ResourceRepository(shelf.database).counts(shelf.owner) == {}


async def test_a_known_record_is_in_the_project_that_is_named_as_well(shelf: Shelf) -> None:
    two = (await ProjectRepository(shelf.database).create(shelf.owner, "Two")).id
    (place, other) = await shelf.add(_record(), _record("r2"))
    kept = ResourceRepository(shelf.database)
    await shelf.add(_record(text="Fees have risen."), placing=Placing(two))  # no project was named
    assert (await kept.get(shelf.owner, place.resource_id)).project_ids == (shelf.project,)
    again = await shelf.add(_record(text="Fees have doubled."), _record("r2"), placing=Placing(two, joins=True))
    assert [(p.version, p.unchanged) for p in again] == [(3, False), (1, True)]
    for one in (place, other):
        assert set((await kept.get(shelf.owner, one.resource_id)).project_ids) == {shelf.project, two}
    claimed = await PayloadChangeRepository(shelf.database).claim("w", 10)
    assert {change.resource_id for change in claimed} == {place.resource_id, other.resource_id}
    await shelf.add(_record("r2"), placing=Placing(two, joins=True))  # it is there already


async def test_who_is_bound_to_a_project_changes_no_record_outside_it(shelf: Shelf) -> None:
    bound = Placing((await ProjectRepository(shelf.database).create(shelf.owner, "Two")).id, joins=True, is_bound=True)
    (place,) = await shelf.add(_record())
    with pytest.raises(Forbidden, match="in other projects"):
        await shelf.add(_record("new"), _record(text="Fees have risen."), placing=bound)
    assert await shelf.texts(place) == ["Fees are due."]
    kept = ResourceRepository(shelf.database)
    assert (await kept.get(shelf.owner, place.resource_id)).project_ids == (shelf.project,)
    assert (await kept.counts(shelf.owner)) == {Status.INDEXED: 1}
    await shelf.add(_record(), placing=bound)  # the same text: it joins the project
    assert set((await kept.get(shelf.owner, place.resource_id)).project_ids) == {shelf.project, bound.project_id}
    with pytest.raises(Forbidden, match="'r1'"):
        await shelf.add(_record(text="Fees have risen."), placing=bound)
    await shelf.add(_record("own"), placing=bound)
    (changed,) = await shelf.add(_record("own", "Fees have risen."), placing=bound)
    assert await shelf.texts(changed) == ["Fees have risen."]
