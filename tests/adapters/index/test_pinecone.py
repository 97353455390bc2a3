"""The store in Pinecone passes the suite against a server of its published contract, in which writes are seen late, and obeys its limits."""

from __future__ import annotations

import contextlib
import random
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from dataclasses import replace

import numpy as np
import pytest
import pytest_asyncio

from citewell.adapters.index import pinecone
from citewell.adapters.index.memory import MemoryIndex
from citewell.adapters.index.pinecone import INTEGRATED, PineconeVectors, index_name
from citewell.errors import ConfigurationError, Unavailable
from citewell.indexes.ledgered import LedgeredIndex
from citewell.ports import Fingerprint
from citewell.ports.points import METADATA, metadata_field
from citewell.settings import PineconeStore, load_settings
from citewell.storage.database import Database
from citewell.storage.vectors.point_ledger import PointLedger
from citewell.testing.vector_index import (
    DIMENSIONS,
    EventualConformance,
    FilterConformance,
    PersistenceConformance,
    SparseConformance,
    VectorIndexConformance,
    about,
    make_point,
    near,
    point_id,
)
from citewell.types import (
    AllOf,
    AnyOf,
    Chunk,
    ChunkType,
    Condition,
    Expression,
    FileFacts,
    Filter,
    Locator,
    MetadataKind,
    Negation,
    Operator,
    Point,
    VectorQuery,
)
from tests.contract_servers.faults import Fault, Faults
from tests.contract_servers.pinecone_database import KEY, MAX_RECORDS, Index, PineconeDatabase
from tests.contract_servers.serving import serving

pytestmark = pytest.mark.full

FINGERPRINT = Fingerprint("words", "model", DIMENSIONS)
HOSTED = Fingerprint(INTEGRATED, "multilingual-e5-large", 1_024)
OpenIndex = Callable[[], Awaitable[LedgeredIndex]]


@pytest.fixture
def server() -> Iterator[PineconeDatabase]:
    made = PineconeDatabase(lag=2)
    with serving(made.app) as address:
        made.address = address
        yield made


def settings_at(server: PineconeDatabase, **others: object) -> PineconeStore:
    """The settings that lead to the server."""
    given = {"vector_store": "pinecone", "pinecone_api_key": KEY, "pinecone_url": server.address, **others}
    store = load_settings(**given).store
    assert isinstance(store, PineconeStore)
    return store


@pytest.fixture
def fingerprint() -> Fingerprint:
    return FINGERPRINT


@pytest_asyncio.fixture
async def open_index(
    server: PineconeDatabase, ledger_database: Database, fingerprint: Fingerprint
) -> AsyncIterator[OpenIndex]:
    made: list[LedgeredIndex] = []

    async def opened() -> LedgeredIndex:
        remote = await PineconeVectors.open(settings_at(server), fingerprint)
        made.append(LedgeredIndex(remote.store, PointLedger(ledger_database, remote.name)))
        return made[-1]

    yield opened
    for index in made:
        await index.close()


class TestPineconeIndex(
    VectorIndexConformance, SparseConformance, FilterConformance, EventualConformance, PersistenceConformance
):
    """With the fixture above."""


def _expression(chance: random.Random, depth: int = 2) -> Expression:
    if depth and chance.random() < 0.5:
        parts = tuple(_expression(chance, depth - 1) for _ in range(chance.randrange(1, 4)))
        return chance.choice([AnyOf(parts), AllOf(parts), Negation(parts[0])])
    return chance.choice(
        [
            Condition("page", chance.choice(list(ORDERS)), chance.randrange(6)),
            Condition("uploaded_at", chance.choice(list(ORDERS)), float(chance.randrange(80))),
            Condition("tag", Operator.IN, (f"t{chance.randrange(4)}", "none")),
            Condition("tag", Operator.PREFIX, chance.choice(["t", "t1", "x"])),
            Condition("filename", Operator.CONTAINS, chance.choice(["1", "file", "%", "_"])),
            Condition("filename", Operator.EQ, f"File {chance.randrange(80)}.pdf"),
            Condition("sheet", Operator.EXISTS, chance.random() < 0.5),
            Condition("sheet", Operator.EQ, "S"),
        ]
    )


