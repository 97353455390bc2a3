"""Resources: one per content, listed by filter and cursor, replaced by versions, deleted with all that was made of them."""

from __future__ import annotations

import asyncio
import uuid
from typing import Any

import pytest
import sqlalchemy as sa

from citewell.errors import Conflict, InvalidCursor, InvalidInput, NotFound
from citewell.storage.accounts.owners import OwnerRepository
from citewell.storage.cursors import encode_cursor
from citewell.storage.database import Database
from citewell.storage.files.content import insert_chunks, replace_blobs
from citewell.storage.files.projects import ProjectRepository
from citewell.storage.files.resources import Original, ResourceRepository
from citewell.storage.tables import metadata, resources
from citewell.storage.work.jobs import JobRepository
from citewell.types import Resource, ResourceFilter, Stage, Status, UploadOptions
from tests.storage.estates import new_blob, new_chunk, new_element, new_resource, store_elements


class Desk:
    """An owner who uploads."""

    def __init__(self, database: Database, owner: str, project: str) -> None:
        self.database, self.owner, self.project = database, owner, project
        self.resources = ResourceRepository(database)

    async def add(self, content: str, project: str | None = None, **values: Any) -> Resource:
        new = new_resource(self.owner, content, **values)
        return (await self.resources.create(new, self.project if project is None else project))[0]

    async def change(self, resource: Resource, **values: Any) -> None:
        async with self.database.write() as connection:
            await connection.execute(sa.update(resources).where(resources.c.id == resource.id).values(**values))

    async def names(self, limit: int = 100, **filter: Any) -> list[str]:
        found, _ = await self.resources.page(self.owner, ResourceFilter(**filter), limit, None)
        return [resource.filename.removesuffix(".txt") for resource in found]


@pytest.fixture
async def desk(database: Database) -> Desk:
    owner = await OwnerRepository(database).ensure("ada")
    return Desk(database, owner, await ProjectRepository(database).resolve(owner, None))


async def test_an_upload_is_kept_as_it_came(desk: Desk) -> None:
    options = UploadOptions(multimodal=True, extract_images=False, password="s3cret")
    new = new_resource(desk.owner, "Gebühr 📏", identifier="F-1", options=options, file_size_bytes=3 * 2**31)
    made, created = await desk.resources.create(new, desk.project)
    assert created
    assert made == await desk.resources.get(desk.owner, new.id)
    assert (made.filename, made.identifier, made.options) == ("Gebühr 📏.txt", "F-1", options)
    assert (made.status, made.version, made.file_size_bytes) == (Status.UPLOADED, 1, 3 * 2**31)
    assert made.project_ids == (desk.project,)
    assert await desk.resources.original(desk.owner, made.id) == Original(
        "key of Gebühr 📏", new.filename, "text/plain", 3 * 2**31, new.content_hash
    )


async def test_the_same_bytes_are_one_resource_in_two_projects(desk: Desk) -> None:
    plans = await ProjectRepository(desk.database).create(desk.owner, "Plans")
    first = await desk.add("one")
    again, created = await desk.resources.create(new_resource(desk.owner, "one", filename="other.txt"), plans.id)
    assert not created
    assert (again.id, again.filename) == (first.id, "one.txt")
    assert set(again.project_ids) == {desk.project, plans.id}


async def test_the_same_bytes_sent_at_once_are_one_resource(desk: Desk) -> None:
    made = await asyncio.gather(
        *(desk.resources.create(new_resource(desk.owner, "one"), desk.project) for _ in range(6))
    )
    assert len({resource.id for resource, _ in made}) == 1
    assert sum(created for _, created in made) == 1


@pytest.mark.parametrize(
    ("wanted", "names"),
    [
        ({}, ["c", "b", "a"]),
        ({"status": "failed"}, ["b"]),
        ({"status": "ready"}, ["c"]),
        ({"type": "pdf"}, ["a"]),
        ({"category": "data"}, ["c"]),
        ({"query": "A.T"}, ["a"]),
        ({"query": "%"}, []),
        ({"query": "_"}, []),
        ({"project_ids": ["plans"]}, ["b"]),
        ({"ids": ()}, []),
        ({"ids": ("a", "c", "unknown")}, ["c", "a"]),
        ({"ids": ("a", "b"), "status": "failed"}, ["b"]),
        ({"parent_id": "a"}, ["b"]),
    ],
)
async def test_lists_are_narrowed(desk: Desk, wanted: dict[str, Any], names: list[str]) -> None:
    plans = await ProjectRepository(desk.database).create(desk.owner, "Plans")
    a = await desk.add("a", type="pdf")
    b = await desk.add("b", project=plans.id, parent_id=a.id)
    c = await desk.add("c", detected_category="data")
    await desk.change(b, status=Status.FAILED)
    await desk.change(c, status=Status.ANALYZED)
    ids = {"a": a.id, "b": b.id, "c": c.id, "plans": plans.id, "unknown": str(uuid.uuid4())}
    narrowed: dict[str, Any] = {
        name: tuple(ids[i] for i in value) if name in ("ids", "project_ids") else ids.get(value, value)
        for name, value in wanted.items()
    }
    assert await desk.names(**narrowed) == names
    summaries, _ = await desk.resources.summaries(desk.owner, ResourceFilter(**narrowed), 100, None)
    assert [summary.resource.filename.removesuffix(".txt") for summary in summaries] == names


