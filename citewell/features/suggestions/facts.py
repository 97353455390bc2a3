"""Questions answered by one sentence of an English document: about its subject, without its figure."""

from __future__ import annotations

import re
from collections.abc import Iterable

from citewell.features.suggestions.candidates import Candidate, Origin
from citewell.text.sentences import sentence_spans

_MIN_LENGTH = 3

_NOUNS = r"(?P<nouns>(?:[^\W\d_][\w'’/-]*\s+){0,6}?[^\W\d_][\w'’/-]*)"
_ABOUT = r"(?:(?:about|roughly|around|nearly|over|at most|at least|up to|only|currently|between|from|now|still)\s+)*"
_MONEY = r"(?:[A-Z]{2,3}\s?\d|[$€£¥₵₹]\s?\d|\d[\d.,]*\s?(?:[$€£¥₵₹]|euros?\b|dollars?\b|pounds?\b|cedis?\b))"
_DATE = (
    r"(?:\d{1,2}(?::\d\d|\s?[ap]\.?m\b)|\d{4}\b|\d{1,2}\s+[A-Z][a-z]{2,8}\b|"
    r"(?:January|February|March|April|May|June|July|August|September|October|November|December)\b)"
)
# A noun phrase with one of these words is a clause, or means nothing without its context.
_NO_NOUN_LIST = """
    is are was were has have had do does did can could may might must will would shall should that which who whom whose what where
    when if because while and or but not this these those it its they their he she his her we our us you your my other others same
    such latter former following above below first second next last rest result results number value figure answer reason one ones
"""
_NO_NOUNS = frozenset(_NO_NOUN_LIST.split())
_PATTERNS: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(rf"The\s+{_NOUNS}\s+(?P<verb>is|are|was|were)\s+{_ABOUT}(?:{_MONEY}|\d)"), "What {verb} the {nouns}?"),
    (re.compile(rf"(?P<a>The|An?|Each|Every)\s+{_NOUNS}\s+costs?\s+{_ABOUT}{_MONEY}"), "How much does {a} {nouns} cost?"),
    (
        re.compile(
            rf"(?P<a>The|An?|Each|Every)\s+{_NOUNS}\s+(?P<verb>may|can|must|will)\s+(?P<what>[a-z]+)\s+{_ABOUT}{_MONEY}"
        ),
        "How much {verb} {a} {nouns} {what}?",
    ),
    (
        re.compile(
            rf"The\s+{_NOUNS}\s+(?P<what>open|close|start|begin|end|leave|depart|expire)s\s+"
            rf"(?:on|at|in|from)\s+(?:the\s+)?{_DATE}"
        ),
        "When does the {nouns} {what}?",
    ),
    (
        re.compile(
            rf"The\s+{_NOUNS}\s+(?P<verb>was|were)\s+(?P<what>[a-z]+ed|built|held|founded|written|made|begun|sold|bought|born)\s+"
            rf"(?:on|at|in)\s+{_DATE}"
        ),
        "When {verb} the {nouns} {what}?",
    ),
    (re.compile(rf"There\s+(?P<verb>are|were)\s+{_ABOUT}\d[\d,.]*\s+{_NOUNS}(?=\s*[.,;]|\s+in\b)"), "How many {nouns} {verb} there?"),
)  # fmt: skip


def fact_questions(texts: Iterable[str]) -> list[Candidate]:
    """Questions for sentences that give a figure or date for something named; each question once, in reading order."""
    found: dict[str, Candidate] = {}
    for text in texts:
        for start, end in sentence_spans(text):
            sentence = text[start:end].strip()
            question = _question(sentence)
            if question:
                found.setdefault(question, Candidate(Origin.FACT, (question,), sentence))
    return list(found.values())


def _question(sentence: str) -> str | None:
    for pattern, question in _PATTERNS:
        match = pattern.match(sentence)
        if match is None:
            continue
        parts = match.groupdict()
        nouns = parts["nouns"]
        if len(nouns) < _MIN_LENGTH or not _NO_NOUNS.isdisjoint(nouns.lower().split()):
            continue
        return question.format(**parts | {"a": parts.get("a", "").lower()})
    return None
