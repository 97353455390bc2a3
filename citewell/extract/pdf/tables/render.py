"""A found table as the element's grid, HTML and Markdown, with a rectangle per row."""

from __future__ import annotations

from citewell.extract.pdf.geometry import Rect
from citewell.extract.pdf.tables.model import FoundTable, bounds, cell_text
from citewell.extract.tables import Cell, Table, build_table


def to_table(found: FoundTable, page_text: str = "") -> Table | None:
    """The table with the text of its cells; None when none has any."""
    cells = [
        Cell(cell.row, cell.column, cell_text(cell.words, page_text), cell.rowspan, cell.colspan)
        for cell in found.cells
    ]
    if not any(cell.text for cell in cells):
        return None
    return build_table(cells, found.header_rows)


def row_spans(found: FoundTable, table: Table) -> tuple[tuple[int, ...], list[Rect]]:
    """Offset in the Markdown at which each row begins, and the row's rectangle; rows without text have none."""
    words_by_row = [[w for cell in found.cells if cell.row == row for w in cell.words] for row in range(found.height)]
    starts: list[int] = []
    rects: list[Rect] = []
    offset = 0
    for number, line in enumerate(table.markdown.split("\n")):
        row = number if number == 0 else number - 1
        if number != 1 and row < len(words_by_row) and words_by_row[row]:
            starts.append(offset)
            rects.append(bounds(words_by_row[row]))
        offset += len(line) + 1
    return tuple(starts), rects
