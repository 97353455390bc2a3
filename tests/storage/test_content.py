"""What a version holds comes back as it was stored, in reading order, page by page, and only of that version."""

from __future__ import annotations

from dataclasses import replace

import pytest
import sqlalchemy as sa

from citewell.errors import InvalidCursor, NotFound
from citewell.storage.cursors import encode_cursor
from citewell.storage.database import Database
from citewell.storage.files import content as module
from citewell.storage.files.content import (
    ContentRepository,
    delete_chunks,
    delete_elements,
    insert_chunks,
    replace_blobs,
)
from citewell.storage.files.resources import ResourceRepository
from citewell.storage.tables import resources
from citewell.types import QUOTES, SUMMARY_OF, Chunk, ChunkType, ElementType, Status, StoredChunk
from tests.storage.estates import new_blob, new_chunk, new_element, store_elements
from tests.storage.rows import add_resource


@pytest.fixture
def content(database: Database) -> ContentRepository:
    return ContentRepository(database)


async def _store_chunks(database: Database, *chunks: Chunk) -> None:
    async with database.write() as connection:
        await connection.run_sync(insert_chunks, chunks)


async def test_elements_come_back_page_by_page_in_reading_order(content: ContentRepository, database: Database) -> None:
    _, resource = await add_resource(database, "ada")
    elements = [replace(new_element(n, f"Gebühr {n} 📏"), values={"a": n, "ä": None}) for n in range(5)]
    await store_elements(database, resource, elements)
    seen: list[object] = []
    cursor = None
    for _ in range(3):
        found, cursor = await content.elements_page(resource, 1, 2, cursor)
        seen += found
    assert cursor is None
    assert seen == [element.to_json() for element in elements]
    assert await content.elements_page(resource, 1, 5) == (seen, None)


async def test_elements_are_narrowed_by_page_slide_and_type(content: ContentRepository, database: Database) -> None:
    _, resource = await add_resource(database, "ada")
    title = replace(new_element(2, "Fees", page=2), type=ElementType.TITLE)
    await store_elements(database, resource, [new_element(0), new_element(1, "slide", slide=2), title])
    on_two, _ = await content.elements_page(resource, 1, 10, page=2)
    assert [element["id"] for element in on_two] == ["e1", "e2"]
    titles, _ = await content.elements_page(resource, 1, 10, page=2, type="title")
    assert [element["id"] for element in titles] == ["e2"]
    assert await content.elements_page(resource, 1, 10, type="row") == ([], None)


async def test_texts_with_one_of_some_words_are_found_in_any_case(
    content: ContentRepository, database: Database
) -> None:
    _, resource = await add_resource(database, "ada")
    texts = ["In fiscal 2022", "In 2022", "100% of it", "FISCAL 2021", "FY22"]
    await store_elements(database, resource, [new_element(n, text) for n, text in enumerate(texts)])
    assert await content.texts_with(resource, 1, ["fiscal", "fy2"], 10) == ["In fiscal 2022", "FISCAL 2021", "FY22"]
    assert await content.texts_with(resource, 1, ["fiscal"], 1) == ["In fiscal 2022"]
    assert await content.texts_with(resource, 1, ["0% o"], 10) == ["100% of it"]
    assert await content.texts_with(resource, 2, ["fiscal"], 10) == []


async def test_versions_do_not_mix(content: ContentRepository, database: Database) -> None:
    _, resource = await add_resource(database, "ada")
    await store_elements(database, resource, [new_element(0, "old")], version=1)
    await store_elements(database, resource, [new_element(0, "new")], version=2)
    assert (await content.elements_by_id(resource, 1, ["e0"]))["e0"].text == "old"
    assert [e.text async for batch in content.iterate_elements(resource, 2) for e in batch] == ["new"]
    async with database.write() as connection:
        await connection.run_sync(delete_elements, resource, 1)
    assert (await content.elements_page(resource, 1, 10))[0] == []
    assert len((await content.elements_page(resource, 2, 10))[0]) == 1


