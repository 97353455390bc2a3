"""Queries, filters, scores and hits: the vocabulary between retrieval and a vector store."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from functools import partial
from typing import NamedTuple, TypeAlias, cast

from citewell.types.chunks import Chunk, ChunkType, OriginalPicture
from citewell.types.json import JsonObject, JsonValue
from citewell.types.metadata import FileFacts, Metadata, Provenance

EMBED_ERROR = "embed_error"
"""The trace detail with the embedder's error; the search then used keywords only."""

STORE_ERROR = "store_error"
"""The trace detail with the vector store's error in a dense search; the search then used keywords only."""

SKIPPED_INDEXES = "skipped_indexes"
"""The trace detail with the indexes, out of several, that could not be searched."""


@dataclass(frozen=True, slots=True)
class SparseVector:
    """Term weights of a text: parallel `indices` (unique, 32-bit term hashes) and `values`."""

    indices: tuple[int, ...]
    values: tuple[float, ...]


class Operator(StrEnum):
    """How a condition compares. A field with several values matches if any of its values does.

    `ne` and `not_in` match everything that `eq` and `in` do not, including anything without the field.
    """

    EQ = "eq"
    NE = "ne"
    IN = "in"
    NOT_IN = "not_in"
    GT = "gt"
    GTE = "gte"
    LT = "lt"
    LTE = "lte"
    EXISTS = "exists"
    CONTAINS = "contains"
    PREFIX = "prefix"


FilterValue: TypeAlias = str | int | float | bool | tuple[str | int | float | bool, ...]


@dataclass(frozen=True, slots=True)
class Condition:
    """One comparison on a field: of the filter language (`citewell.filters.language`), or of a point's payload in a `Filter`."""

    field: str
    operator: Operator
    value: FilterValue


@dataclass(frozen=True, slots=True)
class AllOf:
    """Matches if every part does; always, without parts."""

    parts: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class AnyOf:
    """Matches if any part does; never, without parts."""

    parts: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Negation:
    """Matches unless its part does."""

    part: Expression


Expression: TypeAlias = Condition | AllOf | AnyOf | Negation


@dataclass(frozen=True, slots=True)
class Scope:
    """What a question may draw on: projects, one or more tagged resources, or (both None) everything the owner has.

    If filters chose the files, resource_ids are those that matched when the question was asked, and tagged are the resources that
    were filtered (None for all).
    """

    project_ids: tuple[str, ...] | None = None
    resource_ids: tuple[str, ...] | None = None
    filters: tuple[Expression, ...] = ()
    tagged: tuple[str, ...] | None = None

    def is_same(self, other: Scope) -> bool:
        """Whether both were requested in the same way. The files that match a filter may have changed since."""
        return (self.project_ids, self.filters, self._named) == (other.project_ids, other.filters, other._named)

    @property
    def _named(self) -> tuple[str, ...] | None:
        return self.tagged if self.filters else self.resource_ids


@dataclass(frozen=True, slots=True, kw_only=True)
class Filter:
    """What a query may see. The owner is required; all other fields narrow it (AND). An empty tuple of ids matches nothing, None all.

    conditions: on fields of the payload (`citewell.ports.points`), with values as payloads hold them
    corpus: the resources over which a lexical search counts document frequencies; None for all of the owner's. It excludes no hits,
            but keeps files that the asker may not read from affecting the scores of those they may.
    """

    owner_id: str
    resource_ids: tuple[str, ...] | None = None
    corpus: tuple[str, ...] | None = None
    types: tuple[ChunkType, ...] | None = None
    conditions: tuple[Expression, ...] = ()

    @property
    def counted(self) -> Filter:
        """The filter for points that count in a lexical search's document frequencies."""
        return Filter(owner_id=self.owner_id, resource_ids=self.corpus)


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """A chunk in a vector store: its id, its vectors, and the payload that filters may use.

    text: for a store that embeds texts itself, instead of `dense`
    origin: the chunk and file the point was made from, for stores that keep more than searches need
    """

    id: str
    dense: tuple[float, ...] | None
    sparse: SparseVector | None
    payload: JsonObject
    text: str | None = None
    origin: tuple[Chunk, FileFacts] | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class VectorQuery:
    """One leg of a search: exactly one of `dense`, `sparse` and `text` is given; `text` to a store that embeds texts itself.

    pulls: ids of points with weights. Before the search, their vectors times their weights are added to `dense`, and the sum is
           normalized. Missing points are ignored.
    """

    dense: tuple[float, ...] | None = None
    sparse: SparseVector | None = None
    filter: Filter
    limit: int
    pulls: tuple[tuple[str, float], ...] = ()
    text: str | None = None


