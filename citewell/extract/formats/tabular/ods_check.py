"""Prepares ODS files for their reader, which truncated XML and repeats that span too many cells would keep busy forever,
and which leaves out cells without a value type.
"""

from __future__ import annotations

import zipfile
from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path
from xml.parsers import expat

from citewell.errors import CorruptFile, LimitExceeded
from citewell.extract.core.safezip import SafeZip
from citewell.types import ExtractOptions

_CONTENT = "content.xml"
_BESIDE = ("mimetype", "META-INF/manifest.xml")
"""What the reader wants besides the content."""
_MAX_BESIDE = 4 * 1024 * 1024
"""Bytes of each."""
_OFFICE = "urn:oasis:names:tc:opendocument:xmlns:office:1.0"
_TABLE = "urn:oasis:names:tc:opendocument:xmlns:table:1.0"
_PARAGRAPH = "urn:oasis:names:tc:opendocument:xmlns:text:1.0 p"
_CELLS = {f"{_TABLE} table-cell", f"{_TABLE} covered-table-cell"}
_TAGS = (b"<table:table-cell", b"<table:covered-table-cell")


def check_ods(container: SafeZip, most_cells: int) -> list[int]:
    """Returns where in `content.xml` cells with text but without a value type begin; empty for other containers.

    Raises `CorruptFile` or `LimitExceeded` for a spreadsheet that must not be opened.
    """
    if _CONTENT not in container:
        return []
    reach = _Reach(most_cells)
    parser = expat.ParserCreate(namespace_separator=" ")
    parser.StartElementHandler = reach.start
    parser.EndElementHandler = reach.end
    parser.StartDoctypeDeclHandler = reach.doctype
    reach.position = lambda: parser.CurrentByteIndex
    try:
        for piece in container.pieces(_CONTENT):
            parser.Parse(piece)
        parser.Parse(b"", True)
    except expat.ExpatError as error:
        raise CorruptFile("The spreadsheet's XML is damaged.") from error
    return reach.untyped


def write_typed(path: Path, untyped: Sequence[int], target: Path, options: ExtractOptions) -> None:
    """Writes a copy in which the cells at these places of `content.xml` hold text, as spreadsheet programs show them."""
    with SafeZip(path, options) as source, zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as copy:
        for part in _BESIDE:
            if part in source:
                copy.writestr(part, source.read(part, _MAX_BESIDE))
        content = b"".join(source.pieces(_CONTENT))
        with copy.open(_CONTENT, "w") as member:
            member.write(content[: untyped[0]])
            for start, end in pairwise([*untyped, len(content)]):
                tag = next((tag for tag in _TAGS if content.startswith(tag, start)), b"")
                member.write(tag + (b' office:value-type="string"' if tag else b""))
                member.write(content[start + len(tag) : end])


class _Reach:
    """Tracks the extent of the filled cells of each table, including repeats, and cells without a value type."""

    def __init__(self, most_cells: int) -> None:
        self._most = most_cells
        self._row = self._column = self._width = self._repeat = 0
        self._filled = False
        self._untyped: int | None = None
        self.untyped: list[int] = []
        self.position: Callable[[], int] = int

    def start(self, name: str, attributes: dict[str, str]) -> None:
        if name in _CELLS:
            self._column += _count(attributes.get(f"{_TABLE} number-columns-repeated"))
            typed = f"{_OFFICE} value-type" in attributes
            self._untyped = None if typed else self.position()
            if typed:
                self._fill()
        elif name == _PARAGRAPH:
            self._fill()
            if self._untyped is not None:
                self.untyped.append(self._untyped)
                self._untyped = None
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
