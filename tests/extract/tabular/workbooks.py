"""Workbooks that the tests write: XLSX through a library, ODS and XLSB by hand."""

from __future__ import annotations

import struct
import zipfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from xml.sax.saxutils import escape

import xlsxwriter

Fill = Callable[[xlsxwriter.Workbook], None]
_OFFICE = "urn:oasis:names:tc:opendocument:xmlns"


def xlsx(path: Path, fill: Fill) -> Path:
    """A workbook that `fill` writes into."""
    workbook = xlsxwriter.Workbook(str(path))
    fill(workbook)
    workbook.close()
    return path


def sheet_of(path: Path, cells: Mapping[str, object], name: str = "Data") -> Path:
    """A workbook of one sheet with values by cell (`B7`)."""

    def fill(workbook: xlsxwriter.Workbook) -> None:
        sheet = workbook.add_worksheet(name)
        for cell, value in cells.items():
            sheet.write(cell, value)

    return xlsx(path, fill)


def grid(rows: Sequence[Sequence[object]], top: int = 1, left: str = "A") -> dict[str, object]:
    """Cells of rows whose first one stands at `left` and `top`."""
    return {
        f"{chr(ord(left) + c)}{top + r}": value
        for r, row in enumerate(rows)
        for c, value in enumerate(row)
        if value is not None
    }


def ods(path: Path, rows: Sequence[Sequence[str | float]]) -> Path:
    """A minimal OpenDocument sheet called `Sheet1`."""
    body = "".join(f"<table:table-row>{''.join(map(_ods_cell, row))}</table:table-row>" for row in rows)
    spaces = " ".join(f'xmlns:{name}="{_OFFICE}:{name}:1.0"' for name in ("office", "table", "text"))
    content = (
        f'<?xml version="1.0" encoding="UTF-8"?><office:document-content {spaces}><office:body><office:spreadsheet>'
        f'<table:table table:name="Sheet1">{body}</table:table></office:spreadsheet></office:body></office:document-content>'
    )
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("mimetype", "application/vnd.oasis.opendocument.spreadsheet", zipfile.ZIP_STORED)
        file.writestr("content.xml", content)
        file.writestr(
            "META-INF/manifest.xml",
            '<manifest:manifest xmlns:manifest="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0"/>',
        )
    return path


def _ods_cell(value: str | float) -> str:
    if isinstance(value, str):
        return f'<table:table-cell office:value-type="string"><text:p>{escape(value)}</text:p></table:table-cell>'
    return f'<table:table-cell office:value-type="float" office:value="{value}"><text:p>{value}</text:p></table:table-cell>'


def xlsb(path: Path, rows: Sequence[Sequence[str | float]], early: bool = False, codes: Sequence[str] = ()) -> Path:
    """A binary workbook of one sheet, as [MS-XLSB] describes it; `early` writes sheet records as the first writers did.

    codes: the format codes of the columns' numbers; empty for none
    """
    relationships = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    package = "http://schemas.openxmlformats.org/package/2006"
    bundle = (
        struct.pack("<I", 0) + (b"\0\0\0\0" if early else b"") + struct.pack("<I", 1) + _wide("rId1") + _wide("Data")
    )
    workbook = [(131, b""), (143, b""), (156, bundle), (144, b""), (132, b"")]
    sheet: list[tuple[int, bytes]] = [
        (129, b""),
        (148, struct.pack("<4I", 0, len(rows) - 1, 0, len(rows[0]) - 1)),
        (145, b""),
    ]
    for r, row in enumerate(rows):
        sheet.append((0, struct.pack("<IIH", r, 0, 300) + b"\0" * 15))
        for c, value in enumerate(row):
            place = struct.pack("<II", c, 0 if isinstance(value, str) or not codes else c)
            sheet.append((6, place + _wide(value)) if isinstance(value, str) else (5, place + struct.pack("<d", value)))
    sheet += [(146, b""), (130, b"")]
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr(
            "[Content_Types].xml",
            f'<Types xmlns="{package}/content-types"><Default Extension="bin" '
            'ContentType="application/vnd.ms-excel.sheet.binary.macroEnabled.main"/></Types>',
        )
        file.writestr("xl/workbook.bin", _records(workbook))
        file.writestr("xl/worksheets/sheet1.bin", _records(sheet))
        file.writestr("xl/styles.bin", _records(_styles(codes)))
        file.writestr(
            "xl/_rels/workbook.bin.rels",
            f'<Relationships xmlns="{package}/relationships"><Relationship Id="rId1" Type="{relationships}/worksheet" '
            f'Target="worksheets/sheet1.bin"/><Relationship Id="rId2" Type="{relationships}/styles" Target="styles.bin"/></Relationships>',
        )
    return path


def _styles(codes: Sequence[str]) -> list[tuple[int, bytes]]:
    formats = [(44, struct.pack("<H", 164 + n) + _wide(code)) for n, code in enumerate(codes)]
    used = [(47, struct.pack("<HH", 0, 164 + n if code else 0) + b"\0" * 12) for n, code in enumerate(codes)]
    count = struct.pack("<I", len(codes))
    return [(278, b""), (615, count), *formats, (616, b""), (617, count), *used, (618, b""), (279, b"")]


def _wide(text: str) -> bytes:
    """A counted text of XLSB's records."""
    return struct.pack("<I", len(text)) + text.encode("utf-16-le")


def _records(records: Sequence[tuple[int, bytes]]) -> bytes:
    return b"".join(_number(kind) + _number(len(data)) + data for kind, data in records)


def _number(value: int) -> bytes:
    out = b""
    while True:
        value, low = value >> 7, value & 0x7F
        out += bytes([low | (0x80 if value else 0)])
        if not value:
            return out
