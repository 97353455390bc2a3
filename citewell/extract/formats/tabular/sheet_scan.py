"""Facts in a worksheet's XML that its values lack: error cells, uncalculated formulas, extent, number formats."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from xml.sax.saxutils import unescape

from citewell.extract.formats.tabular.number_formats import NumberFormat
from citewell.extract.formats.tabular.shown_formats import ShownFormats

_OVERLAP = 4_096
"""Bytes shared by consecutive pieces of XML, so that no cell is cut."""
_MAX_ERRORS = 10_000
"""Error cells remembered per sheet."""
_ERROR_MARK = b't="e"'
_ERROR = re.compile(
    rb'<(?:\w+:)?c\b[^>]*?\br="([A-Z]{1,3})([0-9]{1,7})"[^>]*>(?:(?!</(?:\w+:)?c>).)*?<(?:\w+:)?v>([^<]{1,20})<',
    re.DOTALL,
)
_UNCALCULATED = re.compile(rb"</(?:\w+:)?f>\s*(?:<(?:\w+:)?v\s*/>|<(?:\w+:)?v></(?:\w+:)?v>)?\s*</(?:\w+:)?c>")
_RUNNING = re.compile(rb"<(?:\w+:)?(?:odd|even|first)(Header|Footer)(?: [^>]*)?>([^<]{1,4000})<")
_FAR = re.compile(rb'<(?:\w+:)?c r="([A-Z]{3}[0-9]{1,7}|[A-Z]{1,2}[0-9]{6,7})"[^>]*[^/>]>')


@dataclass(slots=True)
class SheetScan:
    """errors: (row, column) from 0 → error text such as `#DIV/0!`; last_row and last_column: of distant cells only,
    else 0; shown: formats with a unit; running: codes of the printed headers (True) and footers.
    """

    errors: dict[tuple[int, int], str] = field(default_factory=dict[tuple[int, int], str])
    uncalculated: int = 0
    last_row: int = 0
    last_column: int = 0
    shown: ShownFormats = field(default_factory=ShownFormats)
    running: dict[tuple[bool, str], None] = field(default_factory=dict[tuple[bool, str], None])

    @property
    def cells(self) -> int:
        """The number of cells that the sheet spans, as far as its distant cells show."""
        return (self.last_row + 1) * (self.last_column + 1)


def scan(pieces: Iterable[bytes], styles: Mapping[int, NumberFormat]) -> SheetScan:
    """Reads a worksheet part piece by piece; `styles` are those of the workbook whose numbers are shown with a unit."""
    found = SheetScan()
    styled = _styled(styles)
    kept = b""
    for piece in pieces:
        window = kept + piece
        cut = max(window.rfind(b"</c>") + 4, len(window) - _OVERLAP)
        _scan_window(window[:cut], found)
        _scan_styles(window[:cut], styled, styles, found.shown)
        kept = window[cut:]
    _scan_window(kept, found)
    _scan_styles(kept, styled, styles, found.shown)
    return found


_CODE = re.compile(r'&(?:"[^"]*"|K[0-9A-Fa-f]{6}|K[0-9]{2}[+-][0-9]{3}|[0-9]{1,3}|([&A-Za-z]))')
_SHOWN = {"&": "&", "P": "1", "N": "1", "L": "\n", "C": "\n", "R": "\n"}


def running_lines(code: str, sheet: str) -> list[str]:
    """Returns the texts of a printed header or footer (ECMA-376-1, 18.3.1.39), without dates, pictures and formats."""
    shown = {**_SHOWN, "A": sheet}
    text = _CODE.sub(lambda found: shown.get(found[1] or "", ""), code)
    return [folded for line in text.split("\n") if (folded := " ".join(line.split()))]


def cell_place(letters: str, number: str) -> tuple[int, int]:
    """Returns row and column from 0 of a cell such as `B7`."""
    column = 0
    for letter in letters:
        column = column * 26 + ord(letter) - 64
    return int(number) - 1, column - 1


def _scan_window(window: bytes, found: SheetScan) -> None:
    if _ERROR_MARK in window and len(found.errors) < _MAX_ERRORS:
        for mark in re.finditer(_ERROR_MARK, window):
            cell = _ERROR.match(window, window.rfind(b"<", 0, mark.start()))
            if cell:
                place = cell_place(cell[1].decode(), cell[2].decode())
                found.errors[place] = cell[3].decode("utf-8", "replace")
    if b"</f>" in window or b":f>" in window:
        found.uncalculated += len(_UNCALCULATED.findall(window))
    if b"eader" in window or b"ooter" in window:
        for code in _RUNNING.finditer(window):
            found.running[code[1] == b"Header", unescape(code[2].decode("utf-8", "replace"))] = None
    for far in _FAR.finditer(window):
        letters = far[1].rstrip(b"0123456789").decode()
        row, column = cell_place(letters, far[1][len(letters) :].decode())
        found.last_row, found.last_column = max(found.last_row, row), max(found.last_column, column)


def _styled(styles: Mapping[int, NumberFormat]) -> re.Pattern[bytes] | None:
    """Returns a pattern for the beginnings of cells with one of these styles: column, row and style."""
    if not styles:
        return None
    numbers = "|".join(map(str, styles))
    return re.compile(rf'<(?:\w+:)?c r="([A-Z]{{1,3}})([0-9]{{1,7}})"(?: t="\w{{1,9}}")? s="({numbers})"'.encode())


def _scan_styles(
    window: bytes, styled: re.Pattern[bytes] | None, styles: Mapping[int, NumberFormat], found: ShownFormats
) -> None:
    for cell in styled.finditer(window) if styled else ():
        row, column = cell_place(cell[1].decode(), cell[2].decode())
        found.add(row, column, styles[int(cell[3])])
