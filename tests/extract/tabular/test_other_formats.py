"""Number formats of ODS, XLS and XLSB: percentages, amounts and decimals are read as the program shows them."""

from __future__ import annotations

import struct
import zipfile
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

import pytest

from citewell.errors import CorruptFile, LimitExceeded
from citewell.extract.formats.tabular.xls_formats import xls_formats
from citewell.types import ElementType
from tests.extract.documents.compound import compound_file
from tests.extract.documents.reading import read
from tests.extract.tabular.tables import column, copied, rows
from tests.extract.tabular.workbooks import ods, xlsb

HEADER = ("Item", "Share", "Revenue", "Price", "Plain")
VALUES = (("Desk", 0.245, 1234.5, 92.0, 3.0), ("Chair", 0.5, 98000.0, 48.5, 4.25))
CODES = ("", "0.0%", '#,##0.00\\ "€"', "0.00", "")
Cells = Sequence[Sequence[str | float]]


def shown_ods(path: Path, table: Cells) -> Path:
    """Styles as LibreOffice writes them: of cells, of a column, and a style that is based on another."""
    styles = (
        '<number:percentage-style style:name="N1"><number:number number:decimal-places="1"/><number:text>%</number:text>'
        '</number:percentage-style><number:currency-style style:name="N2"><number:number number:decimal-places="2" '
        'number:grouping="true"/><number:text> </number:text><number:currency-symbol>€</number:currency-symbol>'
        '</number:currency-style><number:number-style style:name="N3"><number:number number:decimal-places="2"/>'
        '</number:number-style><style:style style:name="ce1" style:data-style-name="N1"/><style:style style:name="ce2" '
        'style:data-style-name="N2"/><style:style style:name="ce3" style:data-style-name="N3"/>'
        '<style:style style:name="ce4" style:parent-style-name="ce3"/>'
    )
    ods(path, table)
    with zipfile.ZipFile(path) as file:
        members = {name: file.read(name).decode() for name in file.namelist()}
    content = members["content.xml"]
    spaces = 'xmlns:style="urn:oasis:names:tc:opendocument:xmlns:style:1.0" xmlns:number="urn:oasis:names:tc:opendocument:xmlns:datastyle:1.0"'
    content = content.replace(
        "<office:body>", f"<office:automatic-styles>{styles}</office:automatic-styles><office:body>"
    )
    content = content.replace("<office:document-content ", f"<office:document-content {spaces} ")
    columns = '<table:table-column/><table:table-column/><table:table-column table:default-cell-style-name="ce2"/>'
    content = content.replace('table:name="Sheet1">', f'table:name="Sheet1">{columns}')
    for row in table[1:]:
        for value, style in ((row[1], "ce1"), (row[3], "ce4")):
            content = content.replace(
                f'<table:table-cell office:value-type="float" office:value="{value}">',
                f'<table:table-cell table:style-name="{style}" office:value-type="float" office:value="{value}">',
            )
    with zipfile.ZipFile(path, "w") as file:
        for name, text in (members | {"content.xml": content}).items():
            file.writestr(name, text)
    return path


def shown_xls(path: Path, table: Cells) -> Path:
    """The records that [MS-XLS] describes, one cell each; a column's numbers have its number as their style."""
    record: Callable[[int, bytes], bytes] = lambda kind, data: struct.pack("<HH", kind, len(data)) + data  # noqa: E731
    text: Callable[[str], bytes] = lambda value: b"\1" + value.encode("utf-16-le")  # noqa: E731
    begin = struct.pack("<HHHHII", 0x0600, 0x0005, 0, 1997, 0, 0)
    sheet = record(0x0809, begin[:2] + b"\x10\0" + begin[4:])
    sheet += record(0x0200, struct.pack("<IIHHH", 0, len(table), 0, len(table[0]), 0))
    for r, row in enumerate(table):
        for c, value in enumerate(row):
            if isinstance(value, str):
                sheet += record(0x0204, struct.pack("<HHHH", r, c, 0, len(value)) + text(value))
            elif c == 3:
                packed = struct.pack("<d", value)[4:]
                sheet += record(0x00BD, struct.pack("<HHH", r, c, c) + packed + struct.pack("<H", c))
            else:
                sheet += record(0x0203, struct.pack("<HHHd", r, c, c, value))
    sheet += record(0x000A, b"")
    styles = b"".join(
        record(0x041E, struct.pack("<HH", 164 + n, len(code)) + text(code)) for n, code in enumerate(CODES)
    )
    styles += b"".join(
        record(0x00E0, struct.pack("<HH", 0, 164 + n if code else 0) + b"\0" * 16) for n, code in enumerate(CODES)
    )
    bound = b"\0\0" + bytes([4]) + text("Data")
    size = len(record(0x0809, begin)) + len(styles) + len(record(0x0085, struct.pack("<I", 0) + bound)) + 4
    globals_ = record(0x0809, begin) + styles + record(0x0085, struct.pack("<I", size) + bound) + record(0x000A, b"")
    stream = globals_ + sheet
    path.write_bytes(compound_file({"Workbook": stream.ljust(5000, b"\0")}))
    return path


