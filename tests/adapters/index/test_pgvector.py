"""The store in Postgres passes the suite on a real server, and says what is wrong with a database it cannot use."""

import asyncio
import contextlib
import random
import uuid
from collections.abc import Awaitable, Callable

import asyncpg
import numpy as np
import pytest

from citewell.adapters.index import pgvector, pgvector_words
from citewell.adapters.index.memory import MemoryIndex
from citewell.adapters.index.pgvector import PgvectorIndex
from citewell.errors import ConfigurationError, Unavailable
from citewell.testing.vector_index import (
    DIMENSIONS,
    FilterConformance,
    PersistenceConformance,
    RemovalConformance,
    SparseConformance,
    VectorIndexConformance,
    about,
    make_point,
    near,
    point_id,
)
from citewell.types import Condition, Filter, Operator
from tests.adapters.index.agreement import check_document_frequencies, check_filters
from tests.contract_servers.wrong_answers import answering


@pytest.fixture
def schema() -> str:
    return f"s{uuid.uuid4().hex}"


@pytest.fixture
def open_index(postgres: str, schema: str) -> Callable[[], Awaitable[PgvectorIndex]]:
    return lambda: PgvectorIndex.open(postgres, "words/model:32", DIMENSIONS, schema=schema)


class TestPgvectorIndex(
    VectorIndexConformance, SparseConformance, FilterConformance, PersistenceConformance, RemovalConformance
):
    """With the fixture above."""


class TestPgvectorIndexBehindAPooler(
    VectorIndexConformance, SparseConformance, FilterConformance, PersistenceConformance
):
    """What a pooler by transactions asks of us, without one: nothing is set for a session."""

    @pytest.fixture
    def open_index(self, postgres: str, schema: str) -> Callable[[], Awaitable[PgvectorIndex]]:
        return lambda: PgvectorIndex.open(postgres, "words/model:32", DIMENSIONS, schema=schema, pooled=True)


OpenIndex = Callable[[], Awaitable[PgvectorIndex]]


async def test_document_frequencies_agree_with_the_reference_after_any_writes(open_index: OpenIndex) -> None:
    index = await open_index()
    await check_document_frequencies(index)
    await index.close()


async def test_random_filters_and_words_agree_with_the_reference(open_index: OpenIndex) -> None:
    index = await open_index()
    await check_filters(index, 150)
    await index.close()


@pytest.mark.parametrize(("block", "tail"), [(1, 1), (4, 2), (330, 64)])
async def test_words_agree_with_the_reference_however_they_are_packed(
    open_index: OpenIndex, monkeypatch: pytest.MonkeyPatch, block: int, tail: int
) -> None:
    monkeypatch.setattr(pgvector_words, "_BLOCK", block)
    monkeypatch.setattr(pgvector_words, "_TAIL", tail)
    monkeypatch.setattr(pgvector_words, "_LITTLE_WASTE", 2)
    monkeypatch.setattr(pgvector_words, "_SPARSE_SPAN", 0)
    monkeypatch.setattr(pgvector, "_FEW", 10)
    chance, index, reference = random.Random(2), await open_index(), MemoryIndex()
    for _ in range(12):
        points = [
            make_point(n, resource=f"r{n % 9}", terms=sorted({t for t in range(12) if chance.random() < 0.6 / (t + 1)} | {0} if n % 7 else {50}))
            for n in sorted(chance.sample(range(150), chance.choice([1, 5, 60])))
        ]  # fmt: skip
        gone = [point_id(chance.randrange(150)) for _ in range(6)]
        for one in (index, reference):
            await one.upsert(points)
            await one.delete_ids(gone)
        for scope in (Filter(owner_id="ann"), Filter(owner_id="ann", resource_ids=("r1", "r2"))):
            for _ in range(5):
                query = about(*chance.sample(range(12), 4), 0, filter=scope, limit=chance.choice([1, 3, 10, 200]))
                ours, theirs = [await one.search(query) for one in (index, reference)]
                assert [one.id for one in ours] == [one.id for one in theirs]
                assert [one.score for one in ours] == pytest.approx([one.score for one in theirs], rel=1e-5)
    await index.close()


