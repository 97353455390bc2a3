"""Titles and departments that are as often written short as in full: a passage about one names the other."""

from __future__ import annotations

import re
from collections.abc import Sequence

_FULL = {
    "CEO": "chief executive officer",
    "CFO": "chief financial officer",
    "COO": "chief operating officer",
    "CTO": "chief technology officer",
    "CIO": "chief information officer",
    "CISO": "chief information security officer",
    "CMO": "chief marketing officer",
    "VP": "vice president",
    "SVP": "senior vice president",
    "EVP": "executive vice president",
    "HR": "human resources",
    "R&D": "research and development",
}
_SHORT = {full: short for short, full in _FULL.items()}
# Longer forms first: a senior vice president is no vice president.
_FORMS = tuple(sorted((*_FULL, *_SHORT), key=len, reverse=True))
_NAMED = re.compile(
    r"(?<![\w&])(?:" + "|".join(re.escape(form).replace(r"\ ", r"[\s-]+") for form in _FORMS) + r")(?![\w&])", re.I
)


def titles_in(text: str) -> list[str]:
    """The titles that a text names, each in its short form, in order: "CEO" for "chief executive officer"."""
    return list(dict.fromkeys(_short(match[0]) for match in _NAMED.finditer(text)))


def as_written(question: str, passages: Sequence[str]) -> str:
    """The question with each title in the form that the passages have, where they have one only; else as it is."""

    def replaced(match: re.Match[str]) -> str:
        short = _short(match[0])
        full = _FULL[short]
        other = short if _is_full(match[0]) else full
        own_found, other_found = (
            any(re.search(rf"(?<![\w&]){form}(?![\w&])", text, re.I) for text in passages)
            for form in (_pattern(match[0]), _pattern(other))
        )
        return other if other_found and not own_found else match[0]

    return _NAMED.sub(replaced, question)


def _short(form: str) -> str:
    plain = " ".join(form.replace("-", " ").split()).lower()
    return _SHORT.get(plain) or plain.upper()


def _is_full(form: str) -> bool:
    return form.upper() not in _FULL


def _pattern(form: str) -> str:
    return r"[\s-]+".join(re.escape(word) for word in re.split(r"[\s-]+", form.strip()))
