"""Pictures that are asked for in words: `plot expenses by quarter`, `histogram of loan amounts`, `show revenue as a line chart`.

A small grammar of English requests. What is left when the words for drawing are taken away is a question for a table, and is
planned as one; a message that only looks like a request (`chart of accounts`) finds no column there and is left alone.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from citewell.agent.tables.picture.picture import Form
from citewell.agent.tables.thresholds import THRESHOLDS

_POLITE = re.compile(
    r"(?:please|can|could|would|will|you|i|we|want|need|like|d|to|let|us|me|s|now|and|also|then|ok(?:ay)?|,)(?:['’ ,]+|$)",
    re.I,
)
_ARTICLES = r"(?:(?:a|an|the|this|that|our|my|some|simple|nice|quick|small|single)\s+)*+"
_KINDS = r"(?:(?:bar|column|line|pie|area|stacked|grouped|horizontal|vertical|time[- ]series|trend|frequency)\s+)*+"
_NOUN = r"(?:charts?|graphs?|plots?|diagrams?|histograms?|bar ?charts?|visuali[sz]ations?|pictures?)"
_DRAW = r"(?:plot|chart|graph|draw|sketch|visuali[sz]e|illustrate)"
_SHOW = rf"(?:{_DRAW}|show|give|make|create|generate|produce|display|render|prepare|build|see|get|do|have)"
_LEAD = rf"(?:{_SHOW}\s+)?(?:(?:me|us|for me|for us)\s+)?{_ARTICLES}"
_WHAT = rf"(?:{_LEAD}|what(?:\s+is|['’]s|\s+are|\s+was)\s+{_ARTICLES})"

_FORMS: tuple[tuple[re.Pattern[str], Form | None, bool], ...] = (
    # Of the words for a form the last that are told; `over time` where a course is asked for.
    (re.compile(rf"{_WHAT}(?:(?:frequency|statistical)\s+)?(?:distribution|spread)\s+of\s+(?P<subject>.+)", re.I), Form.HISTOGRAM, False),
    (re.compile(r"how\s+(?:is|are|was|were)\s+(?P<subject>.+?)\s+(?:distributed|spread)", re.I), Form.HISTOGRAM, False),
    (re.compile(rf"{_WHAT}(?P<kind>{_KINDS}{_NOUN})\s+(?:of|for|showing|with|that\s+shows?|about)\s+(?P<subject>.+)", re.I), None, False),
    (re.compile(rf"{_WHAT}(?:trends?|development|evolution|course)\s+(?:of|in|for)\s+(?P<subject>.+)", re.I), Form.LINE, True),
    (re.compile(rf"{_WHAT}breakdown\s+of\s+(?P<subject>.+)", re.I), Form.BARS, False),
    (re.compile(r"break\s+down\s+(?P<subject>.+)", re.I), Form.BARS, False),
    (re.compile(rf"{_LEAD}(?P<subject>.+?)\s+(?:as|in|on|with)\s+{_ARTICLES}(?P<kind>{_KINDS}(?:{_NOUN}|bars?|lines?|columns?))", re.I), None, False),
    (re.compile(rf"{_DRAW}\s+{_ARTICLES}(?P<subject>.+)", re.I), None, False),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class PictureRequest:
    """What is to be drawn: the words about it, the form where one is named, and whether its course over time is meant."""

    subject: str
    form: Form | None = None
    over_time: bool = False


def read_request(message: str) -> PictureRequest | None:
    """The request for a picture that a message is; None for any other message."""
    text = " ".join(message.split()).rstrip(" .!?")
    if not text or len(text) > THRESHOLDS.question_characters:
        return None
    while polite := _POLITE.match(text):
        text = text[polite.end() :]
    for pattern, form, over_time in _FORMS:
        if found := pattern.fullmatch(text):
            kind = found.groupdict().get("kind")
            subject = found["subject"].strip()
            return PictureRequest(subject, form or _form(kind or ""), over_time or "trend" in (kind or ""))
    return None


def _form(kind: str) -> Form | None:
    words = kind.casefold()
    if "histogram" in words or "frequency" in words:
        return Form.HISTOGRAM
    if re.search(r"\b(?:line|lines|area|trend)\b|time", words):
        return Form.LINE
    return Form.BARS if re.search(r"bar|column|pie", words) else None