async def test_words_of_points_that_are_gone_take_no_room_for_long(
    postgres: str, open_index: OpenIndex, schema: str
) -> None:
    index = await open_index()
    for _ in range(12):
        await index.upsert([make_point(n, terms=[1, 2 + n]) for n in range(200)])
    connection = await asyncpg.connect(postgres)
    names = await connection.fetch("SELECT tablename FROM pg_tables WHERE schemaname = $1", schema)
    table = {row["tablename"].split("_")[0]: f"{schema}.{row['tablename']}" for row in names}
    packed = f"SELECT sum(octet_length(entries)) / 12 FROM {table['postings']} GROUP BY term ORDER BY 1 DESC LIMIT 1"
    assert 200 <= await connection.fetchval(packed) <= 2 * 200 + 64
    assert await connection.fetchval(f"SELECT max(octet_length(tail)) / 12 FROM {table['terms']}") <= 64
    await index.delete(Filter(owner_id="ann"))
    for kind in ("postings", "terms", "numbers"):
        assert await connection.fetchval(f"SELECT count(*) FROM {table[kind]}") == 0
    await connection.close()
    await index.close()


async def test_words_that_points_held_in_a_column_are_found_after_an_update(
    postgres: str, schema: str, open_index: OpenIndex
) -> None:
    index, reference = await open_index(), MemoryIndex()
    terms = [0, 7, 999_999_999, 1_000_000_007, 3_999_999_999, 4_294_967_295]
    points = [
        make_point(n, owner="bob" if n % 5 == 0 else "ann", terms=[terms[n % 6], terms[(n + 1) % 6]]) for n in range(60)
    ]
    await index.upsert(points)
    await reference.upsert(points)
    await index.close()
    connection = await asyncpg.connect(postgres)
    names = await connection.fetch("SELECT tablename FROM pg_tables WHERE schemaname = $1", schema)
    table = {row["tablename"].split("_")[0]: f"{schema}.{row['tablename']}" for row in names}
    await connection.execute(
        f"""DROP TABLE {table["numbers"]}, {table["postings"]};
        ALTER TABLE {table["terms"]} DROP COLUMN tail, DROP COLUMN held;
        ALTER TABLE {table["points"]} ADD COLUMN words sparsevec(1000000000)"""
    )
    for point in points:
        assert point.sparse is not None
        said = ",".join(
            f"{index % 1_000_000_000 + 1}:{value}"
            for index, value in zip(point.sparse.indices, point.sparse.values, strict=True)
        )
        await connection.execute(
            f"UPDATE {table['points']} SET words = $1::text::sparsevec WHERE id = $2",
            f"{{{said}}}/1000000000",
            point.id,
        )
    await connection.close()
    index = await open_index()
    for term in terms:
        for scope in (Filter(owner_id="ann"), Filter(owner_id="bob")):
            query = about(term, terms[0], filter=scope, limit=60)
            ours, theirs = [await one.search(query) for one in (index, reference)]
            assert [one.id for one in ours] == [one.id for one in theirs]
            assert [one.score for one in ours] == pytest.approx([one.score for one in theirs], rel=1e-5)
    await index.close()


async def test_vectors_come_back_with_all_their_digits(open_index: OpenIndex) -> None:
    index = await open_index()
    points = [make_point(n) for n in range(20)]
    await index.upsert(points)
    for key, vector in (await index.vectors([point.id for point in points])).items():
        given = next(point.dense for point in points if point.id == key)
        assert np.array_equal(vector, np.asarray(given, dtype=np.float32))
    await index.close()


async def test_points_of_the_first_layout_are_found_after_an_update(
    postgres: str, schema: str, open_index: OpenIndex
) -> None:
    """Payloads were a column of the points."""
    first = await open_index()
    await first.upsert([make_point(n, terms=[n % 3], tag=[f"t{n % 2}"]) for n in range(20)])
    await first.close()
    connection = await asyncpg.connect(postgres)
    names = [
        row["tablename"]
        for row in await connection.fetch(
            "SELECT tablename FROM pg_tables WHERE schemaname = $1 AND tablename ~ '^(points|payloads)' ORDER BY 1",
            schema,
        )
    ]
    payloads, points = (f"{schema}.{name}" for name in names)
    await connection.execute(
        f"""ALTER TABLE {points} ADD COLUMN payload jsonb;
        UPDATE {points} AS p SET payload = held.payload FROM {payloads} AS held WHERE held.id = p.id;
        ALTER TABLE {points} ALTER COLUMN payload SET NOT NULL;
        DROP TABLE {payloads}"""
    )
    await connection.close()
    index = await open_index()
    scope = Filter(owner_id="ann", conditions=(Condition("tag", Operator.EQ, "t1"),))
    assert len(await index.search(near(1, filter=scope, limit=30))) == 10
    assert len(await index.search(about(1, filter=scope, limit=30))) == 4
    await index.upsert([make_point(40, tag=["t1"])])
    assert await index.count(scope) == 11
    await index.close()


