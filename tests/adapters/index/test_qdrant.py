"""The store in a Qdrant server passes the suite over REST, on the contract server or on the one that QDRANT_URL names."""

from __future__ import annotations

import asyncio
import os
import uuid
from collections.abc import Awaitable, Callable, Generator
from dataclasses import replace
from typing import Any

import pytest
from pydantic import SecretStr
from qdrant_client import AsyncQdrantClient, models

from citewell.adapters.index.qdrant import QdrantIndex, connect
from citewell.adapters.index.qdrant_schema import CollectionLayout
from citewell.errors import ConfigurationError, Unavailable
from citewell.ports.points import METADATA, PAYLOAD_FIELDS, index_point, metadata_field
from citewell.settings import QdrantStore, load_settings
from citewell.testing.vector_index import (
    DIMENSIONS,
    FilterConformance,
    PersistenceConformance,
    RemovalConformance,
    SparseConformance,
    VectorIndexConformance,
    make_point,
    near,
    point_id,
)
from citewell.types import (
    Chunk,
    ChunkType,
    Condition,
    FileFacts,
    Filter,
    Locator,
    MetadataKind,
    Negation,
    Operator,
    Point,
)
from tests.adapters.index.agreement import check_filters
from tests.contract_servers.faults import Fault, Faults
from tests.contract_servers.qdrant import QdrantServer
from tests.contract_servers.serving import serving

pytestmark = pytest.mark.full

OpenIndex = Callable[[], Awaitable[QdrantIndex]]


@pytest.fixture(scope="module")
def address() -> Generator[str]:
    if url := os.environ.get("QDRANT_URL"):
        yield url
    else:
        with serving(QdrantServer().app) as base:
            yield base


@pytest.fixture
def open_index(address: str) -> OpenIndex:
    name = uuid.uuid4().hex

    def open_it() -> Awaitable[QdrantIndex]:
        return QdrantIndex.open(_client(address), name, DIMENSIONS, prefix="test")

    return open_it


class TestQdrantOverRest(
    VectorIndexConformance, SparseConformance, FilterConformance, PersistenceConformance, RemovalConformance
):
    """With the fixture above."""


async def test_random_filters_and_words_agree_with_the_reference(open_index: OpenIndex) -> None:
    index = await open_index()
    await check_filters(index, 50)
    await index.close()


async def test_several_processes_may_open_a_new_index_at_once(address: str) -> None:
    name = uuid.uuid4().hex
    opened = await asyncio.gather(
        *[QdrantIndex.open(_client(address), name, DIMENSIONS, prefix="test") for _ in range(4)]
    )
    await asyncio.gather(*[index.upsert([make_point(n)]) for n, index in enumerate(opened)])
    assert [await index.count() for index in opened] == [4, 4, 4, 4]
    for index in opened:
        await index.close()


def _client(address: str, **more: Any) -> AsyncQdrantClient:
    return AsyncQdrantClient(url=address, timeout=60, check_compatibility=False, **more)


@pytest.fixture
def server() -> QdrantServer:
    return QdrantServer()


@pytest.fixture
def own_address(server: QdrantServer) -> Generator[str]:
    with serving(server.app) as base:
        yield base


async def test_a_new_collection_is_made_as_set_with_an_index_on_each_field(
    server: QdrantServer, own_address: str
) -> None:
    layout = CollectionLayout(shards=6, replicas=3, quantization="scalar")
    index = await QdrantIndex.open(_client(own_address), "words/model:32", DIMENSIONS, prefix="library", layout=layout)
    [(name, made)] = server.created.items()
    assert name.startswith("library_")
    assert (made.shard_number, made.replication_factor, made.write_consistency_factor) == (6, 3, 2)
    assert made.sparse_vectors is not None
    assert made.sparse_vectors["lexical"].modifier is models.Modifier.IDF
    assert isinstance(made.vectors, dict)
    assert isinstance(made.vectors["dense"].quantization_config, models.ScalarQuantization)
    assert made.hnsw_config is not None
    assert (made.hnsw_config.m, made.hnsw_config.payload_m) == (0, 16)
    fields = server.indexed[name]
    assert set(fields) == {f"citewell.{field}" for field in PAYLOAD_FIELDS}
    assert {field for field, index in fields.items() if index["params"].get("is_tenant")} == {"citewell.owner_id"}
    await index.search(near(1))
    [search] = [body for path, body in server.requests if path.endswith("/query")]
    assert search["params"]["quantization"] == {"rescore": True, "oversampling": 3.0}
    await index.close()