ORDERS = (Operator.GT, Operator.GTE, Operator.LT, Operator.LTE, Operator.EQ)


def _points() -> list[Point]:
    return [
        make_point(
            n, resource=f"r{n % 9}", page=list(range(n % 7)) or None, filename=f"file {n}.pdf", tag=[f"t{n % 4}", f"t{n % 3}"],
            sheet="s" if n % 5 == 0 else None, uploaded_at=float(n) if n % 3 else None, terms=[n % 6, 10 + n % 4],
        )
        for n in range(80)
    ]  # fmt: skip


async def test_random_filters_admit_what_they_admit_in_the_reference(open_index: OpenIndex) -> None:
    chance, index, reference = random.Random(1), await open_index(), MemoryIndex()
    await index.upsert(_points())
    await reference.upsert(_points())
    await index.settle()
    for n in range(150):
        if n == 75:  # fields are taken away and given
            scope = Filter(owner_id="ann", resource_ids=("r1", "r4"))
            for one in (index, reference):
                await one.set_payload(
                    scope, {"sheet": None, "tag": ["t2"], "uploaded_at": None, "filename": "file 7.pdf"}
                )
            await index.settle()
        scope = Filter(owner_id="ann", conditions=(_expression(chance),))
        ours, theirs = [await one.search(near(1, filter=scope, limit=80)) for one in (index, reference)]
        assert {one.id for one in ours} == {one.id for one in theirs}, scope
        words, same = [await one.search(about(3, 11, filter=scope, limit=80)) for one in (index, reference)]
        assert {one.id: pytest.approx(one.score, rel=1e-6) for one in words} == {one.id: one.score for one in same}
        assert await index.count(scope) == len(theirs)


async def test_what_pinecone_can_evaluate_is_asked_of_it(open_index: OpenIndex, server: PineconeDatabase) -> None:
    index = await open_index()
    await index.upsert(_points())
    await index.settle()

    async def filter_for(*conditions: Expression) -> str:
        await index.search(near(1, filter=Filter(owner_id="ann", conditions=conditions), limit=80))
        return str(next(body for _, path, body in reversed(server.requests) if path.endswith("/query"))["filter"])

    assert "'page_max': {'$gte': 3}" in await filter_for(Condition("page", Operator.GTE, 3))
    assert "'tag': {'$in': ['t1']}" in await filter_for(Condition("tag", Operator.EQ, "T1"))
    assert "chunk_id" not in await filter_for(Negation(Condition("filename", Operator.EQ, "file 1.pdf")))
    assert "chunk_id" in await filter_for(Condition("filename", Operator.CONTAINS, "1"))
    # What holds for whole files is asked by their ids.
    whole = await filter_for(Condition("filename", Operator.PREFIX, "file"))
    assert "chunk_id" not in whole
    assert "'resource_id': {'$in': ['r0', " in whole


async def test_what_is_not_seen_yet_is_found_by_its_words_and_counted(open_index: OpenIndex) -> None:
    index = await open_index()
    await index.upsert([make_point(1, terms=[1])])
    assert await index.search(near(1)) == []  # the server shows a write from the second read on
    assert [one.id for one in await index.search(about(1))] == [point_id(1)]
    assert await index.count(Filter(owner_id="ann")) == 1
    await index.settle()
    assert [one.id for one in await index.search(near(1))] == [point_id(1)]


