"""Months, spelt numbers and digits in other languages than English: Unicode's locale data, as Babel has it, and the numbers of text2num."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from babel import Locale, UnknownLocaleError
from text_to_num import Token, find_numbers

SPELT = frozenset({"de", "es", "fr", "it", "nl", "pt"})
"""Languages whose number words are known."""
_WORD = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")
_MIN_MONTH = 3  # letters
_SPACES = " \u00a0\u202f"


@dataclass(frozen=True, slots=True)
class _Word(Token):
    start: int
    end: int
    written: str

    def text(self) -> str:
        return self.written


@lru_cache(maxsize=64)
def months_of(language: str) -> dict[str, int]:
    """The names of months, wide and abbreviated, in lower case; none of a language that is not known."""
    try:
        forms = Locale(language).months
    except (UnknownLocaleError, ValueError):
        return {}
    names = {
        name.lower().rstrip("."): number
        for form in ("format", "stand-alone")
        for width in ("wide", "abbreviated")
        for number, name in forms[form][width].items()
    }
    return {name: number for name, number in names.items() if len(name) >= _MIN_MONTH}


@lru_cache(maxsize=64)
def separators_of(language: str) -> tuple[str, str]:
    """The signs that may be between groups of three digits, and the one before decimals."""
    try:
        known = Locale(language).number_symbols
    except (UnknownLocaleError, ValueError):
        return ",", "."
    symbols = known.get("latn", known)
    group = str(symbols["group"])
    return _SPACES if group.isspace() else group, str(symbols["decimal"])


def spelt_numbers(text: str, language: str) -> Iterator[tuple[int, int, float]]:
    """Numbers above one in words: where they begin and end, and their values. One is an article in most of these languages."""
    if language not in SPELT:
        return
    words = [_Word(match.start(), match.end(), match[0].lower()) for match in _WORD.finditer(text)]
    for found in find_numbers(words, language, 1.0):
        if found.value <= 1:
            continue
        yield words[found.start].start, words[found.end - 1].end, float(found.value)
