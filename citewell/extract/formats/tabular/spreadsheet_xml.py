"""XML Spreadsheet 2003, which programs save as .xml or .xls: its worksheets as the same tables that a workbook has.

Format: “XML Spreadsheet Reference”, Microsoft, 2003.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime, time
from pathlib import Path

from citewell.errors import LimitExceeded
from citewell.extract.core.decode import decode_bytes
from citewell.extract.core.safexml import (
    MAX_XML_BYTES,
    XmlElement,
    local_name,
    parse_xml,
    without_doctype,
    xml_encoding,
)
from citewell.extract.core.sink import Sink
from citewell.extract.formats.tabular.sheet import read_sheet
from citewell.extract.formats.tabular.sheet_rows import SheetRows
from citewell.extract.formats.tabular.sheet_scan import SheetScan
from citewell.extract.formats.tabular.values import Cell
from citewell.extract.formats.tabular.writer import DataFile
from citewell.types import ElementType, Locator

_MAX_CELLS = 30_000_000
_NAMESPACE = "{urn:schemas-microsoft-com:office:spreadsheet}"
_Place = tuple[int, int]


@dataclass(slots=True)
class XmlSheet:
    """A worksheet: its cells by row and column from 0, and merged ranges."""

    name: str
    rows: dict[int, dict[int, Cell]] = field(default_factory=dict[int, dict[int, Cell]])
    merged_cell_ranges: list[tuple[_Place, _Place]] = field(default_factory=list[tuple[_Place, _Place]])
    comments: list[tuple[int, str]] = field(default_factory=list[tuple[int, str]])

    @property
    def start(self) -> _Place | None:
        """The first row and column that rows are given from; None if no cell is filled."""
        return (0, 0) if self.rows else None

    @property
    def cells(self) -> int:
        """The number of cells that the sheet spans."""
        return (max(self.rows, default=-1) + 1) * self._width

    def iter_rows(self) -> Iterator[list[Cell]]:
        """Yields every row from the first, each as wide as the widest."""
        width = self._width
        for number in range(max(self.rows, default=-1) + 1):
            cells = self.rows.get(number, {})
            yield [cells.get(column) for column in range(width)]

    @property
    def _width(self) -> int:
        return max((column for row in self.rows.values() for column in row), default=-1) + 1


def extract(path: Path, sink: Sink) -> None:
    """Reads every worksheet in order. Raises `LimitExceeded` for a file that is too large."""
    if path.stat().st_size > MAX_XML_BYTES:
        raise LimitExceeded(f"The spreadsheet has more than {MAX_XML_BYTES:,} bytes. Save it as XLSX and upload that.")
    text, _ = without_doctype(decode_bytes(path.read_bytes(), xml_encoding(path)).text)
    root = parse_xml(_undeclared(text).encode("utf-8", "replace"), recover=True)
    worksheets = [element for element in root if local_name(element) == "Worksheet"]
    with DataFile(sink) as data:
        sink.metadata["sheet_names"] = [_attribute(element, "Name") for element in worksheets]
        for number, element in enumerate(worksheets, start=1):
            sheet = _sheet(element, number)
            sink.start_unit("sheet", number, sheet.name)
            sink.progress(number, len(worksheets))
            if any(local_name(option) == "Visible" for option in element.iterdescendants()):
                sink.warn("this sheet is hidden in the program")
            if sheet.cells > _MAX_CELLS:
                sink.skip(f"the sheet spans {sheet.cells:,} cells, which is too large")
                continue
            read_sheet(SheetRows(sheet, SheetScan()), [], data)
            for row, text in sheet.comments:
                sink.emit(ElementType.COMMENT, text, Locator(sheet=sheet.name, row=row + 1))


def _undeclared(text: str) -> str:
    """Returns the text without its XML declaration, whose encoding no longer holds."""
    text = text.lstrip("\ufeff \t\r\n")
    return text.partition("?>")[2] if text.startswith("<?xml") else text


def _sheet(element: XmlElement, number: int) -> XmlSheet:
    sheet = XmlSheet(_attribute(element, "Name") or f"Sheet{number}")
    table = next((inner for inner in element if local_name(inner) == "Table"), None)
    at = -1
    for row in table if table is not None else ():
        if local_name(row) == "Row":
            at = _index(row, at)
            _read_row(row, at, sheet)
            at += _count(row, "Span")
    return sheet


def _read_row(row: XmlElement, at: int, sheet: XmlSheet) -> None:
    column = -1
    for cell in row:
        if local_name(cell) != "Cell":
            continue
        column = _index(cell, column)
        across, down = _count(cell, "MergeAcross"), _count(cell, "MergeDown")
        if across or down:
            sheet.merged_cell_ranges.append(((at, column), (at + down, column + across)))
        for inner in cell:
            name = local_name(inner)
            if name == "Data" and (value := _value(inner)) is not None:
                sheet.rows.setdefault(at, {})[column] = value
            elif name == "Comment" and (text := " ".join("".join(inner.itertext()).split())):
                sheet.comments.append((at, text))
        column += across


def _value(data: XmlElement) -> Cell:
    text = "".join(data.itertext())
    kind = _attribute(data, "Type")
    try:
        if kind == "Number":
            return float(text) if any(mark in text for mark in ".eE") else int(text)
        if kind == "DateTime":
            moment = datetime.fromisoformat(text)
            return moment.date() if moment.time() == time() else moment
    except ValueError:
        return text
    return text.strip() in ("1", "true") if kind == "Boolean" else text


def _index(element: XmlElement, before: int) -> int:
    """Returns a row's or cell's index from 0: the one it states (from 1), or the next."""
    stated = _count(element, "Index")
    return stated - 1 if stated else before + 1


def _count(element: XmlElement, name: str) -> int:
    text = _attribute(element, name)
    return int(text) if text.isascii() and text.isdigit() and len(text) < 8 else 0


def _attribute(element: XmlElement, name: str) -> str:
    return element.get(_NAMESPACE + name) or element.get(name) or ""
