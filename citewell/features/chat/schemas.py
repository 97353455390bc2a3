"""Conversations as HTTP sees them."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, Field

from citewell.agent.interface import Source
from citewell.features.requests import RequestBody
from citewell.features.shapes import LocatorJson
from citewell.types import Citation


class ChatIn(RequestBody):
    """A message, the thread it belongs to, and what it may draw on."""

    message: str
    thread_id: str | None = None
    project: str | None = Field(default=None, description="id or name")
    resource_ids: list[str] | None = Field(default=None, max_length=10_000)
    rerank: bool | None = Field(default=None, description="let the reranker order what is found")
    references: bool = Field(default=False, description="end the answer with a References section")
    debug: bool = False
    stream: bool = Field(default=False, description="answer as NDJSON lines")


class CitationOut(BaseModel):
    """A checked pointer from `[n]` to the spot it rests on."""

    n: int
    chunk_id: str
    resource_id: str
    version: int
    filename: str
    locator: LocatorJson
    label: str
    quote: str
    verdict: str = Field(description="supported, weak or unsupported")
    score: float
    available: bool = Field(default=True, description="whether the file is still there; else the quote is empty")

    @staticmethod
    def of(citation: Citation, *, available: bool = True) -> CitationOut:
        """The public form of a citation."""
        return CitationOut(
            n=citation.n,
            chunk_id=citation.chunk_id,
            resource_id=citation.resource_id,
            version=citation.version,
            filename=citation.filename,
            locator=citation.locator.to_json(),
            label=citation.label,
            quote=citation.quote,
            verdict=citation.verdict.value,
            score=round(citation.score, 4),
            available=available,
        )


class PlaceOut(BaseModel):
    """Where a passage stands, without its words."""

    chunk_id: str
    resource_id: str
    filename: str
    label: str
    locator: LocatorJson


class NearestOut(PlaceOut):
    """A passage that is near the question although it does not answer it."""

    text: str


class ChatOut(BaseModel):
    """An answer with its citations."""

    answer: str
    citations: list[CitationOut]
    thread_id: str
    message_id: str
    answered: bool
    intent: str
    nearest: list[NearestOut] = []
    usage: dict[str, Any] = {}
    timings_ms: dict[str, float] = {}
    trace: dict[str, Any] | None = None
    notice: str | None = Field(default=None, description="that the index is being rebuilt, while it is")


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
    metadata |= {name: value for name, value in places.items() if value is not None}
    return {"page_content": hit.chunk.text, "metadata": metadata}


def nearest(source: Source) -> NearestOut:
    """A passage offered where there is no answer."""
    return NearestOut(text=source.hit.chunk.text, **place(source).model_dump())


def place(source: Source) -> PlaceOut:
    """What a thread keeps of such a passage: its words are the file's, and go with it."""
    hit = source.hit
    return PlaceOut(
        chunk_id=hit.chunk.id,
        resource_id=hit.chunk.resource_id,
        filename=hit.filename,
        label=hit.chunk.locator.label(hit.filename),
        locator=hit.chunk.locator.to_json(),
    )
