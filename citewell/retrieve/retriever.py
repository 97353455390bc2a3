"""From a query to hits: embed, search by meaning and by words, fuse, load, rerank. Every step is timed."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from citewell.errors import EmptyQuery
from citewell.ports import Embedder, Reranker, VectorIndex
from citewell.retrieve.chunks import ChunkSource, StoredChunk
from citewell.retrieve.filters import build_filter
from citewell.retrieve.fusion import convex
from citewell.text.language import detect_language
from citewell.text.sparse import sparse_query
from citewell.types import (
    Filter,
    Hit,
    JsonValue,
    ScoredId,
    Scores,
    SearchRequest,
    SearchResult,
    Trace,
    VectorQuery,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class RetrievalOptions:
    """How a search is done; `docs/decisions/0003-retrieval-defaults.md` has the measurements behind each default.

    candidates:        how many each leg returns, at least three times what is asked for
    dense_weight:      share of the dense leg in the fused score, the rest is the lexical leg's
    score_threshold:   hits below this fused score are left out
    rerank_threshold:  hits that the reranker scores below this are left out
    """

    candidates: int = 100
    dense_weight: float = 0.5
    score_threshold: float = 0.0
    rerank_threshold: float | None = None


class Retriever:
    """Finds the chunks of an owner that answer a query."""

    def __init__(
        self,
        embedder: Embedder,
        index: VectorIndex,
        chunks: ChunkSource,
        reranker: Reranker | None = None,
        options: RetrievalOptions | None = None,
    ) -> None:
        self._embedder = embedder
        self._index = index
        self._chunks = chunks
        self._reranker = reranker
        self._options = options or RetrievalOptions()

    async def search(self, request: SearchRequest) -> SearchResult:
        """Hits, best first. `EmptyQuery`, `InvalidFilter`; `Unavailable` or `Provider…` when a part is."""
        if not request.query.strip():
            raise EmptyQuery
        trace = Trace()
        with _timed(trace, "scope"):
            scope = build_filter(request, await self._chunks.resolve_scope(request))
        dense, lexical = await self._legs(request, scope, trace)
        with _timed(trace, "fuse"):
            weight = self._options.dense_weight
            fused = [
                found
                for found in convex([dense, lexical], [weight, 1 - weight])
                if found.score >= self._options.score_threshold
            ]
        with _timed(trace, "load"):
            stored = await self._chunks.load(request.owner_id, [found.id for found in fused[: request.top_k]])
        hits = _hits(fused, stored, dense, lexical)
        if request.debug:
            trace.details.update(_details(request, dense, lexical, fused))
        return SearchResult(tuple(hits[: request.top_k]), trace)

    async def _legs(self, request: SearchRequest, scope: Filter, trace: Trace) -> tuple[list[ScoredId], list[ScoredId]]:
        limit = max(self._options.candidates, 3 * request.top_k)
        dense, lexical = await asyncio.gather(
            self._dense(request.query, scope, limit, trace), self._lexical(request.query, scope, limit, trace)
        )
        return dense, lexical

    async def _dense(self, query: str, scope: Filter, limit: int, trace: Trace) -> list[ScoredId]:
        with _timed(trace, "embed"):
            vector = (await self._embedder.embed([query], "query"))[0]
        with _timed(trace, "dense"):
            return await self._index.search(VectorQuery(dense=tuple(vector.tolist()), filter=scope, limit=limit))

    async def _lexical(self, query: str, scope: Filter, limit: int, trace: Trace) -> list[ScoredId]:
        with _timed(trace, "analyse"):
            terms = sparse_query(query)
        with _timed(trace, "lexical"):
            return await self._index.search(VectorQuery(sparse=terms, filter=scope, limit=limit))


@contextmanager
def _timed(trace: Trace, step: str) -> Generator[None]:
    start = time.perf_counter()
    try:
        yield
    finally:
        trace.timings_ms[step] = round((time.perf_counter() - start) * 1000, 3)


def _hits(
    fused: Sequence[ScoredId],
    stored: Mapping[str, StoredChunk],
    dense: Sequence[ScoredId],
    lexical: Sequence[ScoredId],
) -> list[Hit]:
    by_dense = {found.id: found.score for found in dense}
    by_words = {found.id: found.score for found in lexical}
    hits: list[Hit] = []
    for found in fused:
        item = stored.get(found.id)
        if item is None:
            continue
        scores = Scores(dense=by_dense.get(found.id), lexical=by_words.get(found.id), fused=found.score)
        hits.append(
            Hit(chunk=item.chunk, filename=item.filename, score=found.score, scores=scores, record_id=item.record_id)
        )
    return hits


def _details(
    request: SearchRequest, dense: Sequence[ScoredId], lexical: Sequence[ScoredId], fused: Sequence[ScoredId]
) -> dict[str, JsonValue]:
    def top(leg: Sequence[ScoredId]) -> list[JsonValue]:
        return [{"id": found.id, "score": round(found.score, 6)} for found in leg[:10]]

    return {
        "language": detect_language(request.query),
        "dense": top(dense),
        "lexical": top(lexical),
        "fused": top(fused),
    }
