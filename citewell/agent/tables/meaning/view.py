"""What the model is shown of a table beside a question: its columns, and of their values those that the question may name."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from functools import lru_cache

from citewell.agent.tables.meaning.mentions import Mention, WrittenTime, mentions
from citewell.agent.tables.query.typed import ColumnRef, Comparator, DatePart, RowCondition, one_of
from citewell.text.analysis import analyze

MAX_LISTED = 10
"""Different values up to which a column's are all shown; of more, those that share a word with the question."""
MAX_MATCHED, MAX_TIMED = 6, 12
MAX_SHOWN = 80  # characters of a value
_AROUND_TIME = 3  # letters beside the time in a value that is one, as in `FY2024`
_MIN_BEGINNING = 4  # letters that words of one family share: plumber, plumbing
_YEARS = 20  # years of a column up to which `in March` is the March of each


@dataclass(frozen=True, slots=True)
class ColumnView:
    """A column: its kind (`number`, `date`, `time`, `text`), and the values that are shown.

    ref: how a query names what is compared of it; years: the first and the last of its dates; empty: whether cells of it are; zero:
    whether some of its numbers are 0.
    """

    name: str
    kind: str
    ref: ColumnRef
    values: tuple[str, ...] = ()
    years: tuple[int, int] | None = None
    empty: bool = False
    zero: bool = False


@dataclass(frozen=True, slots=True)
class TableView:
    """A table beside one question."""

    title: str
    columns: tuple[ColumnView, ...]


@dataclass(frozen=True, slots=True)
class _Asked:
    """The words, their beginnings, and the times of a question."""

    words: frozenset[str]
    beginnings: frozenset[str]
    times: tuple[WrittenTime, ...]


@lru_cache(maxsize=16)
def _asked(question: str) -> _Asked:
    words = frozenset(analyze(question, "en", query=True))
    beginnings = frozenset(word[:_MIN_BEGINNING] for word in words if len(word) >= _MIN_BEGINNING)
    return _Asked(words, beginnings, tuple(one.time for one in mentions(question) if one.time is not None))


def named_whole(question: str, values: Sequence[str]) -> frozenset[str]:
    """The words of the question that are whole values of a column."""
    asked = _asked(question)
    whole = (words for value in values if len(value) <= MAX_SHOWN and (words := _words(value)))
    return frozenset(word for words in whole if asked.words.issuperset(words) for word in words)


def shown_values(question: str, values: Sequence[str], named: frozenset[str] = frozenset()) -> tuple[str, ...]:
    """The values of a column of texts that the question may name: all of a few; else times within those that it names, and those with most
    of their words in it.

    named: words of the question that are values elsewhere: the `heating` of a column of trades is not that of `heating does not start`.
    """
    short = [value for value in values if value and len(value) <= MAX_SHOWN]
    if len(values) <= MAX_LISTED:
        return tuple(short)
    asked = _asked(question)
    timed = [v for v in short if (held := _time_in(v)) is not None and any(_is_within(held, t) for t in asked.times)]
    ranked = sorted(((_share(value, asked), -place, value) for place, value in enumerate(short)), reverse=True)
    other = (v for share, _, v in ranked if share > 0 and not (timed and _time_in(v) is not None))
    shared = [v for v in other if not _is_named_elsewhere(v, asked, named)]
    return tuple(dict.fromkeys((*timed[:MAX_TIMED], *shared[:MAX_MATCHED])))


def _is_named_elsewhere(value: str, asked: _Asked, named: frozenset[str]) -> bool:
    """Whether all that a value has of the question are words that are whole values of other columns."""
    words = _words(value)
    if not named or asked.words.issuperset(words):
        return False
    beginnings = {word[:_MIN_BEGINNING] for word in named}
    shared = [word for word in words if word in asked.words or word[:_MIN_BEGINNING] in asked.beginnings]
    return all(word in named or word[:_MIN_BEGINNING] in beginnings for word in shared)