class ScoredId(NamedTuple):
    """A chunk id with its score in one leg; higher is better. A search makes hundreds of them, so they are tuples."""

    id: str
    score: float


def conditions_in(expressions: Iterable[Expression]) -> Iterator[Condition]:
    """Every condition, at any depth."""
    for expression in expressions:
        match expression:
            case Condition():
                yield expression
            case AllOf(parts) | AnyOf(parts):
                yield from conditions_in(parts)
            case Negation(part):
                yield from conditions_in((part,))


_as_scored = cast(Callable[[tuple[str, float]], ScoredId], partial(tuple.__new__, ScoredId))


def scored(pairs: Iterable[tuple[str, float]]) -> list[ScoredId]:
    """Pairs of id and score as `ScoredId`, in a third of the time its constructor takes."""
    return list(map(_as_scored, pairs))


@dataclass(frozen=True, slots=True, kw_only=True)
class Scores:
    """The scores of a hit; None for a leg that did not find it.

    similarity: the dense score on the built-in English model's scale, on which thresholds were measured; None for a model whose cosines
                have not been compared with that model's
    """

    dense: float | None = None
    lexical: float | None = None
    fused: float | None = None
    rerank: float | None = None
    similarity: float | None = None

    def to_json(self) -> dict[str, JsonValue]:
        """The known scores, rounded to six places."""
        values = {"dense": self.dense, "lexical": self.lexical, "fused": self.fused, "rerank": self.rerank}
        return {k: round(v, 6) for k, v in values.items() if v is not None}


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """A found chunk. The list is ordered by `score`; `picture` is the one that an image chunk describes."""

    chunk: Chunk
    filename: str
    score: float
    scores: Scores
    provenance: Provenance = Provenance()
    picture: OriginalPicture | None = None

    @property
    def record_id(self) -> str | None:
        """The record's id, if the text was added as a record."""
        return self.provenance.record_id

    @property
    def identifier(self) -> str | None:
        """The file's identifier."""
        return self.provenance.identifier

    @property
    def metadata(self) -> Metadata:
        """The file's metadata."""
        return self.provenance.metadata

    def place(self) -> JsonObject:
        """The passage's place without its text, which is deleted with the file."""
        return {
            "chunk_id": self.chunk.id,
            "resource_id": self.chunk.resource_id,
            "filename": self.filename,
            "label": self.chunk.locator.label(self.filename),
            "locator": self.chunk.locator.to_json(),
        }


class SelfQuery(StrEnum):
    """How filters are inferred from a query: not at all, by rules for the obvious cases, or by the chat model."""

    OFF = "off"
    RULES = "rules"
    MODEL = "model"


class FirstSearch(StrEnum):
    """Whether a chat model with tools decides to search, or every question is searched first."""

    MODEL = "model"
    ALWAYS = "always"


