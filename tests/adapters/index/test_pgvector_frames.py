"""`frame_chunks` and `hybrid_search` in Postgres: what the index and Citewell's tables hold together, and one owner's files only."""

from __future__ import annotations

import asyncio
import json
import uuid
from collections.abc import AsyncGenerator, Generator
from dataclasses import dataclass
from typing import Any

import asyncpg
import numpy as np
import pytest
import sqlalchemy as sa

from citewell.adapters.index.pgvector import PgvectorIndex
from citewell.settings.values import async_url
from citewell.storage import database as database_module
from citewell.storage.accounts.owners import OwnerRepository
from citewell.storage.database import Database
from citewell.storage.tables import chunks, resources
from citewell.storage.vectors.indexes import IndexRepository
from citewell.testing.vector_index import DIMENSIONS, make_point, point_id

MODEL = "words/model:32"
FRAMES = (
    {"source_airtable_id": "rec1", "source_frame_path": "a/1.png", "tags": ["outdoor", "car"], "timestamp": "2025-03-01"},
    {"source_airtable_id": "rec2", "source_frame_path": "a/2.png", "tags": ["indoor"], "timestamp": "2025-03-09", "stars": 5},
    {"tags": ["outdoor"], "timestamp": "2025-03-20", "stars": 2},
)  # fmt: skip


@pytest.fixture
def database(postgres: str) -> Generator[str]:
    name = f"d{uuid.uuid4().hex}"
    asyncio.run(_execute(postgres, f"CREATE DATABASE {name}"))
    yield postgres.replace("/postgres?", f"/{name}?")
    asyncio.run(_execute(postgres, f"DROP DATABASE {name} WITH (FORCE)"))


async def _execute(url: str, statement: str) -> None:
    connection = await asyncpg.connect(url)
    await connection.execute(statement)
    await connection.close()


@dataclass(frozen=True)
class Frames:
    sql: Database
    index: PgvectorIndex
    connection: asyncpg.Connection
    ann: str
    bob: str

    async def become(self, owner: str) -> None:
        await self.connection.execute("SELECT set_config('citewell.owner_id', $1, false)", owner)

    async def search(self, n: int, filters: object = None, limit: int = 20) -> list[asyncpg.Record]:
        """What `hybrid_search` finds near point number `n`."""
        vector = json.dumps(make_point(n).dense)
        given = "query_embedding => $1::text::vector, query_filters => $2::text::jsonb, match_limit => $3"
        return await self.connection.fetch(
            f"SELECT * FROM citewell.hybrid_search({given})", vector, json.dumps(filters or {}), limit
        )


@pytest.fixture
async def frames(database: str) -> AsyncGenerator[Frames]:
    sql = Database(async_url(database))
    await sql.migrate()
    ann, bob = [await OwnerRepository(sql).ensure(name) for name in ("ann", "bob")]
    await IndexRepository(sql).ensure_active(MODEL, "pgvector", {})
    async with sql.write() as connection:
        for number, metadata in enumerate([*FRAMES, {"tags": ["outdoor"]}]):
            await connection.execute(sa.insert(resources), _resource(number, ann if number < 3 else bob, metadata))
            for place in range(2):
                await connection.execute(sa.insert(chunks), _chunk(2 * number + place, ann if number < 3 else bob))
    index = await PgvectorIndex.open(database, MODEL, DIMENSIONS)
    await index.upsert([make_point(n, owner=ann if n < 6 else bob, resource=f"r{n // 2}") for n in range(8)])
    connection = await asyncpg.connect(database)
    yield Frames(sql, index, connection, ann, bob)
    await connection.close()
    await index.close()
    await sql.close()


def _resource(number: int, owner: str, metadata: object) -> dict[str, Any]:
    texts = ("mime_type", "detected_category", "type", "source", "storage_backend")
    zeros = ("file_size_bytes", "version", "chunk_count", "created_at")
    return {
        **dict.fromkeys(texts, "x"), **dict.fromkeys(zeros, 0), "id": f"r{number}", "owner_id": owner, "filename": f"{number}.txt",
        "content_hash": str(number), "status": "indexed", "extraction_metadata": {}, "options": {}, "metadata": metadata,
        "record_id": f"own-{number}",
    }  # fmt: skip


