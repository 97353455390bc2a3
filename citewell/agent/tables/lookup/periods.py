"""Periods of statements: the year in which one ends, how long it is, and how questions and headers write it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

_YEAR = re.compile(r"(?<![\d,.])(?:19|20)\d\d(?!\d|[,.]\d)")
_SHORT_YEAR = re.compile(r"\bFY\s?['’]?(\d\d)(?!\d)", re.I)
_GLUED = re.compile(r"\b(?:FY|Q[1-4]|CY)(?=(?:19|20)\d\d)", re.I)
_RANGE = re.compile(r"\b((?:19|20)\d\d)\s*(?:-|–|to|through|until|and)\s*((?:19|20)\d\d)\b", re.I)
_MONTHS: Sequence[str] = "january february march april may june july august september october november december".split()  # noqa: SIM905
_MONTH = re.compile(r"\b(" + "|".join(_MONTHS) + r")\b", re.I)
_DAY = re.compile(rf"\b(?:{'|'.join(_MONTHS)})\s+\d{{1,2}}\b|\b\d{{1,2}}\s+(?:{'|'.join(_MONTHS)})\b", re.I)
_LENGTH = re.compile(
    r"\b(?:\d{1,2}|three|six|nine|twelve|thirteen|twenty-six|thirty-nine|fifty-two|fifty-three)[- ](?:months?|weeks?)\b",
    re.I,
)
_QUARTER = re.compile(
    r"\bQ([1-4])(?=\b|(?:19|20))|\b(first|second|third|fourth|1st|2nd|3rd|4th)\s+(?:fiscal\s+)?quarter\b", re.I
)
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
    """A period that ends in `year`; `quarter` where its number is written, `month` (1 to 12) where its end is."""

    year: int
    span: PeriodLength = PeriodLength.ANY
    quarter: int = 0
    month: int = 0

    def meets(self, asked: Period) -> bool:
        """Whether a column of this period is one for `asked`."""
        if self.year != asked.year or (asked.quarter and self.quarter != asked.quarter):
            return False
        if asked.month and self.month and asked.month != self.month:
            return False
        return self.span in (asked.span, PeriodLength.ANY) or (
            asked.span is PeriodLength.ANY and self.span is PeriodLength.YEAR
        )

    @property
    def before(self) -> Period:
        """The same period a year earlier."""
        return Period(self.year - 1, self.span, self.quarter, 0)


def column_period(header: str, around: str) -> Period | None:
    """The period of a column; None where its header names no year, or several. `around` is what is written over all columns."""
    years = set(_YEAR.findall(_GLUED.sub(" ", header)))
    if len(years) != 1:
        return None
    span = _span(header) or _span(around) or PeriodLength.ANY
    return Period(int(years.pop()), span, _quarter(header), _month(header) or _month(around))


def asked_periods(question: str) -> tuple[Period, ...]:
    """The periods that a question names, each once, in its order; all years of a range."""
    text = _SHORT_YEAR.sub(r"FY 20\1", question)
    plain = _GLUED.sub(" ", text)
    years = [int(year) for year in _YEAR.findall(plain)]
    for match in _RANGE.finditer(plain):
        first, last = int(match[1]), int(match[2])
        if 1 < last - first <= 10 and "and" not in match[0].split():
            years += range(first, last + 1)
    span = _span(text) or PeriodLength.ANY
    quarter = _quarter(text)
    span = PeriodLength.QUARTER if quarter else PeriodLength.ANY if span is PeriodLength.YEAR else span
    months = {_month(text)} if len(set(years)) == 1 else {0}
    return tuple(Period(year, span, quarter, months.copy().pop()) for year in dict.fromkeys(sorted(years)))


def without_periods(question: str) -> str:
    """The question without years, quarters, lengths of periods and dates."""
    text = _GLUED.sub(" ", _SHORT_YEAR.sub(" ", question))
    for pattern in (_DAY, _LENGTH, _QUARTER, _YEAR, _MONTH):
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
    return _MONTHS.index(found[1].casefold()) + 1 if found else 0
