"""HTTP schemas for citation checks."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from citewell.features.citations.service import MAX_ANSWER_CHARACTERS, MAX_CITED
from citewell.features.schemas import CitationOut, RequestBody, Schema

MAX_PIECES = 10_000
MAX_SEEN_IDS = 10_000
"""Ids that a long conversation may have seen; the service compares with the last ones."""
ChunkId = Annotated[str, Field(pattern=r"^[A-Za-z0-9._-]{1,64}$")]


class AnswerPieceIn(RequestBody):
    """A part of an answer, with the passages cited for it."""

    text: str = Field(max_length=MAX_ANSWER_CHARACTERS)
    chunk_ids: list[ChunkId] = Field(default=[], max_length=MAX_CITED, description="`chunk_id` of hits of `/search`")


class CitationCheckIn(RequestBody):
    """An answer written elsewhere from passages found here."""

    pieces: list[AnswerPieceIn] = Field(max_length=MAX_PIECES, description="the text in order")
    seen: list[ChunkId] = Field(
        default=[],
        max_length=MAX_SEEN_IDS,
        description="passages the writer received, cited or not: each citation is compared with them",
    )


class CheckedAnswerOut(Schema):
    """The text with `[n]`, and the citations with their verdicts."""

    answer: str
    citations: list[CitationOut]
    answered: bool
    confidence: float | None = Field(
        default=None, description="the share of the sentences whose citations hold; null without citations"
    )
    removed_citations: list[str] = Field(
        description="chunk ids that match none of your passages; they do not count as citations"
    )