async def test_long_documents_are_read_in_batches(
    content: ContentRepository, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_BATCH", 3)
    _, resource = await add_resource(database, "ada")
    elements = [new_element(n) for n in range(7)]
    await store_elements(database, resource, elements)
    batches = [batch async for batch in content.iterate_elements(resource, 1)]
    assert [len(batch) for batch in batches] == [3, 3, 1]
    assert [element for batch in batches for element in batch] == elements


async def test_elements_are_found_by_id_and_other_texts_are_no_ids(
    content: ContentRepository, database: Database
) -> None:
    _, resource = await add_resource(database, "ada")
    await store_elements(database, resource, [new_element(0), new_element(1)])
    ids = ["e1", "e7", "", "e", "x", "e-1", "e²", "e٣", "e1.0", "e" + "9" * 30]
    assert set(await content.elements_by_id(resource, 1, ids)) == {"e1"}
    assert await content.elements_by_id(resource, 1, []) == {}


async def test_blobs_are_set_by_version_and_found_by_name_and_kind(
    content: ContentRepository, database: Database
) -> None:
    _, resource = await add_resource(database, "ada")
    image, table = new_blob("image-0.png", "image", ä=1), new_blob()
    async with database.write() as connection:
        await connection.run_sync(replace_blobs, resource, 1, [new_blob("gone", "image")])
        await connection.run_sync(replace_blobs, resource, 2, [new_blob("kept", "image")])
        await connection.run_sync(replace_blobs, resource, 1, [table, image])
    assert await content.blobs(resource, 1) == [image, table]
    assert await content.blobs(resource, 1, "parquet") == [table]
    assert [blob.name for blob in await content.blobs(resource, 2)] == ["kept"]
    assert await content.blob(resource, 1, "image-0.png") == image
    with pytest.raises(NotFound):
        await content.blob(resource, 1, "kept")
    async with database.write() as connection:
        await connection.run_sync(replace_blobs, resource, 1, [])
    assert await content.blobs(resource, 1) == []


async def test_a_chunk_comes_back_as_it_was_stored(content: ContentRepository, database: Database) -> None:
    owner, resource = await add_resource(database, "ada")
    chunk = new_chunk(owner, resource, text="Gebühr 5 € 📏\n\ttab “q”")
    await _store_chunks(database, chunk)
    assert await content.load_chunks(owner, [chunk.id, "unknown"]) == {chunk.id: StoredChunk(chunk, "a.txt")}
    assert await content.chunks_at(owner, [(resource, 1, 0), (resource, 2, 0)]) == [StoredChunk(chunk, "a.txt")]
    assert await content.chunks_page(resource, 10) == ([chunk], None)
    assert await content.chunk_ids(resource) == {chunk.id}
    assert await content.load_chunks(owner, []) == {}
    assert await content.chunks_at(owner, []) == []


async def test_chunks_are_paged_in_order(content: ContentRepository, database: Database) -> None:
    owner, resource = await add_resource(database, "ada")
    chunks = [new_chunk(owner, resource, n) for n in range(5)]
    await _store_chunks(database, *chunks[::-1])
    first, cursor = await content.chunks_page(resource, 3)
    second, end = await content.chunks_page(resource, 3, cursor)
    assert [*first, *second] == chunks
    assert end is None
    assert await content.neighbours(owner, resource, [4, 1, 9]) == [chunks[1], chunks[4]]


@pytest.mark.parametrize("cursor", ["x", encode_cursor("a"), encode_cursor(10**30), encode_cursor(1, 2)])
async def test_a_cursor_of_anything_else_is_refused(
    content: ContentRepository, database: Database, cursor: str
) -> None:
    _, resource = await add_resource(database, "ada")
    with pytest.raises(InvalidCursor):
        await content.elements_page(resource, 1, 10, cursor)
    with pytest.raises(InvalidCursor):
        await content.chunks_page(resource, 10, cursor)


async def test_an_index_is_rebuilt_from_every_chunk_of_everybody(
    content: ContentRepository, database: Database
) -> None:
    expected: dict[str, list[tuple[Chunk, str, int]]] = {}
    for name in ("ada", "ada", "ben"):
        owner, resource = await add_resource(database, name)
        kinds = (ChunkType.ROW, ChunkType.TEXT, ChunkType.ROW)
        chunks = [replace(new_chunk(owner, resource, n), type=kind) for n, kind in enumerate(kinds)]
        await _store_chunks(database, *chunks)
        expected[resource] = [(c, "a.txt", rows) for c, rows in zip(chunks, (0, 1, 1), strict=True)]
    for size in (1, 2, 100):
        batches = [batch async for batch in content.iterate_chunks(size)]
        assert all(len(batch) <= size for batch in batches)
        found = [(one.chunk, one.file.filename, one.rows_before) for batch in batches for one in batch]
        assert found == [one for resource in sorted(expected) for one in expected[resource]]


async def test_what_every_index_must_hold_is_counted_where_indexing_has_ended(
    content: ContentRepository, database: Database
) -> None:
    statuses = (Status.INDEXED, Status.ANALYZED, Status.PARTIAL, Status.INDEXING)
    ids: dict[Status, str] = {}
    for status in statuses:
        owner, ids[status] = await add_resource(database, "ada")
        row = replace(new_chunk(owner, ids[status], 1), type=ChunkType.ROW)
        await _store_chunks(database, new_chunk(owner, ids[status]), row)
        async with database.write() as connection:
            settled = sa.update(resources).where(resources.c.id == ids[status])
            await connection.execute(settled.values(status=status))
    assert await content.count_settled_chunks() == 4
    sampled = {one.chunk.resource_id for one in await content.sample_chunks(10)}
    assert sampled == {ids[Status.INDEXED], ids[Status.ANALYZED]}
    assert len(await content.sample_chunks(1)) == 1
    counted = [one async for batch in content.settled_resources(2) for one in batch]
    assert [one.resource_id for one in counted] == sorted(ids[status] for status in statuses[:3])
    assert {one.chunks for one in counted} == {2}
    some = [batch async for batch in content.iterate_chunks(resource_ids=[ids[Status.INDEXED]])]
    assert [one.chunk.resource_id for batch in some for one in batch] == [ids[Status.INDEXED]] * 2


async def test_a_summary_that_has_no_vector_is_in_no_sample(content: ContentRepository, database: Database) -> None:
    owner, note = await add_resource(database, "ada")
    told = new_chunk(owner, note)
    summary = replace(
        new_chunk(owner, note, 1), type=ChunkType.SUMMARY, metadata={SUMMARY_OF: "file", QUOTES: [[0, 0, 4]]}
    )
    longer = replace(new_chunk(owner, note, 2), type=ChunkType.SUMMARY, metadata={QUOTES: [[0, 0, 4], [3, 0, 4]]})
    await _store_chunks(database, told, summary, longer)
    async with database.write() as connection:
        await connection.execute(sa.update(resources).values(status=Status.INDEXED))
    assert {one.chunk.id for one in await content.sample_chunks(10)} == {told.id, longer.id}


async def test_chunks_go_with_their_resource(content: ContentRepository, database: Database) -> None:
    owner, one = await add_resource(database, "ada")
    _, two = await add_resource(database, "ada")
    await _store_chunks(database, new_chunk(owner, one), new_chunk(owner, two), new_chunk(owner, two, 1, version=2))
    async with database.write() as connection:
        await connection.run_sync(delete_chunks, two)
    assert await content.count_chunks() == 1
    await ResourceRepository(database).delete(owner, one)
    assert await content.count_chunks(owner) == 0
