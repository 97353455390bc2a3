"""Conversations as HTTP sees them."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from citewell.agent.interface import Source
from citewell.features.schemas import (
    MAX_PROJECTS,
    CitationOut,
    FiltersIn,
    InferredFilterOut,
    PictureJson,
    PlaceOut,
    RequestBody,
    Schema,
    SearchOptionsIn,
    said_json,
    sample,
)
from citewell.types import NoAnswerReason


class _Question(RequestBody):
    message: str
    thread_id: str | None = None
    project: str | None = Field(default=None, description="id or name")
    projects: list[str] | None = Field(default=None, max_length=MAX_PROJECTS, description="ids or names: any of them")
    resource_ids: list[str] | None = Field(default=None, max_length=10_000, description="ids or identifiers")
    filters: FiltersIn = Field(default=[], description="which files may be drawn on; all of which must hold")


class ChatIn(SearchOptionsIn, _Question):
    """A message, the thread it belongs to, and what it may draw on."""

    model_config = sample({"message": "What is the maximum loan size for first-time borrowers?"})

    references: bool = Field(default=False, description="end the answer with a References section")
    stream: bool = Field(default=False, description="answer as NDJSON lines")


class NearestOut(PlaceOut):
    """A passage that is near the question although it does not answer it."""

    text: str


class NoAnswerOut(Schema):
    """Why a question has no answer, and what would help."""

    reason: NoAnswerReason
    text: str
    hint: str


class ChatOut(Schema):
    """An answer with its citations."""

    answer: str
    citations: list[CitationOut]
    thread_id: str
    message_id: str
    answered: bool
    intent: str
    picture: PictureJson | None = Field(
        default=None,
        description="of what was computed over many rows: a Vega-Lite 5 specification with its data inline",
    )
    nearest: list[NearestOut] = Field(default=[])
    confidence: float | None = Field(
        default=None,
        description="0 to 1: how probable it is that the passages answer, or that a table question was read as it was meant; of a chat model's "
        "answer, the share of its sentences whose citations hold; null where nothing was weighed",
    )
    no_answer: NoAnswerOut | None = Field(default=None, description="why there is no answer; null with a chat model")
    inferred_filters: list[InferredFilterOut] = Field(
        default=[], description="what the question was read to say of the files to look in"
    )
    usage: dict[str, Any] = Field(default={})
    timings_ms: dict[str, float] = Field(default={})
    trace: dict[str, Any] | None = None
    notice: str | None = Field(
        default=None,
        description="what readers must know: that the index is being rebuilt, that the reranker failed, or that the chat model cannot be asked",
    )


def used_doc(source: Source) -> dict[str, Any]:
    """A passage as the `used_docs` line carries it."""
    hit = source.hit
    place = hit.chunk.locator
    metadata: dict[str, Any] = {
        "n": source.n,
        "chunk_id": hit.chunk.id,
        "resource_id": hit.chunk.resource_id,
        "filename": hit.filename,
        "type": hit.chunk.type.value,
        "label": place.label(hit.filename),
        "score": round(hit.score, 6),
        "locator": place.to_json(),
    }
    places = {
        "page_number": place.page,
        "sheet_name": place.sheet,
        "row_number": place.row,
        "slide_number": place.slide,
    }
    metadata |= {name: value for name, value in places.items() if value is not None} | said_json(hit)
    return {"page_content": hit.chunk.text, "metadata": metadata}


def nearest(source: Source) -> NearestOut:
    """A passage offered where there is no answer."""
    return NearestOut.model_validate({**source.hit.place(), "text": source.hit.chunk.text})
