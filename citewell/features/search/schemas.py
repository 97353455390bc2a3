"""Searches as HTTP sees them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from pydantic import Field

from citewell.features.schemas import (
    MAX_PROJECTS,
    FiltersIn,
    ImageOut,
    InferredFilterOut,
    LocatorJson,
    MetadataValueOut,
    RequestBody,
    Schema,
    SearchOptionsIn,
    said_json,
    sample,
)
from citewell.types import ChunkType, Hit, Passage, SearchOptions, SelfQuery, Trace


class _SearchFor(RequestBody):
    query: str = Field(description="words or a question")
    top_k: int | None = Field(default=None, description="1 to 100")
    project: str | None = Field(default=None, description="id or name")
    projects: list[str] | None = Field(default=None, max_length=MAX_PROJECTS, description="ids or names: any of them")
    resource_ids: list[str] | None = Field(default=None, max_length=10_000, description="ids or identifiers")
    types: list[ChunkType] | None = None
    filters: FiltersIn = Field(default=[], description="all of which must hold")


class SearchIn(SearchOptionsIn, _SearchFor):
    """What to look for, and where. What is left out is as the server is configured."""

    model_config = sample({"query": "maximum loan size for first-time borrowers", "top_k": 5})

    vector_threshold: float | None = Field(
        default=None, description="0 to 1: passages whose cosine with the query is lower are left out"
    )
    diversity: float | None = Field(default=None, description="0 to 1: how much being unlike the hits before counts")
    near_duplicate: float | None = Field(default=None, description="0 to 1: leave out hits that share so many words")
    variations: int | None = Field(default=None, description="0 to 10 rephrasings by the chat model, searched too")
    self_query: SelfQuery | None = Field(
        default=None, description="who reads filters from the query; `model` needs a chat model"
    )
    neighbours: int = Field(default=0, description="0 to 10 chunks around each hit, merged into `passages`")

    def options(self) -> SearchOptions:
        """How to search."""
        return replace(
            super().options(),
            vector_threshold=self.vector_threshold,
            diversity=self.diversity,
            near_duplicate=self.near_duplicate,
            variations=self.variations,
            self_query=self.self_query,
            neighbours=self.neighbours,
        )


class HitOut(Schema):
    """A passage with its scores and its place."""

    chunk_id: str
    record_id: str | None = None
    identifier: str | None = None
    metadata: dict[str, MetadataValueOut] | None = None
    image: ImageOut | None = Field(default=None, description="what the passage describes, where that is a picture")
    resource_id: str
    filename: str
    type: str
    text: str
    score: float
    scores: dict[str, float]
    vector_score: float | None = Field(
        default=None, description="cosine with the query; missing where words alone found it"
    )
    rerank_score: float | None = Field(
        default=None, description="on the reranker's own scale; missing where it was not asked"
    )
    locator: LocatorJson
    label: str


class PassageOut(Schema):
    """Neighbouring hits of one file, with the chunks around them, as one text."""

    resource_id: str
    filename: str
    text: str
    score: float
    chunk_ids: list[str]
    hit_ids: list[str]


class TraceOut(Schema):
    """What happened on the way; milliseconds per step."""

    timings_ms: dict[str, float]
    details: dict[str, Any] = Field(default={})


class SearchOut(Schema):
    """Hits, best first; the passages around them with `neighbours`; the trace with `debug`."""

    hits: list[HitOut]
    passages: list[PassageOut] | None = None
    trace: TraceOut | None = None
    inferred_filters: list[InferredFilterOut] = Field(
        default=[], description="what the query was read to say of the files to look in"
    )
    notice: str | None = Field(
        default=None,
        description="what readers must know: that the index is being rebuilt, that the reranker failed, or that nothing fits an inferred filter",
    )


# The answers are written from these plain values, as validating what we made ourselves would cost a search most of its time.


def hit_json(hit: Hit) -> dict[str, Any]:
    """A `HitOut`; what is not known of it is left out."""
    locator, scores = hit.chunk.locator, hit.scores.to_json()
    out: dict[str, Any] = {
        "chunk_id": hit.chunk.id,
        "resource_id": hit.chunk.resource_id,
        "filename": hit.filename,
        "type": hit.chunk.type.value,
        "text": hit.chunk.text,
        "score": round(hit.score, 6),
        "scores": scores,
        "locator": locator.to_json(),
        "label": locator.label(hit.filename),
    }
    known = {"vector_score": scores.get("dense"), "rerank_score": scores.get("rerank")}
    return out | {name: value for name, value in known.items() if value is not None} | said_json(hit)


def passage_json(passage: Passage) -> dict[str, Any]:
    """A `PassageOut`."""
    return {
        "resource_id": passage.chunks[0].resource_id,
        "filename": passage.filename,
        "text": passage.text,
        "score": round(passage.score, 6),
        "chunk_ids": [chunk.id for chunk in passage.chunks],
        "hit_ids": [hit.chunk.id for hit in passage.hits],
    }


def trace_json(trace: Trace) -> dict[str, Any]:
    """A `TraceOut`."""
    return {"timings_ms": trace.timings_ms, "details": dict(trace.details)}
