"""Figures of measures: a line as a table has it, one line over another, or a formula of the glossary."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal

from citewell.agent.tables.lookup.asked import CONTEXT, known_names, without_operations
from citewell.agent.tables.lookup.figures import CellValue, rounded
from citewell.agent.tables.lookup.find import (
    FoundCell,
    LineMatch,
    all_periods_of,
    cell_at,
    known_rows,
    named_rows,
    periods_of,
)
from citewell.agent.tables.lookup.glossary import FORMULAS, LINES, Formula, FormulaTerm, KnownLine, Sign
from citewell.agent.tables.lookup.periods import Period
from citewell.agent.tables.lookup.sheet import PageTable

_LINES = {line.key: line for line in LINES}
_GROSS_PROFIT = FORMULAS[0]


@dataclass(frozen=True, slots=True)
class MeasurePoint:
    """A measure in a period: its figure, and the cells it comes from.

    ratio: whether it is a plain quotient; exact: a computed percentage before it was rounded
    """

    period: Period
    value: CellValue
    cells: tuple[FoundCell, ...]
    ratio: bool = False
    exact: Decimal | None = None


@dataclass(frozen=True, slots=True)
class ReportedLine:
    """A line of tables: the rows that may be meant, and how its sign is read."""

    matches: tuple[LineMatch, ...]
    sign: Sign = Sign.PLAIN
    known: KnownLine | None = None

    def at(self, period: Period) -> MeasurePoint | None:
        """Its figure in a period."""
        cell = cell_at(self.matches, period, self.sign)
        return None if cell is None else MeasurePoint(period, cell.value, (cell,))

    @property
    def periods(self) -> Sequence[Period]:
        """Those it has figures for, the latest first."""
        return periods_of(self.matches)

    @property
    def all_periods(self) -> Sequence[Period]:
        """Those of any length."""
        return all_periods_of(self.matches)


@dataclass(frozen=True, slots=True)
class Derived:
    """A formula over the tables of some files. `besides` are words that must be said of each table, such as a company's name."""

    name: str
    formula: Formula
    tables: tuple[PageTable, ...]
    besides: frozenset[str] = frozenset()

    def at(self, period: Period) -> MeasurePoint | None:
        """Its figure in a period, where every line of the formula is found."""
        if (reported := self._reported(period)) is not None:
            return reported
        above = self._sum(self.formula.terms, period)
        below = self._sum(self.formula.below, period) if self.formula.below else None
        if above is None or (self.formula.below and below is None):
            return None
        cells = tuple(dict.fromkeys((*above[1], *(below[1] if below else ()))))
        if not _share_a_scale(cells):
            return None
        if below is None:
            return MeasurePoint(period, _like(above[0], cells), cells)
        return _quotient(period, above[0], below[0], cells, percent=self.formula.percent)

    def _reported(self, period: Period) -> MeasurePoint | None:
        """The measure as a table of the file states it itself."""
        named = KnownLine(self.name, self.formula.names)
        cell = cell_at(known_rows(self.tables, named, self.besides), period)
        if cell is None or cell.value.percent != self.formula.percent:
            return None
        return MeasurePoint(period, cell.value, (cell,), bool(self.formula.below) and not self.formula.percent)

    @property
    def periods(self) -> Sequence[Period]:
        """Those its first line has figures for, the latest first."""
        return periods_of(self._first_line)

    @property
    def all_periods(self) -> Sequence[Period]:
        """Those of its first line, of any length."""
        return all_periods_of(self._first_line)

    @property
    def _first_line(self) -> Sequence[LineMatch]:
        return known_rows(self.tables, _LINES[self.formula.terms[0].line], self.besides)

    def _sum(self, terms: Sequence[FormulaTerm], period: Period) -> tuple[Decimal, list[FoundCell]] | None:
        total, cells = Decimal(0), list[FoundCell]()
        for term in terms:
            ends = (period, period.before) if term.average else (period,)
            for end in ends:
                found = self._line(term.line, end)
                if found is None:
                    return None
                total += term.factor * found[0] / len(ends)
                cells += found[1]
        return total, cells

    def _line(self, key: str, period: Period) -> tuple[Decimal, list[FoundCell]] | None:
        line = _LINES[key]
        cell = cell_at(known_rows(self.tables, line, self.besides), period, line.sign)
        if cell is not None and not cell.value.percent:
            return cell.value.value, [cell]
        if key == "gross profit":
            return self._sum(_GROSS_PROFIT.terms, period)
        return None


