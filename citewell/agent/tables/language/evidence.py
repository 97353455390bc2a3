"""What the words of a question name in a grid: cells whole or in part, columns, numbers and dates to compare with."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date, time
from functools import cached_property

from citewell.agent.tables.language.cells import WORDS, Grid, GridColumn, form
from citewell.agent.tables.language.codes import SAID
from citewell.agent.tables.language.links import core_name
from citewell.agent.tables.language.wording import (
    COMPARISONS,
    FILLERS,
    IRREGULAR,
    MONTHS,
    NUMBER_WORDS,
    SCALES,
    number_of,
)
from citewell.agent.tables.query.typed import ColumnRef, Comparator, RowCondition, Scalar, TextValue, one_of
from citewell.agent.tables.thresholds import THRESHOLDS

_FEW = frozenset(("2", "3", "4", "5", "6"))
_ORDINAL = frozenset(("second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth", "twice"))
_ASKING = frozenset(("which", "what", "the", "name", "list", "top", "other"))
_PERCENT = re.compile(r" ?(?:%|percent\b)")
_POSSESSIVE = re.compile(r"['’]s\b")


@dataclass(frozen=True, slots=True)
class ValueLink:
    """Words `first:last` name these rows by cells of this column; `share` of the cells' words is named, 1 for whole cells.

    turned: a higher rank is taken for one of a lower number; coded: the cells are codes for the words, such as `W 20–7` for a win.
    """

    column: GridColumn
    first: int
    last: int
    rows: frozenset[int]
    condition: RowCondition
    share: float = 1.0
    compares: bool = False
    turned: bool = False
    coded: bool = False

    @property
    def words(self) -> frozenset[int]:
        """Their places in the question."""
        return frozenset(range(self.first, self.last))


@dataclass(frozen=True, slots=True)
class ColumnLink:
    """Words `first:last` name this column by this share of its name's words."""

    column: GridColumn
    first: int
    last: int
    share: float

    @property
    def words(self) -> frozenset[int]:
        """Their places in the question."""
        return frozenset(range(self.first, self.last))


@dataclass(frozen=True)
class QuestionEvidence:
    """A question's words beside a grid; `percents` are the places of numbers that are percentages."""

    grid: Grid
    texts: tuple[str, ...]
    percents: frozenset[int] = frozenset()

    @cached_property
    def norms(self) -> tuple[str, ...]:
        """What each word is compared by."""
        return tuple(form(text) for text in self.texts)

    @cached_property
    def content(self) -> frozenset[int]:
        """The words that an answer must account for."""
        return frozenset(i for i, word in enumerate(self.norms) if word not in FILLERS and self.texts[i] not in FILLERS)

    def find(self, phrase: str, start: int = 0) -> Iterator[int]:
        """Where the words of `phrase` are."""
        parts = tuple(phrase.split())
        for index in range(start, len(self.texts) - len(parts) + 1):
            if self.texts[index : index + len(parts)] == parts:
                yield index

    def find_any(self, phrases: Sequence[str]) -> tuple[int, int] | None:
        """The first of the phrases that is there: first and last word."""
        found = [(index, index + len(phrase.split())) for phrase in phrases for index in self.find(phrase)]
        return min(found, key=lambda place: (place[0], -place[1]), default=None)

    @cached_property
    def told(self) -> tuple[int, int]:
        """Where the question says how many values it asks for (`which two players`), and how many; (-1, 0) where it does not."""
        for index, text in enumerate(self.texts[1:], start=1):
            number = NUMBER_WORDS.get(text) or (int(text) if text in _FEW else 0)
            before = self.texts[max(0, index - 2) : index]
            if number > 1 and text not in _ORDINAL and (before[-1] in _ASKING or before == ("the", "only")):
                return index, number
        return -1, 0

    @cached_property
    def columns(self) -> tuple[ColumnLink, ...]:
        """Every column that the question names, by the longest run of its name's words."""
        return tuple(link for column in self.grid.columns for link in _column_links(self.norms, column))

    @cached_property
    def values(self) -> tuple[ValueLink, ...]:
        """Every run of words that is in a column's cells, the longest for each column."""
        found: list[ValueLink] = []
        for column in self.grid.columns:
            coded = list(_coded_links(self, column))
            taken = {(link.first, link.last) for link in coded}
            found += coded
            found += (link for link in _cell_links(self, column) if (link.first, link.last) not in taken)
            found += _date_links(self, column)
        return tuple(found)

    @cached_property
    def comparisons(self) -> tuple[ValueLink, ...]:
        """Numbers and years to compare with, once for each column that they may belong to."""
        return tuple(_comparison_links(self))


