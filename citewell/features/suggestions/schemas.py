"""Questions to begin with, as HTTP sees them."""

from __future__ import annotations

from citewell.features.schemas import Schema


class SuggestionOut(Schema):
    """A question that the file can be expected to answer."""

    question: str
    resource_id: str
    filename: str


class SuggestionList(Schema):
    """Questions, those of different files first."""

    suggestions: list[SuggestionOut]
