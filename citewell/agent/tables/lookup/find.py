"""Finds the cell that a line and a period name, in the table that has it most completely; none where tables disagree."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

from citewell.agent.tables.lookup.asked import CONTEXT
from citewell.agent.tables.lookup.figures import CellValue
from citewell.agent.tables.lookup.glossary import KnownLine, Sign
from citewell.agent.tables.lookup.periods import Period, PeriodLength
from citewell.agent.tables.lookup.sheet import PageTable, SheetColumn, SheetRow, words_of
from citewell.agent.tables.lookup.thresholds import THRESHOLDS

_STATEMENT = re.compile(r"\bstatements? of\b|\bbalance sheets?\b|\bincome statements?\b|\bcash flows?\b", re.I)
_CONSOLIDATED = re.compile(r"\bconsolidated\b", re.I)
_PARTIAL = re.compile(
    r"\bparent\b|\bguarant\w*|\bobligors?\b|\bpro[- ]?forma\b|\bquarterly\b|\bselected\b|\bsegments?\b|\bnon-gaap\b|\breconciliation\b",
    re.I,
)
_RESULT = re.compile(r"\s*(?:sub-?)?(?:total|net|gross|less|plus|add)\b", re.I)
_COSTS = re.compile(r"\bcosts?\b|\bexpenses?\b", re.I)
_EXPENSE_IN_BRACKETS = re.compile(r"\((?:expense|provision)s?\)", re.I)


@dataclass(frozen=True, slots=True)
class FoundCell:
    """The figure of a line in a column; of several rows where it is the sum of a group that has no figure of its own.

    contested: whether another table has the line with another figure, and this one is no consolidated statement
    """

    table: PageTable
    label: str
    rows: tuple[SheetRow, ...]
    column: SheetColumn
    value: CellValue
    contested: bool = False

    @property
    def unclear(self) -> bool:
        """Whether the number of the fiscal year of its column is not known."""
        calendar, period = self.table.calendar, self.column.period
        return calendar is not None and period is not None and calendar.unclear(period)


@dataclass(frozen=True, slots=True)
class LineMatch:
    """A row that a question names: `share` of its label, and how many words of the question it and its groups account for.

    own:   how many of these are in its label
    order: the place of the name among the line's usual ones
    heads: words of the question that tell columns of the same period apart
    """

    table: PageTable
    row: SheetRow
    share: float
    words: int
    own: int = 0
    order: int = 0
    heads: frozenset[str] = frozenset()

    @property
    def rank(self) -> tuple[float, int, int, int, int, int]:
        """The better, the greater: the label, the words, the kind of table, the words of the label itself, the usual name, the total."""
        return self.share, self.words, table_rank(self.table), self.own, -self.order, "total" in self.row.words


def table_rank(table: PageTable) -> int:
    """A consolidated statement before other statements, and those before other tables."""
    title = table.title
    rank = 2 * bool(_STATEMENT.search(title)) + bool(_CONSOLIDATED.search(title))
    return rank - 2 * bool(_PARTIAL.search(title))


def named_rows(
    tables: Iterable[PageTable], words: Collection[str], context: Collection[str] = frozenset()
) -> list[LineMatch]:
    """Rows whose label the words name, together with their groups and table; no word may be left over."""
    found: list[LineMatch] = []
    asked = frozenset(words)
    for table in tables:
        for row in table.rows:
            own = row.words & asked
            share = len(row.needed & asked) / len(row.needed) if row.needed else 0.0
            if share < THRESHOLDS.label_share or not own:
                continue
            if not _accounts_for(table, row, asked - frozenset(context)):
                continue
            heads = table.telling & asked - row.words - row.around
            found.append(LineMatch(table, row, share, len((row.words | row.around) & asked), len(own), heads=heads))
    return found


def known_rows(tables: Iterable[PageTable], line: KnownLine, besides: Collection[str]) -> list[LineMatch]:
    """Rows whose label is one of the line's usual names; the words besides must be said of the group, the table or the file."""
    names = {frozenset(words_of(name)) - {"total"}: order for order, name in reversed(list(enumerate(line.names)))}
    rest = frozenset(besides)
    return [
        LineMatch(table, row, 1.0, len(rest & row.around), order=names[row.needed], heads=rest & table.telling)
        for table in tables
        for row in table.rows
        if line.where in (None, table.kind) or table.kind is None
        if row.needed in names and _accounts_for(table, row, rest)
    ]


def _accounts_for(table: PageTable, row: SheetRow, words: frozenset[str]) -> bool:
    """Whether each word is said of the row, its groups, the table, its columns or the file, or says nothing of a line."""
    left = words - row.words - row.around - table.about - table.telling - CONTEXT
    return all(map(table.begins_name, left))


def cell_at(matches: Sequence[LineMatch], period: Period, sign: Sign = Sign.PLAIN) -> FoundCell | None:
    """The cell of the best row that has one for the period.

    Of rows that are as good and differ, the one whose figure more tables confirm; None where none is confirmed more than another.
    """
    found = [(match, cell) for match in matches if (cell := _at(match, period, sign)) is not None]
    most = max((match.rank for match, _ in found), default=None)
    best = [cell for match, cell in found if match.rank == most]
    if not best or all(same_figure(best[0].value, other.value) for other in best[1:]):
        return _beside(best[0], [cell for _, cell in found]) if best else None
    votes = [sum(same_figure(cell.value, other.value) for _, other in found) for cell in best]
    first = max(range(len(best)), key=votes.__getitem__)
    others = [vote for cell, vote in zip(best, votes, strict=True) if not same_figure(cell.value, best[first].value)]
    return best[first] if votes[first] > max(others) else None


