"""OpenDocument tables in texts, slides and charts."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from citewell.extract.core.cells import Cell, Table, build_table
from citewell.extract.core.safexml import XmlElement, local_name
from citewell.extract.formats.opendocument.package import attribute

_GROUPS = frozenset(("table-rows", "table-row-group", "table-header-rows"))
_MAX_REPEAT = 1_000


def read_table(table: XmlElement, read_cell: Callable[[XmlElement], str]) -> Table | None:
    """Reads the table with its spans; None if it is empty. Repeated empty rows and cells at the end are dropped."""
    cells: list[Cell] = []
    header_rows = 0
    number = 0
    for row, is_header in _rows(table):
        column = 0
        header_rows += is_header and header_rows == number
        for cell in row:
            if local_name(cell) not in ("table-cell", "covered-table-cell"):
                continue
            repeat = min(_count(cell, "number-columns-repeated"), _MAX_REPEAT)
            if local_name(cell) == "table-cell":
                text = read_cell(cell)
                rows, columns = _count(cell, "number-rows-spanned"), _count(cell, "number-columns-spanned")
                count = repeat if text else 0
                cells += [Cell(number, column + i, text, rows, columns) for i in range(count)]
            column += repeat
        number += min(_count(row, "number-rows-repeated"), _MAX_REPEAT)
    if not cells:
        return None
    height = max(cell.row for cell in cells) + 1
    return build_table(cells, header_rows if 0 < header_rows < height else int(height > 1))


def _rows(element: XmlElement, header: bool = False) -> Iterator[tuple[XmlElement, bool]]:
    for inner in element:
        name = local_name(inner)
        if name == "table-row":
            yield inner, header
        elif name in _GROUPS:
            yield from _rows(inner, header or name == "table-header-rows")


def _count(element: XmlElement, name: str) -> int:
    text = attribute(element, name) or "1"
    return max(1, min(int(text), 1_000_000)) if text.isdigit() and len(text) < 9 else 1