def evidence_of(question: str, grid: Grid) -> QuestionEvidence:
    """A question in words, lower case, without possessive endings."""
    plain = _POSSESSIVE.sub("", question.casefold())
    found = list(WORDS.finditer(plain))
    percents = frozenset(
        i for i, word in enumerate(found) if word[0][0].isdigit() and _PERCENT.match(plain, word.end())
    )
    return QuestionEvidence(grid, tuple(word[0] for word in found), percents)


def alike(word: str, other: str) -> bool:
    """Whether two stems are of one word: equal, of an irregular form, or one the beginning of the other (win, winner)."""
    if word == other or IRREGULAR.get(word) == other or IRREGULAR.get(other) == word:
        return True
    short, long = sorted((IRREGULAR.get(word, word), other), key=len)
    return len(short) >= THRESHOLDS.stem and long.startswith(short) and len(long) - len(short) <= THRESHOLDS.ending


def _column_links(words: Sequence[str], column: GridColumn) -> Iterator[ColumnLink]:
    name = [part for part in (form(w) for w in WORDS.findall(core_name(column.name).casefold())) if part not in FILLERS]
    whole = [form(w) for w in WORDS.findall(column.name.casefold())]
    if not whole:
        return
    hits = [i for i, word in enumerate(words) if word not in FILLERS and any(alike(word, part) for part in whole)]
    start = 0
    while start < len(hits):
        end = start
        while end + 1 < len(hits) and all(words[i] in FILLERS for i in range(hits[end] + 1, hits[end + 1])):
            end += 1
        named = {part for part in (name or whole) if any(alike(words[i], part) for i in hits[start : end + 1])}
        share = len(named) / len(name or whole)
        yield ColumnLink(column, hits[start], hits[end] + 1, min(1.0, share or 0.3))
        start = end + 1


def _coded_links(evidence: QuestionEvidence, column: GridColumn) -> Iterator[ValueLink]:
    """Words that the column's codes stand for: rows of games that were won, of those away from home."""
    for index, word in enumerate(evidence.norms):
        rows = column.coded.get(SAID.get(word, ""))
        if rows:
            yield ValueLink(column, index, index + 1, rows, _cells_condition(column, rows), coded=True)


def _cell_links(evidence: QuestionEvidence, column: GridColumn) -> Iterator[ValueLink]:
    """Runs of the question's words that are in cells; of runs within each other the longest."""
    words = evidence.norms
    runs: dict[tuple[int, int], dict[int, bool]] = {}
    for first, word in enumerate(words):
        for row, place in column.places.get(word, ()):
            key = column.keys[row]
            length = 1
            while (
                first + length < len(words)
                and place + length < len(key)
                and words[first + length] == key[place + length]
            ):
                length += 1
            if place and first and words[first - 1] == key[place - 1]:
                continue
            span = _trimmed(evidence, first, first + length, whole=length == len(key))
            if span is not None:
                runs.setdefault(span, {})[row] = runs.get(span, {}).get(row, False) or length == len(key)
    for (first, last), rows in runs.items():
        inside = any((a <= first and last <= b) and (a, b) != (first, last) for a, b in runs)
        if not inside:
            yield from _link(column, first, last, rows)


def _trimmed(evidence: QuestionEvidence, first: int, last: int, *, whole: bool) -> tuple[int, int] | None:
    while not whole and first < last and evidence.norms[last - 1] in FILLERS:
        last -= 1
    while not whole and first < last and evidence.norms[first] in FILLERS:
        first += 1
    useful = [
        i
        for i in range(first, last)
        if i in evidence.content and (len(evidence.texts[i]) > 1 or evidence.texts[i].isdigit())
    ]
    return (first, last) if useful else None


