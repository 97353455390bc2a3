"""A statement that says little by itself is shown under its heading: an item of a list, or one that the heading alone relates to the question."""

from __future__ import annotations

import re
from dataclasses import replace

from citewell.agent.extractive.frame import is_frame
from citewell.agent.statements import Statement
from citewell.agent.understand.question import Question
from citewell.text.analysis import analyze

_ITEM_WORDS = 8  # of a statement without an end; a longer one is a sentence
_ENDS = re.compile(r"[.!?…:;。！？][\"'”’»)\]*_]*\s*$")
_LABEL = re.compile(r"\w: ")
_NUMBER = re.compile(r"^\W*(?:§\s*)?\d+(?:\.\d+)*[.)]?\s+")
_MARKER = re.compile(r"^\s*(?:[-*•]|\(?\d{1,2}[.)])\s+")
_HEADING_CHARACTERS = 80  # of a heading that is shown; a longer one is a sentence


def under_its_heading(question: Question, statement: Statement, *, first: bool) -> Statement:
    """The statement as "Out of scope: A mobile app" where it is a bare phrase, or where it is the first of an answer and only its heading
    has words of the question.
    """
    heading = _NUMBER.sub("", statement.heading).strip(" :")
    if not heading or statement.row or len(heading) > _HEADING_CHARACTERS or heading.lower() in statement.shown.lower():
        return statement
    if _is_phrase(statement.shown) or (first and _leads_to_it(question, heading, statement)):
        return replace(statement, shown=f"{heading}: {_MARKER.sub('', statement.shown)}")
    return statement


def _is_phrase(text: str) -> bool:
    return not _ENDS.search(text) and _LABEL.search(text) is None and len(text.split()) <= _ITEM_WORDS


def _leads_to_it(question: Question, heading: str, statement: Statement) -> bool:
    """Whether the heading has words of the question that neither the statement nor its file's name has, and the statement has none."""
    asked = {term for term in question.terms if not is_frame(term, question.language or "en")}
    above, own, file = (
        set(analyze(part, question.language)) for part in (heading, statement.shown, statement.hit.filename)
    )
    return bool(asked & above - file) and not asked & own