def shown_xlsb(path: Path, table: Cells) -> Path:
    return xlsb(path, table, codes=CODES)


@pytest.mark.parametrize(("write", "name"), [(shown_ods, "a.ods"), (shown_xls, "a.xls"), (shown_xlsb, "a.xlsb")])
def test_numbers_are_read_as_the_program_shows_them(
    tmp_path: Path, write: Callable[[Path, Cells], Path], name: str
) -> None:
    reading = read(write(tmp_path / name, (HEADER, *VALUES)))
    assert [row.text for row in rows(reading)] == [
        "Item: Desk | Share: 24.5% | Revenue: €1,234.50 | Price: 92 | Plain: 3",
        "Item: Chair | Share: 50.0% | Revenue: €98,000.00 | Price: 48.5 | Plain: 4.25",
    ]
    assert copied(reading)[0] == {
        "_row": 2,
        "Item": "Desk",
        "Share": 24.5,
        "Revenue": 1234.5,
        "Price": 92.0,
        "Plain": 3.0,
    }
    assert [column(reading, name).get("unit") for name in HEADER] == [None, "%", "€", None, None]
    assert [column(reading, name).get("decimals") for name in HEADER] == [None, 1, 2, 2, None]


@pytest.mark.parametrize("cut", [30, 90, 400, 700])
def test_a_damaged_xls_has_no_formats_or_is_called_damaged(tmp_path: Path, cut: int) -> None:
    path = shown_xls(tmp_path / "a.xls", (HEADER, *VALUES))
    data = path.read_bytes()
    start = data.index(struct.pack("<HHH", 0x0809, 16, 0x0600))
    path.write_bytes(data[: start + cut] + b"\xff" * 40 + data[start + cut + 40 :])
    with suppress(CorruptFile, LimitExceeded):
        assert len(xls_formats(path)) <= 1


@pytest.mark.parametrize("repeat", ["", ' table:number-columns-repeated="1"'])
def test_cells_of_an_ods_without_a_value_type_hold_their_text(tmp_path: Path, repeat: str) -> None:
    path = ods(tmp_path / "a.ods", (("Well", "Keeper", "Depth"), ("North", "Mara", 14.0), ("Süd", "Théo", 22.0)))
    with zipfile.ZipFile(path) as file:
        parts = {name: file.read(name) for name in file.namelist()}
    typed = b' office:value-type="string"'
    parts["content.xml"] = parts["content.xml"].replace(typed, repeat.encode())
    with zipfile.ZipFile(path, "w") as file:
        for name, data in parts.items():
            file.writestr(name, data)
    reading = read(path)
    assert [element.values for element in reading.of(ElementType.ROW)] == [
        {"Well": "North", "Keeper": "Mara", "Depth": 14},
        {"Well": "Süd", "Keeper": "Théo", "Depth": 22},
    ]
    assert {path.name for path in reading.folder.iterdir()} & {"typed.ods"} == set()


def test_an_ods_without_styles_shows_the_kinds_of_its_values(tmp_path: Path) -> None:
    path = ods(tmp_path / "a.ods", (("Item", "Share", "Cost"), ("Rent", 0.25, 900.0), ("Tax", 0.5, 50.0)))
    with zipfile.ZipFile(path) as file:
        members = {name: file.read(name).decode() for name in file.namelist()}
    content = members["content.xml"]
    for value in (0.25, 0.5):
        content = content.replace(f'"float" office:value="{value}"', f'"percentage" office:value="{value}"')
    for value in (900.0, 50.0):
        content = content.replace(
            f'"float" office:value="{value}"', f'"currency" office:currency="EUR" office:value="{value}"'
        )
    with zipfile.ZipFile(path, "w") as file:
        for name, text in (members | {"content.xml": content}).items():
            file.writestr(name, text)
    assert [row.text for row in rows(read(path))] == [
        "Item: Rent | Share: 25% | Cost: EUR 900",
        "Item: Tax | Share: 50% | Cost: EUR 50",
    ]