def _link(column: GridColumn, first: int, last: int, rows: dict[int, bool]) -> Iterator[ValueLink]:
    """Cells that are these words whole, else those that have them in part."""
    numeric = column.info.is_numeric
    whole = frozenset(row for row, is_whole in rows.items() if is_whole)
    for chosen, is_whole in ((whole, True), (frozenset(rows), False)):
        if not chosen or (numeric and not is_whole) or (not is_whole and chosen == whole):
            continue
        lengths = [len(column.keys[row]) for row in chosen]
        share = 1.0 if is_whole else (last - first) * len(lengths) / sum(lengths)
        condition = _cells_condition(column, chosen)
        yield ValueLink(column, first, last, chosen, condition, share)


def _cells_condition(column: GridColumn, rows: frozenset[int]) -> RowCondition:
    cells = tuple(dict.fromkeys(_scalar(column.cells[row]) for row in sorted(rows)))
    return one_of(ColumnRef(column.name), cells)


def _scalar(cell: object) -> Scalar:
    if isinstance(cell, date | time):
        return cell.isoformat()
    assert isinstance(cell, str | int | float | bool)
    return cell


def _date_links(evidence: QuestionEvidence, column: GridColumn) -> Iterator[ValueLink]:
    """Days named in another form than the cells have, and years, months and decades of dates."""
    if not (column.info.is_dated or column.part is TextValue.DATE):
        return
    days = [None if value is None else date.fromordinal(int(value)) for value in column.measures]
    for first, last, (year, month, day) in _days(evidence):
        rows = frozenset(
            i for i, d in enumerate(days)
            if d is not None and year in (None, d.year) and month in (None, d.month) and day in (None, d.day)
        )  # fmt: skip
        if rows:
            yield ValueLink(column, first, last, rows, _cells_condition(column, rows))


def _days(evidence: QuestionEvidence) -> Iterator[tuple[int, int, tuple[int | None, int | None, int | None]]]:
    """(first, last, (year, month, day)) of days, months and years written in the question."""
    texts = evidence.texts
    for index, text in enumerate(texts):
        around = texts[index : index + 3]
        if text in MONTHS:
            month = MONTHS.index(text) % 12 + 1
            before = _number(texts[index - 1], 31) if index else None
            after = _number(around[1], 31) if len(around) > 1 else None
            year_at = index + 1 + (after is not None)
            year = _year(texts[year_at]) if year_at < len(texts) else None
            first = index - (after is None and before is not None)
            yield first, year_at + (year is not None), (year, month, after or before)
        elif (year := _year(text)) is not None and (not index or texts[index - 1] not in MONTHS):
            yield index, index + 1, (year, None, None)


def _number(text: str, most: int) -> int | None:
    digits = re.sub(r"(?<=\d)(?:st|nd|rd|th)$", "", text)
    return int(digits) if digits.isdigit() and len(digits) < 3 and 0 < int(digits) <= most else None


def _year(text: str) -> int | None:
    return int(text) if re.fullmatch(r"1\d{3}|20\d\d", text) else None


def _comparison_links(evidence: QuestionEvidence) -> Iterator[ValueLink]:
    """`at least 4.1 rating`, `before june 1951`, `from 2001 to 2005`: rows on one side of a number or time."""
    for name, first, last in _comparators(evidence):
        number = _number_of(evidence, last)
        place = _number(evidence.texts[last], 99) if number is None and last < len(evidence.texts) else None
        for column in evidence.grid.columns:
            if column.is_rank and (known := place or number) is not None:
                yield from _ranked(evidence, column, Comparator(name), (first, last + 1), float(known))
            elif (
                number is not None
                and column.is_numeric
                and not (column.is_year and number < THRESHOLDS.first_year - 400)
            ):
                yield from _compared(evidence, column, Comparator(name), (first, last + 1), number)
    yield from _decades(evidence)
    yield from _missing(evidence)
    for words, low, high in _TIMES:
        for first in evidence.find(words):
            last = first + len(words.split())
            yield from _timed(evidence, first, last, low, high)
    for opening, closings in (("between", ("and", "to")), ("from", ("to", "through"))):
        for first in evidence.find(opening):
            joined = any(text in closings for text in evidence.texts[first + 2 : first + 3])
            a, b = _number_of(evidence, first + 1), _number_of(evidence, first + 2 + joined)
            if a is None or b is None or (not joined and a >= b):
                continue
            for column in evidence.grid.columns:
                if column.is_numeric or column.is_year:
                    yield from _between(column, (first, first + 3 + joined), a, b)


