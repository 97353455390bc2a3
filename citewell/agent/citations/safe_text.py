"""Words of files, and of questions, as an answer may show them."""

from __future__ import annotations

from citewell.agent.citations.bracketed import escape_markers
from citewell.agent.citations.markdown import neutralise


def safe_text(text: str) -> str:
    """The words with nothing among them that loads, links, is HTML, or reads as a citation that Citewell made."""
    return neutralise(escape_markers(text))
