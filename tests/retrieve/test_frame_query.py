"""The query for frames, step by step as it was designed: from rephrasings and filters to five passages with path and record."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import pytest

from citewell.adapters.index.memory import MemoryIndex
from citewell.agent.interface import Source
from citewell.agent.model.window import source_blocks
from citewell.ports.points import index_point
from citewell.retrieve.fusion import RRF_K
from citewell.retrieve.options import RetrievalOptions
from citewell.retrieve.retriever import Retriever
from citewell.types import (
    Condition,
    FileFacts,
    Filter,
    MetadataKey,
    MetadataKind,
    Provenance,
    ScoredId,
    SearchOptions,
    SearchRequest,
    SearchResult,
    StoredChunk,
    VectorQuery,
)
from tests.retrieve.stand_ins import LengthReranker, MemoryChunks, ScriptedChat, WordEmbedder, make_chunk

QUERY = "Show me frames tagged 'outdoor' from last week showing a red car."
VARIATIONS = ["a crimson vehicle on a street", "a scarlet automobile outside", "car in red at the road"]
_NOW = datetime(2026, 11, 16, 9, 0, tzinfo=UTC)
_FRAMES = 60


class WatchedIndex(MemoryIndex):
    """Keeps what it was asked."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[VectorQuery] = []

    async def search(self, query: VectorQuery) -> list[ScoredId]:
        self.asked.append(query)
        return await super().search(query)


class Words:
    """Counts words."""

    def count(self, texts: Sequence[str]) -> list[int]:
        return [len(text.split()) for text in texts]


class Frames:
    """Sixty frames of two months, half of them outdoors, and who searches them."""

    def __init__(self) -> None:
        self.index, self.reranker = WatchedIndex(), LengthReranker()
        self._embedder, self._source = (
            WordEmbedder({"crimson": "red", "scarlet": "red", "automobile": "car"}),
            MemoryChunks(),
        )

    async def fill(self) -> Frames:
        for number in range(_FRAMES):
            place = "outdoor" if number % 2 else "indoor"
            text = f"A red car {place}, number {number}" + " again" * (number % 9)
            said = {
                "frame_summary": text + ", seen from the bridge" * 15,
                "tags": (place,),
                "timestamp": (_NOW - timedelta(days=number)).isoformat(),
                "source_airtable_id": f"rec{number:03}",
                "source_frame_path": f"shots/{number:03}.png",
            }
            chunk = make_chunk(text, filename=f"{number:03}.png")
            vector = (await self._embedder.embed([text]))[0].tolist()
            await self.index.upsert([index_point(chunk, vector, FileFacts(filename=f"{number:03}.png", metadata=said))])
            provenance = Provenance(identifier=f"rec{number:03}", metadata=said)
            self._source.stored[chunk.id] = StoredChunk(chunk, f"{number:03}.png", provenance)
        tags = (("outdoor", 30), ("indoor", 30))
        self._source.keys = [
            MetadataKey(name="tags", kinds=frozenset({MetadataKind.TEXT}), files=_FRAMES, frequent=tags),
            MetadataKey(name="timestamp", kinds=frozenset({MetadataKind.DATE}), files=_FRAMES, timed=True),
        ]
        return self

    async def found(self) -> SearchResult:
        options = RetrievalOptions(variations=3, rerank_candidates=20)
        retriever = Retriever(
            self._embedder,
            self.index,
            self._source,
            options=options,
            chat=ScriptedChat(json.dumps({"queries": VARIATIONS})),
            reranker=self.reranker,
            now=lambda: _NOW,
        )
        return await retriever.search(
            SearchRequest(owner_id="ann", query=QUERY, top_k=5, options=SearchOptions(rerank=True, debug=True))
        )


@pytest.fixture
async def frames() -> Frames:
    return await Frames().fill()


def _is_of_languages(scope: Filter) -> bool:
    """Whether it asks for the passages in other languages than the question's."""
    return any(isinstance(one, Condition) and one.field == "language" for one in scope.conditions)


async def test_three_variations_are_searched_and_only_the_original_is_filtered(frames: Frames) -> None:
    found = await frames.found()
    assert found.trace is not None
    assert found.trace.details["variations"] == VARIATIONS
    assert [one.words for one in found.inferred] == ["tagged 'outdoor'", "from last week"]
    asked = [query for query in frames.index.asked if not _is_of_languages(query.filter)]
    filtered = [query for query in asked if query.filter.conditions]
    free = [query for query in asked if not query.filter.conditions]
    assert filtered
    assert {query.dense for query in free if query.dense}.isdisjoint({query.dense for query in filtered if query.dense})
    assert len({query.dense for query in free if query.dense and not query.pulls}) == len(VARIATIONS)
    assert {query.filter.owner_id for query in frames.index.asked} == {"ann"}


async def test_twenty_are_reranked_and_five_are_kept_with_path_and_record(frames: Frames) -> None:
    found = await frames.found()
    assert RRF_K == 60
    assert len(frames.reranker.seen) == 20
    assert len(found.hits) == 5
    blocks = source_blocks([Source(n, hit) for n, hit in enumerate(found.hits, 1)], Words(), 4_000)
    assert [block.n for block in blocks] == [1, 3, 5, 4, 2]  # the best at both ends
    for block in blocks:
        hit = found.hits[block.n - 1]
        assert f"source_frame_path: shots/{hit.filename}" in block.title
        assert f"identifier rec{hit.filename[:3]}" in block.title


async def test_the_reranker_reads_the_whole_question(frames: Frames) -> None:
    await frames.found()
    assert frames.reranker.asked == QUERY
