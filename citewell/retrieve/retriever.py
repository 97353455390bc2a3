"""Turns a request into hits: filters, legs, variations, thresholds, text from SQL, reranking. Every step is timed."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime

from citewell.errors import EmptyQuery, InvalidFilter, InvalidInput, ProviderError, Unavailable
from citewell.filters.language import build_filter, inferred_to_json, metadata_key, to_json, validate_keys
from citewell.ports import ChatModel, Embedder, Reranker, VectorIndex
from citewell.ports.points import keyword
from citewell.retrieve.chunks import ChunkSource
from citewell.retrieve.diversity import maximal_marginal_relevance, over_pages, share_a_page, without_near_duplicates
from citewell.retrieve.expansion import rephrase
from citewell.retrieve.fusion import reciprocal_rank
from citewell.retrieve.legs import Found, Legs, Searching
from citewell.retrieve.modelquery import read_by_model
from citewell.retrieve.options import RerankerTraits, RetrievalOptions, reranker_traits_of
from citewell.retrieve.preference import preference_of, preferred
from citewell.retrieve.reading import QueryContext, QueryReading, zone_of
from citewell.retrieve.reranking import NO_RERANKER, reordered
from citewell.retrieve.selfquery import read_by_rules
from citewell.retrieve.trace import timed
from citewell.types import (
    QUOTES,
    Condition,
    Filter,
    Hit,
    InferredFilter,
    JsonValue,
    Operator,
    ScoredId,
    Scores,
    SearchRequest,
    SearchResult,
    SelfQuery,
    StoredChunk,
    Trace,
    conditions_in,
)
from citewell.types.search import EMBED_ERROR, STORE_ERROR

log = logging.getLogger(__name__)
__all__ = ["RetrievalOptions", "Retriever"]

_KEYS_SECONDS = 30.0
_OVER_PAGES = 3  # times the requested number is loaded where hits share a page
_SHOWN = 10  # passages of each leg in a trace


class Retriever:
    """Finds the chunks of an owner that answer a query.

    legs: over one index, or several; chat: rephrases the query and infers filters, if the options say so; now: the current time, with a time zone
    """

    def __init__(
        self,
        embedder: Embedder,
        index: VectorIndex,
        chunks: ChunkSource,
        reranker: Reranker | None = None,
        options: RetrievalOptions | None = None,
        chat: ChatModel | None = None,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
        legs: Searching | None = None,
    ) -> None:
        self._now = now
        self._chunks = chunks
        self._reranker = reranker
        self._options = options or RetrievalOptions()
        self._chat = chat
        self._legs: Searching = legs or Legs(embedder, index, self._options)
        self._preference = preference_of(embedder.fingerprint)
        self._own_traits = reranker_traits_of(reranker.model) if reranker is not None else RerankerTraits()

    async def search(self, request: SearchRequest) -> SearchResult:
        """Hits, best first. Raises `EmptyQuery`, `InvalidFilter`, and `Unavailable` or a `ProviderError` if a store or provider fails."""
        if not request.query.strip():
            raise EmptyQuery
        trace, given = Trace(), request.options
        options = self._options.overridden_by(given)
        if given.rerank and self._reranker is None:
            raise InvalidInput(NO_RERANKER)
        if self._chat is None and (given.variations or given.self_query is SelfQuery.MODEL):
            omitted = "variations" if given.variations else "self_query"
            raise InvalidInput(f"No chat model is configured: set CITEWELL_CHAT_PROVIDER, or omit `{omitted}`.")
        with timed(trace, "scope"):
            scope = build_filter(request, await self._chunks.resolve_scope(request))
            await self._check_keys(request)
        reading = await self._read(request, options, scope.resource_ids, trace)
        limit = max(options.candidates, 3 * request.top_k)
        found, inferred = await self._find(request, scope, reading, limit, trace)
        asked = (
            request
            if request.query == reading.semantic or not _applied(inferred)
            else replace(request, query=reading.semantic)
        )
        fused = await self._with_variations(request, options, found, scope, limit, trace)
        hits = await self._hits(asked, options, found, fused, trace)
        if self._reranks(options):
            hits = await self._rerank(request, options, hits, trace)  # the whole question, dates and tags included
        kept = tuple(hits[: self._kept(request, options)])
        inferred = _named(inferred, kept)
        if given.debug:
            texts = await self._texts(request.owner_id, [found.dense, found.lexical, fused])
            trace.details.update(_details(found, fused, inferred, asked.query, texts))
        return SearchResult(kept, trace, inferred=inferred, semantic=asked.query)

    async def holds_any(self, request: SearchRequest, words: Sequence[str]) -> bool:
        """Whether a chunk in the request's scope has one of these words."""
        return await self._legs.holds_any(words, build_filter(request, await self._chunks.resolve_scope(request)))

    async def _check_keys(self, request: SearchRequest) -> None:
        """Raise `InvalidFilter` for a metadata key that no file in the scope's projects has, including files just added.

        The error lists existing keys, so files outside the scope do not count: callers limited to it must not learn about them.
        """
        if not any(metadata_key(condition.field) for condition in conditions_in(request.conditions)):
            return
        owner, projects = request.owner_id, request.scope.project_ids
        known = await self._chunks.keys_within(owner, projects, _KEYS_SECONDS)
        try:
            validate_keys(request.conditions, known)
        except InvalidFilter:
            validate_keys(request.conditions, await self._chunks.keys_within(owner, projects, 0.0))

    async def _read(
        self, request: SearchRequest, options: RetrievalOptions, resources: tuple[str, ...] | None, trace: Trace
    ) -> QueryReading:
        """The filters inferred from the query by the chat model or, if it fails, by rules."""
        zone, ignored = zone_of(request.options.time_zone or options.time_zone), request.options.ignore_inferred
        if options.self_query is SelfQuery.OFF or ignored is True:
            return QueryReading(semantic=request.query)
        with timed(trace, "self_query"):
            keys = await self._chunks.metadata_keys(request.owner_id, resources, _KEYS_SECONDS)
            context = QueryContext(today=self._now().astimezone(zone).date(), zone=zone, keys=keys)
            if options.self_query is SelfQuery.MODEL and self._chat is not None:
                try:
                    return await read_by_model(self._chat, request.query, context, ignored)
                except (InvalidFilter, ProviderError) as error:
                    trace.details["self_query_error"] = error.message
            return read_by_rules(request.query, context, ignored)

    async def _find(
        self, request: SearchRequest, scope: Filter, reading: QueryReading, limit: int, trace: Trace
    ) -> tuple[Found, tuple[InferredFilter, ...]]:
        """Search within the inferred filters. If that finds nothing, drop each filter that leaves nothing after the earlier ones."""
        inferred = reading.filters
        if inferred:
            asked = replace(request, query=reading.semantic)
            found = await self._within(asked, scope, inferred, limit, trace)
            if found.fused:
                return found, inferred
            tried: list[InferredFilter] = []
            for one in inferred if len(inferred) > 1 else ():
                admits = await self._within(asked, scope, [*_applied(tried), one], limit, trace)
                tried.append(replace(one, applied=bool(admits.fused)))
                found = admits if admits.fused else found
            if found.fused:
                return found, tuple(tried)
            inferred = tuple(replace(one, applied=False) for one in inferred)
        return await self._legs.find(request.query, scope, limit, trace), inferred

    async def _within(
        self, request: SearchRequest, scope: Filter, inferred: Sequence[InferredFilter], limit: int, trace: Trace
    ) -> Found:
        narrowed = build_filter(request, scope, [one.expression for one in inferred])
        return await self._legs.find(request.query, narrowed, limit, trace)

    async def _with_variations(
        self,
        request: SearchRequest,
        options: RetrievalOptions,
        found: Found,
        scope: Filter,
        limit: int,
        trace: Trace,
    ) -> tuple[ScoredId, ...]:
        """The fused list, joined with those of the query's rephrasings (without inferred filters) that could be searched."""
        if self._chat is None or options.variations < 1:
            return found.fused
        with timed(trace, "expand"):
            queries = await rephrase(self._chat, request.query, options.variations)
        lists: list[tuple[ScoredId, ...]] = []
        for query in queries:
            try:
                lists.append((await self._legs.find(query, scope, limit, trace)).fused)
            except (ProviderError, Unavailable) as error:
                log.warning("a search continues without a rephrasing: %s", error.message)
                trace.details["variation_error"] = f"{error.code}: {error.message}"
        if request.options.debug:
            trace.details["variations"] = list(queries)
        return tuple(reciprocal_rank([found.fused, *lists])) if lists else found.fused

    async def _hits(
        self,
        request: SearchRequest,
        options: RetrievalOptions,
        found: Found,
        fused: Sequence[ScoredId],
        trace: Trace,
    ) -> list[Hit]:
        """The hits of the fused list with their texts, down to the last rank that later steps may need."""
        kept = self._kept(request, options)
        wanted = max(kept, self._traits(options).candidates) if self._reranks(options) else kept
        if options.near_duplicate is not None or options.diversity > 0.0:
            wanted = max(wanted, 3 * request.top_k)
        dense, lexical, good = _by_id(found.dense), _by_id(found.lexical), fused
        if options.vector_threshold > -1.0 and not {EMBED_ERROR, STORE_ERROR} & trace.details.keys():
            with timed(trace, "threshold"):
                near = await self._cosines(request.query, found, fused)
            dense = dense if found.similar else near
            good = [item for item in fused if near.get(item.id, 1.0) >= options.vector_threshold]
        hits: list[Hit] = []
        with timed(trace, "load"):
            start, most = 0, wanted
            while start < len(good) and len(hits) < most:
                page = good[start : start + max(wanted, most - len(hits))]
                start += len(page)
                stored = await self._chunks.load(request.owner_id, [item.id for item in page])
                hits += [
                    hit for hit in _to_hits(page, stored, dense, lexical, found.similar) if _is_wanted(hit, request)
                ]
                if options.page_decay < 1.0 and share_a_page(hits):
                    most = max(wanted, _OVER_PAGES * request.top_k)
        with timed(trace, "diversify"):
            return await self._diversify(options, self._ordered(options, found, hits)[:wanted], wanted, trace)

    def _ordered(self, options: RetrievalOptions, found: Found, hits: Sequence[Hit]) -> list[Hit]:
        """The hits by kind and page; those that a code in the query names stay first."""
        rest = [hit for hit in hits if hit.chunk.id not in found.named]
        if options.prefers_kinds and self._preference is not None and found.vector is not None:
            rest = preferred(rest, self._preference.shift(found.vector))
        return [*(hit for hit in hits if hit.chunk.id in found.named), *over_pages(rest, options.page_decay)]

    async def _diversify(self, options: RetrievalOptions, hits: list[Hit], wanted: int, trace: Trace) -> list[Hit]:
        if options.near_duplicate is not None:
            hits = without_near_duplicates(hits, options.near_duplicate)
        if options.diversity > 0.0 and STORE_ERROR not in trace.details:
            vectors = await self._legs.vectors([hit.chunk.id for hit in hits])
            hits = maximal_marginal_relevance(hits, vectors, options.diversity, wanted)
        return hits

    async def _cosines(self, query: str, found: Found, fused: Sequence[ScoredId]) -> dict[str, float]:
        """How near the original query each of `fused` is that has a vector, as `Searching.cosines` has it.

        If the store embeds the query itself, the cosine of its last hit is used for those after it, which are no nearer.
        """
        known = dict(found.similar) or _by_id(found.dense)
        unseen = [item.id for item in fused if item.id not in known]
        if not unseen:
            return known
        if not self._legs.compares:
            return known | (dict.fromkeys(unseen, min(known.values())) if known else {})
        return known | await self._legs.cosines(query, found.vector, unseen)

    def _reranks(self, options: RetrievalOptions) -> bool:
        return self._reranker is not None and options.rerank

    def _kept(self, request: SearchRequest, options: RetrievalOptions) -> int:
        """How many hits to return."""
        if options.rerank_top_n is None or not self._reranks(options):
            return request.top_k
        return min(request.top_k, options.rerank_top_n)

    def _traits(self, options: RetrievalOptions) -> RerankerTraits:
        """The number of candidates and the weight from the options, or else the reranker's defaults."""
        own = self._own_traits
        return RerankerTraits(
            weight=own.weight if options.rerank_weight is None else options.rerank_weight,
            candidates=options.rerank_candidates or own.candidates,
        )

    async def _rerank(
        self, request: SearchRequest, options: RetrievalOptions, hits: list[Hit], trace: Trace
    ) -> list[Hit]:
        if self._reranker is None or not hits:
            return hits
        with timed(trace, "rerank"):
            texts = [hit.chunk.embedded_text for hit in hits]
            try:
                ranked = await self._reranker.rerank(request.query, texts, len(hits))
            except ProviderError as error:
                log.warning("a search continues without its reranker: %s", error.message)
                trace.details["rerank_error"] = f"{error.code}: {error.message}"
                return hits
        after = reordered(hits, ranked, self._traits(options).weight, options.rerank_threshold)
        if request.options.debug:
            model = self._reranker.model
            trace.details["rerank"] = {"model": model, "before": _order(hits), "after": _order(after)}
        return after

    async def _texts(self, owner_id: str, legs: Sequence[Sequence[ScoredId]]) -> dict[str, str]:
        """The texts of the hits of each leg in a trace."""
        shown = dict.fromkeys(item.id for leg in legs for item in leg[:_SHOWN])
        stored = await self._chunks.load(owner_id, list(shown))
        return {key: item.chunk.text for key, item in stored.items()}