async def test_a_field_of_metadata_gets_an_index_before_a_filter_first_uses_it(
    server: QdrantServer, own_address: str
) -> None:
    index = await QdrantIndex.open(_client(own_address), "a", DIMENSIONS)
    [fields] = server.indexed.values()
    path = f"{METADATA}.{metadata_field('camera', MetadataKind.NUMBER)}"
    assert f"citewell.{path}" not in fields
    scope = Filter(owner_id="ann", conditions=(Negation(Condition(path, Operator.GT, 4)),))
    await index.count(scope)
    assert fields[f"citewell.{path}"]["data_type"] == "float"
    asked = len(server.requests)
    await index.count(scope)
    assert len(server.requests) == asked + 1
    await index.close()


async def test_large_batches_are_cut_below_what_the_server_takes(server: QdrantServer, own_address: str) -> None:
    index = await QdrantIndex.open(_client(own_address), "a", 3_072)
    one = make_point(1)
    points = [Point(id=point_id(n), dense=(0.123456789,) * 3_072, sparse=None, payload=one.payload) for n in range(300)]
    await index.upsert(points)
    sizes = [len(body["points"]) for path, body in server.requests if path.endswith("/points")]
    assert sum(sizes) == 300
    assert max(sizes) * 3_072 <= 400_000
    assert await index.count() == 300
    await index.close()


async def test_other_programs_read_the_passage_and_its_file_beside_what_filters_use(
    server: QdrantServer, own_address: str
) -> None:
    index = await QdrantIndex.open(_client(own_address), "a", DIMENSIONS, readable=True)
    chunk = Chunk(
        id=point_id(1), owner_id="ann", resource_id="r1", version=1, ordinal=7, text="Quantum computing enables …",
        type=ChunkType.TEXT, locator=Locator(page=3),
    )  # fmt: skip
    file = FileFacts(
        filename="Research Paper.PDF", type="pdf", thread="t9", uploaded_at=1_700_000_000.5,
        metadata={"claude_file_id": "file_011CNha8iCJcU1wXNR6q4V8w"},
    )  # fmt: skip
    await index.upsert([index_point(chunk, make_point(1).dense, file)])
    [name] = server.created

    async def stored() -> dict[str, Any]:
        [record] = await server.local.retrieve(name, [point_id(1)])
        return dict(record.payload or {})

    payload = await stored()
    ours = payload.pop("citewell")
    assert ours["filename"] == "research paper.pdf"
    assert payload == {
        "user_id": "ann",
        "thread_id": "t9",
        "file_id": "r1",
        "claude_file_id": "file_011CNha8iCJcU1wXNR6q4V8w",
        "filename": "Research Paper.PDF",
        "file_type": "pdf",
        "chunk_index": 7,
        "chunk_text": "Quantum computing enables …",
        "uploaded_at": "2023-11-14T22:13:20.500000Z",
    }
    mine = Filter(owner_id="ann", resource_ids=("r1",))
    await index.describe_file(mine, FileFacts(filename="New.pdf", type="pdf", metadata={"claude_file_id": "file_2"}))
    await index.set_payload(mine, {"filename": "new.pdf"})
    payload = await stored()
    assert (payload["filename"], payload["claude_file_id"], payload["chunk_index"]) == ("New.pdf", "file_2", 7)
    assert payload["citewell"]["filename"] == "new.pdf"
    assert payload["citewell"]["page"] == [3]
    await index.close()


async def test_without_that_setting_a_point_holds_no_text(server: QdrantServer, own_address: str) -> None:
    index = await QdrantIndex.open(_client(own_address), "a", DIMENSIONS)
    chunk = Chunk(
        id=point_id(1),
        owner_id="ann",
        resource_id="r1",
        version=1,
        ordinal=7,
        text="Secret.",
        type=ChunkType.TEXT,
        locator=Locator(),
    )
    await index.upsert([index_point(chunk, None, FileFacts(filename="a.txt"))])
    await index.describe_file(Filter(owner_id="ann"), FileFacts(filename="b.txt"))
    [name] = server.created
    [record] = await server.local.retrieve(name, [point_id(1)])
    assert set(record.payload or {}) == {"citewell"}
    assert "Secret" not in str(record.payload)
    await index.close()


