"""Sections whose heading asks what is asked, as those of a FAQ or a rule book do: the text under it answers."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import takewhile

from citewell.agent.extractive.thresholds import ExtractiveThresholds
from citewell.agent.statements import Statement, cut_statements
from citewell.types import Hit

_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W_]+)*")
_NUMBERED = re.compile(r"^\W*(?:\d+(?:\.\d+)*\W+)?")
_ASKS = re.compile(
    r"(?:what|which|who|whom|whose|where|when|why|how|can|could|may|must|should|do|does|did|is|are|was|were|will)\b|.*\?\W*$",
    re.I | re.S,
)
_HOW_TO = re.compile(r"\W*how (?:do|does|can|could|should|must|to)\b", re.I)
_ITEM = re.compile(r"(?:[-*•‣▪]\s|\(?\d{1,3}[.)]\s)")
_MAX_STATEMENTS = 12  # with the further items of a list
_DENIES = re.compile(r"\b(?:not|no|never|without|cannot)\b|n['’]t\b", re.I)
_FILLERS = frozenset({"the", "a", "an", "our", "your", "my", "i", "we", "you"})
_READ = 300  # characters of a question and of a heading; longer ones are no such headings


def find_section(question: str, hits: Sequence[Hit], limits: ExtractiveThresholds) -> list[Statement]:
    """The first statements, in reading order, of the best passage under a heading that asks the question; empty where there is none.
    A list that they begin is given to its end, and so is the text where the question asks how something is done.

    Such a heading is a question itself, has with those above it and its file's name every word of the question but fillers, and denies where the question does.
    """
    for hit in hits:
        if _is_asked_by(question, hit.chunk.locator.headings, hit.filename):
            found = [one for one in cut_statements([hit]) if not one.row]
            if found:
                if _HOW_TO.match(question):
                    return found[:_MAX_STATEMENTS]
                more = takewhile(lambda one: _ITEM.match(one.shown), found[limits.max_sentences : _MAX_STATEMENTS])
                return [*found[: limits.max_sentences], *more]
    return []


def _is_asked_by(question: str, headings: Sequence[str], filename: str) -> bool:
    if not headings or len(question) > _READ:
        return False
    last = _NUMBERED.sub("", headings[-1][:_READ])
    asked = _words(question)
    return (
        len(asked) > 1
        and _ASKS.match(last) is not None
        and asked <= _words(" ".join((filename, *(heading[:_READ] for heading in headings))))
        and bool(_DENIES.search(question)) == bool(_DENIES.search(last))
    )


def _words(text: str) -> set[str]:
    return {word for word in (found.lower() for found in _WORD.findall(text)) if word not in _FILLERS}
