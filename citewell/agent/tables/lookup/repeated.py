"""What a table leaves unsaid and others of its file tell that repeat its figures: its scale, and the year in which its columns end."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from decimal import Decimal

from citewell.agent.tables.lookup.figures import read_cell
from citewell.agent.tables.lookup.sheet import PageTable, SheetColumn
from citewell.agent.tables.lookup.thresholds import THRESHOLDS


def with_repeated(tables: Sequence[PageTable]) -> list[PageTable]:
    """The tables, each that states no scale at the one of those that repeat several of its figures."""
    scales: defaultdict[Decimal, set[int]] = defaultdict(set)
    for table in tables:
        if table.scale:
            for number in set(_figures(table)):
                scales[number].add(table.scale)
    return [table if table.scale else _at_scale(table, scales) for table in tables]


def year_ends(table: PageTable, dated: dict[Decimal, set[int]]) -> int | None:
    """How many years after the number in its header a column without a date ends: 0 or 1; None where no figures tell.

    dated: figures of columns with a date, each with the years in which these end
    """
    votes: Counter[int] = Counter()
    for column in table.columns:
        if column.period is None or column.period.month:
            continue
        for number in set(_figures(table, column)):
            ends = dated.get(number, set())
            votes.update({end - column.period.year for end in ends} & {0, 1})
    best = votes.most_common(2)
    if not best or best[0][1] < THRESHOLDS.repeated_figures or (len(best) > 1 and best[1][1] == best[0][1]):
        return None
    return best[0][0]


def dated_figures(tables: Sequence[PageTable]) -> dict[Decimal, set[int]]:
    """The figures of columns with a date, and the years in which these end."""
    found: defaultdict[Decimal, set[int]] = defaultdict(set)
    for table in tables:
        for column in table.columns:
            if column.period is not None and column.period.month:
                for number in _figures(table, column):
                    found[number].add(column.period.last_month[0])
    return dict(found)


def _at_scale(table: PageTable, scales: dict[Decimal, set[int]]) -> PageTable:
    found = [scales[number] for number in set(_figures(table)) if number in scales]
    one = {scale for several in found for scale in several}
    enough = len(found) >= THRESHOLDS.repeated_figures and len(one) == 1
    return replace(table, told_scale=one.pop()) if enough else table


def _figures(table: PageTable, column: SheetColumn | None = None) -> Iterator[Decimal]:
    """The amounts of a table, or of one of its columns, that have so many digits that others hardly have them by chance."""
    for row in table.grid[table.element.header_rows :]:
        for text in row[1:] if column is None else row[column.number : column.number + 1]:
            value = read_cell(text)
            if (
                value is not None
                and not value.percent
                and len(value.number.as_tuple().digits) >= THRESHOLDS.telling_digits
            ):
                yield abs(value.number)
