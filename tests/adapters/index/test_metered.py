"""What Pinecone embeds itself is counted for its owner, and stays within the limits that hold for every embedder."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from dataclasses import replace

import pytest

from citewell.adapters import registry
from citewell.composition.ledgers import open_vector_index
from citewell.errors import CallLimitReached, SpendingLimitReached, Unavailable
from citewell.ports import Fingerprint, VectorIndex
from citewell.ports.metering import tallied
from citewell.retrieve.legs import Legs
from citewell.retrieve.options import RetrievalOptions
from citewell.settings import load_settings
from citewell.storage.database import Database
from citewell.testing.vector_index import make_point
from citewell.types import Filter, Point, Trace, VectorQuery
from citewell.types.search import EMBED_ERROR
from tests.contract_servers.faults import Fault, Faults
from tests.contract_servers.pinecone_database import KEY, PineconeDatabase
from tests.contract_servers.serving import serving

MODEL = "multilingual-e5-large"
HOSTED = Fingerprint("store", MODEL, 1_024)
Opened = Callable[..., Awaitable[VectorIndex]]
HOSTED_SETTINGS = {"vector_store": "pinecone", "embedding_provider": "store", "pinecone_api_key": KEY}
QUERY = VectorQuery(text="plums number 102", filter=Filter(owner_id="ann"), limit=5)


@pytest.fixture
def server() -> Iterator[PineconeDatabase]:
    made = PineconeDatabase()
    with serving(made.app) as address:
        made.address = address
        yield made


@pytest.fixture
async def opened(server: PineconeDatabase, ledger_database: Database) -> AsyncIterator[Opened]:
    """The index that settings lead to."""
    made: list[VectorIndex] = []

    async def open_index(**others: object) -> VectorIndex:
        settings = load_settings(**HOSTED_SETTINGS, pinecone_url=server.address, **others)
        made.append(await open_vector_index(settings, HOSTED, ledger_database))
        return made[-1]

    yield open_index
    for index in made:
        await index.close()


def _texts(count: int, owner: str = "ann") -> list[Point]:
    first = 0 if owner == "ann" else 1_000
    points = [make_point(first + n, owner=owner) for n in range(count)]
    return [replace(one, dense=None, text=f"plums number {n}") for n, one in enumerate(points)]


async def test_texts_and_questions_are_counted(opened: Opened) -> None:
    index = await opened()
    with tallied() as tally:
        await index.upsert([*_texts(200), replace(make_point(900, terms=[5]), dense=None)])
        [written] = tally.of("embedding")
        assert (written.provider, written.model, written.units, written.input_tokens) == ("store", MODEL, 200, 600)
        await index.search(QUERY)
        [both] = tally.of("embedding")
        assert (both.units, both.input_tokens) == (201, 603)


async def test_what_an_interrupted_attempt_has_embedded_is_not_embedded_again(
    opened: Opened, server: PineconeDatabase
) -> None:
    index, texts = await opened(), _texts(200)
    stops = Faults(*[None] * 1, *[Fault(status=401, message="stopped")] * 2)
    server.trouble = lambda: stops() if server.requests[-1][1].endswith("/upsert") else None
    with pytest.raises(Unavailable):
        await index.upsert(texts)
    await asyncio.sleep(0.1)
    sent = len(server.embedded)
    assert 0 < sent < 200
    server.trouble = Faults()
    with tallied() as tally:
        await index.upsert(texts)
    assert [spent.units for spent in tally.of("embedding")] == [200 - sent]
    assert sorted(server.embedded) == sorted(one.text or "" for one in texts)
    changed = [replace(texts[0], text="pears"), replace(texts[1], payload={**texts[1].payload, "page": [7]}), texts[2]]
    await index.upsert(changed)
    assert server.embedded[200:] == ["pears", "plums number 1"], "another text, and another payload"
    assert await index.count() == 200


@pytest.mark.full
async def test_what_may_be_spent_is_not_exceeded(opened: Opened, server: PineconeDatabase) -> None:
    # A token costs a dollar: 96 texts of three tokens are 288 of the 300 that may be spent.
    index = await opened(prices=json.dumps({MODEL: [1e6, 0]}), max_spend=300)
    await index.upsert(_texts(96))
    with tallied() as tally, pytest.raises(SpendingLimitReached):
        await index.upsert(_texts(96, owner="bob"))
    assert tally.spent == ()
    assert len(server.embedded) == 96
    for _ in range(4):
        await index.search(QUERY)
    with pytest.raises(SpendingLimitReached):
        await index.search(QUERY)


async def test_a_search_goes_on_by_words_alone_when_nothing_more_may_be_spent(opened: Opened) -> None:
    index = await opened(prices=json.dumps({MODEL: [1e6, 0]}), max_spend=3)
    await index.upsert([replace(make_point(1), dense=None, text="plums")])
    embedder, trace = registry.build_embedder(load_settings(**HOSTED_SETTINGS).embedding), Trace()
    found = await Legs(embedder, index, RetrievalOptions()).find(QUERY.text or "", QUERY.filter, 5, trace)
    assert (found.vector, found.dense) == (None, ())
    assert str(trace.details[EMBED_ERROR]).startswith("spending_limit")


async def test_calls_per_minute_are_those_of_all_who_share_the_database(
    opened: Opened, server: PineconeDatabase
) -> None:
    first, second = await opened(embedding_requests_per_minute=3), await opened(embedding_requests_per_minute=3)
    await first.upsert(_texts(3))
    await second.upsert(_texts(3, owner="bob"))
    await second.search(QUERY)  # the share of questions
    with pytest.raises(CallLimitReached):
        await first.search(QUERY)  # its turn comes in a minute
    assert len(server.embedded) == 7
