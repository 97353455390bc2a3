"""A found table as the element's grid, HTML and Markdown, with a rectangle per row."""

from __future__ import annotations

from citewell.extract.pdf.tables.model import FoundTable, bounds, cell_text
from citewell.extract.pdf.turn import Turn
from citewell.extract.tables import Cell, Table, build_table
from citewell.types import Box


def to_table(found: FoundTable, page_text: str = "") -> Table | None:
    """The table with the text of its cells, those on later pages included; None when none has any."""
    cells = _cells(found, 0, 0, page_text)
    height = found.height
    for part in found.more:
        cells += _cells(part.table, part.dropped, height, page_text)
        height += part.table.height - part.dropped
    if not any(cell.text for cell in cells):
        return None
    return build_table(cells, found.header_rows)


def _cells(found: FoundTable, dropped: int, offset: int, page_text: str) -> list[Cell]:
    return [
        Cell(cell.row - dropped + offset, cell.column, cell_text(cell.words, page_text), cell.rowspan, cell.colspan)
        for cell in found.cells
        if cell.row >= dropped
    ]


def row_spans(found: FoundTable, table: Table, page: int, turn: Turn) -> tuple[tuple[int, ...], tuple[Box, ...]]:
    """Offset in the Markdown at which each row begins, and the row's place on its page; rows without text have none."""
    rows = _row_boxes(found, 0, page, turn)
    for part in found.more:
        rows += _row_boxes(part.table, part.dropped, part.page, part.turn)
    starts: list[int] = []
    boxes: list[Box] = []
    offset = 0
    for number, line in enumerate(table.markdown.split("\n")):
        row = number if number == 0 else number - 1
        box = rows[row] if number != 1 and row < len(rows) else None
        if box is not None:
            starts.append(offset)
            boxes.append(box)
        offset += len(line) + 1
    return tuple(starts), tuple(boxes)


def _row_boxes(found: FoundTable, dropped: int, page: int, turn: Turn) -> list[Box | None]:
    boxes: list[Box | None] = []
    for row in range(dropped, found.height):
        words = [word for cell in found.cells if cell.row == row for word in cell.words]
        rect = turn.shown(bounds(words)) if words else None
        boxes.append(Box(page, rect.x0, rect.y0, rect.x1, rect.y1) if rect else None)
    return boxes
