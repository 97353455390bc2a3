"""Number formats of XLS cells: formats, styles and cells of its records ([MS-XLS] 2.4)."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping
from pathlib import Path

from citewell.extract.core.compound import CompoundFile
from citewell.extract.formats.tabular.number_formats import NumberFormat, formats_of_codes
from citewell.extract.formats.tabular.shown_formats import ShownFormats

_BEGIN, _END, _SHEET, _FORMAT, _STYLE = 0x0809, 0x000A, 0x0085, 0x041E, 0x00E0
_CELLS = frozenset({0x0203, 0x027E, 0x0006})
"""Records of one cell: a number, a number in four bytes, a formula."""
_MANY_CELLS = 0x00BD
_VERSION = 0x0600
"""Excel 97 and later; earlier versions have other records."""
_PLACE = struct.Struct("<HHH")


def xls_formats(path: Path) -> dict[str, ShownFormats]:
    """Returns formats by sheet name; none for a file before Excel 97. Raises `CorruptFile` or `LimitExceeded` if the
    container cannot be read.
    """
    with CompoundFile(path) as compound:
        data = compound.read("Workbook") or b""
    if len(data) < 6 or struct.unpack_from("<HHH", data)[::2] != (_BEGIN, _VERSION):
        return {}
    codes: dict[int, str] = {}
    used: list[int] = []
    sheets: dict[str, int] = {}
    for kind, record in _records(data, 0):
        if kind == _FORMAT and len(record) > 5:
            codes[_short(record, 0)] = _text(record, 4, _short(record, 2))
        elif kind == _STYLE and len(record) > 3:
            used.append(_short(record, 2))
        elif kind == _SHEET and len(record) > 8:
            sheets[_text(record, 7, record[6])] = int.from_bytes(record[:4], "little")
    styles = formats_of_codes(codes, used)
    return {name: _sheet(data, start, styles) for name, start in sheets.items()} if styles else {}


def _sheet(data: bytes, start: int, styles: Mapping[int, NumberFormat]) -> ShownFormats:
    shown = ShownFormats()
    for kind, record in _records(data, start):
        if kind in _CELLS and len(record) >= _PLACE.size:
            row, column, style = _PLACE.unpack_from(record)
            if style in styles:
                shown.add(row, column, styles[style])
        elif kind == _MANY_CELLS and len(record) >= _PLACE.size:
            row, first, _ = _PLACE.unpack_from(record)
            for place in range((len(record) - _PLACE.size) // 6):
                style = _short(record, 4 + 6 * place)
                if style in styles:
                    shown.add(row, first + place, styles[style])
    return shown


def _records(data: bytes, start: int) -> Iterator[tuple[int, bytes]]:
    """Yields the records of the substream that begins at `start`, without those of charts inside it."""
    at, depth = start, 0
    while at + 4 <= len(data):
        kind, length = struct.unpack_from("<HH", data, at)
        depth += (kind == _BEGIN) - (kind == _END)
        if depth == 1:
            yield kind, data[at + 4 : at + 4 + length]
        if depth <= 0:
            return
        at += 4 + length


def _text(record: bytes, at: int, length: int) -> str:
    """Returns characters after a flags byte, whose lowest bit says that they take two bytes each."""
    wide = record[at] & 1
    raw = record[at + 1 : at + 1 + length * (1 + wide)]
    return raw.decode("utf-16-le" if wide else "latin-1", "replace")


def _short(record: bytes, at: int) -> int:
    return int.from_bytes(record[at : at + 2], "little")
