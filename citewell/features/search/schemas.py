"""Searches as HTTP sees them."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, Field

from citewell.types import ChunkType, Condition, Hit, Operator, Passage, SelfQuery, Trace


class FilterIn(BaseModel):
    """One comparison; which fields and operators there are stands in `citewell.retrieve.filters`."""

    field: str = Field(max_length=64, description="filename, extension, language, sheet, page, slide, row, date or tag")
    operator: Operator = Operator.EQ
    value: str | int | float | list[str | int | float] = Field(description="a list with the operator `in`")

    def condition(self) -> Condition:
        """The typed form, not yet validated."""
        value = tuple(self.value) if isinstance(self.value, list) else self.value
        return Condition(self.field, self.operator, value)


class SearchIn(BaseModel):
    """What to look for, and where. What is left out is as the server is configured."""

    query: str = Field(description="words or a question")
    top_k: int = Field(default=10, description="1 to 100")
    project: str | None = Field(default=None, description="id or name")
    resource_ids: list[str] | None = Field(default=None, max_length=10_000)
    types: list[ChunkType] | None = None
    filters: list[FilterIn] = Field(default=[], max_length=100, description="all of which must hold")
    rerank: bool | None = Field(default=None, description="let the reranker order what is found")
    diversity: float | None = Field(default=None, description="0 to 1: how much being unlike the hits before counts")
    near_duplicate: float | None = Field(default=None, description="0 to 1: leave out hits that share so many words")
    variations: int | None = Field(default=None, description="0 to 10 rephrasings by the chat model, searched too")
    self_query: SelfQuery | None = Field(default=None, description="who reads filters from the query")
    neighbours: int = Field(default=0, description="0 to 10 chunks around each hit, merged into `passages`")
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


class PassageOut(BaseModel):
    """Hits of one file that stand together, with the chunks around them, as one text."""

    resource_id: str
    filename: str
    text: str
    score: float
    chunk_ids: list[str]
    hit_ids: list[str]

    @staticmethod
    def of(passage: Passage) -> PassageOut:
        """The public form of a passage."""
        return PassageOut(
            resource_id=passage.chunks[0].resource_id,
            filename=passage.filename,
            text=passage.text,
            score=round(passage.score, 6),
            chunk_ids=[chunk.id for chunk in passage.chunks],
            hit_ids=[hit.chunk.id for hit in passage.hits],
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
    """Hits, best first; the passages they stand in with `neighbours`; the trace with `debug`."""

    hits: list[HitOut]
    passages: list[PassageOut] | None = None
    trace: TraceOut | None = None