_TIMES: tuple[tuple[str, Comparator | None, Comparator | None], ...] = (
    ("before", None, Comparator.LT), ("prior to", None, Comparator.LT), ("after", Comparator.GT, None), ("since", Comparator.GTE, None),
    ("until", None, Comparator.LTE), ("by", None, Comparator.LTE), ("later than", Comparator.GT, None), ("earlier than", None, Comparator.LT),
)  # fmt: skip


def _comparators(evidence: QuestionEvidence) -> Iterator[tuple[str, int, int]]:
    """The longest comparison at each place."""
    taken: set[int] = set()
    phrases = sorted(((p, name) for name, group in COMPARISONS for p in group), key=lambda pair: -len(pair[0].split()))
    for phrase, name in phrases:
        for first in evidence.find(phrase):
            last = first + len(phrase.split())
            if not taken & {*range(first, last)}:
                taken.update(range(first, last))
                if last < len(evidence.texts) and evidence.texts[last] in ("a", "an", "the"):
                    last += 1
                yield name, first, last
    for first in range(len(evidence.texts) - 2):
        place = _number(evidence.texts[first], 99) is not None
        joined = next((i for i in (first + 1, first + 2) if evidence.texts[i] == "or"), len(evidence.texts))
        name = _OR.get(evidence.texts[joined + 1]) if joined + 1 < len(evidence.texts) else None
        if name is not None and (place or (joined == first + 1 and _number_of(evidence, first) is not None)):
            yield name, first, first


_OR = {
    "more": "gte",
    "higher": "gte",
    "better": "gte",
    "worse": "lte",
    "greater": "gte",
    "above": "gte",
    "less": "lte",
    "fewer": "lte",
    "lower": "lte",
    "under": "lte",
    "below": "lte",
}


def _number_of(evidence: QuestionEvidence, index: int) -> float | None:
    if not 0 <= index < len(evidence.texts):
        return None
    text = evidence.texts[index]
    value = number_of(text)
    if value is None:
        value = NUMBER_WORDS.get(text)
    scale = SCALES.get(evidence.texts[index + 1], 1) if value is not None and index + 1 < len(evidence.texts) else 1
    return None if value is None else float(value) * scale


def _compared(
    evidence: QuestionEvidence, column: GridColumn, comparison: Comparator, span: tuple[int, int], number: float
) -> Iterator[ValueLink]:
    first, last = span
    rows = frozenset(
        i for i in evidence.grid.rows if (v := column.measures[i]) is not None and _meets(v, comparison, number)
    )
    if last < len(evidence.texts) and evidence.texts[last] in SCALES:
        last += 1
    if first == last - 1 and last + 1 < len(evidence.texts) and evidence.texts[last] == "or":
        last += 2
    value: Scalar = int(number) if number == int(number) else number
    yield ValueLink(column, first, last, rows, RowCondition(column.ref, comparison, value), compares=True)


_TURNING = frozenset(("higher", "better", "above", "lower", "worse", "below"))
_TURNED = {
    Comparator.GT: Comparator.LT, Comparator.GTE: Comparator.LTE, Comparator.LT: Comparator.GT, Comparator.LTE: Comparator.GTE,
}  # fmt: skip


def _ranked(
    evidence: QuestionEvidence, column: GridColumn, comparison: Comparator, span: tuple[int, int], number: float
) -> Iterator[ValueLink]:
    """`3rd or higher`, `lower than 2nd`: by the number as it is written, and by how good it is where the word may mean that."""
    if column.is_numeric:
        yield from _compared(evidence, column, comparison, span, number)
    near = evidence.texts[span[0] : span[1] + 3]
    if comparison in _TURNED and _TURNING & {*near}:
        last = span[1] + near.index("or", 1) + 1 if "or" in near[1:3] else span[1]
        for link in _compared(evidence, column, _TURNED[comparison], (span[0], last), number):
            yield replace(link, turned=True)


