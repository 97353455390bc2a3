"""Infers filters from a query by rules. Only obvious cases count, because a wrong filter hides the answer.

A filter is inferred from a file name with its extension, from an explicit place (`on page 3`, `sheet "Loans"`), and from a description
of files (`photos tagged outdoor from last week`: `citewell.retrieve.stated`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import islice

from citewell.ports.points import keyword
from citewell.retrieve.reading import QueryContext, QueryReading, Stated, reading_of
from citewell.retrieve.stated import stated_dates, stated_metadata, stated_tags
from citewell.types import AllOf, Condition, Expression, Operator

_EXTENSIONS = (
    "pdf|docx?|odt|rtf|txt|md|html?|xlsx?|ods|csv|tsv|pptx?|odp|epub|eml|msg|json|xml|png|jpe?g|gif|webp|tiff?|ipynb|py"
)
_IN_NAME = r"[^\s\"“”'‘’«»/\\@:]"
# From the beginning of a run of such characters to its last extension that is not followed by more of a word.
_FILE = re.compile(rf"(?<!{_IN_NAME}){_IN_NAME}+\.(?:{_EXTENSIONS})(?![/@.-]*+\w)", re.IGNORECASE)
_QUOTED_FILE = re.compile(rf"[\"“'‘«]([^\"“”'‘’«»]{{1,200}}\.(?:{_EXTENSIONS}))[\"”'’»]", re.IGNORECASE)
_NUMBERS = r"(\d{1,5})(?:\s*(?:-|–|to|bis|and|und)\s*(\d{1,5}))?\b"
_PAGE = re.compile(
    rf"\b(?:on|from|at|auf|von)\s+(?:the\s+)?(?:pages?|pp?\.|seiten?|s\.)\s*{_NUMBERS}|\bin\s+pages?\s+{_NUMBERS}"
    rf"|\b(?:pages?|seiten?)\s+{_NUMBERS}(?=\s*[?!.,]?\s*$|\s+(?:of|in|says?|shows?|mentions?|contains?|von|der|des|steht)\b)",
    re.IGNORECASE,
)
_SLIDE = re.compile(rf"\b(?:on|from|in|auf|von)\s+(?:the\s+)?(?:slides?|folien?)\s+{_NUMBERS}", re.IGNORECASE)
_ROW = re.compile(rf"\b(?:in|on|from|of|aus)\s+(?:the\s+)?(?:rows?|zeilen?)\s+{_NUMBERS}", re.IGNORECASE)
_SHEET = re.compile(r"\b(?:work)?(?:sheet|tab|blatt)\s+[\"“'‘«„]([^\"“”'‘’«»„]{1,60})[\"”“'’»]", re.IGNORECASE)
_IN_ALL = r"\bin\s+(?:all\s+)?(?:of\s+)?(?:the|my|our|these|those|all)\s+"
_KINDS: tuple[tuple[re.Pattern[str], tuple[str, ...]], ...] = (
    (re.compile(rf"{_IN_ALL}pdf(?:s|\s+files?)\b", re.IGNORECASE), ("pdf",)),
    (
        re.compile(
            rf"{_IN_ALL}(?:spreadsheets?|(?:excel|spreadsheet)\s+(?:files?|sheets?))\b|\bin\s+der\s+(?:excel-?)?tabellendatei\b",
            re.IGNORECASE,
        ),
        ("xlsx", "xls", "ods", "csv", "tsv"),
    ),
    (re.compile(rf"{_IN_ALL}word\s+(?:files?|documents?)\b", re.IGNORECASE), ("docx", "doc", "odt", "rtf")),
    (re.compile(rf"{_IN_ALL}powerpoint(?:s|\s+(?:files?|presentations?))?\b", re.IGNORECASE), ("pptx", "ppt", "odp")),
)
_MAX_WORDS_IN_NAME = 8
_MAX_NAMES = 64
_MAX_NAME_LENGTH = 255
_LOOKED_BACK = 1_000  # characters: four times the longest name, as its words may be separated


def read_by_rules(query: str, context: QueryContext, ignored: Sequence[str] | bool = False) -> QueryReading:
    """The filters that the rules infer from a query; each passes `citewell.filters.language.validate`. ignored: ids of filters to leave out."""
    plain = query.replace("\x00", " ")
    stated = [*_places(plain), *stated_tags(plain, context), *stated_metadata(plain, context)]
    return reading_of(plain, [*stated, *stated_dates(plain, context, stated)], ignored)


def _places(query: str) -> Iterator[Stated]:
    names, (start, end) = _file_names(query)
    if names:
        yield Stated(
            start, end, "filename", Condition("filename", Operator.IN, names), f"file: {query[start:end]}", stays=True
        )
    for field, pattern in (("page", _PAGE), ("slide", _SLIDE), ("row", _ROW)):
        match = pattern.search(query)
        if match:
            expression = _range(field, [int(number) for number in match.groups() if number])
            yield Stated(*match.span(), field, expression)
    sheet = _SHEET.search(query)
    if sheet and sheet[1].strip():
        yield Stated(*sheet.span(), "sheet", Condition("sheet", Operator.EQ, sheet[1].strip()))
    named = [(match, kinds) for pattern, kinds in _KINDS if (match := pattern.search(query)) is not None]
    if named and not names:
        extensions = tuple(extension for _, kinds in named for extension in kinds)
        yield Stated(*named[0][0].span(), "extension", Condition("extension", Operator.IN, extensions))


def _file_names(query: str) -> tuple[tuple[str, ...], tuple[int, int]]:
    """Every candidate name, and the span of the first. Names may contain spaces, so each run of words before the extension is a candidate."""
    quoted = [match for match in _QUOTED_FILE.finditer(query) if match[1].strip()]
    if quoted:
        return tuple(dict.fromkeys(keyword(match[1]) for match in quoted))[:_MAX_NAMES], quoted[0].span(1)
    names: dict[str, None] = {}
    span: tuple[int, int] | None = None
    for match in islice(_FILE.finditer(query), _MAX_NAMES):
        if match.start() and query[match.start() - 1] in "/\\@":
            continue
        span = span or match.span()
        words = _words_before(query, match.end())
        possible = (keyword(" ".join(words[start:])) for start in range(len(words)))
        names |= dict.fromkeys(name for name in possible if 0 < len(name) <= _MAX_NAME_LENGTH)
        if len(names) >= _MAX_NAMES:
            break
    return tuple(names)[:_MAX_NAMES], span or (0, 0)


def _words_before(query: str, end: int) -> list[str]:
    """The last words of `query[:end]` that could together form a name."""
    start = max(0, end - _LOOKED_BACK)
    words = query[start:end].split()
    cut_in_a_word = start > 0 and not query[start - 1].isspace() and not query[start].isspace()
    return words[1 if cut_in_a_word else 0 :][-_MAX_WORDS_IN_NAME:]


def _range(field: str, numbers: list[int]) -> Expression:
    if len(numbers) == 1:
        return Condition(field, Operator.EQ, numbers[0])
    return AllOf((Condition(field, Operator.GTE, min(numbers)), Condition(field, Operator.LTE, max(numbers))))