async def test_pages_follow_each_other_also_among_equal_times(desk: Desk) -> None:
    made = [await desk.add(f"r{n}") for n in range(5)]
    async with desk.database.write() as connection:
        await connection.execute(sa.update(resources).values(created_at=5.0))

    async def summarised(*arguments: Any) -> tuple[list[Resource], str | None]:
        summaries, following = await desk.resources.summaries(*arguments)
        return [summary.resource for summary in summaries], following

    for list_ in (desk.resources.page, summarised):
        seen: list[str] = []
        cursor = None
        for _ in range(3):
            found, cursor = await list_(desk.owner, ResourceFilter(), 2, cursor)
            seen += [resource.id for resource in found]
        assert cursor is None
        assert len(seen) == 5
        assert set(seen) == {resource.id for resource in made}
        for other in ("x", encode_cursor(1), encode_cursor(1.0, "a\0")):
            with pytest.raises(InvalidCursor):
                await list_(desk.owner, ResourceFilter(), 2, other)


async def test_a_summary_counts_units_and_leaves_out_what_grows(desk: Desk) -> None:
    read, unread = await desk.add("read"), await desk.add("unread")
    unit = {"unit": "page", "number": 1, "characters": 5, "skipped": [], "warnings": []}
    coverage = {"units": [unit, unit | {"number": 2}], "characters": 10, "skipped": [], "warnings": []}
    await desk.change(read, coverage=coverage, extraction_metadata={"pages": 2}, summary="About fees")
    summaries, _ = await desk.resources.summaries(desk.owner, ResourceFilter(), 10, None)
    by_id = {summary.resource.id: summary for summary in summaries}
    assert (by_id[read.id].unit, by_id[read.id].unit_count) == ("page", 2)
    assert (by_id[unread.id].unit, by_id[unread.id].unit_count) == (None, 0)
    brief = by_id[read.id].resource
    assert (brief.coverage, brief.extraction_metadata, brief.summary) == (None, {}, None)
    assert await desk.resources.count_characters(desk.owner, ResourceFilter(ids=(read.id, unread.id))) == 110


async def test_resources_with_copies_of_tables_are_found_newest_first(desk: Desk) -> None:
    made = [await desk.add(f"r{n}") for n in range(4)]
    async with desk.database.write() as connection:
        for resource in made[:3]:
            await connection.run_sync(replace_blobs, resource.id, 1, [new_blob()])
        await connection.run_sync(replace_blobs, made[3].id, 1, [new_blob("image-0.png", "image")])
    found = await desk.resources.with_tables(desk.owner, ResourceFilter(), 2)
    assert [resource.id for resource in found] == [made[2].id, made[1].id]
    assert len(await desk.resources.with_tables(desk.owner, ResourceFilter(project_ids=(desk.project,)), 10)) == 3


async def test_new_bytes_are_the_next_version_and_start_over(desk: Desk) -> None:
    made = await desk.add("one")
    await desk.change(made, status=Status.FAILED, error_code="corrupt", attempt=3, deaths=2)
    newer = await desk.resources.add_version(desk.owner, made.id, new_resource(desk.owner, "two", mime_type="a/b"))
    assert (newer.id, newer.version, newer.status, newer.error_code) == (made.id, 2, Status.UPLOADED, None)
    assert (newer.filename, newer.mime_type, newer.project_ids) == ("two.txt", "a/b", made.project_ids)
    assert (await desk.resources.original(desk.owner, made.id)).key == "key of two"
    assert (await desk.resources.original(desk.owner, made.id, 1)).key == "key of one"
    job = await JobRepository(desk.database).claim(Stage.EXTRACT, "w")
    assert job is not None
    assert (job.version, job.attempt, job.deaths) == (2, 1, 0)
    with pytest.raises(NotFound):
        await desk.resources.original(desk.owner, made.id, 3)


async def test_bytes_that_are_known_are_no_new_version(desk: Desk) -> None:
    one, two = await desk.add("one"), await desk.add("two")
    for taken in ("one", "two"):
        with pytest.raises(Conflict) as conflict:
            await desk.resources.add_version(desk.owner, one.id, new_resource(desk.owner, taken))
        assert conflict.value.details == {"resource_id": {"one": one.id, "two": two.id}[taken]}
    assert (await desk.resources.get(desk.owner, one.id)).version == 1


