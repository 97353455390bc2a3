"""The store in Redis passes the suite on a real server with the query engine: Redis Stack from a wheel, or the one that REDIS_URL names."""

from __future__ import annotations

import asyncio
import random
import uuid
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from citewell.adapters.index.memory import MemoryIndex
from citewell.adapters.index.redis import RedisIndex, connect
from citewell.errors import ConfigurationError, Unavailable
from citewell.ports.points import METADATA, metadata_field
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
from citewell.types import Condition, Filter, MetadataKind, Operator
from tests.adapters.index.agreement import check_document_frequencies, check_filters
from tests.contract_servers.wrong_answers import answering
from tests.redis_server import redis_server

pytestmark = pytest.mark.full

OpenIndex = Callable[[], Awaitable[RedisIndex]]


@pytest.fixture
def open_index(redis_url: str) -> OpenIndex:
    name = uuid.uuid4().hex
    return lambda: RedisIndex.open(connect(redis_url, 60), name, DIMENSIONS, prefix="test")


class TestRedisIndex(
    VectorIndexConformance, SparseConformance, FilterConformance, PersistenceConformance, RemovalConformance
):
    """With the fixture above."""


class TestRedisIndexWithoutGraph(VectorIndexConformance, SparseConformance, FilterConformance, PersistenceConformance):
    @pytest.fixture
    def open_index(self, redis_url: str) -> OpenIndex:
        name = uuid.uuid4().hex
        return lambda: RedisIndex.open(connect(redis_url, 60), name, DIMENSIONS, prefix="test", graph="flat")


async def test_random_filters_and_words_agree_with_the_reference(open_index: OpenIndex) -> None:
    index = await open_index()
    await check_filters(index, 150, ("1", "file", "%", "_", "*", "{"))
    await index.close()


async def test_document_frequencies_agree_with_the_reference_after_any_writes(open_index: OpenIndex) -> None:
    index = await open_index()
    await check_document_frequencies(index)
    await index.close()


async def test_parts_of_more_texts_than_redis_expands_are_all_found(open_index: OpenIndex) -> None:
    index = await open_index()
    await index.upsert([make_point(n, filename=f"report {n:04}.pdf") for n in range(1_000)])
    for condition in (Condition("filename", Operator.PREFIX, "r"), Condition("filename", Operator.CONTAINS, ".p")):
        assert await index.count(Filter(owner_id="ann", conditions=(condition,))) == 1_000
    await index.close()


async def test_a_point_that_changes_its_owner_is_no_longer_the_former_ones(open_index: OpenIndex) -> None:
    index = await open_index()
    await index.upsert([make_point(1), make_point(2)])
    await index.upsert([make_point(1, owner="bob")])
    assert [hit.id for hit in await index.search(near(1))] == [point_id(2)]
    assert (await index.count(), await index.count(Filter(owner_id="bob"))) == (2, 1)
    await index.close()


async def test_owners_whose_names_begin_alike_or_hold_signs_are_kept_apart(open_index: OpenIndex) -> None:
    index = await open_index()
    owners = ["a", "a:b", "a*", "ab", "@a", ""]
    await index.upsert([make_point(n, owner=owner) for n, owner in enumerate(owners)])
    for n, owner in enumerate(owners):
        assert [hit.id for hit in await index.search(near(n, filter=Filter(owner_id=owner)))] == [point_id(n)]
    await index.close()


async def test_a_payload_never_revives_a_point_that_was_deleted_meanwhile(open_index: OpenIndex) -> None:
    index = await open_index()
    await index.upsert([make_point(n, tag="old") for n in range(300)])
    scope = Filter(owner_id="ann", resource_ids=("r0",))
    await asyncio.gather(
        index.set_payload(scope, {"tag": ["new"]}), index.delete_ids([point_id(n) for n in range(150)])
    )
    assert await index.count() == 150
    assert await index.count(Filter(owner_id="ann", conditions=(Condition("tag", Operator.EQ, "new"),))) == 150
    assert await index.count(Filter(owner_id="ann")) == 150
    await index.close()