async def test_an_index_of_other_dimensions_of_another_schema_or_of_somebody_else_is_refused(
    server: QdrantServer, own_address: str
) -> None:
    await (await QdrantIndex.open(_client(own_address), "a", DIMENSIONS)).close()
    with pytest.raises(Unavailable, match="32 dimensions, but the model has 64"):
        await QdrantIndex.open(_client(own_address), "a", 64)
    [name] = server.created
    await server.local.update_collection(name, metadata={"citewell": {"schema": 99}})
    with pytest.raises(Unavailable, match="schema 99"):
        await QdrantIndex.open(_client(own_address), "a", DIMENSIONS)
    await server.local.update_collection(name, metadata={"citewell": None})
    with pytest.raises(ConfigurationError, match="CITEWELL_QDRANT_COLLECTION"):
        await QdrantIndex.open(_client(own_address), "a", DIMENSIONS)


async def test_a_server_that_is_too_old_says_which_one_is_needed() -> None:
    with (
        serving(QdrantServer(version="1.17.1").app) as base,
        pytest.raises(ConfigurationError, match=r"1\.17\.1; .* at least 1\.20"),
    ):
        await QdrantIndex.open(_client(base), "a", DIMENSIONS)


async def test_a_key_that_is_refused_is_a_matter_of_configuration() -> None:
    store = load_settings(vector_store="qdrant", qdrant_api_key="wrong-key", qdrant_url="http://127.0.0.1:9").store
    assert isinstance(store, QdrantStore)
    with serving(QdrantServer(key="right-key").app) as base:
        with pytest.raises(ConfigurationError, match="CITEWELL_QDRANT_API_KEY") as caught:
            await QdrantIndex.open(connect(replace(store, url=base)), "a", DIMENSIONS)
        right = replace(store, url=base, api_key=SecretStr("right-key"))
        await (await QdrantIndex.open(connect(right), "a", DIMENSIONS)).close()
    assert "wrong-key" not in caught.value.message


@pytest.mark.parametrize("grpc", [False, True])
async def test_a_server_that_is_not_there_is_unavailable(grpc: bool) -> None:
    with pytest.raises(Unavailable, match="could not be opened"):
        await QdrantIndex.open(_client("http://127.0.0.1:9", prefer_grpc=grpc, grpc_port=9), "a", DIMENSIONS)


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        (Fault(status=500, message="disk is full"), "status 500: disk is full"),
        (Fault(status=429, message="slow down", retry_after="1"), "slow down"),
        (Fault(body=b"<html>not a database</html>"), "not from Qdrant"),
        (Fault(body=b"{}"), "not from Qdrant"),
        (Fault(body=b'{"result": {"points": [{"id": {}}]}, "status": "ok", "time": 0}'), "not from Qdrant"),
    ],
    ids=["error", "limit", "page", "empty", "shape"],
)
async def test_what_a_server_does_wrong_is_unavailable_and_passes(
    server: QdrantServer, own_address: str, fault: Fault, said: str
) -> None:
    index = await QdrantIndex.open(_client(own_address), "a", DIMENSIONS)
    await index.upsert([make_point(1)])
    for call in (
        lambda: index.search(near(1)),
        lambda: index.upsert([make_point(2)]),
        lambda: index.count(),
        lambda: index.vectors([point_id(1)]),
        lambda: index.set_payload(Filter(owner_id="ann"), {"tag": ["x"]}),
        lambda: index.delete(Filter(owner_id="bob")),
    ):
        server.trouble = Faults(fault)
        with pytest.raises(Unavailable, match=said):
            await call()
    assert [hit.id for hit in await index.search(near(1))] == [point_id(1)]
    await index.close()


async def test_a_server_that_is_slow_is_given_up_after_the_time_that_is_set(
    server: QdrantServer, own_address: str
) -> None:
    client = AsyncQdrantClient(url=own_address, timeout=10, check_compatibility=False)
    index = await QdrantIndex.open(client, "a", DIMENSIONS)
    server.trouble = Faults(Fault(pause=3_600))
    with pytest.raises(Unavailable):
        await index.count()
    assert await index.count() == 0
    await index.close()
