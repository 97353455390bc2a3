"""The cells of a table that is small enough to be held: what each column's texts hold, and in what order its rows are."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, time
from functools import cached_property

from citewell.agent.tables.language.wording import DIGITS, FORMS, norm
from citewell.agent.tables.query.compile import DATES
from citewell.agent.tables.query.typed import Part, TextValue
from citewell.agent.tables.run.engine import Cell
from citewell.agent.tables.run.results import shown
from citewell.agent.tables.run.totals import is_total
from citewell.agent.tables.thresholds import THRESHOLDS
from citewell.types import TableColumn, TableInfo
from citewell.types.figures import CURRENCY, first_number, read_figure

_CURRENCY = re.compile(CURRENCY)
WORDS = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+\.\d+|[^\W_]+")
_SUM = re.compile(
    r"(?:(?:grand |sub-?|over-?all |sum )?totals?|career|overall|combined|all)\b|(?:world(?:wide)?|nationwide|turnout)$",
    re.I,
)
_CLOCK = re.compile(r"(?:(\d{1,7}):)?(\d{1,3}):(\d{2}(?:\.\d+)?)\W{0,2}")
_RANKS = frozenset(("rank", "posit", "place", "pos"))
_NUMBERED = frozenset(("#", "no"))
_NO_RANK_BEFORE = frozenset(("of", "angl", "point", "chang"))
_PLACED = re.compile(r"first|second|third|fourth|fifth|top|ten|\d+(?:st|nd|rd|th)?")
_NUMBERS = (TextValue.NUMBER, TextValue.DECIMAL_COMMA)
_DIGIT = re.compile(r"\d")
_MAX_CLOCK = 60


@dataclass(frozen=True)
class GridColumn:
    """A column's cells, top to bottom."""

    info: TableColumn
    cells: tuple[Cell, ...]

    @property
    def name(self) -> str:
        """As the file has it."""
        return self.info.name

    @cached_property
    def texts(self) -> tuple[str, ...]:
        """The cells as an answer shows them."""
        return tuple(shown(cell) for cell in self.cells)

    @cached_property
    def part(self) -> Part | None:
        """What its texts hold nearly everywhere, a number or a date; None where they are names, or it is not a column of texts."""
        if self.info.kind != "text":
            return None
        filled = [text for text in self.texts if WORDS.search(text)]
        if not filled:
            return None
        least = THRESHOLDS.alike * len(filled)
        if sum(date_in(text) is not None for text in filled) >= least:
            return TextValue.DATE
        return figures_in(filled, least)

    @property
    def holds_figures(self) -> bool:
        """Whether its texts are figures."""
        return isinstance(self.part, TextValue) and self.part.is_number

    @cached_property
    def is_rank(self) -> bool:
        """Whether its best value is the lowest: `Rank`, `Pos.`, `#`; not `No. of votes`, `# Beds`, `Third place`, or positions in words."""
        words = self.name.casefold().replace(".", "").split()
        if self.is_year or not any(_is_rank(words, index) for index in range(len(words))):
            return False
        filled = [text for text in self.texts if WORDS.search(text)]
        return 2 * sum(number_in(text) is not None for text in filled) >= len(filled)

    @cached_property
    def is_numeric(self) -> bool:
        """Numbers, or texts that hold one each."""
        return self.info.is_numeric or self.holds_figures

    @cached_property
    def is_dated(self) -> bool:
        """Dates, or whole numbers that are years."""
        return self.info.is_dated or self.part is TextValue.DATE or self.is_year

    @cached_property
    def is_year(self) -> bool:
        """Whole numbers, or texts that begin with them, nearly all of which are years."""
        if self.info.is_dated:
            return False
        first, last = THRESHOLDS.first_year - 400, THRESHOLDS.last_year
        found = [text for text in self.texts if text]
        years = [text for text in found if (m := re.match(r"\d{4}(?!\d)", text)) and first <= int(m[0]) <= last]
        return bool(found) and len(years) >= THRESHOLDS.alike * len(found) and self.part is not TextValue.DATE

    @cached_property
    def is_timed(self) -> bool:
        """Times of day, or texts that are times or durations: `3:25`, `1:45:10.3`."""
        if self.info.kind == "time":
            return True
        filled = [text for text in self.texts if WORDS.search(text)]
        if self.info.kind != "text" or not filled:
            return False
        return sum(seconds_in(text) is not None for text in filled) >= THRESHOLDS.alike * len(filled)

    @cached_property
    def measures(self) -> tuple[float | None, ...]:
        """What each row is ranked and compared by: a number, a date as its ordinal, a time in seconds; None where the cell holds none."""
        if self.is_timed:
            return tuple(seconds_in(text) for text in self.texts)
        return tuple(_measure(cell, self.part) for cell in self.cells)