@dataclass(frozen=True, slots=True, kw_only=True)
class RerankLimits:
    """How many hits a reranker sees and keeps, and the lowest score to keep. None means as configured."""

    candidates: int | None = None
    top_n: int | None = None
    threshold: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchOptions:
    """The options of a search or question. The defaults leave each choice to `citewell.retrieve.options.RetrievalOptions`.

    rerank:           whether a reranker orders the hits, within rerank_limits
    vector_threshold: the lowest cosine of a chunk with the query, 0..1
    diversity, near_duplicate, variations, self_query: see `RetrievalOptions`
    ignore_inferred:  ids of the filters not to infer from the query; True for all
    time_zone:        the caller's time zone (an IANA name), which defines words such as `yesterday`
    indexes:          ids of the indexes to search instead of the configured ones
    neighbours:       chunks to show before and after each hit, merged into passages
    debug:            whether to return a trace
    """

    rerank: bool | None = None
    rerank_limits: RerankLimits = RerankLimits()
    vector_threshold: float | None = None
    diversity: float | None = None
    near_duplicate: float | None = None
    variations: int | None = None
    self_query: SelfQuery | None = None
    ignore_inferred: tuple[str, ...] | bool = False
    time_zone: str | None = None
    indexes: tuple[str, ...] | None = None
    neighbours: int = 0
    debug: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchRequest:
    """A search on behalf of an owner.

    projects (ids or names), resource_ids (ids or identifiers), types and conditions narrow the scope; None does not narrow it.
    """

    owner_id: str
    query: str
    top_k: int = 10
    scope: Scope = Scope()
    projects: tuple[str, ...] | None = None
    resource_ids: tuple[str, ...] | None = None
    types: tuple[ChunkType, ...] | None = None
    conditions: tuple[Expression, ...] = ()
    options: SearchOptions = SearchOptions()


@dataclass(frozen=True, slots=True)
class Passage:
    """Consecutive chunks of one file as one text.

    hits: the hits among its chunks, best first; score is that of the best
    """

    text: str
    filename: str
    chunks: tuple[Chunk, ...]
    hits: tuple[Hit, ...]

    @property
    def score(self) -> float:
        """The score of the best hit."""
        return self.hits[0].score


@dataclass(frozen=True, slots=True)
class Trace:
    """A trace of a search: milliseconds per step, and details that steps add."""

    timings_ms: dict[str, float] = field(default_factory=dict[str, float])
    details: dict[str, JsonValue] = field(default_factory=dict[str, JsonValue])


@dataclass(frozen=True, slots=True, kw_only=True)
class InferredFilter:
    """A filter inferred from the words of a query.

    id:      its field, such as `date` or `metadata.camera`; unique among the query's filters
    label:   for people, such as `date: 2026-11-16 to 2026-11-22`
    words:   the words of the query that state it, such as `from last week`
    applied: whether the hits match it; False if nothing did and the search continued without it
    """

    id: str
    label: str
    words: str
    expression: Expression
    applied: bool = True


@dataclass(frozen=True, slots=True)
class SearchResult:
    """Hits, best first, with a trace of how they were found and, if neighbors were requested, the passages that contain them.

    inferred: the filters inferred from the query
    semantic: the words searched for: the query without the words of its filters
    """

    hits: tuple[Hit, ...]
    trace: Trace
    passages: tuple[Passage, ...] = ()
    inferred: tuple[InferredFilter, ...] = ()
    semantic: str = ""

    @property
    def notice(self) -> str | None:
        """A warning about how the hits were found: the embedder, the vector store or the reranker failed, or an inferred filter matched nothing."""
        error = self.trace.details.get("rerank_error")
        failed = "" if error is None else f"The passages are not reranked, because the reranker failed ({error})."
        unread = self.trace.details.get(EMBED_ERROR)
        own = str(unread).removeprefix("call_limit: ")  # Citewell's own limit, not a failure
        words = (
            ""
            if unread is None
            else f"The files were searched by keyword only: {own}"
            if own != unread
            else f"The files were searched by keyword only, because the embedder failed ({unread})."
        )
        away = self.trace.details.get(STORE_ERROR)
        alone = (
            ""
            if away is None
            else f"The files were searched by keyword only, because the vector store failed ({away})."
        )
        skipped = self.trace.details.get(SKIPPED_INDEXES)
        names = ", ".join(map(str, skipped)) if isinstance(skipped, list) else ""
        absent = f"The results do not include the index {names}, because it is unavailable." if names else ""
        missed = "; ".join(one.label for one in self.inferred if not one.applied)
        relaxed = f"Nothing matched the filter “{missed}”, so the search ran without it." if missed else ""
        return " ".join(filter(None, (absent, words, alone, failed, relaxed))) or None
