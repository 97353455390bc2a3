"""Times as tables write them: `Q4 2025`, `Jan 2024`, `FY25`, `2024-03`; put in order, whatever order the rows are in."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from operator import itemgetter

from citewell.agent.tables.run.engine import TableResult

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_FULL = (
    "january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november", "december",
)  # fmt: skip
_ISO = re.compile(r"(\d{4})-(\d{2})(?:-(\d{2}))?(?:[T ].*)?")
_YEAR = re.compile(r"(?:fy|cy)?'?((?:19|20)\d\d)(?:e|f|a)?|(?:fy|cy)'?(\d\d)")
_QUARTER = re.compile(r"q([1-4])|([1-4])q")
_HALF = re.compile(r"h([12])|([12])h")
_MAX_CHARACTERS = 40

Moment = tuple[int, ...]
_PARTS = ("year", "half", "quarter", "month", "day")


def moments(labels: Sequence[str]) -> list[Moment] | None:
    """A sortable moment per label, None where one of them is no time or they are not times of one kind (a month beside a year)."""
    found = [_parts(label) for label in labels]
    known = [parts for parts in found if parts is not None]
    if not known or len(known) < len(found) or len({frozenset(parts) for parts in known}) > 1:
        return None
    return [tuple(parts.get(name, 0) for name in _PARTS) for parts in known]


def _parts(label: str) -> dict[str, int] | None:
    """The parts of a time, by name; None for what holds anything else."""
    text = label.strip().casefold()
    if not text or len(text) > _MAX_CHARACTERS:
        return None
    if whole := _ISO.fullmatch(text):
        year, month, day = whole.groups()
        return {"year": int(year), "month": int(month), **({"day": int(day)} if day else {})}
    parts: dict[str, int] = {}
    for word in re.findall(r"'?[^\W_]+", text):
        named = _part(word)
        if named is None or named[0] in parts:
            return None
        parts[named[0]] = named[1]
    return parts or None


def _part(word: str) -> tuple[str, int] | None:
    if year := _YEAR.fullmatch(word):
        return "year", int(year[1]) if year[1] else 2000 + int(year[2])
    if quarter := _QUARTER.fullmatch(word):
        return "quarter", int(quarter[1] or quarter[2])
    if half := _HALF.fullmatch(word):
        return "half", int(half[1] or half[2])
    if word in _FULL:
        return "month", _FULL.index(word) + 1
    if word[:3] in _MONTHS and (len(word) == 3 or word == "sept"):
        return "month", _MONTHS.index(word[:3]) + 1
    return None


def in_order_of_time(result: TableResult) -> TableResult:
    """The result of a query by times, such as quarters, with its groups from the earliest to the latest; a ranking stays one.

    A result that reaches its limit is a ranking: its other groups are not known.
    """
    if not result.grouped or len(result.rows) >= result.query.limit:
        return result
    at = moments([str(row.values[0]) for row in result.rows])
    if at is None:
        return result
    return replace(result, rows=tuple(row for _, row in sorted(zip(at, result.rows, strict=True), key=itemgetter(0))))
