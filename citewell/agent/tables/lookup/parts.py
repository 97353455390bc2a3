"""The part of a whole with the highest or lowest figure: a segment, a region, a category, among the rows that a total adds up."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal

from citewell.agent.tables.language.cells import form
from citewell.agent.tables.lookup.asked import CONTEXT, LookupOperation, LookupQuestion, known_names, without_operations
from citewell.agent.tables.lookup.find import FoundCell, same_figure
from citewell.agent.tables.lookup.glossary import LINES, KnownLine
from citewell.agent.tables.lookup.periods import Period, PeriodLength
from citewell.agent.tables.lookup.sheet import PageTable, SheetColumn, SheetRow, words_of

_KINDS = frozenset(
    form(word)
    for word in "segment region division category categorie geography area country countrie market unit business channel".split()  # noqa: SIM905
)
"""What companies call the parts that they report figures of."""
_OF_PARTS = frozenset(form(word) for word in ("contribution", "contribute", "contributed", "reportable", "operating"))
_REST = re.compile(r"\b(?:other|corporate|unallocated|eliminations?)\b", re.I)
_MIN_PARTS = 3
"""Parts that a total must add up at least: fewer may be a sum by chance."""
_REVENUE = next(line for line in LINES if line.key == "revenue")


@dataclass(frozen=True, slots=True)
class BestPart:
    """The part with the highest or lowest figure, of `count` that add up to a total."""

    cell: FoundCell
    period: Period
    count: int


def asks_for_part(asked: LookupQuestion) -> bool:
    """Whether a question asks which segment, region or the like has the highest or lowest figure."""
    kinds = frozenset(asked.measure) & _KINDS
    return asked.extreme not in (None, asked.operation) and len(kinds) == 1 and len(asked.periods) < 2


def best_part(tables: Sequence[PageTable], asked: LookupQuestion) -> BestPart | None:
    """The part that a question asks for; None where tables give none, or different ones.

    The table says what it adds up: in the label of the total, or in its title where the total has no label. Without a measure, it is revenue.
    """
    kinds = frozenset(asked.measure) & _KINDS
    names = frozenset(name for table in tables for name in table.named)
    wanted = tuple(
        word for word in without_operations(asked.measure) if word not in kinds | _OF_PARTS | CONTEXT | names
    )
    found = [(table, part) for table in tables for part in _parts(table, asked, wanted)]
    said = [part for table, part in found if kinds <= table.about] or [part for _, part in found]
    if not said or any(part.cell.label != said[0].cell.label for part in said):
        return None
    return said[0]


def _parts(table: PageTable, asked: LookupQuestion, wanted: tuple[str, ...]) -> Iterator[BestPart]:
    column = _column(table, asked.periods[0] if asked.periods else None)
    if column is None or column.period is None:
        return
    parts = list[tuple[SheetRow, FoundCell]]()
    total = Decimal(0)
    for number in range(table.element.header_rows, len(table.grid)):
        row = SheetRow(number, table.grid[number][0])
        value = table.value(row, column)
        if value is None or value.percent:
            continue
        if len(parts) >= _MIN_PARTS and abs(total - value.number) <= abs(total) / 1000:
            if _measures(table, row, wanted) and (best := _best(parts, asked.extreme)) is not None:
                yield BestPart(best, column.period, len(parts))
            return
        parts.append((row, FoundCell(table, row.label, (row,), column, value)))
        total += value.number


def _column(table: PageTable, period: Period | None) -> SheetColumn | None:
    """The column of a period, or of the newest year; of several, the first."""
    found = [column for column in table.columns if column.period is not None]
    if period is None:
        long = (PeriodLength.YEAR, PeriodLength.ANY)
        years = [column for column in found if column.period is not None and column.period.span in long]
        return max(years, key=lambda column: column.period or Period(0), default=None)
    return next((column for column in found if column.period is not None and column.period.meets(period)), None)


def _measures(table: PageTable, total: SheetRow, wanted: tuple[str, ...]) -> bool:
    """Whether a total adds up what is asked for."""
    known = known_names(wanted) if wanted else (_REVENUE, frozenset[str]())
    line = known[0] if known is not None and not known[1] and isinstance(known[0], KnownLine) else None
    names = [frozenset(words_of(name)) - {"total"} for name in line.names] if line else [frozenset(wanted)]
    if total.label.strip():
        return total.needed in names
    return any(name <= table.about for name in names)


def _best(parts: Sequence[tuple[SheetRow, FoundCell]], extreme: LookupOperation | None) -> FoundCell | None:
    """The highest or lowest, where no other is as high or low; no lowest where some are losses, or where it is what is left over."""
    cells = sorted((cell for _, cell in parts), key=lambda cell: cell.value.number)
    if extreme is LookupOperation.BOTTOM:
        unclear = cells[0].value.number <= 0 or _REST.search(cells[0].label) is not None
        return None if unclear or same_figure(cells[0].value, cells[1].value) else cells[0]
    return None if same_figure(cells[-1].value, cells[-2].value) else cells[-1]
