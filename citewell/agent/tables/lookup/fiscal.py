"""Which fiscal year a period belongs to, by the words of its file: companies call the year ended January 28, 2023 fiscal 2022 or fiscal 2023."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal

from citewell.agent.tables.lookup.periods import DATE, FISCAL, FiscalCalendar, PeriodLength, date_period
from citewell.agent.tables.lookup.repeated import dated_figures, year_ends
from citewell.agent.tables.lookup.sheet import PageTable, words_of
from citewell.agent.tables.lookup.thresholds import THRESHOLDS
from citewell.text.quantities import SCALES
from citewell.text.sentences import sentences

FISCAL_WORDS = ("fiscal", "fy2", "fy 2", "fy’2", "fy'2")
"""Beginnings of what a fiscal year is called, as texts that may say one are searched for."""
_EARLY = 3
"""Up to March, a year that ends is called by its own number or by the one before; until June, by the one before only where the file says so."""
_TOLD = 6
_AFTER = re.compile(
    rf"{FISCAL.pattern}(?P<between>[^.;|]{{0,60}}?)\b(?:ended|ending|ends|end)\s+(?:on\s+)?(?P<date>{DATE.pattern})",
    re.I,
)
_BEFORE = re.compile(
    rf"\b(?:ended|ending|ends)\s+(?:on\s+)?(?P<date>{DATE.pattern})[^.;|\w]{{0,3}}(?:or|referred to as|which is|called|our)?\W{{0,5}}{FISCAL.pattern}",
    re.I,
)
_AMOUNT = r"[$€£¥]\s?(?P<digits>\d[\d,]*(?:\.\d+)?)\s+(?P<scale>thousand|million|billion)\b"
_IN = re.compile(
    rf"{_AMOUNT}(?P<between>[^$€£¥]{{0,40}}?)\b(?:in|for|during|at the end of)\s+(?:the\s+)?(?:\w+\s+quarter\s+of\s+)?{FISCAL.pattern}",
    re.I,
)
_WAS = re.compile(rf"{FISCAL.pattern}\W{{0,2}}\s*(?:was|were|totaled|totalled|of)\s+{_AMOUNT}", re.I)


def end_month(tables: Iterable[PageTable]) -> int | None:
    """The month in which most of the years in the headers of these tables end; None where none is written."""
    periods = (column.period for table in tables for column in table.columns)
    months = Counter(
        period.last_month[1]
        for period in periods
        if period is not None and period.day and period.span is PeriodLength.YEAR
    )
    return months.most_common(1)[0][0] if months else None


def needs_words(month: int) -> bool:
    """Whether the number of a year that ends in this month depends on what the file says."""
    return month <= _TOLD


def read_calendar(month: int, tables: Sequence[PageTable], texts: Sequence[str]) -> FiscalCalendar:
    """The calendar by what texts and tables say: a number beside a date, or an amount that tables give for the same line."""
    direct = Counter(shift for text in texts for shift in _beside_dates(month, text))
    shift = _clear(direct, 1)
    if shift is None:
        shift = _clear(Counter(_by_amounts(month, tables, texts)), THRESHOLDS.fiscal_amounts)
    if shift is None:
        shift = _clear(Counter(_by_headers(tables)), THRESHOLDS.fiscal_tables)
    if shift is None and month > _EARLY:
        shift = 0
    return FiscalCalendar(month, shift)


def _clear(votes: Counter[int], least: int) -> int | None:
    """What at least so many say, and several times as many as say anything else."""
    best = votes.most_common(2)
    if not best or best[0][1] < least:
        return None
    others = best[1][1] if len(best) > 1 else 0
    return best[0][0] if best[0][1] >= THRESHOLDS.fiscal_lead * others else None


def _beside_dates(month: int, text: str) -> Iterator[int]:
    """The shifts by years that are named beside the day on which they end."""
    calendar = FiscalCalendar(month)
    for pattern in (_AFTER, _BEFORE):
        for match in pattern.finditer(text):
            if FISCAL.search(match["date"]) or FISCAL.search(match.groupdict().get("between") or ""):
                continue
            named, period = FISCAL.search(match[0]), date_period(match["date"])
            if named is not None and period is not None:
                yield from _plausible(calendar.year_end(period) - _number(named[1]))
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.strip("| ").split("|")]
        numbers = [found[1] for cell in cells if (found := FISCAL.fullmatch(cell)) is not None]
        dates = [period for cell in cells if DATE.fullmatch(cell) and (period := date_period(cell)) is not None]
        if len(numbers) == 1 and len(dates) == 1:
            yield from _plausible(calendar.year_end(dates[0]) - _number(numbers[0]))


def _by_amounts(month: int, tables: Sequence[PageTable], texts: Sequence[str]) -> Iterator[int]:
    """The shifts by amounts that a sentence gives to a fiscal year and to a line, and a table to the end of a period."""
    calendar = FiscalCalendar(month)
    lines = _dated_lines(calendar, tables)
    left = THRESHOLDS.fiscal_sentences
    for sentence in (one for text in texts for one in sentences(text)):
        found = [match for pattern in (_IN, _WAS) for match in pattern.finditer(sentence)]
        if not found or not left:
            continue
        left -= 1
        said = frozenset(words_of(sentence))
        named = [(year_end, value) for words, cells in lines if words <= said for year_end, value in cells]
        for match in found:
            number = next(group for group in FISCAL.findall(match[0]) if group)
            amount, within = _amount(match)
            shifts = {year_end - _number(number) for year_end, value in named if abs(abs(value) - amount) <= within}
            if len(shifts) == 1:
                yield from _plausible(shifts.pop())


def _by_headers(tables: Sequence[PageTable]) -> Iterator[int]:
    """The shifts by tables whose headers are years alone, as figures that columns with a date repeat show where these end."""
    dated = dated_figures(tables)
    for table in tables:
        if (later := year_ends(table, dated)) is not None:
            yield later


def _dated_lines(
    calendar: FiscalCalendar, tables: Sequence[PageTable]
) -> list[tuple[frozenset[str], list[tuple[int, Decimal]]]]:
    """The words of each row, and its amounts with the year in which their fiscal year ends."""
    found: list[tuple[frozenset[str], list[tuple[int, Decimal]]]] = []
    for table in tables:
        columns = [
            (column, column.period) for column in table.columns if column.period is not None and column.period.month
        ]
        for row in table.rows if columns and table.scale else ():
            cells = [
                (calendar.year_end(period), value.value)
                for column, period in columns
                if (value := table.value(row, column)) is not None and not value.percent
            ]
            if cells and row.needed:
                found.append((row.needed, cells))
    return found


def _amount(match: re.Match[str]) -> tuple[Decimal, Decimal]:
    """An amount in single units, and how far another may be from it that is rounded to it."""
    number, exponent = Decimal(match["digits"].replace(",", "")), SCALES[match["scale"].casefold()]
    last = number.as_tuple().exponent
    step = Decimal(1).scaleb(last if isinstance(last, int) else 0)
    return number.scaleb(exponent), (step / 2).scaleb(exponent)


def _number(text: str) -> int:
    return int(text) if len(text) > 2 else 2000 + int(text)


def _plausible(shift: int) -> Iterator[int]:
    """A year is called by the number of the one in which it ends, or of the one before."""
    if shift in (0, 1):
        yield shift
