"""A candidate question, and the source its answer must cite to be offered."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from citewell.types import Citation, Verdict

_MIN_WORDS = 5


class Origin(StrEnum):
    """What a question was made from."""

    FACT = "fact"
    HEADING = "heading"
    TABLE = "table"


@dataclass(frozen=True, slots=True)
class Candidate:
    """wordings: the same question, best wording first; source: the sentence or heading it was made from."""

    origin: Origin
    wordings: tuple[str, ...]
    source: str = ""


def is_answered(candidate: Candidate, citations: Sequence[Citation]) -> bool:
    """Whether these citations answer this question: they cite its sentence, its section, or a checked figure."""
    sound = [citation for citation in citations if citation.verdict is Verdict.SUPPORTED]
    if not sound:
        return False
    source = _plain(candidate.source)
    if candidate.origin is Origin.FACT:
        quotes = [_plain(citation.quote) for citation in sound]
        return any(quote and (quote in source or source in quote) for quote in quotes)
    if candidate.origin is Origin.HEADING:
        first = sound[0]
        within = source in (_plain(heading) for heading in first.locator.headings)
        return within and len(first.quote.split()) >= _MIN_WORDS and _plain(first.quote) != source
    return True


def _plain(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.casefold()))
