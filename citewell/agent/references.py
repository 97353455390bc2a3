"""The References section: every cited place once, as people write it."""

from __future__ import annotations

from collections.abc import Sequence

from citewell.agent.bracketed import quotable
from citewell.agent.markdown import neutralise
from citewell.types import Citation


def with_references(text: str, citations: Sequence[Citation]) -> str:
    """The answer followed by `References` with a line per citation: `[1] Loan Policy.pdf (p. 3)`."""
    lines = [
        f"[{citation.n}] {neutralise(quotable(citation.label))}" for citation in sorted(citations, key=lambda c: c.n)
    ]
    return "\n".join([text, "", "References", *lines])