async def test_versions_sent_at_once_are_all_kept_in_a_row(desk: Desk) -> None:
    made = await desk.add("one")
    await asyncio.gather(
        *(desk.resources.add_version(desk.owner, made.id, new_resource(desk.owner, f"v{n}")) for n in range(5))
    )
    assert (await desk.resources.get(desk.owner, made.id)).version == 6
    keys = [(await desk.resources.original(desk.owner, made.id, version)).key for version in range(2, 7)]
    assert sorted(keys) == [f"key of v{n}" for n in range(5)]


async def test_the_same_bytes_sent_at_once_as_versions_of_two_resources_go_to_one(desk: Desk) -> None:
    made = [await desk.add("one"), await desk.add("two")]
    new = [desk.resources.add_version(desk.owner, r.id, new_resource(desk.owner, "same")) for r in made]
    outcomes = await asyncio.gather(*new, return_exceptions=True)
    assert sorted(type(outcome).__name__ for outcome in outcomes) == ["Conflict", "Resource"]


async def test_a_deletion_takes_children_and_everything_made_of_them(desk: Desk) -> None:
    kept = await desk.add("kept")
    parent = await desk.add("parent")
    child = await desk.add("child", parent_id=parent.id)
    grandchild = await desk.add("grandchild", parent_id=child.id)
    for resource in (kept, parent, grandchild):
        await store_elements(desk.database, resource.id, [new_element(0), new_element(1)])
        async with desk.database.write() as connection:
            await connection.run_sync(insert_chunks, [new_chunk(desk.owner, resource.id)])
            await connection.run_sync(
                replace_blobs, resource.id, 1, [new_blob(f"image of {resource.filename}", "image")]
            )
    receipt = await desk.resources.delete(desk.owner, parent.id)
    assert receipt.resource_ids == (parent.id, child.id, grandchild.id)
    assert (receipt.chunks, receipt.elements) == (2, 4)
    made = {f"key of {name}" for name in ("parent", "child", "grandchild")}
    assert set(receipt.blob_keys) == made | {"blob image of parent.txt", "blob image of grandchild.txt"}
    assert await desk.resources.known_blob_keys() == {"key of kept", "blob image of kept.txt"}
    assert await desk.names() == ["kept"]
    gone = set(receipt.resource_ids)
    for table in metadata.sorted_tables:
        if "resource_id" in table.c:
            left = {row["resource_id"] for row in await desk.database.rows(sa.select(table.c.resource_id))}
            assert not left & gone, table.name
    with pytest.raises(NotFound):
        await desk.resources.delete(desk.owner, parent.id)


async def test_statuses_are_counted(desk: Desk) -> None:
    assert await desk.resources.counts(desk.owner) == {}
    for content in ("a", "b"):
        await desk.add(content)
    await desk.change(await desk.add("c"), status=Status.FAILED)
    assert await desk.resources.counts(desk.owner) == {"uploaded": 2, "failed": 1}


async def test_characters_are_those_that_were_read(desk: Desk) -> None:
    read = await desk.add("read")
    await desk.add("record", project="")
    await desk.change(read, coverage={"units": [], "characters": 7, "skipped": [], "warnings": []})
    assert await desk.resources.count_characters(desk.owner, ResourceFilter()) == 107
    assert await desk.resources.count_characters(desk.owner, ResourceFilter(project_ids=(desk.project,))) == 7
    assert await desk.resources.count_characters(desk.owner, ResourceFilter(ids=())) == 0


async def test_a_resource_without_a_file_has_no_bytes(desk: Desk) -> None:
    made = await desk.add("one")
    versions = metadata.tables["resource_versions"]
    async with desk.database.write() as connection:
        await connection.execute(sa.update(versions).values(blob_key=None))
    with pytest.raises(NotFound):
        await desk.resources.original(desk.owner, made.id)
    assert await desk.resources.known_blob_keys() == set()


async def test_owned_names_those_that_exist(desk: Desk) -> None:
    made = await desk.add("one")
    assert await desk.resources.owned(desk.owner, [made.id, str(uuid.uuid4())]) == {made.id}
    assert await desk.resources.owned(desk.owner, []) == set()


async def test_a_text_that_postgres_cannot_hold_is_refused(desk: Desk) -> None:
    with pytest.raises(NotFound if desk.database.is_sqlite else InvalidInput):
        await desk.resources.get(desk.owner, "a\0b")
    with pytest.raises(InvalidInput):
        await ProjectRepository(desk.database).create(desk.owner, "a\0b")
