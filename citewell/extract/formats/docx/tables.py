"""Word tables: cells with their spans, tracked changes accepted."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from citewell.extract.core.cells import Cell, Table, build_table
from citewell.extract.core.safexml import XmlElement, local_name
from citewell.extract.formats.ooxml.package import attribute, child, is_on, value

_TRANSPARENT = frozenset(("sdt", "sdtContent", "customXml", "ins", "moveTo", "smartTag"))
_MAX_SPAN = 1_000


def read_table(table: XmlElement, read_cell: Callable[[XmlElement], str]) -> Table | None:
    """Reads a table, with the text that `read_cell` returns for each `w:tc`; None if it is empty or too large.

    A vertically merged cell (`vMerge`) is one cell of several rows. Header rows are those marked to repeat on each
    page, or the first row if the table's style options ask for one.
    """
    cells: list[Cell] = []
    open_merges: dict[int, int] = {}
    repeated = 0
    height = 0
    for row in _rows(table):
        if repeated == height and is_on(row, "trPr", "tblHeader"):
            repeated += 1
        column = _number(value(row, "trPr", "gridBefore"), 0)
        for cell in own(row, "tc"):
            column = _place(cell, height, column, cells, open_merges, read_cell)
        height += 1
    if not any(cell.text for cell in cells):
        return None
    header_rows = repeated if 0 < repeated < height else int(height > 1 and _first_row_is_header(table))
    return build_table(cells, header_rows or None)


def own(element: XmlElement, name: str) -> Iterator[XmlElement]:
    """Yields children of this name, through content controls and accepted insertions."""
    for inner in element:
        if local_name(inner) == name:
            yield inner
        elif local_name(inner) in _TRANSPARENT:
            yield from own(inner, name)


def is_layout(table: XmlElement) -> bool:
    """Whether a table has a single cell, which is a frame around text."""
    rows = list(_rows(table))
    return sum(1 for row in rows for _ in own(row, "tc")) < 2


def _place(
    cell: XmlElement,
    row: int,
    column: int,
    cells: list[Cell],
    open_merges: dict[int, int],
    read_cell: Callable[[XmlElement], str],
) -> int:
    """Adds one `w:tc`, or extends the cell it continues; returns the next free column."""
    properties = child(cell, "tcPr")
    width = max(1, min(_number(value(properties, "gridSpan"), 1), _MAX_SPAN))
    merge = child(properties, "vMerge")
    text = read_cell(cell)
    if (
        child(properties, "hMerge") is not None
        and value(properties, "hMerge") != "restart"
        and cells
        and cells[-1].row == row
    ):
        last = cells[-1]
        cells[-1] = Cell(last.row, last.column, _joined(last.text, text), last.rowspan, last.colspan + width)
    elif merge is not None and attribute(merge, "val") != "restart" and column in open_merges:
        index = open_merges[column]
        above = cells[index]
        cells[index] = Cell(above.row, above.column, _joined(above.text, text), row - above.row + 1, above.colspan)
    else:
        if merge is not None:
            open_merges[column] = len(cells)
        else:
            open_merges.pop(column, None)
        cells.append(Cell(row, column, text, 1, width))
    return column + width


def _rows(table: XmlElement) -> Iterator[XmlElement]:
    """Yields rows that are not deleted."""
    return (row for row in own(table, "tr") if child(row, "trPr", "del") is None)


def _first_row_is_header(table: XmlElement) -> bool:
    look = child(table, "tblPr", "tblLook")
    if look is None:
        return True
    flag = attribute(look, "firstRow")
    if flag is not None:
        return flag in ("1", "true", "on")
    bits = attribute(look, "val") or ""
    return bool(int(bits, 16) & 0x0020) if bits and all(c in "0123456789abcdefABCDEF" for c in bits) else True


def _joined(first: str, second: str) -> str:
    return "\n".join(part for part in (first, second) if part)


def _number(text: str | None, default: int) -> int:
    return int(text) if text is not None and text.isdigit() and len(text) < 7 else default
