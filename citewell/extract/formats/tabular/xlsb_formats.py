"""Number formats of XLSB cells: formats, styles and cells of its records ([MS-XLSB] 2.4)."""

from __future__ import annotations

import struct
from collections.abc import Mapping
from pathlib import Path

from citewell.extract.formats.ooxml.package import OfficePackage
from citewell.extract.formats.tabular.number_formats import NumberFormat, formats_of_codes
from citewell.extract.formats.tabular.shown_formats import ShownFormats
from citewell.extract.formats.tabular.xlsb_repair import SHEET_RECORD, WORKBOOK, records, regular
from citewell.types import ExtractOptions

_ROW, _FORMAT, _STYLE, _STYLES_BEGIN, _STYLES_END = 0, 44, 47, 617, 618
_CELLS = frozenset({2, 5, 9})
"""Records of numeric cells: four bytes, eight bytes, formula result."""


def xlsb_formats(path: Path, options: ExtractOptions) -> dict[str, ShownFormats]:
    """Returns formats by sheet name. Raises `CorruptFile` or `LimitExceeded` if the package cannot be read."""
    with OfficePackage(path, options) as package:
        main = package.main_part((WORKBOOK,))
        part = next(iter(package.related(main, "styles")), None)
        styles = _styles(package.read(part)) if part is not None and part in package else {}
        if not styles:
            return {}
        found: dict[str, ShownFormats] = {}
        relationships = package.relationships(main)
        for kind, record in records(package.read(main)):
            if kind == SHEET_RECORD:
                link, at = _text(regular(kind, record), 8)
                name, _ = _text(regular(kind, record), at)
                sheet = relationships.get(link)
                if sheet is not None and sheet.target in package:
                    found[name] = _sheet(package.read(sheet.target), styles)
        return found


def _styles(data: bytes) -> dict[int, NumberFormat]:
    codes: dict[int, str] = {}
    used: list[int] = []
    of_cells = False
    for kind, record in records(data):
        if kind == _FORMAT:
            codes[int.from_bytes(record[:2], "little")] = _text(record, 2)[0]
        elif kind in (_STYLES_BEGIN, _STYLES_END):
            of_cells = kind == _STYLES_BEGIN
        elif kind == _STYLE and of_cells:
            used.append(int.from_bytes(record[2:4], "little"))
    return formats_of_codes(codes, used)


def _sheet(data: bytes, styles: Mapping[int, NumberFormat]) -> ShownFormats:
    shown, row = ShownFormats(), 0
    for kind, record in records(data):
        if kind == _ROW:
            row = int.from_bytes(record[:4], "little")
        elif kind in _CELLS and len(record) >= 8:
            column, style = struct.unpack_from("<II", record)
            if (known := styles.get(style & 0xFFFFFF)) is not None:
                shown.add(row, column, known)
    return shown


def _text(record: bytes, at: int) -> tuple[str, int]:
    """Returns a counted UTF-16 text, and where it ends."""
    end = at + 4 + 2 * int.from_bytes(record[at : at + 4], "little")
    return record[at + 4 : end].decode("utf-16-le", "replace"), end
