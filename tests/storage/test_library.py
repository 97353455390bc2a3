"""What search and the agent read of storage: scope, units, notes, chunks at their places, copies of tables."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from citewell.errors import DamagedFile, InvalidFilter
from citewell.filters.language import parse_filters
from citewell.storage.database import Database
from citewell.storage.files.content import ContentRepository
from citewell.storage.files.library import SqlLibrary
from citewell.storage.files.metadata import MetadataRepository
from citewell.storage.files.passages import SqlChunks
from citewell.storage.files.projects import ProjectRepository
from citewell.storage.files.resources import ResourceRepository
from citewell.storage.files.table_copies import SqlTables
from citewell.storage.tables import resources
from citewell.types import ChunkPlace, Scope, SearchRequest, TableColumn
from tests.storage.estates import Estate, add_estate, new_element, new_resource, store_elements


class Blobs:
    """A blob store of one file; `backend` says whether it is on this machine."""

    def __init__(self, path: Path, backend: str) -> None:
        self.path, self.backend, self.opened = path, backend, 0

    @asynccontextmanager
    async def local_copy(self, key: str) -> AsyncGenerator[Path]:
        assert key == "blob table-0.parquet"
        self.opened += 1
        yield self.path


@pytest.fixture
async def ada(database: Database) -> Estate:
    return await add_estate(database, "ada")


def _parts(database: Database) -> tuple[ResourceRepository, ProjectRepository, ContentRepository]:
    return ResourceRepository(database), ProjectRepository(database), ContentRepository(database)


async def _change(database: Database, resource_id: str, **values: Any) -> None:
    async with database.write() as connection:
        await connection.execute(sa.update(resources).where(resources.c.id == resource_id).values(**values))


async def test_files_are_described_with_what_could_not_be_read(database: Database, ada: Estate) -> None:
    unit = {"unit": "page", "number": 2, "characters": 5, "skipped": ["a picture"], "warnings": []}
    coverage = {"units": [unit], "characters": 5, "skipped": ["macros"], "warnings": ["odd fonts"]}
    await _change(database, ada.resource, coverage=coverage, error_message="in part")
    (info,) = await SqlLibrary(*_parts(database), MetadataRepository(database)).list_resources(
        ada.owner, Scope(project_ids=("Loans",))
    )
    assert (info.id, info.filename, info.status, info.category) == (ada.resource, "policy.txt", "indexed", "rag")
    assert (info.characters, info.pages) == (5, 1)
    assert info.note == "in part; odd fonts; macros; page 2: a picture"


@pytest.mark.parametrize(
    ("first", "last", "texts"), [(1, 1, ["one"]), (2, 3, ["slide", "row"]), (9, 9, []), (3, 2, [])]
)
async def test_a_file_is_read_by_pages_slides_or_rows(
    database: Database, ada: Estate, first: int, last: int, texts: list[str]
) -> None:
    made, _ = await ResourceRepository(database).create(new_resource(ada.owner, "deck"), ada.project)
    elements = [new_element(0, "one", page=1), new_element(1, "slide", slide=2), new_element(2, "row", row=3)]
    await store_elements(database, made.id, elements)
    found = await SqlLibrary(*_parts(database), MetadataRepository(database)).read_resource(
        ada.owner, made.id, first, last
    )
    assert [element.text for element in found] == texts


async def test_a_file_without_units_is_read_whole(database: Database, ada: Estate) -> None:
    made, _ = await ResourceRepository(database).create(new_resource(ada.owner, "note"), ada.project)
    await store_elements(database, made.id, [new_element(n, f"p{n}", char_start=n) for n in range(3)])
    found = await SqlLibrary(*_parts(database), MetadataRepository(database)).read_resource(ada.owner, made.id, 7, 8)
    assert [element.text for element in found] == ["p0", "p1", "p2"]


async def test_characters_are_not_counted_again_at_once(database: Database, ada: Estate) -> None:
    library = SqlLibrary(*_parts(database), MetadataRepository(database))
    assert await library.count_characters(ada.owner, Scope()) == 100
    await ResourceRepository(database).create(new_resource(ada.owner, "more"), ada.project)
    assert await library.count_characters(ada.owner, Scope()) == 100
    assert await library.count_characters(ada.owner, Scope(project_ids=("Loans",))) == 200


async def test_a_search_is_narrowed_to_files_and_project_both(database: Database, ada: Estate) -> None:
    other, _ = await ResourceRepository(database).create(new_resource(ada.owner, "other"), "")
    chunks = SqlChunks(ContentRepository(database), ProjectRepository(database), MetadataRepository(database))

    async def scope(**values: Any) -> tuple[str, ...] | None:
        return (await chunks.resolve_scope(SearchRequest(owner_id=ada.owner, query="q", **values))).resource_ids

    assert await scope() is None
    assert await scope(resource_ids=(other.id,)) == (other.id,)
    assert await scope(projects=("Loans",)) == (ada.resource,)
    assert await scope(projects=(ada.project,), resource_ids=(other.id, ada.resource)) == (ada.resource,)
    assert await scope(projects=(ada.project,), resource_ids=(other.id,)) == ()
    assert await scope(scope=Scope(resource_ids=(ada.resource,))) == (ada.resource,)
    assert await scope(scope=Scope(resource_ids=(ada.resource,)), resource_ids=(other.id,)) == ()
    assert await scope(scope=Scope(project_ids=(ada.project,))) == (ada.resource,)
    assert await scope(scope=Scope(project_ids=()), projects=("Loans",)) == ()
    assert await scope(projects=()) == ()


async def test_the_corpus_of_a_search_is_all_files_of_its_projects(database: Database, ada: Estate) -> None:
    other, _ = await ResourceRepository(database).create(new_resource(ada.owner, "other"), ada.project)
    await ResourceRepository(database).create(new_resource(ada.owner, "elsewhere"), "")
    chunks = SqlChunks(ContentRepository(database), ProjectRepository(database), MetadataRepository(database))

    async def corpus(**values: Any) -> set[str] | None:
        found = (await chunks.resolve_scope(SearchRequest(owner_id=ada.owner, query="q", **values))).corpus
        return None if found is None else set(found)

    assert await corpus() is None
    assert await corpus(resource_ids=(other.id,)) is None
    for within in ({"projects": ("Loans",)}, {"scope": Scope(project_ids=(ada.project,))}):
        assert await corpus(**within) == await corpus(**within, resource_ids=(other.id,)) == {ada.resource, other.id}
    assert await corpus(scope=Scope(project_ids=()), projects=("Loans",)) == set()


async def test_chunks_are_loaded_by_id_and_by_place(database: Database, ada: Estate) -> None:
    chunks = SqlChunks(ContentRepository(database), ProjectRepository(database), MetadataRepository(database))
    loaded = await chunks.load(ada.owner, [chunk.id for chunk in ada.chunks])
    assert {chunk_id: stored.chunk for chunk_id, stored in loaded.items()} == {c.id: c for c in ada.chunks}
    assert {stored.filename for stored in loaded.values()} == {"policy.txt"}
    place = ChunkPlace(ada.resource, 1, 1)
    assert (await chunks.at(ada.owner, [place, ChunkPlace(ada.resource, 2, 1)]))[place].chunk == ada.chunks[1]


@pytest.mark.parametrize("backend", ["local", "s3"])
async def test_a_tables_copy_is_opened_where_it_lies_or_kept_once(
    database: Database, ada: Estate, tmp_path: Path, backend: str
) -> None:
    (tmp_path / "original").write_bytes(b"PAR1")
    blobs = Blobs(tmp_path / "original", backend)
    tables = SqlTables(*_parts(database), blobs, tmp_path / "cache")  # type: ignore[arg-type]
    (table,) = await tables.list_tables(ada.owner, Scope(project_ids=("Loans",)))
    assert (table.columns, table.rows, table.sheet) == ((TableColumn("n", "integer"),), 3, None)
    paths = [await tables.open_table(ada.owner, table) for _ in range(2)]
    assert paths[0] == paths[1]
    assert paths[0].read_bytes() == b"PAR1"
    assert (blobs.opened, paths[0] == blobs.path) == ((2, True) if backend == "local" else (1, False))


async def test_a_table_without_a_copy_cannot_be_opened(database: Database, ada: Estate, tmp_path: Path) -> None:
    tables = SqlTables(*_parts(database), Blobs(tmp_path, "local"), tmp_path)  # type: ignore[arg-type]
    (table,) = await tables.list_tables(ada.owner, Scope(resource_ids=(ada.resource,)))
    from dataclasses import replace

    for other in (replace(table, id="t1"), replace(table, version=2)):
        with pytest.raises(DamagedFile):
            await tables.open_table(ada.owner, other)


@pytest.mark.parametrize(
    "kept", [{}, {"tables": None}, {"tables": "none"}, {"tables": [None, {"id": "t0", "name": "n"}]}]
)
async def test_metadata_without_copies_lists_no_tables(
    database: Database, ada: Estate, tmp_path: Path, kept: dict[str, Any]
) -> None:
    await _change(database, ada.resource, extraction_metadata=kept)
    tables = SqlTables(*_parts(database), Blobs(tmp_path, "local"), tmp_path)  # type: ignore[arg-type]
    assert await tables.list_tables(ada.owner, Scope(resource_ids=(ada.resource,))) == []


async def test_a_filter_of_the_agent_knows_the_keys_in_its_projects(database: Database, ada: Estate) -> None:
    files, projects, content = _parts(database)
    library = SqlLibrary(files, projects, content, MetadataRepository(database))
    other = (await projects.create(ada.owner, "Merger")).id
    hidden, _ = await files.create(new_resource(ada.owner, "The price of the merger."), other)
    await _change(database, ada.resource, metadata={"course": "dessert"})
    await _change(database, hidden.id, metadata={"price": "high"})
    price = parse_filters([{"field": "metadata.price", "value": "high"}])
    assert (await library.narrowed(ada.owner, Scope(), price)).resource_ids == (hidden.id,)
    with pytest.raises(InvalidFilter) as refused:
        await library.narrowed(ada.owner, Scope(project_ids=(ada.project,)), price)
    assert refused.value.details == {"allowed": ["course"]}