@dataclass(frozen=True, slots=True)
class Quotient:
    """One line as a percentage of another."""

    above: ReportedLine
    below: ReportedLine

    def at(self, period: Period) -> MeasurePoint | None:
        """The percentage in a period."""
        one, other = self.above.at(period), self.below.at(period)
        if one is None or other is None or one.value.percent or other.value.percent:
            return None
        if not _share_a_scale((*one.cells, *other.cells)):
            return None
        cells = (*one.cells, *other.cells)
        return _quotient(period, abs(one.value.value), abs(other.value.value), cells, percent=True)

    @property
    def periods(self) -> Sequence[Period]:
        """Those of the line above, the latest first."""
        return self.above.periods

    @property
    def all_periods(self) -> Sequence[Period]:
        """Those of the line above, of any length."""
        return self.above.all_periods


Measure = ReportedLine | Derived | Quotient


def scales_of(points: Iterable[MeasurePoint]) -> set[int]:
    """The exponents of ten of the amounts among these points; 0 where a table states none."""
    return {point.value.exponent for point in points if not (point.ratio or point.value.percent)}


def find_measure(tables: Sequence[PageTable], words: tuple[str, ...]) -> ReportedLine | Derived | None:
    """What these words name: a row whose whole label they are, else a formula or line of the glossary, else a row that they name nearly."""
    plain = without_operations(words)
    known = known_names(plain)
    file_names = frozenset(word for table in tables for word in table.named) | CONTEXT
    for asked in (words, plain):
        matches = [match for match in named_rows(tables, asked) if match.share == 1.0]
        if known is not None and not (isinstance(known[0], KnownLine) and known[1] <= file_names):
            matches = [
                match for match in matches if frozenset(asked) <= match.row.words | match.row.around | file_names
            ]
        elif known is not None:
            matches = []
        if matches:
            return ReportedLine(tuple(matches))
    if known is not None:
        found, besides = known
        if isinstance(found, Formula):
            return Derived(_name(found), found, tuple(tables), besides)
        matches = known_rows(tables, found, besides)
        return ReportedLine(tuple(matches), found.sign, found) if matches else _line(tables, words, plain)
    return _line(tables, words, plain)


def _line(tables: Sequence[PageTable], words: tuple[str, ...], plain: tuple[str, ...]) -> ReportedLine | None:
    for asked in (words, plain):
        if asked and (matches := named_rows(tables, asked)):
            return ReportedLine(tuple(matches))
    return None


def _name(formula: Formula) -> str:
    name = formula.names[0]
    return name.upper() if len(name.split()) == 1 and len(name) <= 6 else name.capitalize()


def _share_a_scale(cells: Sequence[FoundCell]) -> bool:
    """Whether the figures can be put together: a table that states no scale may have another one than those that do."""
    stated = {cell.value.exponent > 0 for cell in cells}
    return len(stated) == 1 or len({id(cell.table) for cell in cells}) == 1


def _like(total: Decimal, cells: Sequence[FoundCell]) -> CellValue:
    """An amount at the scale and in the currency of the cells that it is made of."""
    first = cells[0].value
    return CellValue(total.scaleb(-first.exponent).normalize() + 0, False, first.currency, first.exponent)


def _quotient(
    period: Period, above: Decimal, below: Decimal, cells: tuple[FoundCell, ...], *, percent: bool
) -> MeasurePoint | None:
    if not below:
        return None
    share = above / below
    if not percent:
        return MeasurePoint(period, CellValue(rounded(share, 2)), cells, ratio=True)
    share *= 100
    value = CellValue(rounded(share, 2 if abs(share) < 1 else 1), percent=True)
    return MeasurePoint(period, value, cells, exact=share)