async def test_each_owner_has_a_namespace_and_records_tell_where_they_are_from(
    open_index: OpenIndex, server: PineconeDatabase
) -> None:
    index = await open_index()
    strange = "o-ann/../bob \u00fc"
    points = [make_point(1), make_point(2, owner="bob"), make_point(3, owner=strange)]
    chunk = Chunk(
        id=point_id(1),
        owner_id="ann",
        resource_id="r0",
        version=1,
        ordinal=4,
        type=ChunkType.TEXT,
        text="",
        locator=Locator(),
    )
    file = FileFacts(filename="a.pdf", language=None, type="pdf", category="rag", uploaded_at=0.0)
    await index.upsert([replace(points[0], origin=(chunk, file)), *points[1:]])
    await index.settle()
    spaces = server.indexes[index_name("citewell", FINGERPRINT)].namespaces
    assert [len(space.records) for space in spaces.values()] == [1, 1, 1]
    assert {"documents.o-ann", "documents.o-bob"} < set(spaces)
    record = spaces["documents.o-ann"].records[point_id(1)]
    assert record.metadata["name"] == "a.pdf::chunk_4"
    assert [one.id for one in await index.search(near(1, filter=Filter(owner_id=strange)))] == [point_id(3)]


async def test_batches_keep_to_the_limits_of_records_and_bytes(open_index: OpenIndex, server: PineconeDatabase) -> None:
    index = await open_index()
    await index.upsert([make_point(n, filename="x" * 1_500) for n in range(2_100)])  # 1.5 kB each
    written = [body for _, path, body in server.requests if path.endswith("/vectors/upsert")]
    assert sum(len(body["vectors"]) for body in written) == 2_100
    assert max(len(body["vectors"]) for body in written) <= MAX_RECORDS
    assert len(written) >= 3
    await index.delete(Filter(owner_id="ann"))
    assert await index.count() == 0
    assert [len(body["ids"]) for _, path, body in server.requests if path.endswith("/delete") and "ids" in body] == [
        1_000,
        1_000,
        100,
    ]


async def test_metadata_beyond_40_kilobytes_is_left_out_of_the_record_and_still_filtered_by(
    open_index: OpenIndex, server: PineconeDatabase
) -> None:
    index = await open_index()
    fields = [metadata_field(f"key {n}", MetadataKind.TEXT) for n in range(120)]
    large = make_point(1, page=4, metadata=dict.fromkeys(fields, "v" * 500), tag=[f"tag{n}" for n in range(32)])
    await index.upsert([large, make_point(2, page=4)])
    await index.settle()
    for condition in (
        Condition(f"{METADATA}.{fields[0]}", Operator.EQ, "v" * 500),
        Condition("tag", Operator.EQ, "tag31"),
        AllOf((Condition("page", Operator.EQ, 4), Condition(f"{METADATA}.{fields[119]}", Operator.EXISTS, True))),
    ):
        scope = Filter(owner_id="ann", conditions=(condition,))
        assert [one.id for one in await index.search(near(1, filter=scope))] == [point_id(1)], condition
    await index.set_payload(Filter(owner_id="ann"), {METADATA: {fields[0]: "w"}})
    await index.settle()
    scope = Filter(owner_id="ann", conditions=(Condition(f"{METADATA}.{fields[0]}", Operator.EQ, "w"),))
    assert len(await index.search(near(1, filter=scope))) == 2


