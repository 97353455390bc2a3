"""Tables of RTF and Word 97, which define rows by the right edges of cells; columns are derived from the edges."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass, field

from citewell.extract.core.cells import Cell, Table, build_table

_TOLERANCE = 40  # twips by which edges of the same column may differ


@dataclass(slots=True)
class RowFormat:
    """A row's definition: the right edge of each cell in twips, and its merge marks."""

    edges: list[int] = field(default_factory=list[int])
    continues_above: list[bool] = field(default_factory=list[bool])
    continues_left: list[bool] = field(default_factory=list[bool])
    header: bool = False
    _above: bool = False
    _left: bool = False

    def mark(self, word: str) -> None:
        """Adds a merge mark to the cell that the next edge closes."""
        self._above = self._above or word == "clvmrg"
        self._left = self._left or word == "clmrg"

    def add_edge(self, edge: int) -> None:
        """Closes a cell's definition."""
        self.edges.append(edge)
        self.continues_above.append(self._above)
        self.continues_left.append(self._left)
        self._above = self._left = False


@dataclass(frozen=True, slots=True)
class Row:
    """The texts of a row's cells, with its definition."""

    texts: list[str]
    format: RowFormat


def read_table(rows: list[Row]) -> Table | None:
    """Builds the table from its rows; None if it has no text."""
    if not any(text for row in rows for text in row.texts):
        return None
    columns = _columns(rows)
    cells: list[Cell] = []
    last_at: dict[int, int] = {}
    for number, row in enumerate(rows):
        left = 0
        for index, text in enumerate(row.texts):
            right = _column(columns, row, index, left)
            if _flag(row.format.continues_left, index) and cells and cells[-1].row == number:
                cells[-1] = _grown(cells[-1], text, columns=right - left)
            elif _flag(row.format.continues_above, index) and left in last_at:
                at = last_at[left]
                cells[at] = _grown(cells[at], text, rows=number - cells[at].row + 1 - cells[at].rowspan)
            else:
                last_at[left] = len(cells)
                cells.append(Cell(number, left, text, 1, right - left))
            left = right
    headers = next((i for i, row in enumerate(rows) if not row.format.header), 0)
    return build_table(cells, headers or int(len(rows) > 1))


def _columns(rows: list[Row]) -> list[int]:
    """Returns the right edges of all columns; edges within the tolerance are one column."""
    out: list[int] = []
    for edge in sorted({edge for row in rows for edge in row.format.edges}):
        if not out or edge - out[-1] > _TOLERANCE:
            out.append(edge)
    return out


def _column(columns: list[int], row: Row, index: int, left: int) -> int:
    """Returns the column after the cell: from its edge, or the next one if the row has more cells than edges."""
    if index >= len(row.format.edges):
        return left + 1
    return max(left + 1, bisect_left(columns, row.format.edges[index] - _TOLERANCE) + 1)


def _flag(flags: list[bool], index: int) -> bool:
    return index < len(flags) and flags[index]


def _grown(cell: Cell, text: str, rows: int = 0, columns: int = 0) -> Cell:
    joined = "\n".join(part for part in (cell.text, text) if part)
    return Cell(cell.row, cell.column, joined, cell.rowspan + rows, cell.colspan + columns)
