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

    candidates:        how many hits each leg returns; at least three times the requested number
    fusion:            how the legs are fused
    dense_weight:      the dense leg's share of the fused score (the rest is the lexical leg's); 1 or 0 uses one leg alone
    feedback_chunks:   how many of the first pass's best chunks pull the query vector toward them; 0 turns feedback off
    feedback_weight:   how far they pull it, relative to 1 for the query itself
    vector_threshold:  chunks whose cosine with the original query is lower are dropped, whichever leg found them; chunks
                       without a vector are kept, because only their words were searched; -1 keeps all
    rerank_candidates: how many hits the reranker sees, never fewer than are kept; None means the reranker's default
    rerank_top_n:      how many hits are kept after reranking; None means the requested number
    rerank_weight:     the reranker's share in the order of the hits it saw (the rest is the fused score's); None means the
                       reranker's default: 1 for a cross-encoder, less for the built-in late interaction
    rerank_threshold:  hits that the reranker scores lower are dropped
    page_decay:        what the score of a hit is multiplied by for each better hit on its page; 1 orders by score alone
    prefers_kinds:     whether questions for tables rank tables higher, and others prose (built-in embedder only)
    near_duplicate:    hits with at least this Jaccard similarity (0..1) to a better hit are dropped; None keeps all
    diversity:         weight (0..1) of dissimilarity to the preceding hits; 0 orders by score alone
    variations:        how many rephrasings of the query a chat model adds
    self_query:        what infers filters (file names, pages, sheets and the like) from the query
    time_zone:         the time zone (an IANA name) of queries whose request has none
    rerank:            whether to rerank if the request does not say
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
    page_decay: float = 0.8
    prefers_kinds: bool = True
    near_duplicate: float | None = None
    diversity: float = 0.0
    variations: int = 0
    self_query: SelfQuery = SelfQuery.RULES
    time_zone: str = "UTC"
    rerank: bool = False

    def overridden_by(self, asked: SearchOptions) -> RetrievalOptions:
        """These options overridden by a request's. Raises `InvalidInput` for a number out of bounds, or rerank limits without reranking."""
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
            raise InvalidInput("The request has rerank limits but is not reranked. Set `rerank` to true.")
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
    """Properties of an embedding model that fusion needs and that its vectors do not reveal.

    languages:       ISO 639-1 codes of its training languages, None for many; in other languages its scores mean little
    typical_spread:  best minus hundredth cosine of a query that discriminates well. If a query's spread is smaller, its dense
                     scores are scaled by this instead, so that noise is not amplified to full scale; 0 if unknown
    scale:           what a cosine is multiplied by, and what is then added, to be one of all-MiniLM-L6-v2's; None if it was not measured
    """

    languages: frozenset[str] | None = None
    typical_spread: float = 0.0
    scale: tuple[float, float] | None = None

    def similarity(self, cosine: float) -> float | None:
        """A cosine on the scale of all-MiniLM-L6-v2."""
        return None if self.scale is None else self.scale[0] * cosine + self.scale[1]


@dataclass(frozen=True, slots=True, kw_only=True)
class RerankerTraits:
    """How much weight a reranker gets, and how many hits it sees."""

    weight: float = 1.0
    candidates: int = 20


_ENGLISH = frozenset({"en"})
# The first pattern that the model's name contains decides.
_KNOWN: tuple[tuple[re.Pattern[str], EmbedderTraits], ...] = (
    (re.compile(r"multilingual-e5-small"), EmbedderTraits(scale=(4.36, -3.226))),  # decision 0034
    (re.compile(r"multilingual|-m3\b"), EmbedderTraits()),
    (re.compile(r"all-minilm-l6"), EmbedderTraits(languages=_ENGLISH, typical_spread=0.4, scale=(1.0, 0.0))),
    (re.compile(r"all-minilm-l12"), EmbedderTraits(languages=_ENGLISH, typical_spread=0.4)),
    (
        re.compile(r"all-mpnet|multi-qa|msmarco|bge-\w+-en\b|gte-\w+-en\b|e5-\w+-v2|-en-|-english\b"),
        EmbedderTraits(languages=_ENGLISH),
    ),
)


_LATE_INTERACTION = RerankerTraits(weight=0.3, candidates=20)


def reranker_traits_of(model: str) -> RerankerTraits:
    """The defaults for a reranker, for options that are not set."""
    return _LATE_INTERACTION if model == "late-interaction" else RerankerTraits()


def traits_of(fingerprint: Fingerprint) -> EmbedderTraits:
    """The known properties of a model by name; defaults for an unknown one."""
    name = fingerprint.model.lower()
    return next((traits for pattern, traits in _KNOWN if pattern.search(name)), EmbedderTraits())