def _chunk(n: int, owner: str) -> dict[str, Any]:
    empty = dict.fromkeys(("context", "pieces", "metadata"), "")
    return {
        **empty, "id": point_id(n), "owner_id": owner, "resource_id": f"r{n // 2}", "version": 0, "ordinal": n % 2, "type": "text",
        "text": f"frame text {n}", "locator": "{}", "token_count": 3,
    }  # fmt: skip


async def test_frame_chunks_has_the_columns_of_its_design_and_one_owners_rows(frames: Frames) -> None:
    everything = "SELECT * FROM citewell.frame_chunks ORDER BY airtable_record_id, chunk_sequence_id"
    assert await frames.connection.fetch(everything) == []
    await frames.become(frames.ann)
    rows = await frames.connection.fetch(everything)
    assert list(rows[0].keys()) == [
        "id", "airtable_record_id", "frame_path", "chunk_sequence_id", "chunk_text", "full_metadata", "embedding", "created_at",
    ]  # fmt: skip
    assert [(row["airtable_record_id"], row["frame_path"], row["chunk_sequence_id"]) for row in rows] == [
        ("own-2", "2.txt", 0), ("own-2", "2.txt", 1), ("rec1", "a/1.png", 0), ("rec1", "a/1.png", 1), ("rec2", "a/2.png", 0),
        ("rec2", "a/2.png", 1),
    ]  # fmt: skip
    assert rows[2]["chunk_text"] == "frame text 0"
    assert json.loads(rows[2]["full_metadata"]) == FRAMES[0]
    assert np.allclose(json.loads(rows[2]["embedding"]), make_point(0).dense or (), atol=1e-6)
    await frames.become(frames.bob)
    assert {row["frame_path"] for row in await frames.connection.fetch(everything)} == {"3.txt"}


async def test_a_record_is_found_by_its_id_with_an_index_that_knows_the_owner(frames: Frames) -> None:
    await frames.become(frames.ann)
    query = "SELECT chunk_text FROM citewell.frame_chunks WHERE airtable_record_id = 'rec2'"
    assert {row["chunk_text"] for row in await frames.connection.fetch(query)} == {"frame text 2", "frame text 3"}
    await frames.connection.execute("SET enable_seqscan = off")  # of so few rows, it would be preferred
    plan = "\n".join(row[0] for row in await frames.connection.fetch(f"EXPLAIN {query}"))
    assert "ix_resources_airtable_record_id" in plan
    (condition,) = [line for line in plan.splitlines() if "Index Cond" in line and "source_airtable_id" in line]
    assert "owner_id" in condition


async def test_hybrid_search_finds_the_nearest_of_one_owner_with_their_distance(frames: Frames) -> None:
    assert await frames.search(3) == []
    await frames.become(frames.ann)
    found = await frames.search(3, limit=4)
    assert list(found[0].keys()) == ["id", "chunk_text", "full_metadata", "distance"]
    assert len(found) == 4
    assert (str(found[0]["id"]), found[0]["chunk_text"]) == (point_id(3), "frame text 3")
    assert found[0]["distance"] == pytest.approx(0.0, abs=1e-6)
    assert [row["distance"] for row in found] == sorted(row["distance"] for row in found)
    assert len(await frames.search(3, limit=100)) == 6