@dataclass(frozen=True)
class Grid:
    """All cells of a table; `numbers` are its rows' numbers as a person sees them, `totals` indices of rows that sum up others."""

    table: TableInfo
    columns: tuple[GridColumn, ...]
    numbers: tuple[int, ...]
    totals: frozenset[int] = frozenset()

    @cached_property
    def rows(self) -> frozenset[int]:
        """The indices of all rows but totals."""
        return frozenset(range(len(self.numbers))) - self.totals

    @cached_property
    def label(self) -> GridColumn | None:
        """The column that names the rows: the first of texts that are names, different in most rows; else the first."""
        names = [c for c in self.columns if c.info.kind == "text" and c.part is None and not c.is_year]
        return max(names, key=lambda c: len(set(c.texts)) >= THRESHOLDS.alike * len(self.numbers), default=None)

    def sum_of_others(self, name: str) -> int | None:
        """The number of a row whose figure in this column is the sum of all the others there, though nothing calls it a total: whether it
        is one cannot be told. None where there is none, or where there are too few others for that to mean anything."""
        column = next(
            (c for c in self.columns if c.name == name and c.is_numeric and not (c.is_year or c.is_rank)), None
        )
        if column is None:
            return None
        held = [(row, value) for row in sorted(self.rows) if (value := column.measures[row]) is not None]
        highest, most = max(held, key=lambda pair: pair[1], default=(0, 0.0))
        others = [value for row, value in held if row != highest]
        if (
            len(others) < THRESHOLDS.summed_rows
            or min(others) < 0
            or sum(value > 0 for value in others) < THRESHOLDS.summed_rows
        ):
            return None
        return self.numbers[highest] if abs(sum(others) - most) <= THRESHOLDS.equal * most else None

    @cached_property
    def time(self) -> GridColumn | None:
        """The first column of dates or years."""
        return next((c for c in self.columns if c.is_dated), None)


def _is_rank(words: Sequence[str], index: int) -> bool:
    """Whether a word of a column's name makes it one of ranks: not where it counts what follows, or is a place by name."""
    word, after = norm(words[index]), "".join(words[index + 1 : index + 2])
    if word in _NUMBERED:
        return after in ("", "in")
    placed = index > 0 and _PLACED.fullmatch(words[index - 1]) is not None
    return word in _RANKS and norm(after) not in _NO_RANK_BEFORE and not placed


def grid_of(table: TableInfo, rows: Sequence[tuple[Sequence[Cell], int]], totals: Sequence[int]) -> Grid:
    """A grid of rows of (cells, row number)."""
    columns = tuple(
        GridColumn(column, tuple(cells[index] for cells, _ in rows)) for index, column in enumerate(table.columns)
    )
    numbers = tuple(number for _, number in rows)
    named = {i for i in range(len(rows)) if any(is_total(column.texts[i].strip()) for column in columns[:2])}
    named |= _sums(columns, len(rows))
    return Grid(
        table, columns, numbers, frozenset(i for i, number in enumerate(numbers) if number in totals or i in named)
    )


