"""Filters that a query states itself: a file's name or kind, a page, a slide, a sheet, a row. Rules for the obvious cases only.

A filter is inferred when a file is named with its extension, or when a place is named as a place (`on page 3`,
`sheet "Loans"`); a search that finds nothing within inferred filters is done again without them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice

from citewell.points import keyword
from citewell.types import Condition, Operator

_EXTENSIONS = (
    "pdf|docx?|odt|rtf|txt|md|html?|xlsx?|ods|csv|tsv|pptx?|odp|epub|eml|msg|json|xml|png|jpe?g|gif|webp|tiff?|ipynb|py"
)
_IN_NAME = r"[^\s\"“”'‘’«»/\\@:]"
# From where a run of such characters begins to the last extension in it that no further word follows.
_FILE = re.compile(rf"(?<!{_IN_NAME}){_IN_NAME}+\.(?:{_EXTENSIONS})(?![/@.-]*+\w)", re.IGNORECASE)
_QUOTED_FILE = re.compile(rf"[\"“'‘«]([^\"“”'‘’«»]{{1,200}}\.(?:{_EXTENSIONS}))[\"”'’»]", re.IGNORECASE)
_NUMBERS = r"(\d{1,5})(?:\s*(?:-|–|to|bis|and|und)\s*(\d{1,5}))?\b"
_PAGE = re.compile(
    rf"\b(?:on|from|at|auf|von)\s+(?:the\s+)?(?:pages?|pp?\.|seiten?|s\.)\s*{_NUMBERS}|\bin\s+pages?\s+{_NUMBERS}",
    re.IGNORECASE,
)
_SLIDE = re.compile(rf"\b(?:on|from|in|auf|von)\s+(?:the\s+)?(?:slides?|folien?)\s+{_NUMBERS}", re.IGNORECASE)
_ROW = re.compile(rf"\b(?:in|on|from|of|aus)\s+(?:the\s+)?(?:rows?|zeilen?)\s+{_NUMBERS}", re.IGNORECASE)
_SHEET = re.compile(r"\b(?:work)?(?:sheet|tab|blatt)\s+[\"“'‘«„]([^\"“”'‘’«»„]{1,60})[\"”“'’»]", re.IGNORECASE)
_IN_ALL = r"\bin\s+(?:all\s+)?(?:of\s+)?(?:the|my|our|these|those|all)\s+"
_KINDS: tuple[tuple[re.Pattern[str], tuple[str, ...]], ...] = (
    (re.compile(rf"{_IN_ALL}pdf(?:s|\s+files)\b", re.IGNORECASE), ("pdf",)),
    (
        re.compile(rf"{_IN_ALL}(?:spreadsheets|(?:excel|spreadsheet)\s+files)\b", re.IGNORECASE),
        ("xlsx", "xls", "ods", "csv", "tsv"),
    ),
    (re.compile(rf"{_IN_ALL}word\s+(?:files|documents)\b", re.IGNORECASE), ("docx", "doc", "odt", "rtf")),
    (re.compile(rf"{_IN_ALL}powerpoint(?:s|\s+(?:files|presentations))\b", re.IGNORECASE), ("pptx", "ppt", "odp")),
)
_MAX_WORDS_IN_NAME = 8
_MAX_NAMES = 64
_MAX_NAME_LENGTH = 255
_LOOKED_BACK = 1_000  # characters: four times the longest name, as its words may be separated


def infer_conditions(query: str) -> tuple[Condition, ...]:
    """The conditions that `query` states; all of them pass `citewell.filters.validate`."""
    return tuple(_conditions(query.replace("\x00", " ")))


def _conditions(query: str) -> Iterator[Condition]:
    names = _file_names(query)
    if names:
        yield Condition("filename", Operator.IN, names)
    for field, pattern in (("page", _PAGE), ("slide", _SLIDE), ("row", _ROW)):
        match = pattern.search(query)
        if match:
            yield from _range(field, [int(number) for number in match.groups() if number])
    sheet = _SHEET.search(query)
    if sheet and sheet[1].strip():
        yield Condition("sheet", Operator.EQ, sheet[1].strip())
    kinds = tuple(extension for pattern, extensions in _KINDS if pattern.search(query) for extension in extensions)
    if kinds and not names:
        yield Condition("extension", Operator.IN, kinds)


def _file_names(query: str) -> tuple[str, ...]:
    """Every candidate name: a name may contain spaces, so each run of words that ends in the extension counts."""
    quoted = [match[1] for match in _QUOTED_FILE.finditer(query)]
    if quoted:
        return tuple(dict.fromkeys(keyword(name) for name in quoted if name.strip()))[:_MAX_NAMES]
    names: dict[str, None] = {}
    for match in islice(_FILE.finditer(query), _MAX_NAMES):
        if match.start() and query[match.start() - 1] in "/\\@":
            continue
        words = _words_before(query, match.end())
        possible = (keyword(" ".join(words[start:])) for start in range(len(words)))
        names |= dict.fromkeys(name for name in possible if 0 < len(name) <= _MAX_NAME_LENGTH)
        if len(names) >= _MAX_NAMES:
            break
    return tuple(names)[:_MAX_NAMES]


def _words_before(query: str, end: int) -> list[str]:
    """The last words of `query[:end]` that can be a name together."""
    start = max(0, end - _LOOKED_BACK)
    words = query[start:end].split()
    cut_in_a_word = start > 0 and not query[start - 1].isspace() and not query[start].isspace()
    return words[1 if cut_in_a_word else 0 :][-_MAX_WORDS_IN_NAME:]


def _range(field: str, numbers: list[int]) -> Iterator[Condition]:
    if len(numbers) == 1:
        yield Condition(field, Operator.EQ, numbers[0])
    else:
        yield Condition(field, Operator.GTE, min(numbers))
        yield Condition(field, Operator.LTE, max(numbers))