async def test_two_models_have_tables_of_their_own_and_one_name_has_one_size(postgres: str, schema: str) -> None:
    first = await PgvectorIndex.open(postgres, "one", DIMENSIONS, schema=schema)
    second = await PgvectorIndex.open(postgres, "two", DIMENSIONS, schema=schema)
    await first.upsert([make_point(1)])
    assert (await first.count(), await second.count()) == (1, 0)
    with pytest.raises(Unavailable, match="32 dimensions, but the model has 64"):
        await PgvectorIndex.open(postgres, "one", 64, schema=schema)
    with pytest.raises(ConfigurationError, match="up to 4000 dimensions"):
        await PgvectorIndex.open(postgres, "big", 4_001, schema=schema)
    await first.close()
    await second.close()


async def test_several_processes_may_open_a_new_index_at_once(postgres: str, schema: str) -> None:
    opened = await asyncio.gather(
        *[PgvectorIndex.open(postgres, "shared", DIMENSIONS, schema=schema) for _ in range(4)]
    )
    await asyncio.gather(*[index.upsert([make_point(n, terms=[1])]) for n, index in enumerate(opened)])
    assert [await index.count() for index in opened] == [4, 4, 4, 4]
    scores = {one.score for one in await opened[0].search(about(1))}
    assert len(scores) == 1
    for index in opened:
        await index.close()


async def test_a_server_that_is_not_there_is_unavailable_and_no_password_is_told() -> None:
    with pytest.raises(Unavailable) as caught:
        await PgvectorIndex.open("postgresql://ann:s3cret@127.0.0.1:9/none", "a", DIMENSIONS)
    assert "s3cret" not in caught.value.message


@pytest.mark.parametrize("said", [b"HTTP/1.1 400 Bad Request\r\n\r\n", b"N" + b"\0" * 64, None])
async def test_what_is_no_postgres_or_never_answers_is_unavailable(
    said: bytes | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pgvector, "_SECONDS", 0.5)
    with answering(said) as port, pytest.raises(Unavailable):
        await PgvectorIndex.open(f"postgresql://ann:geheim@127.0.0.1:{port}/db", "a", DIMENSIONS)


async def test_a_database_that_is_slow_is_given_up_and_asked_again(
    postgres: str, open_index: OpenIndex, schema: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = await open_index()
    await first.upsert([make_point(1, terms=[1])])
    await first.close()
    monkeypatch.setattr(pgvector, "_SECONDS", 5.0)
    index, other = await open_index(), await asyncpg.connect(postgres)
    name = await other.fetchval(
        "SELECT tablename FROM pg_tables WHERE schemaname = $1 AND tablename ~ '^points'", schema
    )
    async with other.transaction():
        await other.execute(f"LOCK TABLE {schema}.{name}")
        asked = (index.search(near(1)), index.search(about(1)), index.upsert([make_point(1)]), index.count())
        found = await asyncio.gather(*asked, return_exceptions=True)
        assert [type(one) for one in found] == [Unavailable] * 4
    await other.close()
    await index.upsert([make_point(1)])
    assert await index.count() == 1
    await index.close()


async def test_another_role_sees_one_owners_points_only(postgres: str, open_index: OpenIndex, schema: str) -> None:
    index = await open_index()
    await index.upsert([make_point(n, owner="bob" if n % 2 else "ann") for n in range(6)])
    connection = await asyncpg.connect(postgres)
    role = f"reader_{schema}"
    table = await connection.fetchval(
        "SELECT tablename FROM pg_tables WHERE schemaname = $1 AND tablename LIKE 'points%'", schema
    )
    await connection.execute(
        f"CREATE ROLE {role}; GRANT USAGE ON SCHEMA {schema} TO {role}; GRANT SELECT ON {schema}.{table} TO {role}"
    )
    try:
        await connection.execute(f"SET ROLE {role}")
        assert await connection.fetchval(f"SELECT count(*) FROM {schema}.{table}") == 0
        await connection.execute("SELECT set_config('citewell.owner_id', 'bob', false)")
        assert {row["owner_id"] for row in await connection.fetch(f"SELECT owner_id FROM {schema}.{table}")} == {"bob"}
    finally:
        await connection.execute(f"RESET ROLE; DROP OWNED BY {role}; DROP ROLE {role}")
        await connection.close()
        await index.close()


async def test_a_connection_that_is_cut_is_replaced(postgres: str, open_index: OpenIndex) -> None:
    index = await open_index()
    await index.upsert([make_point(1)])
    connection = await asyncpg.connect(postgres)
    await connection.execute(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'citewell' AND pid <> pg_backend_pid()"
    )
    await connection.close()
    with contextlib.suppress(Unavailable):  # a connection that was cut may be noticed by using it
        await index.count()
    assert await index.count() == 1
    await index.close()