def _is_wanted(hit: Hit, request: SearchRequest) -> bool:
    """Whether to keep a hit: summaries that quote their file only repeat passages, so they are dropped unless requested."""
    return request.types is not None or QUOTES not in hit.chunk.metadata


def _by_id(leg: Sequence[ScoredId]) -> dict[str, float]:
    return {item.id: item.score for item in leg}


def _to_hits(
    page: Sequence[ScoredId],
    stored: Mapping[str, StoredChunk],
    dense: Mapping[str, float],
    lexical: Mapping[str, float],
    similar: Mapping[str, float],
) -> list[Hit]:
    return [
        Hit(
            chunk=stored[item.id].chunk,
            filename=stored[item.id].filename,
            score=item.score,
            scores=Scores(
                dense=dense.get(item.id),
                lexical=lexical.get(item.id),
                fused=item.score,
                similarity=similar.get(item.id),
            ),
            provenance=stored[item.id].provenance,
            picture=stored[item.id].picture,
        )
        for item in page
        if item.id in stored
    ]


def _applied(inferred: Sequence[InferredFilter]) -> list[InferredFilter]:
    return [one for one in inferred if one.applied]


def _named(inferred: Sequence[InferredFilter], hits: Sequence[Hit]) -> tuple[InferredFilter, ...]:
    """The filters, with the one on file names reduced to the candidate names that exist."""
    return tuple(_name_of_file(one, hits) if one.id == "filename" and one.applied else one for one in inferred)


