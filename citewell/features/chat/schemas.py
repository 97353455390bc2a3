"""Conversations as HTTP sees them."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from citewell.agent.interface import Source
from citewell.features.schemas import (
    MAX_PROJECTS,
    AnsweredBeforeOut,
    CitationOut,
    FiltersIn,
    InferredFilterOut,
    PictureJson,
    PlaceOut,
    RememberedOut,
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
    filters: FiltersIn = Field(default=[], description="filters for the files to draw on; all must match")


class ChatIn(SearchOptionsIn, _Question):
    """A message, its thread, and the files it may draw on."""

    model_config = sample({"message": "What is the maximum loan size for first-time borrowers?"})

    repeat: bool = Field(
        default=False,
        description="give the earlier answer again if an equal question was answered before and its files are unchanged",
    )
    references: bool = Field(default=False, description="end the answer with a References section")
    stream: bool = Field(
        default=False, description="stream the answer, as NDJSON lines unless `protocol` says otherwise"
    )
    protocol: Literal["ndjson", "ai-sdk"] = Field(
        default="ndjson", description="of the stream: Citewell's lines, or the UI message stream of Vercel's AI SDK"
    )
    detached: bool = Field(
        default=False,
        description="with `stream`: finish the answer and keep it in its thread even if the client disconnects; "
        "`POST /threads/{thread_id}/stop` ends it",
    )


class NearestOut(PlaceOut):
    """A passage close to the question that does not answer it."""

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
    remembered: list[RememberedOut] = Field(
        default=[], description="what the answer quotes from your earlier conversations; no file supports it"
    )
    answered_before: AnsweredBeforeOut | None = Field(
        default=None, description="the earlier answer that this is; null if it was made for this question"
    )
    thread_id: str
    message_id: str
    answered: bool
    intent: str
    picture: PictureJson | None = Field(
        default=None,
        description="a chart of an answer computed over many rows: a Vega-Lite 5 specification with its data inline",
    )
    nearest: list[NearestOut] = Field(default=[])
    confidence: float | None = Field(
        default=None,
        description="0 to 1: the probability that the passages answer, or that a table question was understood as meant; for a chat model's "
        "answer, the share of its sentences whose citations hold; null if nothing was weighed",
    )
    no_answer: NoAnswerOut | None = Field(default=None, description="why there is no answer; null with a chat model")
    inferred_filters: list[InferredFilterOut] = Field(default=[], description="filters inferred from the question")
    usage: dict[str, Any] = Field(default={})
    timings_ms: dict[str, float] = Field(default={})
    trace: dict[str, Any] | None = None
    notice: str | None = Field(
        default=None,
        description="a warning for readers: the index is being rebuilt, the reranker failed, or the chat model is unavailable",
    )


def used_doc(source: Source) -> dict[str, Any]:
    """A passage in the `used_docs` line."""
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
    """A passage offered if there is no answer."""
    return NearestOut.model_validate({**source.hit.place(), "text": source.hit.chunk.text})
