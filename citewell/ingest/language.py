"""Detects a file's language from its running text; headers, codes and names in data files do not count."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from citewell.text.language import Script, detect_language, script_of
from citewell.types import Element, ElementType

_MAX_ELEMENTS = 200
_MAX_ROWS = 2_000
_MAX_CHARACTERS = 20_000
_MIN_WORDS = 3
"""Distinct lowercase words that cells must have; with fewer, any language may be detected. Set by hand."""
_AROUND_WORDS = "()[]{}\"'“”‘’«».,;:!?…"
_IN_TABLES = frozenset({ElementType.ROW, ElementType.TABLE})


def language_of(elements: Sequence[Element], *, is_data: bool) -> str | None:
    """ISO 639-1 code of the main language, from the first elements; None if it cannot be detected.

    is_data: the elements are those of a data file
    """
    if is_data:
        return _language_of_data(elements)
    sample = "\n".join(e.text for e in elements[:_MAX_ELEMENTS] if e.type is not ElementType.ROW)[:_MAX_CHARACTERS]
    return detect_language(sample) if sample.strip() else None


def _language_of_data(elements: Sequence[Element]) -> str | None:
    """The language by the lowercase words in cells of several words, because capitalized ones are mostly names (Los Angeles, Tema).

    In scripts without capitals, every cell counts.
    """
    texts = list(dict.fromkeys(_texts(elements)))
    foreign = [text for text in texts if script_of(text) not in (Script.LATIN, Script.OTHER)]
    if 2 * len(foreign) > len(texts):
        return detect_language("\n".join(foreign)[:_MAX_CHARACTERS])
    split = (text.split() for text in texts)
    words = (word.strip(_AROUND_WORDS) for cell in split if len(cell) > 1 for word in cell)
    small = [word for word in words if word.isalpha() and not word[0].isupper()]
    sample = " ".join(small)[:_MAX_CHARACTERS]
    return detect_language(sample) if len(set(small)) >= _MIN_WORDS else None


def _texts(elements: Sequence[Element]) -> Iterator[str]:
    """Text cells, and the text around the tables."""
    for element in elements[:_MAX_ROWS]:
        if element.values is not None:
            yield from (cell for cell in element.values.values() if isinstance(cell, str))
        elif element.type not in _IN_TABLES:
            yield element.text
