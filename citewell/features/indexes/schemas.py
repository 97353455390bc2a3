"""Indexes as HTTP sees them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Any

from pydantic import BaseModel, Field

from citewell.features.indexes.service import QueryComparison
from citewell.features.schemas import RequestBody, utc
from citewell.indexes.estimating import BuildEstimate
from citewell.settings import EmbeddingProvider
from citewell.storage.indexes import IndexRecord


class IndexIn(RequestBody):
    """The model whose index is to be built beside the active one. `pause_seconds` between batches makes it gradual."""

    provider: EmbeddingProvider
    model: str | None = Field(default=None, max_length=200)
    dimensions: Annotated[int, Field(ge=1, le=65_536)] | None = None
    pause_seconds: float = Field(default=0.0, ge=0, le=60)


class IndexOut(BaseModel):
    """An index: which model's vectors, what state, how far it is built (in chunks)."""

    id: str
    fingerprint: str
    store: str
    state: str = Field(description="building, ready, active or retired")
    progress: int
    total: int
    created_at: datetime
    activated_at: datetime | None
    settings: dict[str, Any]

    @staticmethod
    def of(record: IndexRecord) -> IndexOut:
        """The public form of an index."""
        return IndexOut(
            id=record.id,
            fingerprint=record.fingerprint,
            store=record.store,
            state=record.state.value,
            progress=record.progress,
            total=record.total,
            created_at=utc(record.created_at),
            activated_at=utc(record.activated_at),
            settings=record.settings,
        )


class EstimateOut(BaseModel):
    """What building an index would take: texts that are not embedded yet, their tokens, calls, minutes, and US dollars."""

    fingerprint: str
    texts: int
    tokens: int
    calls: int
    minutes: float
    dollars: float | None = Field(description="null where CITEWELL_PRICES has no price of the model")
    dollars_left: float | None = Field(description="what CITEWELL_MAX_SPEND leaves this month; null without a limit")

    @staticmethod
    def of(estimate: BuildEstimate) -> EstimateOut:
        """The public form of an estimate."""
        plan, dollars, left = estimate.plan, estimate.dollars, estimate.left
        return EstimateOut(
            fingerprint=estimate.fingerprint,
            texts=plan.texts,
            tokens=plan.tokens,
            calls=plan.calls,
            minutes=round(estimate.seconds / 60, 2),
            dollars=None if dollars is None else round(dollars, 6),
            dollars_left=None if left is None else round(left, 6),
        )


class IndexList(BaseModel):
    """All indexes, oldest first."""

    indexes: list[IndexOut]


class CompareIn(RequestBody):
    """Queries to run in the active index and in this one."""

    queries: list[str] = Field(min_length=1, max_length=100)
    top_k: int = Field(default=10, ge=1, le=100)


class QueryComparisonOut(BaseModel):
    """Chunk ids of both, best first, and the share of the active index's hits that the other has too."""

    query: str
    active: list[str]
    candidate: list[str]
    overlap: float


class CompareOut(BaseModel):
    """Per query and on average."""

    queries: list[QueryComparisonOut]
    mean_overlap: float

    @staticmethod
    def of(compared: Sequence[QueryComparison]) -> CompareOut:
        """The public form of a comparison of at least one query."""
        queries = [
            QueryComparisonOut(query=c.query, active=list(c.ours), candidate=list(c.theirs), overlap=c.overlap)
            for c in compared
        ]
        return CompareOut(queries=queries, mean_overlap=round(sum(c.overlap for c in compared) / len(compared), 4))