def _sums(columns: Sequence[GridColumn], size: int) -> set[int]:
    """Rows that are called totals of something, or are a career, and have the highest value in every column of amounts."""
    amounts = [c.measures for c in columns if c.is_numeric and not (c.is_year or c.is_rank)]
    highest = [max((v for v in values if v is not None), default=0.0) for values in amounts]
    found = {i for i in range(size) if any(_SUM.match(column.texts[i].strip()) for column in columns[:2])}
    if len(found) == size or not amounts:
        return set()

    def is_highest(row: int) -> bool:
        held = [(values[row], most) for values, most in zip(amounts, highest, strict=True) if values[row] is not None]
        return bool(held) and 2 * sum(value == most for value, most in held) > len(held)

    return {row for row in found if is_highest(row)}


def form(word: str) -> str:
    """What a word is compared by: its stem, that of its verb where it is irregular."""
    stem = norm(word)
    return FORMS.get(stem) or DIGITS.get(stem, stem)


def figures_in(texts: Sequence[str], least: float) -> TextValue | None:
    """How texts are figures, with a decimal point or comma; None where fewer than `least` are, or they have several units."""
    return next((part for part in _NUMBERS if _are_figures(texts, part, least)), None)


def _are_figures(texts: Sequence[str], part: TextValue, least: float) -> bool:
    """Whether texts are figures in one unit, but for some without any digit: of different units (`2 kg` and `900 g`, `$` and `€`,
    `CR` and `DR`, `12k` and `1.2m`) none is higher than another, and they have no sum."""
    figures = [read_figure(text, part is TextValue.DECIMAL_COMMA) for text in texts]
    if sum(figure is not None for figure in figures) < least:
        return False
    if any(figure is None and _DIGIT.search(text) for text, figure in zip(texts, figures, strict=True)):
        return False
    units = {_unit(figure.unit) for figure in figures if figure is not None and figure.value}
    named = next(iter(units - {""}), "")
    # `310` beside `1,204 men` is of men; `1,200` beside `300 CR` is not a credit.
    shared = "" not in units or named.islower() or _CURRENCY.fullmatch(named) is not None
    return len(units - {""}) < 2 and (not named or shared)


def _unit(unit: str) -> str:
    """What a unit is compared by: in singular or plural, with or without its point."""
    return norm(unit.rstrip(".")) if len(unit) > 3 else unit.rstrip(".")


def number_in(text: str, part: Part | None = None) -> float | None:
    """The figure or the first number in a text, as `TextValue.NUMBER` reads it, or another part."""
    found = first_number(text, part is TextValue.DECIMAL_COMMA)
    return None if found is None else float(found)


def seconds_in(text: str) -> float | None:
    """What a text with colons is as a time or duration: `3:25` is 205, `1:00:02.5` is 3602.5."""
    found = _CLOCK.fullmatch(text[:_MAX_CLOCK]) if ":" in text[:_MAX_CLOCK] else None
    if found is None:
        return None
    hours, minutes, seconds = found.groups()
    return 3600.0 * int(hours or 0) + 60.0 * int(minutes) + float(seconds)


def date_in(text: str) -> datetime | None:
    """The date that a text is, as `TextValue.DATE` reads it."""
    if not 6 <= len(text) <= 20 or not text[-1].isdigit():
        return None
    for form in DATES:
        try:
            return datetime.strptime(text, form)
        except ValueError:
            continue
    return None


def _measure(cell: Cell, part: Part | None) -> float | None:
    if cell is None or isinstance(cell, bool | time):
        return None
    if isinstance(cell, int | float):
        return None if math.isnan(cell) else float(cell)
    if isinstance(cell, date):
        return float(cell.toordinal())
    if part is TextValue.DATE:
        found = date_in(cell)
        return None if found is None else float(found.toordinal())
    return number_in(cell, part) if len(cell) <= THRESHOLDS.question_characters else None
