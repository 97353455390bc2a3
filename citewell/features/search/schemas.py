"""Searches as HTTP sees them."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, Field

from citewell.types import ChunkType, Hit, Trace


class SearchIn(BaseModel):
    """What to look for, and where."""

    query: str = Field(description="words or a question")
    top_k: int = Field(default=10, description="1 to 100")
    project: str | None = Field(default=None, description="id or name")
    resource_ids: list[str] | None = Field(default=None, max_length=10_000)
    types: list[ChunkType] | None = None
    rerank: bool | None = None
    debug: bool = False


class HitOut(BaseModel):
    """A passage with its scores and its place."""

    chunk_id: str
    record_id: str | None = None
    resource_id: str
    filename: str
    type: str
    text: str
    score: float
    scores: dict[str, float]
    locator: dict[str, Any]
    label: str

    @staticmethod
    def of(hit: Hit) -> HitOut:
        """The public form of a hit."""
        return HitOut(
            chunk_id=hit.chunk.id,
            record_id=hit.record_id,
            resource_id=hit.chunk.resource_id,
            filename=hit.filename,
            type=hit.chunk.type.value,
            text=hit.chunk.text,
            score=round(hit.score, 6),
            scores={k: v for k, v in hit.scores.to_json().items() if isinstance(v, int | float)},
            locator=hit.chunk.locator.to_json(),
            label=hit.chunk.locator.label(hit.filename),
        )


class TraceOut(BaseModel):
    """What happened on the way; milliseconds per step."""

    timings_ms: dict[str, float]
    details: dict[str, Any] = {}

    @staticmethod
    def of(trace: Trace) -> TraceOut:
        """The public form of a trace."""
        return TraceOut(timings_ms=trace.timings_ms, details=dict(trace.details))


class SearchOut(BaseModel):
    """Hits, best first; the trace with `debug`."""

    hits: list[HitOut]
    trace: TraceOut | None = None
