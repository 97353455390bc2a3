"""Search options. `docs/decisions/0004-retrieval-defaults.md` has the measurements behind each default."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, TypeVar

from citewell.errors import InvalidInput
from citewell.ports import Fingerprint
from citewell.types import RerankLimits, SearchOptions, SelfQuery

MAX_VARIATIONS = 10
MAX_RERANK_CANDIDATES = 1_000
MAX_RERANKED = 100


class FusionMethod(StrEnum):
    """The functions of `citewell.retrieve.fusion` that can join the two legs."""

    HYBRID = "hybrid"
    CONVEX = "convex"
    DISTRIBUTION = "distribution"
    RECIPROCAL_RANK = "rrf"


@dataclass(frozen=True, slots=True, kw_only=True)
class RetrievalOptions:
    """Settings of a `Retriever`; scores are fused scores in 0..1 unless stated otherwise.

    candidates:        how many each leg returns, at least three times what is asked for
    fusion:            how the legs are joined
    dense_weight:      share of the dense leg in the fused score, the rest is the lexical leg's; 1 and 0 search with one leg alone
    feedback_chunks:   how many of the best chunks of a first pass pull the query vector towards them; 0 turns it off
    feedback_weight:   how far they pull it, against 1 for the query itself
    vector_threshold:  chunks whose cosine with the query as it was asked is below this are left out, whatever brought them;
                       one without a vector has no cosine and is kept, as words alone found it; -1 keeps all
    rerank_candidates: how many hits a reranker gets to see, never fewer than are kept; None takes what suits the reranker
    rerank_top_n:      how many hits are kept after reranking; None keeps what was asked for
    rerank_weight:     share of the reranker in the order of what it saw, the rest is the fused score's; None takes what is best
                       for the reranker: all of it for a cross-encoder, part of it for the built-in late interaction
    rerank_threshold:  hits that the reranker scores below this are left out
    near_duplicate:    a hit that shares this part of its words (Jaccard, 0..1) with a better hit is left out; None keeps all
    diversity:         weight (0..1) of dissimilarity to the preceding hits; 0 orders by score alone
    variations:        how many rephrasings of the query a chat model adds
    self_query:        who reads filters (file names, pages, sheets and the like) from the query
    time_zone:         where queries are asked whose request does not say (an IANA name)
    rerank:            whether to rerank a search whose request does not say
    """

    candidates: int = 100
    fusion: FusionMethod = FusionMethod.HYBRID
    dense_weight: float = 0.5
    feedback_chunks: int = 3
    feedback_weight: float = 0.5
    vector_threshold: float = -1.0
    rerank_candidates: int | None = None
    rerank_top_n: int | None = None
    rerank_weight: float | None = None
    rerank_threshold: float | None = None
    near_duplicate: float | None = None
    diversity: float = 0.0
    variations: int = 0
    self_query: SelfQuery = SelfQuery.RULES
    time_zone: str = "UTC"
    rerank: bool = False

    def overridden_by(self, asked: SearchOptions) -> RetrievalOptions:
        """These options with those of a request. `InvalidInput` for a number out of bounds, or limits of reranking where nothing is reranked."""
        given = {
            "diversity": _within("diversity", asked.diversity, 1.0),
            "near_duplicate": _within("near_duplicate", asked.near_duplicate, 1.0),
            "variations": _within("variations", asked.variations, MAX_VARIATIONS),
            "self_query": asked.self_query,
            "vector_threshold": _within("vector_threshold", asked.vector_threshold, 1.0),
        }
        return self._reranking(asked.rerank, asked.rerank_limits)._with(given)

    def _reranking(self, wanted: bool | None, limits: RerankLimits) -> RetrievalOptions:
        if wanted is None and limits == RerankLimits():
            return self
        chosen = self._with(
            {
                "rerank": wanted,
                "rerank_candidates": _counted("rerank_candidates", limits.candidates, MAX_RERANK_CANDIDATES),
                "rerank_top_n": _counted("rerank_top_n", limits.top_n, MAX_RERANKED),
                "rerank_threshold": limits.threshold,
            }
        )
        if limits != RerankLimits() and not chosen.rerank:
            raise InvalidInput("Limits of reranking are given, but this request is not reranked. Set `rerank` to true.")
        return chosen

    def _with(self, given: Mapping[str, object]) -> RetrievalOptions:
        changed: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
        return replace(self, **changed) if changed else self


_Number = TypeVar("_Number", int, float)


def _within(name: str, value: _Number | None, most: _Number) -> _Number | None:
    if value is not None and (isinstance(value, bool) or not 0 <= value <= most):
        raise InvalidInput(f"`{name}` must be from 0 to {most:g}.")
    return value


def _counted(name: str, value: int | None, most: int) -> int | None:
    if value is not None and (isinstance(value, bool) or not 1 <= value <= most):
        raise InvalidInput(f"`{name}` must be from 1 to {most:,}.")
    return value


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbedderTraits:
    """Properties of an embedding model that fusion needs and its vectors do not reveal.

    languages:       ISO 639-1 codes it was trained on, None for many: in others its scores mean little
    typical_spread:  best minus hundredth cosine of a query that discriminates well; a query whose spread is smaller has
                     its dense scores scaled by this instead, so that noise is not blown up to full scale; 0 when unknown
    """

    languages: frozenset[str] | None = None
    typical_spread: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class RerankerTraits:
    """How far a reranker is trusted, and how many hits it gets to see."""

    weight: float = 1.0
    candidates: int = 20


_ENGLISH = frozenset({"en"})
# The first pattern that the model's name contains decides.
_KNOWN: tuple[tuple[re.Pattern[str], EmbedderTraits], ...] = (
    (re.compile(r"multilingual|-m3\b"), EmbedderTraits()),
    (re.compile(r"all-minilm-l(6|12)"), EmbedderTraits(languages=_ENGLISH, typical_spread=0.4)),
    (
        re.compile(r"all-mpnet|multi-qa|msmarco|bge-\w+-en\b|gte-\w+-en\b|e5-\w+-v2|-en-|-english\b"),
        EmbedderTraits(languages=_ENGLISH),
    ),
)


_LATE_INTERACTION = RerankerTraits(weight=0.3, candidates=20)


def reranker_traits_of(model: str) -> RerankerTraits:
    """How to use a reranker where the options do not say."""
    return _LATE_INTERACTION if model == "late-interaction" else RerankerTraits()


def traits_of(fingerprint: Fingerprint) -> EmbedderTraits:
    """The known properties of a model by name; defaults for an unknown one."""
    name = fingerprint.model.lower()
    return next((traits for pattern, traits in _KNOWN if pattern.search(name)), EmbedderTraits())