def _beside(cell: FoundCell, found: Iterable[FoundCell]) -> FoundCell:
    """The cell, with whether others that were found contest it."""
    contested = table_rank(cell.table) <= 0 and any(
        other.table is not cell.table
        and other.rows[0].needed == cell.rows[0].needed
        and not same_figure(cell.value, other.value)
        for other in found
    )
    return replace(cell, contested=contested)


def same_figure(one: CellValue, other: CellValue) -> bool:
    """Whether two tables give the same figure, differently rounded or signed."""
    a, b = abs(one.value), abs(other.value)
    return abs(a - b) <= Decimal(str(THRESHOLDS.same_value)) * max(a, b)


def periods_of(matches: Sequence[LineMatch]) -> list[Period]:
    """The periods for which the best row has figures, the latest first: years where one of the best rows has some, else all."""
    best = _best_with_periods(matches)
    years = [[period for period in found if period.span in (PeriodLength.YEAR, PeriodLength.ANY)] for found in best]
    return sorted(next(filter(None, years), best[0] if best else []), reverse=True)


def all_periods_of(matches: Sequence[LineMatch]) -> list[Period]:
    """The periods of any length for which one of the best rows has figures."""
    return [period for found in _best_with_periods(matches) for period in found]


def _best_with_periods(matches: Sequence[LineMatch]) -> list[list[Period]]:
    most = max((match.rank for match in matches if _periods(match)), default=None)
    return [list(found) for match in matches if match.rank == most and (found := _periods(match))]


def _periods(match: LineMatch) -> set[Period]:
    return {
        column.period
        for column in match.table.columns
        if column.period is not None and match.table.value(match.row, column) is not None
    }


def _at(match: LineMatch, period: Period, sign: Sign) -> FoundCell | None:
    table = match.table
    cells = [
        cell for column in _columns(table, period, match.heads) if (cell := _cell(table, match.row, column)) is not None
    ]
    if not cells:
        return None
    figures = [cell for cell in cells if not cell.value.percent] or cells
    if any(not same_figure(figures[0].value, other.value) for other in figures[1:]):
        return None
    cell = figures[0] if match.words == match.own else replace(figures[0], label=_with_group(match.row))
    return _signed(cell, sign)


def _with_group(row: SheetRow) -> str:
    """A label with that of its group, where the group's words are needed to tell it."""
    return f"{row.groups[-1].rstrip(': ')}: {row.label}" if row.groups else row.label


def _columns(table: PageTable, period: Period, heads: frozenset[str]) -> list[SheetColumn]:
    """The columns of a period whose header has these words; those that say how long it is before those that say nothing.

    None where another column names the year beside a second one.
    """
    found = [
        column
        for column in table.columns
        if column.period is not None and column.period.meets(period) and heads <= column.words
    ]
    if any(column.period is None and str(period.year) in column.header for column in table.columns):
        return []
    long = [column for column in found if column.period is not None and column.period.span is PeriodLength.YEAR]
    return long or found


def _cell(table: PageTable, row: SheetRow, column: SheetColumn) -> FoundCell | None:
    value = table.value(row, column)
    if value is not None:
        return FoundCell(table, row.label, (row,), column, value)
    if not row.children or any(table.grid[row.number][1:]):
        return None
    parts = list(_parts(table, row))
    values = [table.value(part, column) for part in parts]
    known = [value for value in values if value is not None]
    if len(known) < 2 or len(known) < len(values) or any(value.percent for value in known):
        return None
    if len({value.currency for value in known}) > 1:
        return None  # amounts of several currencies have no sum
    total = CellValue(sum((value.number for value in known), Decimal(0)), False, known[0].currency, known[0].exponent)
    return FoundCell(table, row.label, tuple(parts), column, total)


def _parts(table: PageTable, row: SheetRow) -> Iterator[SheetRow]:
    """The rows of a group; what sums up or lessens others would be counted twice, so then there are none."""
    parts = [other for other in table.rows if other.number in row.children]
    if not any(_RESULT.match(part.label) for part in parts):
        yield from parts


def _signed(cell: FoundCell, sign: Sign) -> FoundCell:
    value = cell.value
    if sign is Sign.PLAIN:
        return cell
    flipped = value.number < 0 if sign is Sign.AMOUNT else _costs_are_negative(cell)
    number = -value.number if flipped else value.number
    shown = CellValue(number, value.percent, value.currency, value.exponent)
    return replace(cell, value=shown)


def _costs_are_negative(cell: FoundCell) -> bool:
    """Whether the table writes costs as negative figures."""
    if _EXPENSE_IN_BRACKETS.search(cell.label):
        return True
    costs = [
        value.number < 0
        for row in cell.table.rows
        if _COSTS.search(row.label) and (value := cell.table.value(row, cell.column)) is not None
    ]
    return sum(costs) * 2 > len(costs)
