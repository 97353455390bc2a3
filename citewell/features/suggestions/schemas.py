"""Questions to begin with, as HTTP sees them."""

from __future__ import annotations

from pydantic import BaseModel


class SuggestionOut(BaseModel):
    """A question that the file can be expected to answer."""

    question: str
    resource_id: str
    filename: str


class SuggestionList(BaseModel):
    """Questions, those of different files first."""

    suggestions: list[SuggestionOut]
