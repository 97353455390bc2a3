"""Measures search on texts with judged queries: every configuration over one index, run like users' searches."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

from citewell.errors import InvalidInput
from citewell.features.search.service import SearchService
from citewell.ports.metering import reported
from citewell.retrieve.evaluate import CONFIGURATIONS, Configuration, Judgements, Quality, evaluate
from citewell.retrieve.retriever import Retriever
from citewell.types import SearchOptions, SearchRequest

# A split record may occupy several of the first ranks.
HITS_PER_RECORD = 2
CUTOFF = 10


async def measure(search: SearchService, owner_id: str, judged: Judgements, names: Sequence[str]) -> list[Quality]:
    """Measure the named configurations on the owner's records. Raises `InvalidInput` for an unknown name."""
    unknown = [name for name in names if name not in CONFIGURATIONS]
    if unknown:
        raise InvalidInput(f"There is no search configuration {unknown[0]!r}.", known=list(CONFIGURATIONS))
    async with reported(owner_id, search.on_spent):
        return [await evaluate(name, _ranker(search, owner_id, CONFIGURATIONS[name]), judged, CUTOFF) for name in names]


def _ranker(
    search: SearchService, owner_id: str, configuration: Configuration
) -> Callable[[str], Awaitable[Sequence[str]]]:
    index = search.indexes.active
    reranker = search.reranker if configuration.rerank else None
    if configuration.rerank and reranker is None:
        raise InvalidInput("No reranker is configured. Set CITEWELL_RERANK_PROVIDER, or omit this configuration.")
    retriever = Retriever(index.embedder, index.store, search.chunks, reranker, configuration.options)

    async def rank(query: str) -> Sequence[str]:
        request = SearchRequest(
            owner_id=owner_id,
            query=query,
            top_k=CUTOFF * HITS_PER_RECORD,
            options=SearchOptions(rerank=configuration.rerank),
        )
        return [hit.record_id or hit.chunk.resource_id for hit in (await retriever.search(request)).hits]

    return rank
