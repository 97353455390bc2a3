"""A statement that says little by itself is shown under its heading: an item of a list, or one that the heading alone relates to the question."""

from __future__ import annotations

import re
from dataclasses import replace

from citewell.agent.extractive.frame import is_frame
from citewell.agent.statements import Statement
from citewell.agent.understand.question import Question
from citewell.text.analysis import analyze

_ITEM_WORDS = 8  # of a statement without an end; a longer one is a sentence
_LABEL = re.compile(r"\w: ")
_NUMBER = re.compile(r"^\W*(?:§\s*)?\d+(?:\.\d+)*[.)]?\s+")
_MARKER = re.compile(r"^\s*(?:[-*•]|\(?\d{1,2}[.)])\s+")
_ITEM = re.compile(r"^\s*(?:(?:[-*•–]|\(?[\da-z]{1,3}[.)])\s|[a-zà-ÿ])")
_GOES_ON = re.compile(r"[;,](?: (?:and|or))?\s*$")
_LEAD_CHARACTERS = 160
_HEADING_CHARACTERS = 80  # of a heading that is shown; a longer one is a sentence


def under_its_heading(question: Question, statement: Statement, *, first: bool) -> Statement:
    """The statement as "Out of scope: A mobile app" where it is a bare phrase, or where it is the first of an answer and only its heading
    has words of the question.
    """
    heading = _NUMBER.sub("", statement.heading).strip(" :")
    if not heading or statement.row or len(heading) > _HEADING_CHARACTERS or heading.lower() in statement.shown.lower():
        return statement
    if _is_phrase(statement) or (first and _leads_to_it(question, heading, statement)):
        return replace(statement, shown=f"{heading}: {_MARKER.sub('', statement.shown)}")
    return statement


def after_its_lead(statement: Statement) -> Statement:
    """The statement after the line that it goes on from: `The Licensee must not: rent the Software`, which means something else alone.

    That is an item of a list that begins in lower case, under a line that ends in a colon; any other is shown as it is.
    """
    item = _MARKER.sub("", statement.shown)
    if statement.row or not item[:1].islower():
        return statement
    lines = statement.hit.chunk.text[: statement.start].rstrip(" \t").splitlines()
    if lines and _MARKER.fullmatch(f"{lines[-1]} "):  # the marker of the item itself
        lines.pop()
    before = [line for line in lines if line.strip()]
    while before and _ITEM.match(before[-1]):
        before.pop()
    lead = _MARKER.sub("", before[-1]).strip().rsplit(". ", 1)[-1] if before else ""
    if not lead.endswith(":") or len(lead) > _LEAD_CHARACTERS:
        return statement
    return replace(statement, shown=f"{lead} {_GOES_ON.sub('', item)}")


def _is_phrase(statement: Statement) -> bool:
    text = statement.shown
    return not statement.is_ended and _LABEL.search(text) is None and len(text.split()) <= _ITEM_WORDS


def _leads_to_it(question: Question, heading: str, statement: Statement) -> bool:
    """Whether the heading has words of the question that neither the statement nor its file's name has, and the statement has none."""
    asked = {term for term in question.terms if not is_frame(term, question.language or "en")}
    above, own, file = (
        set(analyze(part, question.language)) for part in (heading, statement.shown, statement.hit.filename)
    )
    return bool(asked & above - file) and not asked & own
