"""HTTP schemas for suggested questions."""

from __future__ import annotations

from citewell.features.schemas import Schema


class SuggestionOut(Schema):
    """A question that the file should answer."""

    question: str
    resource_id: str
    filename: str


class SuggestionList(Schema):
    """Questions, alternating between files."""

    suggestions: list[SuggestionOut]
