"""Table cells with their spans, as grid, HTML and Markdown."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from citewell.extract.core.header_rows import header_rows_of, is_amount
from citewell.extract.core.written_once import written_once

MAX_CELLS = 1_000_000
"""Largest table, in cells, kept as a grid."""
Grid = tuple[tuple[str, ...], ...]

_MAX_LABEL = 120
"""Characters of the longest label; a longer text in a merged cell, such as an address block, is written once. Set by hand."""
_MAX_REPEATED = 100_000
"""Characters that one merged cell may add to a table."""
_YEAR = re.compile(r"(?:19|20)\d\d$")
# An amount of money, perhaps followed by words, or just a number: three or more digits and separators, or a percentage.
_AMOUNT = re.compile(r"[~(+–−-]?\s?(?:[$€£¥]\s?\(?\d|[\d.,]{3,}\s?[%)]*$|\d{1,2}\s?%\)?$)")


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell: its first row and column (from 0) and how many of each it spans."""

    row: int
    column: int
    text: str
    rowspan: int = 1
    colspan: int = 1
    header: bool = False


@dataclass(frozen=True, slots=True)
class Table:
    """A table ready to emit. All rows of a grid have the same length.

    grid:    a merged label is in every cell that it covers; a merged figure, which counts once, only in the first
    written: the cells of the Markdown, in which merged figures are repeated, too, so that each line explains itself
    """

    grid: Grid
    written: Grid
    html: str
    markdown: str
    header_rows: int

    def line_of(self, row: int) -> int:
        """Returns the Markdown line of a row: the rule follows the first line, which may be an empty header."""
        added = self.markdown.count("\n") + 1 - len(self.grid)
        return 0 if row == 0 and added == 1 else row + added


class CellPlacer:
    """Assigns each cell the next free column of its row, as HTML does, and reserves the positions that spans cover."""

    def __init__(self) -> None:
        self.cells: list[Cell] = []
        self._row = -1
        self._column = 0
        self._taken: dict[int, set[int]] = {}

    def next_row(self) -> None:
        """Begins a row."""
        self._taken.pop(self._row, None)
        self._row += 1
        self._column = 0

    def skip(self, columns: int) -> None:
        """Leaves columns of the current row empty."""
        self._column += columns

    def add(self, text: str, rowspan: int = 1, colspan: int = 1, header: bool = False) -> None:
        """Places a cell in the current row."""
        taken = self._taken.get(self._row, set())
        while self._column in taken:
            self._column += 1
        self.cells.append(Cell(self._row, self._column, text, rowspan, colspan, header))
        for below in range(1, rowspan):
            self._taken.setdefault(self._row + below, set()).update(range(self._column, self._column + colspan))
        self._column += colspan


def build_table(cells: Sequence[Cell], header_rows: int | None = None) -> Table | None:
    """Builds a table from cells; None if there is no cell, or more than `MAX_CELLS`.

    header_rows: as the format marks them; without it, leading rows made up of header cells only, or else as the cells
                 show. Rows below that belong to the header by its merged cells are added.
    """
    if not cells:
        return None
    height = max(cell.row for cell in cells) + 1
    width = max(cell.column + cell.colspan for cell in cells)
    if height * width > MAX_CELLS:
        return None
    cells = [_clamped(cell, height) for cell in cells]
    rows = [[""] * width for _ in range(height)]
    for cell in cells:
        rows[cell.row][cell.column] = cell.text
    marked = (_leading_header_rows(cells, height) or None) if header_rows is None else header_rows
    count = header_rows_of(cells, rows, marked)
    html = to_html(cells, height, count)
    grid = _with_labels_repeated(cells, rows, count, figures=False)
    written = _with_labels_repeated(cells, rows, count, figures=True)
    return Table(grid, written, html, to_markdown(written, count), count)


def to_html(cells: Sequence[Cell], height: int, header_rows: int) -> str:
    """Returns a `<table>` with rowspan and colspan; all text is escaped."""
    by_row: list[list[Cell]] = [[] for _ in range(height)]
    for cell in cells:
        by_row[cell.row].append(cell)
    lines = ["<table>"]
    for number, row in enumerate(by_row):
        inner = "".join(
            _cell_html(cell, cell.header or number < header_rows) for cell in sorted(row, key=lambda c: c.column)
        )
        lines.append(f"<tr>{inner}</tr>")
    return "\n".join([*lines, "</table>"])


def to_markdown(grid: Grid, header_rows: int = 1) -> str:
    """Returns a pipe table. Markdown allows one header row: the first row; further header rows become body rows.

    If the first row holds amounts and is not a header, an empty header row is added above it.
    """
    if not grid:
        return ""
    if not header_rows and any(_AMOUNT.match(text) and not _YEAR.match(text) for text in grid[0][1:]):
        grid = (("",) * len(grid[0]), *grid)
    lines = ["| " + " | ".join(markdown_cell(text) for text in row) + " |" for row in grid]
    rule = "|" + " --- |" * len(grid[0])
    return "\n".join([lines[0], rule, *lines[1:]])


def _with_labels_repeated(
    cells: Sequence[Cell], rows: Sequence[Sequence[str]], header_rows: int, *, figures: bool
) -> Grid:
    """Returns the rows with merged cells, and labels written once for a group, in every row that they are for.

    A merged header cell is over each of its columns; so is a cell merged to the right of a row's label, but not the
    label itself, nor a line that fills the row. figures: whether amounts are repeated as well
    """
    out = [list(row) for row in rows]
    width = len(rows[0])
    merged = [cell for cell in cells if cell.text and (cell.rowspan > 1 or cell.colspan > 1)]
    for cell in merged:
        across = cell.colspan if cell.colspan < width and (cell.row < header_rows or cell.column) else 1
        area = cell.rowspan * across
        amount = cell.row >= header_rows and cell.column > 0 and is_amount(cell.text)
        if len(cell.text) > _MAX_LABEL or len(cell.text) * area > _MAX_REPEATED or (amount and not figures):
            continue
        for row in range(cell.row, cell.row + cell.rowspan):
            for column in range(cell.column, cell.column + across):
                out[row][column] = out[row][column] or cell.text
    once = written_once(out[header_rows:], is_amount) if header_rows else None
    if once is not None:
        for row in out[header_rows:]:
            once.fill(row)
    return tuple(map(tuple, out))


def _clamped(cell: Cell, height: int) -> Cell:
    rowspan = min(cell.rowspan, height - cell.row)
    return (
        cell if rowspan == cell.rowspan else Cell(cell.row, cell.column, cell.text, rowspan, cell.colspan, cell.header)
    )


def _leading_header_rows(cells: Sequence[Cell], height: int) -> int:
    plain = {cell.row for cell in cells if not cell.header}
    present = {cell.row for cell in cells}
    count = 0
    while count < height and count in present and count not in plain:
        count += 1
    return count if count < height else 0


def _cell_html(cell: Cell, header: bool) -> str:
    tag = "th" if header else "td"
    spans = (f' rowspan="{cell.rowspan}"' if cell.rowspan > 1 else "") + (
        f' colspan="{cell.colspan}"' if cell.colspan > 1 else ""
    )
    text = escape(cell.text, quote=False).replace("\n", "<br>")
    return f"<{tag}{spans}>{text}</{tag}>"


def markdown_cell(text: str) -> str:
    """Returns a cell's text as Markdown."""
    return " ".join(text.split()).replace("|", "\\|")
