"""What a text calls by a number or a letter, such as "locker 12", "fiscal 2023" or "House B"."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from citewell.text.analysis import analyze

# A letter alone after a word; a word; or a number with all that is written together with it: `12-345`, `4711/24`.
TOKEN = re.compile(r"(?<=\w )[A-HJ-Z](?![\w.'’-])|[^\W\d_]+|\d+(?:[.,]\d+)*(?:[-/]\w*\d\w*)*")
# Words between a name and its number, and words before a number that make it a quantity.
_PASSED_OVER = frozenset({"no", "nr", "num", "number", "numero"})
_OF_QUANTITIES = frozenset({
    "about", "almost", "approximately", "around", "at", "best", "bottom", "equals", "every", "exactly", "first", "last", "least", "less",
    "maximum", "minimum", "minus", "more", "most", "nearly", "next", "only", "over", "past", "plus", "previous", "than", "times", "top",
    "under", "up",
})  # fmt: skip


def numbered(text: str, language: str | None) -> Iterator[tuple[str, str]]:
    """Each name that a number or a letter follows, as a term, with it."""
    name = ""
    for found in TOKEN.finditer(text):
        token = found[0]
        if token[0].isdigit() or (len(token) == 1 and token.isupper() and found.start() > 0):
            terms = analyze(name, language) if name and name.lower() not in _OF_QUANTITIES else []
            if terms:
                yield terms[0], token
            name = ""
        elif token.lower() not in _PASSED_OVER:
            name = token


def numbers_of(text: str, language: str | None) -> dict[str, frozenset[str]]:
    """The numbers and letters of each name."""
    found: dict[str, set[str]] = {}
    for name, number in numbered(text, language):
        found.setdefault(name, set()).add(number)
    return {name: frozenset(numbers) for name, numbers in found.items()}


def called_otherwise(asked: Mapping[str, frozenset[str]], text: str, language: str | None) -> dict[str, frozenset[str]]:
    """Those names of a question, with their numbers, that a text only calls by other numbers."""
    found = numbers_of(text, language) if asked else {}
    return {name: numbers for name, numbers in asked.items() if name in found and found[name].isdisjoint(numbers)}
