"""Rejects ODS files that would keep their reader busy forever: truncated XML, and repeats that span too many cells."""

from __future__ import annotations

from xml.parsers import expat

from citewell.errors import CorruptFile, LimitExceeded
from citewell.extract.core.safezip import SafeZip

_CONTENT = "content.xml"
_OFFICE = "urn:oasis:names:tc:opendocument:xmlns:office:1.0"
_TABLE = "urn:oasis:names:tc:opendocument:xmlns:table:1.0"
_PARAGRAPH = "urn:oasis:names:tc:opendocument:xmlns:text:1.0 p"
_CELLS = {f"{_TABLE} table-cell", f"{_TABLE} covered-table-cell"}


def check_ods(container: SafeZip, most_cells: int) -> None:
    """Raises `CorruptFile` or `LimitExceeded` for a spreadsheet that must not be opened; other containers pass."""
    if _CONTENT not in container:
        return
    reach = _Reach(most_cells)
    parser = expat.ParserCreate(namespace_separator=" ")
    parser.StartElementHandler = reach.start
    parser.EndElementHandler = reach.end
    parser.StartDoctypeDeclHandler = reach.doctype
    try:
        for piece in container.pieces(_CONTENT):
            parser.Parse(piece)
        parser.Parse(b"", True)
    except expat.ExpatError as error:
        raise CorruptFile("The spreadsheet's XML is damaged.") from error


class _Reach:
    """Tracks the extent of the filled cells of each table, including repeats."""

    def __init__(self, most_cells: int) -> None:
        self._most = most_cells
        self._row = self._column = self._width = self._repeat = 0
        self._filled = False

    def start(self, name: str, attributes: dict[str, str]) -> None:
        if name in _CELLS:
            self._column += _count(attributes.get(f"{_TABLE} number-columns-repeated"))
            if f"{_OFFICE} value-type" in attributes:
                self._fill()
        elif name == _PARAGRAPH:
            self._fill()
        elif name == f"{_TABLE} table-row":
            self._repeat = _count(attributes.get(f"{_TABLE} number-rows-repeated"))
            self._column, self._filled = 0, False
        elif name == f"{_TABLE} table":
            self._row = self._column = self._width = 0

    def end(self, name: str) -> None:
        if name == f"{_TABLE} table-row":
            self._row += self._repeat
            if self._filled and self._row * self._width > self._most:
                raise LimitExceeded(
                    f"A sheet spans {self._row:,} rows and {self._width:,} columns, which exceeds the limit."
                )

    def doctype(self, *_: object) -> None:
        raise CorruptFile("The spreadsheet contains a document type declaration, which its format forbids.")

    def _fill(self) -> None:
        self._filled = True
        self._width = max(self._width, self._column)


def _count(value: str | None) -> int:
    """Returns a repeat count; a value that is not a number counts once, as in the spreadsheet reader."""
    return int(value) if value and value.isascii() and value.isdigit() and len(value) < 12 else 1
