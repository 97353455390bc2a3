"""Times that a question names: days, months, quarters and years, and months and quarters of no year where the table tells which."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta

from citewell.agent.tables.language.wording import MONTHS
from citewell.agent.tables.query.typed import DatePart, Scalar
from citewell.agent.tables.thresholds import THRESHOLDS

_QUARTER = re.compile(r"q([1-4])")
_DAY = re.compile(r"(0?[1-9]|[12][0-9]|3[01])(?:st|nd|rd|th)?")
_WRITTEN_DAY = re.compile(r"([0-9]{1,2})([./])([0-9]{1,2})\2([0-9]{4})")
_COUNTED = frozenset({"top", "first", "last", "bottom", "next", "previous"})
_QUARTERS = {"first": 1, "1st": 1, "second": 2, "2nd": 2, "third": 3, "3rd": 3, "fourth": 4, "4th": 4}
_LEADING = frozenset(("in", "during", "for", "of", "from", "since", "until", "before", "after", "by"))


@dataclass(frozen=True, slots=True)
class NamedTime:
    """Words up to `end` name the time from `low` up to, not including, `high`; `part` and `values` name it where it lies in several years."""

    end: int
    low: date
    high: date
    part: DatePart | None = None
    values: tuple[Scalar, ...] = ()


def time_span(texts: Sequence[str], index: int, years: tuple[int, int] | None) -> NamedTime | None:
    """The time that is written from `index` on, in lower case; `years` are the first and the last of the dates that it may be of."""
    if (found := _day(texts, index, years)) is not None:
        day, end = found
        return NamedTime(end, day, day + timedelta(days=1)) if day < date.max else None
    year = year_in(texts[index])
    if year is not None:
        return NamedTime(index + 1, date(year, 1, 1), date(year + 1, 1, 1))
    months, end = _months(texts, index)
    if months is None:
        return None
    first, count = months
    after = end + (texts[end : end + 1] == ["of"])
    year = year_in(texts[after]) if after < len(texts) else None
    if year is not None:
        return _within(after + 1, year, first, count)
    if years is None or index == 0 or texts[index - 1] not in _LEADING | {"the"}:
        return None
    low, high = years
    if low == high:
        return _within(end, low, first, count)
    if high - low > THRESHOLDS.years_of_a_month:
        return None
    part = DatePart.MONTH if count == 1 else DatePart.QUARTER
    name = f"{first:02}" if count == 1 else f"Q{first // 3 + 1}"
    whole = _within(end, low, first, count)
    return NamedTime(end, whole.low, whole.high, part, tuple(f"{y}-{name}" for y in range(low, high + 1)))


def year_in(text: str) -> int | None:
    """A number of four digits that may be a year."""
    if not re.fullmatch(r"[0-9]{4}", text):
        return None
    return int(text) if THRESHOLDS.first_year <= int(text) <= THRESHOLDS.last_year else None


def _day(texts: Sequence[str], index: int, years: tuple[int, int] | None) -> tuple[date, int] | None:
    """`2026-01-15`, `15.1.2026`, `15th of January 2026`, `Jan 15, 2026`, and the index after it; of no year where all dates are of one."""
    try:
        if (day := _written_day(texts[index])) is not None:
            return day, index + 1
        number, month, end = _day_and_month(texts, index)
        if number is None or month is None:
            return None
        year = year_in(texts[end]) if end < len(texts) else None
        if year is not None:
            return date(year, month, number), end + 1
        return (date(years[0], month, number), end) if years and years[0] == years[1] else None
    except (OverflowError, ValueError):
        return None


def _written_day(text: str) -> date | None:
    """A day in digits. None for one with slashes of which either number may be the month; `ValueError` for a day that no month has."""
    found = _WRITTEN_DAY.fullmatch(text)
    if found is None:
        return date.fromisoformat(text) if "-" in text else None
    day, month = int(found[1]), int(found[3])
    if found[2] == "/" and max(day, month) <= 12 and day != month:
        return None
    if month > 12:
        day, month = month, day
    return date(int(found[4]), month, day)


def _day_and_month(texts: Sequence[str], index: int) -> tuple[int | None, int | None, int]:
    """The numbers of a day and a month beside each other, in either order, and the index after them."""
    before = texts[index - 1] if index else ""
    for day, month in ((0, 1), (0, 2), (1, 0)):
        last = index + max(day, month)
        if last >= len(texts) or (month == 2 and texts[index + 1] != "of") or (day == 0 and before in _COUNTED):
            continue
        number, name = _DAY.fullmatch(texts[index + day]), texts[index + month].removesuffix(".")
        if number and name in MONTHS:
            return int(number[1]), MONTHS.index(name) % 12 + 1, last + 1
    return None, None, index


def _months(texts: Sequence[str], index: int) -> tuple[tuple[int, int] | None, int]:
    """(first month, how many) of a month or a quarter, and the index after it."""
    text = texts[index].removesuffix(".")
    if text in MONTHS:
        return (MONTHS.index(text) % 12 + 1, 1), index + 1
    if found := _QUARTER.fullmatch(text):
        return (3 * int(found[1]) - 2, 3), index + 1
    if text in _QUARTERS and texts[index + 1 : index + 2] == ["quarter"]:
        return (3 * _QUARTERS[text] - 2, 3), index + 2
    return None, index


def _within(end: int, year: int, first: int, count: int) -> NamedTime:
    last = first + count
    return NamedTime(end, date(year, first, 1), date(year + (last > 12), (last - 1) % 12 + 1, 1))