def _name_of_file(one: InferredFilter, hits: Sequence[Hit]) -> InferredFilter:
    if not isinstance(one.expression, Condition) or not isinstance(possible := one.expression.value, tuple):
        return one
    names = dict.fromkeys(hit.filename for hit in hits if keyword(hit.filename) in possible)
    if not names:
        return one
    return replace(one, label=f"file: {', '.join(names)}", expression=Condition("filename", Operator.IN, tuple(names)))


def _details(
    found: Found, fused: Sequence[ScoredId], inferred: Sequence[InferredFilter], semantic: str, texts: Mapping[str, str]
) -> dict[str, JsonValue]:
    return {
        "language": found.language,
        "dense": _top(found.dense, texts),
        "lexical": _top(found.lexical, texts),
        "fused": _top(fused, texts),
        "filters": [to_json(one.expression) for one in _applied(inferred)],
        "inferred_filters": [inferred_to_json(one) for one in inferred],
        "semantic": semantic,
    }


def _top(leg: Sequence[ScoredId], texts: Mapping[str, str]) -> list[JsonValue]:
    """A leg's best hits; chunks that no longer exist have no text."""
    return [{"id": one.id, "score": round(one.score, 6), "text": texts.get(one.id, "")} for one in leg[:_SHOWN]]


def _order(hits: Sequence[Hit]) -> list[JsonValue]:
    return [
        {
            "chunk_id": hit.chunk.id,
            "place": hit.chunk.locator.label(hit.filename),
            "text": hit.chunk.text,
            "score": round(hit.score, 6),
            **hit.scores.to_json(),
        }
        for hit in hits
    ]