@lru_cache(maxsize=20_000)
def _time_in(value: str) -> WrittenTime | None:
    """The time that a text is, as `2024-06`, `Q1 2025` or `FY2024`."""
    if not (any(map(str.isdigit, value)) or value.isalpha()):
        return None
    found = mentions(value)
    if len(found) != 1 or found[0].end - found[0].start < len(value) - _AROUND_TIME:
        return None
    return found[0].time


def _is_within(held: WrittenTime, asked: WrittenTime) -> bool:
    if asked.year is not None and held.year is not None and held.year != asked.year:
        return False
    if asked.day is not None:
        return (held.month, held.day) == (asked.month, asked.day)
    return asked.month <= held.month and held.month + held.months <= asked.month + asked.months


def _share(value: str, asked: _Asked) -> float:
    """How much of a value's words the question has; words that only begin alike count half."""
    words = _words(value)
    if not words:
        return 0.0
    known = sum(
        1.0 if word in asked.words else 0.5 if word[:_MIN_BEGINNING] in asked.beginnings else 0.0 for word in words
    )
    return known / len(words) + 0.01 * known


@lru_cache(maxsize=20_000)
def _words(value: str) -> tuple[str, ...]:
    return tuple(analyze(value, "en"))


def conditions_of(mention: Mention, column: ColumnView, comparison: Comparator) -> tuple[RowCondition, ...]:
    """What rows must meet for a number or time of the question to be compared with this column; empty where it cannot be."""
    if column.kind == "number" and mention.number is not None:
        number = int(mention.number) if mention.number.is_integer() else mention.number
        return (RowCondition(column.ref, comparison, number),)
    if column.kind == "date" and mention.time is not None:
        return _dated(mention.time, column, comparison)
    if column.kind == "time" and mention.clock:
        return (RowCondition(column.ref, comparison, mention.clock),)
    return ()


def _dated(time: WrittenTime, column: ColumnView, comparison: Comparator) -> tuple[RowCondition, ...]:
    first, last = column.years or (0, -1)
    years = (time.year,) if time.year is not None else tuple(range(first, last + 1))
    try:
        spans = [time.span(year) for year in years]
    except (ValueError, OverflowError):
        return ()
    if comparison is Comparator.EQ and column.ref.part is None:
        return _within(time, column, [low for low, _ in spans])
    if len(spans) != 1:
        return ()
    low, high = (day.isoformat() for day in spans[0])
    bounds = {
        Comparator.EQ: ((Comparator.GTE, low), (Comparator.LT, high)),
        Comparator.LT: ((Comparator.LT, low),),
        Comparator.LTE: ((Comparator.LT, high),),
        Comparator.GT: ((Comparator.GTE, high),),
        Comparator.GTE: ((Comparator.GTE, low),),
    }
    return tuple(RowCondition(column.ref, sign, day) for sign, day in bounds.get(comparison, ()))


def _within(time: WrittenTime, column: ColumnView, starts: Sequence[date]) -> tuple[RowCondition, ...]:
    """By the part of a date that is named: a year, a quarter, months or a day, of each of these years."""
    if not 0 < len(starts) <= _YEARS:
        return ()
    if time.day is not None:
        part, values = DatePart.DAY, [start.isoformat() for start in starts]
    elif time.months == 12:
        part, values = DatePart.YEAR, [start.year for start in starts]
    elif time.months == 3:
        part, values = DatePart.QUARTER, [f"{start.year}-Q{start.month // 3 + 1}" for start in starts]
    else:
        months = range(time.month, time.month + time.months)
        part, values = DatePart.MONTH, [f"{start.year}-{month:02}" for start in starts for month in months]
    return (one_of(ColumnRef(column.name, part), values),)


def years_of(days: Iterable[date]) -> tuple[int, int] | None:
    """The first and the last year of some days."""
    years = sorted({day.year for day in days})
    return (years[0], years[-1]) if years else None
