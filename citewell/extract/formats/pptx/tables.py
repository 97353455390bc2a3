"""PowerPoint tables: cells with their spans."""

from __future__ import annotations

from collections.abc import Callable

from citewell.extract.core.cells import Cell, Table, build_table
from citewell.extract.core.safexml import XmlElement, local_name
from citewell.extract.formats.ooxml.package import attribute, child

_ON = ("1", "true")


def read_table(table: XmlElement, read_cell: Callable[[XmlElement], str]) -> Table | None:
    """Reads an `a:tbl`, in which each merged cell is present in the XML; None if it is empty."""
    cells: list[Cell] = []
    rows = [row for row in table if local_name(row) == "tr"]
    for number, row in enumerate(rows):
        for column, cell in enumerate(inner for inner in row if local_name(inner) == "tc"):
            if attribute(cell, "hMerge") in _ON or attribute(cell, "vMerge") in _ON:
                continue
            cells.append(Cell(number, column, read_cell(cell), _span(cell, "rowSpan"), _span(cell, "gridSpan")))
    if not any(cell.text for cell in cells):
        return None
    properties = child(table, "tblPr")
    first_row = properties is not None and attribute(properties, "firstRow") in _ON
    return build_table(cells, 1 if first_row and len(rows) > 1 else None)


def _span(cell: XmlElement, name: str) -> int:
    text = attribute(cell, name) or "1"
    return max(1, min(int(text), 1_000)) if text.isdigit() and len(text) < 7 else 1
