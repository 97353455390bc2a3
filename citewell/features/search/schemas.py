"""HTTP schemas for searches."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

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
from citewell.types import ChunkType, FoundBy, FoundPictures, Hit, Passage, SearchOptions, SelfQuery, Trace


class _SearchFor(RequestBody):
    query: str = Field(description="words or a question")
    top_k: int | None = Field(default=None, description="1 to 100")
    project: str | None = Field(default=None, description="id or name")
    projects: list[str] | None = Field(default=None, max_length=MAX_PROJECTS, description="ids or names: any of them")
    resource_ids: list[str] | None = Field(default=None, max_length=10_000, description="ids or identifiers")
    types: list[ChunkType] | None = None
    filters: FiltersIn = Field(default=[], description="filters; all must match")


class SearchIn(SearchOptionsIn, _SearchFor):
    """What to search for, and where. Omitted fields are as configured on the server."""

    model_config = sample({"query": "maximum loan size for first-time borrowers", "top_k": 5})

    vector_threshold: float | None = Field(default=None, description="0 to 1: the lowest cosine with the query to keep")
    diversity: float | None = Field(default=None, description="0 to 1: how much to favour hits unlike the earlier ones")
    near_duplicate: float | None = Field(
        default=None, description="0 to 1: leave out hits that share at least this part of their words"
    )
    variations: int | None = Field(
        default=None, description="0 to 10: rephrasings by the chat model that are also searched"
    )
    self_query: SelfQuery | None = Field(
        default=None, description="how filters are inferred from the query; `model` needs a chat model"
    )
    neighbours: int = Field(default=0, description="0 to 10 chunks around each hit, merged into `passages`")

    def options(self) -> SearchOptions:
        """The value that is passed down."""
        return replace(
            super().options(),
            vector_threshold=self.vector_threshold,
            diversity=self.diversity,
            near_duplicate=self.near_duplicate,
            variations=self.variations,
            self_query=self.self_query,
            neighbours=self.neighbours,
        )


class PictureScopeIn(RequestBody):
    """Where to search for pictures, and how many to return."""

    top_k: int | None = Field(default=None, description="1 to 100")
    project: str | None = Field(default=None, description="id or name")
    projects: list[str] | None = Field(default=None, max_length=MAX_PROJECTS, description="ids or names: any of them")
    resource_ids: list[str] | None = Field(default=None, max_length=10_000, description="ids or identifiers")
    filters: FiltersIn = Field(default=[], description="filters; all must match")


class PictureSearchIn(PictureScopeIn):
    """Words, or a stored picture to find others like: exactly one of `query` and `resource_id`."""

    model_config = sample({"query": "cross-section of the kiln", "top_k": 5})

    query: str | None = Field(default=None, description="words in a picture, its caption, description or surroundings")
    resource_id: str | None = Field(default=None, description="a file that is a picture, or contains `blob`")
    blob: str | None = Field(default=None, max_length=255, description="the picture's name, as in a hit's `image`")


class PictureHitOut(Schema):
    """A picture with its place."""

    image: ImageOut
    resource_id: str
    filename: str
    label: str
    locator: LocatorJson
    text: str = Field(description="words read in it, or said of it")
    score: float = Field(description="by `details` 0.5 to 1, copies from 0.9; otherwise as in other searches")
    found_by: FoundBy


class PictureSearchOut(Schema):
    """Pictures, best first."""

    pictures: list[PictureHitOut]
    notice: str | None = Field(default=None, description="what was not searched, and why")

    @staticmethod
    def of(found: FoundPictures) -> PictureSearchOut:
        """The public form of what was found."""
        pictures = [
            PictureHitOut(
                image=cast(ImageOut, dict(one.original.to_json())),
                resource_id=one.original.resource_id,
                filename=one.filename,
                label=one.locator.label(one.filename),
                locator=one.locator.to_json(),
                text=one.text,
                score=round(one.score, 6),
                found_by=one.found_by,
            )
            for one in found.pictures
        ]
        return PictureSearchOut(pictures=pictures, notice=found.notice)


class HitOut(Schema):
    """A passage with its scores and its place."""

    chunk_id: str
    record_id: str | None = None
    identifier: str | None = None
    metadata: dict[str, MetadataValueOut] | None = None
    image: ImageOut | None = Field(default=None, description="the picture that the passage describes, if any")
    resource_id: str
    filename: str
    type: str
    text: str
    score: float
    scores: dict[str, float]
    vector_score: float | None = Field(
        default=None, description="cosine with the query; missing if only keywords found it"
    )
    rerank_score: float | None = Field(default=None, description="on the reranker's scale; missing without reranking")
    locator: LocatorJson
    label: str


class PassageOut(Schema):
    """Neighbouring hits of one file and the chunks around them, as one text."""

    resource_id: str
    filename: str
    text: str
    score: float
    chunk_ids: list[str]
    hit_ids: list[str]


class TraceOut(Schema):
    """How the search ran, with milliseconds per step."""

    timings_ms: dict[str, float]
    details: dict[str, Any] = Field(default={})


class SearchOut(Schema):
    """Hits, best first; the passages around them with `neighbours`; the trace with `debug`."""

    hits: list[HitOut]
    passages: list[PassageOut] | None = None
    trace: TraceOut | None = None
    inferred_filters: list[InferredFilterOut] = Field(default=[], description="filters inferred from the query")
    notice: str | None = Field(
        default=None,
        description="a warning for readers: the index is being rebuilt, the reranker failed, or nothing matches an inferred filter",
    )


# Responses are serialised from these plain values, because validating Citewell's own values would take most of a search's time.


def hit_json(hit: Hit) -> dict[str, Any]:
    """A `HitOut` without unknown fields."""
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
