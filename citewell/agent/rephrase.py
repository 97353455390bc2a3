"""Makes the last message of a conversation standalone, without a model: what it refers to is brought in from the thread."""

from __future__ import annotations

import re
from collections.abc import Sequence

from citewell.agent.turns import PastMessage
from citewell.text.analysis import analyze

_FOLLOW_UP = re.compile(
    r"^(?:(?:and|but|so|ok|okay|then|also|thanks|great|well)[\s,!.]+)*(?:what|how) about\b|^(?:and|or|but|then|also|plus)\b|^(?:why|how|when|where|who|which)(?: so| not| one| ones| else)?\s*\?*$",
    re.I,
)
_ANAPHORA = re.compile(
    r"\b(?:it|its|they|them|their|theirs|he|him|his|she|her|hers|this|that|these|those|there|one|ones|such|same|former|latter|above|previous"
    r"|mentioned|other|others|another|else|both|either|neither|here)\b",
    re.I,
)
_LEAD = re.compile(
    r"^(?:(?:and|but|so|ok|okay|then|also|thanks|thank you|great|well|no|yes)[\s,!.]+)*(?:(?:what|how) about|and|or|but|then|also|plus)\b\s*(?:for|in|on|of|the)?\s*",
    re.I,
)
_WORD = re.compile(r"[\w'’-]+")
_SLOTS = (
    re.compile(r"\bQ[1-4](?:\s+\d{4})?\b", re.I),
    re.compile(r"\b(?:1[89]|20)\d\d\b"),
    re.compile(
        r"\b(?:january|february|march|april|may|june|july|august|september|october|november|december)(?: \d{4})?\b",
        re.I,
    ),
    re.compile(r"\b\d+(?:[.,]\d+)*\b"),
    re.compile(r"(?<!^)\b[A-Z][\w'’-]*(?: [A-Z][\w'’-]*)*"),
)
_DEPTH = 6


def rephrase(message: str, history: Sequence[PastMessage]) -> str:
    """`message` as it is when it stands alone, else joined with the question of the thread that it follows.

    The result is made for retrieval and sentence selection: a question in the thread's own words, not fine prose.
    """
    text = " ".join(message.split())
    earlier = [past.content for past in history if past.role == "user"]
    if not earlier or not needs_context(text):
        return text
    base = rephrase(earlier[-1], _before(history, earlier[-1])[-_DEPTH:])
    if not _FOLLOW_UP.search(text):
        return f"{base} {text}"
    own = _LEAD.sub("", text).strip(" ?!.")
    return _substituted(base, own) or f"{base} {own}".strip()


def needs_context(text: str) -> bool:
    """Whether the message leans on what was said before: it begins like a follow-up, refers back, or hardly says anything."""
    terms = analyze(text, query=True)
    return bool(_FOLLOW_UP.search(text) or _ANAPHORA.search(text) or len(terms) <= 2)


def _before(history: Sequence[PastMessage], content: str) -> Sequence[PastMessage]:
    last = max(i for i, past in enumerate(history) if past.role == "user" and past.content == content)
    return history[:last]


def _substituted(base: str, own: str) -> str | None:
    """`base` with the phrase that `own` takes the place of exchanged: one that ends in the same word, or of the same kind.

    "maximum loan for first-time borrowers" + "returning borrowers" → "maximum loan for returning borrowers".
    """
    words = list(_WORD.finditer(base))
    head = _stem(own.split()[-1]) if own.split() else ""
    for index in range(len(words) - 1, -1, -1):
        if head and _stem(words[index][0]) == head:
            first = index
            while first > 0 and _stem(words[first - 1][0]) and words[first].start() - words[first - 1].end() == 1:
                first -= 1
            return base[: words[first].start()] + own + base[words[index].end() :]
    for kind in _SLOTS:
        if kind.fullmatch(own) and (found := list(kind.finditer(base))):
            return base[: found[-1].start()] + own + base[found[-1].end() :]
    return None


def _stem(word: str) -> str:
    """The word's stem; empty for a function word."""
    return next(iter(analyze(word, "en", query=True)), "")