async def test_random_ranges_of_metadata_agree_with_the_reference(open_index: OpenIndex) -> None:
    chance, index, reference = random.Random(2), await open_index(), MemoryIndex()
    names = [metadata_field(key, kind) for key in ("a", "b") for kind in (MetadataKind.NUMBER, MetadataKind.DATE)]
    points = [
        make_point(n, metadata={name: chance.choice([n, n / 7, -1e20, 1e-9]) for name in chance.sample(names, 2)})
        for n in range(60)
    ]
    await index.upsert(points)
    await reference.upsert(points)
    for _ in range(100):
        operator = chance.choice([Operator.GT, Operator.GTE, Operator.LT, Operator.LTE, Operator.EQ, Operator.IN])
        value = chance.choice([3, 14 / 7, 1 / 7, -1e20, 0.0])
        given = (value, 5) if operator is Operator.IN else value
        scope = Filter(owner_id="ann", conditions=(Condition(f"{METADATA}.{chance.choice(names)}", operator, given),))
        ours, theirs = [await one.search(near(1, filter=scope, limit=80)) for one in (index, reference)]
        assert {one.id for one in ours} == {one.id for one in theirs}, scope
    await index.close()


async def test_several_processes_may_open_a_new_index_at_once(redis_url: str) -> None:
    name = uuid.uuid4().hex
    opened = await asyncio.gather(*[RedisIndex.open(connect(redis_url, 60), name, DIMENSIONS) for _ in range(4)])
    await asyncio.gather(*[index.upsert([make_point(n, terms=[1])]) for n, index in enumerate(opened)])
    assert [await index.count() for index in opened] == [4, 4, 4, 4]
    assert len({hit.score for hit in await opened[0].search(about(1))}) == 1
    for index in opened:
        await index.close()


async def test_an_index_of_other_dimensions_or_of_another_schema_is_refused(redis_url: str) -> None:
    name = uuid.uuid4().hex
    await (await RedisIndex.open(connect(redis_url, 60), name, DIMENSIONS, prefix=name)).close()
    with pytest.raises(Unavailable, match="32 dimensions, but the model has 64"):
        await RedisIndex.open(connect(redis_url, 60), name, 64, prefix=name)
    client = connect(redis_url, 60)
    [base] = [key async for key in client.scan_iter(match=f"{name}:*", count=1_000)]
    await client.execute_command("HSET", base, "schema", 99)
    await client.aclose()
    with pytest.raises(Unavailable, match="schema 99"):
        await RedisIndex.open(connect(redis_url, 60), name, DIMENSIONS, prefix=name)


async def test_a_server_that_lost_everything_says_so_and_does_not_find_nothing() -> None:
    with redis_server("--appendonly", "no") as url:
        index = await RedisIndex.open(connect(url, 60), "a", DIMENSIONS)
        await index.upsert([make_point(1, terms=[1])])
        client = connect(url, 60)
        await client.execute_command("FLUSHALL")
        await client.aclose()
        for call in (
            lambda: index.search(near(1)),
            lambda: index.search(about(1)),
            lambda: index.count(Filter(owner_id="ann")),
            lambda: index.upsert([make_point(2)]),
        ):
            with pytest.raises(Unavailable, match="lost the index"):
                await call()
        await index.close()


async def test_a_wrong_password_and_a_server_that_drops_keys_are_matters_of_configuration() -> None:
    with redis_server("--requirepass", "s3cret", "--maxmemory", "1gb", "--maxmemory-policy", "allkeys-lru") as url:
        with pytest.raises(ConfigurationError, match="CITEWELL_REDIS_URL") as caught:
            await RedisIndex.open(connect(url.replace("unix://", "unix://:wrong@"), 60), "a", DIMENSIONS)
        assert "wrong@" not in caught.value.message
        with pytest.raises(ConfigurationError, match="noeviction"):
            await RedisIndex.open(connect(url.replace("unix://", "unix://:s3cret@"), 60), "a", DIMENSIONS)


async def test_a_server_that_is_not_there_is_unavailable(tmp_path: Path) -> None:
    for url in ("redis://ann:s3cret@127.0.0.1:9", f"unix://{tmp_path}/none"):
        with pytest.raises(Unavailable, match="could not be opened") as caught:
            await RedisIndex.open(connect(url, 5), "a", DIMENSIONS)
        assert "s3cret" not in caught.value.message


@pytest.mark.parametrize("said", [b"HTTP/1.1 400 Bad Request\r\n\r\n", b"+OK\r\n", b"*-1\r\n", None])
async def test_what_is_no_redis_or_never_answers_is_unavailable(said: bytes | None) -> None:
    with answering(said) as port, pytest.raises(Unavailable):
        await RedisIndex.open(connect(f"redis://127.0.0.1:{port}", 0.5), "a", DIMENSIONS)


async def test_a_redis_without_the_query_engine_says_what_is_needed() -> None:
    with redis_server("--appendonly", "no", modules=()) as url, pytest.raises(ConfigurationError, match="Redis 8"):
        await RedisIndex.open(connect(url, 5), "a", DIMENSIONS)