def _missing(evidence: QuestionEvidence) -> Iterator[ValueLink]:
    """`with no notes`, `do not have notes`: rows whose cell of the column says nothing, or 0."""
    for link in evidence.columns:
        before = evidence.texts[max(0, link.first - 3) : link.first]
        place = next((i for i, text in enumerate(before) if text in _WITHOUT), None)
        if place is None or (before[place] in _NEGATIONS and not _HAVING & {*before[place + 1 :]}):
            continue
        first, column = link.first - len(before) + place, link.column
        empty = frozenset(i for i in evidence.grid.rows if column.cells[i] is None)
        said = frozenset(i for i in evidence.grid.rows - empty if _says_nothing(column, i))
        if said:
            yield ValueLink(column, first, link.last, said, _cells_condition(column, said), compares=True)
        elif empty:
            condition = RowCondition(ColumnRef(column.name), Comparator.EMPTY)
            yield ValueLink(column, first, link.last, empty, condition, compares=True)


_NEGATIONS = frozenset(("not", "t", "never"))
_WITHOUT = frozenset(("no", "without", "zero")) | _NEGATIONS
_HAVING = frozenset(("have", "has", "had", "having", "any"))
_NOTHING = frozenset(("none", "no", "n/a", "na", "nil"))


def _says_nothing(column: GridColumn, row: int) -> bool:
    text = column.texts[row].strip().casefold()
    return text in _NOTHING or WORDS.search(text) is None or (column.is_numeric and column.measures[row] == 0)


def _decades(evidence: QuestionEvidence) -> Iterator[ValueLink]:
    """`in the 1990s`: rows of these ten years."""
    for index, text in enumerate(evidence.texts):
        if re.fullmatch(r"(?:1\d|20)\d0s", text) is None:
            continue
        first = int(text[:4])
        for column in evidence.grid.columns:
            if not column.is_dated:
                continue
            years = [
                None if v is None else v if column.is_year else date.fromordinal(int(v)).year for v in column.measures
            ]
            rows = frozenset(i for i, year in enumerate(years) if year is not None and first <= year < first + 10)
            if rows:
                yield ValueLink(column, index, index + 1, rows, _cells_condition(column, rows), compares=True)


def _meets(value: float, comparison: Comparator, number: float) -> bool:
    match comparison:
        case Comparator.GT:
            return value > number
        case Comparator.GTE:
            return value >= number
        case Comparator.LT:
            return value < number
        case Comparator.LTE:
            return value <= number
        case Comparator.NE:
            return value != number
        case _:
            return value == number


def _timed(
    evidence: QuestionEvidence, first: int, last: int, low: Comparator | None, high: Comparator | None
) -> Iterator[ValueLink]:
    """Rows before or after a year or a day, of the columns of dates and years."""
    skip = last + (last < len(evidence.texts) and evidence.texts[last] in ("the", "year"))
    skip += skip < len(evidence.texts) and evidence.texts[skip] == "year"
    found = next(((b, day) for a, b, day in _days(evidence) if a in (last, skip)), None)
    if found is None:
        return
    end, (year, month, day) = found
    if year is None:
        return
    for column in evidence.grid.columns:
        comparison = low or high
        assert comparison is not None
        if column.is_year:
            rows = frozenset(
                i for i in evidence.grid.rows if (v := column.measures[i]) is not None and _meets(v, comparison, year)
            )
            ref = column.ref if column.info.kind != "text" else ColumnRef(column.name, TextValue.NUMBER)
            yield ValueLink(column, first, end, rows, RowCondition(ref, comparison, year), compares=True)
        elif column.is_dated:
            late = comparison in (Comparator.GT, Comparator.LTE)
            bound = date(year, month or (12 if late else 1), day or (28 if late else 1))
            rows = frozenset(
                i
                for i in evidence.grid.rows
                if (v := column.measures[i]) is not None and _meets(v, comparison, bound.toordinal())
            )
            yield ValueLink(
                column, first, end, rows, RowCondition(column.ref, comparison, bound.isoformat()), compares=True
            )


def _between(column: GridColumn, span: tuple[int, int], low: float, high: float) -> Iterator[ValueLink]:
    rows = frozenset(i for i, v in enumerate(column.measures) if v is not None and low <= v <= high)
    if rows:
        yield ValueLink(column, *span, rows, _cells_condition(column, rows), compares=True)
