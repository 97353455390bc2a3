"""Labels that a table writes once for a group of rows: the cells left blank below them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Generic, TypeVar

_SAMPLE_ROWS = 200
"""Rows by which leading columns are judged."""
_MAX_LABELS = 4
"""Most leading columns of labels: year, quarter, region, shop."""
_FILLED = 0.9
"""Share of the rows without a label that have a cell in the next column, which tells them apart. Set by hand."""
_DITTO = frozenset(('"', "”", "″", "〃", "''", '-"-'))
C = TypeVar("C")


@dataclass(slots=True)
class WrittenOnce(Generic[C]):
    """Repeats labels in the rows of their group, as rows are read from top to bottom.

    columns: the leading columns whose labels are written once; own: the next column, which has a cell in every row
    """

    columns: range
    own: int
    _labels: dict[int, C] = field(default_factory=dict[int, C])

    def fill(self, row: list[C]) -> None:
        """Completes one row. A row without a cell of its own, such as an unnamed total, belongs to no group."""
        belongs = self.own < len(row) and not is_blank(row[self.own])
        for column in self.columns[: len(row)]:
            if not is_blank(row[column]):
                self._labels = {place: label for place, label in self._labels.items() if place < column}
                self._labels[column] = row[column]
            elif belongs and column in self._labels:
                row[column] = self._labels[column]

    def note(self, names: Sequence[str]) -> str:
        """Returns a warning that says which columns are completed."""
        labels = ", ".join(repr(names[column]) for column in self.columns)
        return f"labels of {labels} are written once for several rows and were repeated in each of them"


def written_once(rows: Sequence[Sequence[C]], is_figure: Callable[[C], bool]) -> WrittenOnce[C] | None:
    """Returns what repeats the labels of a table's rows, header excluded; None if each row has labels of its own.

    Labels are written once if most of them have several rows, none recurs (under the label before it), and the next
    column is filled throughout. A column where single cells are missing is left alone. is_figure: whether a cell holds
    an amount rather than a label.
    """
    rows = rows[:_SAMPLE_ROWS]
    width = len(rows[0]) if rows else 0
    starts: list[int] = []
    stop = 0
    while stop < min(_MAX_LABELS, width - 1):
        groups = _groups(rows, stop, starts)
        if groups is None or any(is_figure(rows[start][stop]) for start in groups):
            break
        starts, stop = groups, stop + 1
    unlabelled = [row for row in rows if stop and all(map(is_blank, row[:stop]))]
    if sum(not is_blank(row[stop]) for row in unlabelled) < _FILLED * len(unlabelled):
        return None
    return WrittenOnce(range(stop), stop) if unlabelled else None


def is_blank(cell: object) -> bool:
    """Whether a cell is empty, or a mark that means “as above”."""
    return cell is None or (isinstance(cell, str) and (not cell.strip() or cell.strip() in _DITTO))


def _groups(rows: Sequence[Sequence[C]], column: int, outer: Sequence[int]) -> list[int] | None:
    """Returns the rows at which the labels of a column begin; None if the column is not written once.

    outer: where the groups of the column before it begin; a label may recur in another of them
    """
    starts = [number for number, row in enumerate(rows) if not is_blank(row[column])]
    alone = {start for start, end in pairwise((*outer, len(rows))) if end == start + 1}  # such as a total
    if len(starts) < 2 or starts[0] != 0 or not set(outer) - alone <= set(starts):
        return None
    sizes = [end - start for start, end in pairwise((*starts, len(rows)))]
    if sum(size > 1 for size in sizes) * 2 < len(sizes):
        return None
    seen: set[object] = set()
    begins = set(outer)
    for start in starts:
        seen = set() if start in begins else seen
        if rows[start][column] in seen:
            return None
        seen.add(rows[start][column])
    return starts
