"""Periods of statements: the year in which one ends, how long it is, and how questions and headers write it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

_YEAR = re.compile(r"(?<![\d,.])(?:19|20)\d\d(?!\d|[,.]\d)")
_SHORT_YEAR = re.compile(r"\bFY\s?['’]?(\d\d)(?!\d)", re.I)
_GLUED = re.compile(r"\b(?:FY|Q[1-4]|CY)(?=(?:19|20)\d\d)", re.I)
_RANGE = re.compile(r"\b((?:19|20)\d\d)\s*(?:-|–|to|through|until|and)\s*((?:19|20)\d\d)\b", re.I)
_MONTHS: Sequence[str] = "january february march april may june july august september october november december".split()  # noqa: SIM905
_SHORT_MONTHS = r"(?:jan|feb|mar|apr|may|jun|jul|aug|sept?|oct|nov|dec)\b\.?"
_MONTH = re.compile(
    rf"\b({'|'.join(month for month in _MONTHS if month != 'may')})\b|\b({_SHORT_MONTHS})(?=\s+\d)", re.I
)
_NAMED = rf"(?:{'|'.join(_MONTHS)}|{_SHORT_MONTHS})"
_DAY = re.compile(rf"\b{_NAMED}\s+(\d{{1,2}})\b|\b(\d{{1,2}})\s+{_NAMED}(?!\w)", re.I)
DATE = re.compile(rf"(?:{_DAY.pattern}),?\s+(?:19|20)\d\d\b", re.I)
"""A day with its year."""
FISCAL = re.compile(r"\b(?:fiscal(?:\s+years?)?|FY)\s?['’]?((?:19|20)\d\d|\d\d(?!\d|[,.]\d))", re.I)
"""A fiscal year that is called by a number: `fiscal 2022`, `fiscal year 2022`, `FY22`; the number is its group."""
_FIRST_WEEK = 7
"""Fiscal years of 52 and 53 weeks may end some days after the month that they are said to end with."""
_LENGTH = re.compile(
    r"\b(?:\d{1,2}|three|six|nine|twelve|thirteen|twenty-six|thirty-nine|fifty-two|fifty-three)[- ](?:months?|weeks?)\b",
    re.I,
)
_QUARTER = re.compile(
    r"\bQ([1-4])(?=\b|(?:19|20))|\b(first|second|third|fourth|1st|2nd|3rd|4th)\s+(?:fiscal\s+)?quarter\b", re.I
)
_NEWEST = re.compile(
    r"\b(?:full|whole|entire)[- ](?:fiscal )?year\b|\b(?:in|for|during) the (?:fiscal )?(?:year|quarter)\b(?! (?:ended|ending|to)\b)",
    re.I,
)
_WHOLE = re.compile(r"\b(?:full|whole|entire)(?=[- ](?:fiscal )?year\b)", re.I)
_ORDINALS = {"first": 1, "1st": 1, "second": 2, "2nd": 2, "third": 3, "3rd": 3, "fourth": 4, "4th": 4}


class PeriodLength(StrEnum):
    """How long a period is; a moment (a balance sheet's date) and what a header does not say are `ANY`."""

    YEAR = "year"
    NINE_MONTHS = "nine months"
    HALF = "half"
    QUARTER = "quarter"
    ANY = "any"


_SPANS: tuple[tuple[PeriodLength, re.Pattern[str]], ...] = (
    (PeriodLength.NINE_MONTHS, re.compile(r"\b(?:nine|9) months\b|\b39 weeks\b|\bthirty-nine weeks\b", re.I)),
    (
        PeriodLength.HALF,
        re.compile(r"\b(?:six|6) months\b|\b2[67] weeks\b|\btwenty-six weeks\b|\bhalf[- ]year\b|\bH[12]\b", re.I),
    ),
    (
        PeriodLength.YEAR,
        re.compile(r"\b(?:twelve|12) months\b|\b5[23] weeks\b|\bfifty-(?:two|three) weeks\b|\byears?\b|\bFY", re.I),
    ),
    (
        PeriodLength.QUARTER,
        re.compile(
            r"\b(?:three|3) months\b|\b1[34] weeks\b|\b(?:thirteen|fourteen) weeks\b|\bquarters?\b|\bQ[1-4]", re.I
        ),
    ),
)


@dataclass(frozen=True, slots=True, order=True)
class Period:
    """A period that is called by `year`: the fiscal year where its file says so, else the year in which it ends.

    quarter: its number, where it is known; month (1 to 12) and day: its end, where that is written
    ends:    the year in which it ends; of a question, only where it asks for that; 0 where it is not told apart from `year`
    """

    year: int
    span: PeriodLength = PeriodLength.ANY
    quarter: int = 0
    month: int = 0
    day: int = 0
    ends: int = 0

    def meets(self, asked: Period) -> bool:
        """Whether a column of this period is one for `asked`; of any year where that names none."""
        if asked.ends and (self.ends or self.year) != asked.ends:
            return False
        if asked.year and not asked.ends and self.year != asked.year:
            return False
        if asked.quarter and self.quarter != asked.quarter:
            return False
        if asked.month and self.month and asked.month != self.month:
            return False
        return self.span in (asked.span, PeriodLength.ANY) or (
            asked.span is PeriodLength.ANY and self.span is PeriodLength.YEAR
        )

    @property
    def before(self) -> Period:
        """The same period a year earlier."""
        return Period(self.year - 1, self.span, self.quarter, ends=self.ends - 1 if self.ends else 0)

    @property
    def ending(self) -> Period:
        """The same period, asked for by the year in which it ends."""
        return replace(self, ends=self.year)

    @property
    def last_month(self) -> tuple[int, int]:
        """The year and month that it ends with: one that ends in the first week of a month ends with the month before."""
        year = self.ends or self.year
        if not 0 < self.day <= _FIRST_WEEK:
            return year, self.month
        return (year, self.month - 1) if self.month > 1 else (year - 1, len(_MONTHS))


@dataclass(frozen=True, slots=True)
class FiscalCalendar:
    """How a file numbers its fiscal years.

    month: that in which they end (1 to 12)
    shift: the year in which fiscal year N ends, less N; None where the file does not say
    """

    month: int
    shift: int | None = 0

    def named(self, period: Period, later: int | None = None) -> Period:
        """A period with the fiscal year that it belongs to, and its quarter.

        later: by how many years one without a month ends after the year in its header, where that is known
        """
        if not period.month:
            ends = period.year + (later if later is not None else self.shift or 0)
            return replace(period, year=ends - (self.shift or 0), ends=ends)
        quarter = period.quarter
        if period.span is PeriodLength.QUARTER and not quarter:
            quarter = (period.last_month[1] - self.month - 1) % len(_MONTHS) // 3 + 1
        year = period.year if self.shift is None else self.year_end(period) - self.shift
        return replace(period, year=year, quarter=quarter, ends=period.ends or period.year)

    def year_end(self, period: Period) -> int:
        """The year in which the fiscal year of a period with a month ends."""
        year, month = period.last_month
        return year if month <= self.month else year + 1

    def unclear(self, period: Period) -> bool:
        """Whether the fiscal year of this period may have another number."""
        return self.shift is None and period.month > 0


def column_period(header: str, around: str) -> Period | None:
    """The period of a column; None where its header names no year, or several. `around` is what is written over all columns."""
    text = FISCAL.sub(" ", header) if DATE.search(header) else header
    years = set(_YEAR.findall(_GLUED.sub(" ", text)))
    if len(years) != 1:
        return None
    span = _span(header) or _span(around) or PeriodLength.ANY
    dated = header if _month(header) else around
    return Period(int(years.pop()), span, _quarter(header), _month(dated), _day(dated))


def date_period(text: str) -> Period | None:
    """The period that ends on the one day which a text names; None for no day, or several."""
    return column_period(text, "") if len(DATE.findall(text)) == 1 else None


def asked_periods(question: str) -> tuple[Period, ...]:
    """The periods that a question names, each once; all years of a range. One of any year (0) where it names a length alone."""
    text = _SHORT_YEAR.sub(r"FY 20\1", question)
    plain = _GLUED.sub(" ", text)
    years = [*years_of(question)]
    for match in _RANGE.finditer(plain):
        first, last = int(match[1]), int(match[2])
        if 1 < last - first <= 10 and "and" not in match[0].split():
            years += range(first, last + 1)
    span = _span(text) or PeriodLength.ANY
    quarter = _quarter(text)
    span = PeriodLength.QUARTER if quarter else PeriodLength.ANY if span is PeriodLength.YEAR else span
    if not years:
        part = span is not PeriodLength.ANY
        named = quarter or _NEWEST.search(text) or (part and _LENGTH.search(text))
        return (Period(0, span if part else PeriodLength.YEAR, quarter),) if named else ()
    month = _month(text) if len(set(years)) == 1 else 0
    day = _day(text) if month else 0
    return tuple(Period(year, span, quarter, month, day, year if month else 0) for year in sorted(set(years)))


def years_of(text: str) -> tuple[int, ...]:
    """All years that a text names, short ones such as FY23 too."""
    return tuple(int(year) for year in _YEAR.findall(_GLUED.sub(" ", _SHORT_YEAR.sub(r"FY 20\1", text))))


def without_periods(question: str) -> str:
    """The question without years, quarters, lengths of periods and dates."""
    text = _GLUED.sub(" ", _SHORT_YEAR.sub(" ", question))
    for pattern in (_WHOLE, _DAY, _LENGTH, _QUARTER, _YEAR, _MONTH):
        text = pattern.sub(" ", text)
    return re.sub(r"\bFY\b", " ", text)


def _span(text: str) -> PeriodLength | None:
    return next((span for span, pattern in _SPANS if pattern.search(text)), None)


def _quarter(text: str) -> int:
    found = _QUARTER.search(text)
    if found is None:
        return 0
    return int(found[1]) if found[1] else _ORDINALS[found[2].casefold()]


def _month(text: str) -> int:
    found = _MONTH.search(text)
    if found is None:
        return 0
    start = (found[1] or found[2]).casefold()[:3]
    return next(number for number, month in enumerate(_MONTHS, start=1) if month.startswith(start))


def _day(text: str) -> int:
    found = _DAY.search(text)
    return int(found[1] or found[2]) if found else 0