@pytest.mark.parametrize(
    ("filters", "files"),
    [
        ({"tags": ["outdoor"]}, {0, 2}),
        ({"tags": ["outdoor"], "min_timestamp": "2025-03-02"}, {2}),
        ({"max_timestamp": "2025-03-09"}, {0, 1}),
        ({"min_stars": 3}, {1}),
        ({"max_stars": 10}, {1, 2}),
        ({"source_airtable_id": "rec2"}, {1}),
        ({"nothing": 1}, set[int]()),
    ],
    ids=str,
)
async def test_hybrid_search_filters_by_metadata(frames: Frames, filters: object, files: set[int]) -> None:
    await frames.become(frames.ann)
    found = await frames.search(0, filters)
    assert {int(row["chunk_text"].rsplit(" ", 1)[1]) // 2 for row in found} == files
    assert len(found) == 2 * len(files)


async def test_only_the_index_that_answers_is_shown(frames: Frames, database: str) -> None:
    await frames.become(frames.ann)
    other = await PgvectorIndex.open(database, "another:32", DIMENSIONS)
    await other.upsert([make_point(0, owner=frames.ann, resource="r0")])
    count = "SELECT count(*) FROM citewell.frame_chunks"
    assert await frames.connection.fetchval(count) == 6
    record = await IndexRepository(frames.sql).create("another:32", "pgvector", {})
    await IndexRepository(frames.sql).activate(record.id)
    assert await frames.connection.fetchval(count) == 1
    assert len(await frames.search(0)) == 1
    await other.close()


async def test_an_index_that_is_dropped_leaves_no_table_and_the_view_to_who_may_read_it(
    frames: Frames, database: str
) -> None:
    role = f"reader_{uuid.uuid4().hex}"
    await frames.connection.execute(f"CREATE ROLE {role}; GRANT SELECT ON citewell.frame_chunks TO {role}")
    tables = "SELECT count(*) FROM pg_tables WHERE schemaname = 'citewell'"
    before = int(await frames.connection.fetchval(tables) or 0)
    other = await PgvectorIndex.open(database, "another:32", DIMENSIONS)
    assert await frames.connection.fetchval(tables) == before + 5
    await other.remove()
    await other.close()
    try:
        assert await frames.connection.fetchval(tables) == before
        assert await frames.connection.fetchval(
            f"SELECT has_table_privilege('{role}', 'citewell.frame_chunks', 'SELECT')"
        )
        await frames.become(frames.ann)
        assert await frames.connection.fetchval("SELECT count(*) FROM citewell.frame_chunks") == 6
    finally:
        await frames.connection.execute(f"DROP OWNED BY {role}; DROP ROLE {role}")


async def test_a_role_without_rights_on_the_tables_sees_what_it_is_granted(frames: Frames) -> None:
    role = f"reader_{uuid.uuid4().hex}"
    await frames.connection.execute(
        f"CREATE ROLE {role}; GRANT USAGE ON SCHEMA citewell TO {role}; GRANT SELECT ON citewell.frame_chunks TO {role}"
    )
    await frames.become(frames.ann)
    try:
        await frames.connection.execute(f"SET ROLE {role}")
        assert await frames.connection.fetchval("SELECT count(*) FROM citewell.frame_chunks") == 6
        with pytest.raises(asyncpg.InsufficientPrivilegeError):
            await frames.search(0)
        await frames.connection.execute(
            f"RESET ROLE; GRANT EXECUTE ON FUNCTION citewell.hybrid_search TO {role}; SET ROLE {role}"
        )
        assert len(await frames.search(0)) == 6
    finally:
        await frames.connection.execute(f"RESET ROLE; DROP OWNED BY {role}; DROP ROLE {role}")


async def test_the_view_does_not_stand_in_the_way_of_a_new_schema(
    frames: Frames, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A column that the view reads cannot change while there is the view; the next start makes it again."""

    def change(connection: sa.Connection) -> None:
        connection.execute(sa.text("ALTER TABLE chunks ALTER COLUMN text TYPE varchar"))

    monkeypatch.setattr(database_module, "_upgrade", change)
    async with frames.sql.write() as connection:
        await connection.execute(sa.text("UPDATE alembic_version SET version_num = '0017_point_ledger'"))
    await frames.sql.migrate()
    assert await frames.connection.fetchval("SELECT to_regclass('citewell.frame_chunks')") is None


async def test_without_citewells_tables_there_is_neither(database: str) -> None:
    schema = f"s{uuid.uuid4().hex}"
    index = await PgvectorIndex.open(database, "a", DIMENSIONS, schema=schema)
    await index.close()
    connection = await asyncpg.connect(database)
    assert await connection.fetchval(f"SELECT to_regclass('{schema}.frame_chunks')") is None
    await connection.close()
