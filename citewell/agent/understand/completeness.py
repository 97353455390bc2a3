"""Whether a message says by itself what it asks, or leans on what was said before: references, ellipses, bare phrases."""

from __future__ import annotations

import re

from citewell.agent.understand.thresholds import THRESHOLDS
from citewell.text.analysis import analyze

_DISCOURSE = re.compile(
    r"^(?:(?:ok|okay|so|well|oh|yes|no|great|thanks|thank you|i see|hm+|really|by the way|anyway)\b[\s,.!]*)+", re.I
)
_CONTINUES = re.compile(
    r"^(?:and|but|or|then|also|plus|what about|how about|i meant?|are you sure|go on|continue|more|any more|what else|why not)\b",
    re.I,
)
_PRONOUN = re.compile(r"\b(?:it|they|them|he|him|she|her|hers|theirs|this|these|those|that)\b", re.I)
_POSSESSIVE = re.compile(r"\b(?:its|their|his)\b", re.I)
_NO_REFERENCE = re.compile(
    # "how long does it take to …", "is it legal to …", "this year"
    r"\bit (?:takes?|costs?|(?:\w+ )?(?:[\w-]+ )?(?:to|that|if)\b|(?:is|was|seems|appears) (?:[\w-]+ ){1,3}(?:to|that|if)\b|\w+ (?:how|whether)\b)"
    r"|\b(?:is|was|does|will|would|can) it (?:[\w-]+ ){0,2}(?:to|that|if|for (?:[\w-]+ ){1,5}to)\b|\bwhat (?:time is it|is it called)\b"
    # the time of asking, and what the scope of the question is
    r"|\b(?:this|that) (?:year|quarter|month|week|day|morning|evening|time|century|season)\b|\b(?:now|given|provided|assuming|suppose|supposing|considering) that\b"
    # "another word for …" says itself beside what
    r"|\b(?:another|other) (?:[\w-]+ ){1,2}(?:for|of|besides)\b(?! (?:it|them|this|that|these|those)\b)|\bother than\b"
    r"|\b(?:this|these) (?:tables?|lists?|charts?|sheets?|files?|documents?|pages?)\b",
    re.I,
)
_THAT_JOINS = re.compile(r"(?<=\w)\s+that\s+(?=\w)", re.I)
_COMPARED_BACK = re.compile(
    r"\b(?:same|others?|another|either|both|else|instead|mentioned|above|latter|former|such)\b"
    r"|\b(?:the|this|that|these|those|which|other|another) ones?\b(?! (?:of|whose|who|which|that|with|in)\b)",
    re.I,
)
_COMPARED_WITHIN = re.compile(r"\b(?:than|as|and|or)\b|\beach other\b", re.I)
_ASKS = re.compile(
    r"\b(?:what|which|who|whom|whose|where|when|why|how|is|are|was|were|am|do|does|did|can|could|will|would|should|shall|may|might"
    r"|must|has|have|had|list|show|find|give|tell|name|count|sum|calculate|compute|plot|draw|compare|summari[sz]e|explain|describe"
    r"|translate|define|write|need|want|know|heard|think|number|total|average|most|least|\w{2,}est)\b|[^\x00-\u024f]",
    re.I,
)
# What every subject has, and what asks for it: "how many days?" says no more than that it asks for days.
_MEASURES = frozenset(
    analyze(
        "much many long far often old big large high tall fast deep heavy wide soon late number amount total sum"
        " days weeks months years hours minutes times people persons money percent percentage date time day year month",
        "en",
        query=True,
    )
)
_MEASURES_ONE = re.compile(
    r"how (?:much|many|long|far|often|old|big|large|high|tall|fast|deep|heavy|wide) (?:was|were) (?:the|that|this|these|those) [\w'-]+\W*$",
    re.I,
)


def is_complete(message: str) -> bool:
    """Whether nothing need be brought in from the thread.

    Incomplete is what goes on from the message before ("and for …", "what about …"), refers to something outside itself
    ("does it …", "those steps", "the other one"), or asks nothing of its own ("in Accra", "why?", "how many days?").
    """
    text = _DISCOURSE.sub("", " ".join(message[: THRESHOLDS.follow_up_characters].split()))
    if not text or _CONTINUES.search(text) or _refers_back(text):
        return False
    if not analyze(text, query=True) or not set(analyze(text, "en", query=True)) - _MEASURES:
        return False
    if _MEASURES_ONE.match(text):
        return False
    return _ASKS.search(text) is not None or _says(text) > THRESHOLDS.phrase_terms


def _refers_back(text: str) -> bool:
    """Whether a word stands for something that the message does not name before it."""
    text = _NO_REFERENCE.sub(" ", text)
    if _COMPARED_BACK.search(text) and not _COMPARED_WITHIN.search(text) and _says(text) <= THRESHOLDS.few_terms:
        return True
    if any(not _says(text[: match.start()]) for match in _POSSESSIVE.finditer(text)):
        return True
    joined = text if re.match(r"(?:\w+ )?that\b", text, re.I) else _THAT_JOINS.sub(" which ", text)
    return any(_says(joined[: match.start()]) < THRESHOLDS.antecedent_terms for match in _PRONOUN.finditer(joined))


def _says(text: str) -> int:
    """How many different words of the text say something."""
    return len(set(analyze(text, "en", query=True)))