async def test_more_ids_than_a_filter_may_list_are_asked_for_in_parts(
    open_index: OpenIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    index, reference = await open_index(), MemoryIndex()
    monkeypatch.setattr(index._store, "max_values", 7)
    await index.upsert(_points())
    await reference.upsert(_points())
    await index.settle()
    for scope in (
        Filter(owner_id="ann", resource_ids=tuple(f"r{n}" for n in range(9))),
        Filter(owner_id="ann", conditions=(Condition("filename", Operator.CONTAINS, "2"),)),
        Filter(owner_id="ann", resource_ids=("r2", "r5"), conditions=(Negation(Condition("tag", Operator.EQ, "t1")),)),
    ):
        ours, theirs = [await one.search(near(1, filter=scope, limit=12)) for one in (index, reference)]
        assert [one.id for one in ours] == [one.id for one in theirs]


async def test_an_index_is_created_and_awaited_once_and_opened_by_others(ledger_database: Database) -> None:
    server = PineconeDatabase(waits=2)
    with serving(server.app) as address:
        server.address = address
        first = await PineconeVectors.open(
            settings_at(server, pinecone_index="rag", pinecone_region="eu-west-1"), FINGERPRINT
        )
        second = await PineconeVectors.open(settings_at(server, pinecone_index="rag"), FINGERPRINT)
        assert (first.is_new, second.is_new, first.name) == (True, False, second.name)
        (made,) = server.indexes.values()
        assert (made.dimension, made.metric, made.spec["region"]) == (DIMENSIONS, "cosine", "eu-west-1")
        await first.store.close()
        await second.store.close()


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"pinecone_api_key": "wrong"}, "Invalid API key"),
        ({"pinecone_region": "mars-1"}, "region: mars-1 not found"),
        ({"pinecone_api_key": None}, "PINECONE_API_KEY"),
    ],
)
async def test_wrong_settings_are_one_line_of_configuration(
    server: PineconeDatabase, changed: dict[str, object], said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("PINECONE_API_KEY", raising=False)
    with pytest.raises(ConfigurationError, match=said) as caught:
        await PineconeVectors.open(settings_at(server, **changed), FINGERPRINT)
    assert "\n" not in caught.value.message


async def test_an_account_without_room_for_an_index_is_told(server: PineconeDatabase) -> None:
    server.max_indexes = 0
    with pytest.raises(ConfigurationError, match="Increase your quota"):
        await PineconeVectors.open(settings_at(server), FINGERPRINT)


@pytest.mark.parametrize(
    ("dimension", "metric", "embed", "said"),
    [
        (8, "cosine", None, "8 dimensions, but the model has 32"),
        (DIMENSIONS, "euclidean", None, "with the cosine metric"),
        (DIMENSIONS, "cosine", {"model": "multilingual-e5-large"}, "embeds texts with multilingual-e5-large"),
    ],
)
async def test_an_index_of_another_kind_is_refused(
    server: PineconeDatabase, dimension: int, metric: str, embed: dict[str, str] | None, said: str
) -> None:
    name = index_name("citewell", FINGERPRINT)
    server.indexes[name] = Index(name, dimension, metric, 0, embed, {"cloud": "aws", "region": "us-east-1"})
    with pytest.raises(ConfigurationError, match=said):
        await PineconeVectors.open(settings_at(server), FINGERPRINT)


@pytest.mark.parametrize("status", [429, 500, 503])
async def test_a_request_is_tried_again_when_pinecone_says_so(
    open_index: OpenIndex, server: PineconeDatabase, status: int
) -> None:
    index = await open_index()
    server.trouble = Faults(*[Fault(status=status, retry_after="0")] * 3)
    await index.upsert([make_point(1)])
    await index.settle()
    assert [one.id for one in await index.search(near(1))] == [point_id(1)]
    server.trouble = lambda: Fault(status=status, retry_after="0", message="too busy")
    with pytest.raises(Unavailable, match=f"{status}: too busy"):
        await index.search(near(1))
    with pytest.raises(Unavailable):
        await index.upsert([make_point(2)])
    server.trouble = Faults()
    assert await index.count(Filter(owner_id="ann")) == 1  # what was not acknowledged is not counted
    await index.upsert([make_point(2)])
    assert await index.count(Filter(owner_id="ann")) == 2


@pytest.mark.parametrize("body", [b"<html>not a database</html>", b"{}", b'{"matches": [{"score": 1}]}', b"[]"])
async def test_what_is_not_an_answer_of_pinecones_is_unavailable_or_nothing_and_passes(
    open_index: OpenIndex, server: PineconeDatabase, body: bytes
) -> None:
    index = await open_index()
    await index.upsert([make_point(1, terms=[1])])
    await index.settle()
    server.trouble = lambda: Fault(body=body)
    with contextlib.suppress(Unavailable):
        assert await index.search(near(1)) == []
    assert [one.id for one in await index.search(about(1))] == [point_id(1)]
    server.trouble = Faults()
    assert [one.id for one in await index.search(near(1))] == [point_id(1)]
    await index.close()


async def test_a_pinecone_that_is_slow_is_given_up_after_its_time(
    open_index: OpenIndex, server: PineconeDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pinecone, "_SECONDS", 0.5)
    index = await open_index()
    await index.upsert([make_point(1)])
    server.trouble = lambda: Fault(pause=3_600)
    with pytest.raises(Unavailable):
        await index.search(near(1))
    server.trouble = Faults()
    await index.settle()
    assert [one.id for one in await index.search(near(1))] == [point_id(1)]
    await index.close()


async def test_an_index_that_is_deleted_meanwhile_and_a_server_that_is_gone_are_unavailable(
    open_index: OpenIndex, server: PineconeDatabase
) -> None:
    index = await open_index()
    await index.upsert([make_point(1)])
    held = dict(server.indexes)
    server.indexes.clear()
    with pytest.raises(Unavailable, match="no longer exists"):
        await index.search(near(1))
    with pytest.raises(Unavailable):
        await index.count()
    server.indexes.update(held)
    assert await index.count() == 1
    with pytest.raises(Unavailable, match="cannot be reached"):
        await PineconeVectors.open(settings_at(server, pinecone_url="http://127.0.0.1:9"), FINGERPRINT)


async def test_a_point_that_nobody_knows_of_is_swept_away_with_its_file(
    open_index: OpenIndex, server: PineconeDatabase
) -> None:
    index = await open_index()
    await index.upsert([make_point(n, resource=f"r{n % 2}") for n in range(10)])
    await index.settle()
    await index._ledger.forget([point_id(3)])
    await index.delete(Filter(owner_id="ann", resource_ids=("r1",)))
    await index._store.vectors("ann", [point_id(0)])
    await index.settle()
    (space,) = server.indexes[index_name("citewell", FINGERPRINT)].namespaces.values()
    space.read()
    assert set(space.records) == {point_id(n) for n in range(0, 10, 2)}


@pytest.mark.parametrize("fingerprint", [HOSTED])
async def test_texts_are_embedded_by_the_index(open_index: OpenIndex, server: PineconeDatabase) -> None:
    index = await open_index()
    texts = [f"{word} number {n}" for n, word in enumerate(["apples", "pears", "plums", "cherries"] * 50)]
    points = [replace(make_point(n, page=n), dense=None, text=text) for n, text in enumerate(texts)]
    await index.upsert([*points, replace(make_point(900, terms=[5]), dense=None)])
    await index.settle()
    sizes = [len(body) for _, path, body in server.requests if path.endswith("/upsert")]
    assert (sum(sizes), max(sizes)) == (200, 96)
    asked = VectorQuery(text="plums number 102", filter=Filter(owner_id="ann"), limit=5)
    assert (await index.search(asked))[0].id == point_id(102)
    narrow = replace(asked, filter=Filter(owner_id="ann", conditions=(Condition("page", Operator.LT, 50),)))
    assert {one.id for one in await index.search(narrow)} <= {point_id(n) for n in range(50)}
    vectors = await index.vectors([point_id(1), point_id(900)])
    assert list(vectors) == [point_id(1)]
    assert np.linalg.norm(vectors[point_id(1)]) == pytest.approx(1.0, abs=1e-3)
    assert [one.id for one in await index.search(about(5))] == [point_id(900)]
    assert await index.count() == 201


@pytest.mark.parametrize("fingerprint", [HOSTED])
async def test_a_text_that_is_far_too_long_is_sent_as_far_as_a_record_holds_it(
    open_index: OpenIndex, server: PineconeDatabase
) -> None:
    index = await open_index()
    names = [metadata_field(f"key {n}", MetadataKind.TEXT) for n in range(64)]
    await index.upsert(
        [replace(make_point(1, metadata=dict.fromkeys(names, "v" * 500)), dense=None, text="\u00e4" * 90_000)]
    )
    assert [len(text.encode()) for text in server.embedded] == [16_000]
