"""Turns English headings that begin with a question word into questions."""

from __future__ import annotations

import re

_ASKING = r"(?P<ask>how|why|what|when|where|who|which)"
_SUBJECT = r"(?P<subject>(?:a|an|the|this|our|your|their|its)\s+[\w'’-]+|[a-z]+s(?=\s+(?:are|were|can|may|must|will|should)\b))"
_PRONOUN = r"(?P<subject>we|you|they|it|i)"
_HELPER = r"(?P<verb>is|are|was|were|can|could|may|might|must|will|would|should|has|have)"
_TO = re.compile(rf"{_ASKING}\s+to\s+(?P<rest>.+)", re.IGNORECASE)
_HELPED = re.compile(
    rf"{_ASKING}\s+(?:{_PRONOUN}|{_SUBJECT.replace('subject', 'noun')})\s+{_HELPER}\b\s*(?P<rest>.*)", re.IGNORECASE
)
_ACTING = re.compile(
    rf"{_ASKING}\s+(?:{_PRONOUN}|{_SUBJECT.replace('subject', 'noun')})\s+(?P<verb>[a-z]{{2,}})\b\s*(?P<rest>.*)",
    re.IGNORECASE,
)
_ASKED_ALREADY = re.compile(
    r"(?:who|what|which \w+)\s+(?:is|are|was|were|can|could|may|might|must|will|would|should)\b.*", re.IGNORECASE
)
# Title case capitalises words longer than this.
_SMALL = 3
_THIRD = frozenset({"it", "a", "an", "the", "this"})
_PEOPLE = frozenset({"we", "you", "they", "I"})
_OF_ACTIONS = frozenset({"how", "where", "when"})


def inverted(heading: str) -> str | None:
    """`Why it works` → `Why does it work?`, `How your work is judged` → `How is your work judged?`; None for other headings."""
    if re.search(r"[,;:()]", heading):
        return None
    heading = " ".join(heading.split())
    if all(word[:1].isupper() for word in heading.split() if len(word) > _SMALL):
        heading = heading[:1] + heading[1:].lower()
    if _ASKED_ALREADY.fullmatch(heading):
        return f"{heading}?"
    if match := _TO.fullmatch(heading):
        return f"{match['ask'].capitalize()} do I {match['rest']}?" if match["ask"].lower() in _OF_ACTIONS else None
    if match := _HELPED.fullmatch(heading):
        return _joined(match["ask"], match["verb"], _subject(match), match["rest"])
    if match := _ACTING.fullmatch(heading):
        return _with_do(match)
    return None


def _with_do(match: re.Match[str]) -> str | None:
    subject, verb = _subject(match), match["verb"].lower()
    first = subject.split()[0]
    if first in _THIRD:
        base = _base(verb)
        return _joined(match["ask"], "does", subject, f"{base} {match['rest']}") if base else None
    return _joined(match["ask"], "do", subject, f"{verb} {match['rest']}") if first in _PEOPLE else None


def _subject(match: re.Match[str]) -> str:
    subject = (match["subject"] or match["noun"]).strip()
    return "I" if subject.lower() == "i" else subject.lower() if match["subject"] else subject


def _joined(ask: str, verb: str, subject: str, rest: str) -> str:
    return " ".join(f"{ask.capitalize()} {verb.lower()} {subject} {rest}".split()) + "?"


def _base(verb: str) -> str | None:
    """`works` → `work`, `goes` → `go`, `carries` → `carry`; None if it is not in the third person."""
    if verb.endswith("ies") and len(verb) > 4:
        return verb[:-3] + "y"
    if re.search(r"(?:o|sh|ch|x|ss)es$", verb):
        return verb[:-2]
    return verb[:-1] if verb.endswith("s") and not verb.endswith("ss") else None
