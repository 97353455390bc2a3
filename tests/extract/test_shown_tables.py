"""Tables as people see them: labels written once, merged cells and headers, in every format that has tables."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import openpyxl
import pytest
from docx import Document
from hypothesis import given
from hypothesis import strategies as st
from pptx import Presentation
from pptx.util import Inches

from citewell.extract.core.cells import Cell, build_table
from citewell.extract.core.written_once import written_once
from citewell.types import ElementType
from tests.extract.documents.reading import read_bytes
from tests.extract.pdf.drawing import lines, pdf

ROWS = [
    ["Kreis", "Ort", "Säcke"],
    ["Nord", "Husum", "11"],
    ["", "Emden", "14"],
    ["Süd", "Lindau", "21"],
    ["", "Ulm", "30"],
]
WHOLE = [
    ["Kreis", "Ort", "Säcke"],
    ["Nord", "Husum", "11"],
    ["Nord", "Emden", "14"],
    ["Süd", "Lindau", "21"],
    ["Süd", "Ulm", "30"],
]


def _html(rows: Sequence[Sequence[str]]) -> bytes:
    inner = "".join("<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>" for row in rows)
    return f"<table>{inner}</table>".encode()


def _markdown(rows: Sequence[Sequence[str]]) -> bytes:
    lines = ["| " + " | ".join(row) + " |" for row in [rows[0], ["---"] * 3, *rows[1:]]]
    return "\n".join(lines).encode()


def _docx(rows: Sequence[Sequence[str]]) -> bytes:
    document: Any = Document()
    table = document.add_table(len(rows), len(rows[0]))
    for number, row in enumerate(rows):
        for column, text in enumerate(row):
            table.cell(number, column).text = text
    out = io.BytesIO()
    document.save(out)
    return out.getvalue()


def _pptx(rows: Sequence[Sequence[str]]) -> bytes:
    deck: Any = Presentation()
    slide = deck.slides.add_slide(deck.slide_layouts[5])
    table = slide.shapes.add_table(len(rows), len(rows[0]), Inches(1), Inches(2), Inches(6), Inches(3)).table
    table.first_row = False
    for number, row in enumerate(rows):
        for column, text in enumerate(row):
            table.cell(number, column).text = text
    out = io.BytesIO()
    deck.save(out)
    return out.getvalue()


def _pdf(rows: Sequence[Sequence[str]]) -> bytes:
    def page(canvas: Any) -> None:
        for number in range(len(rows) + 1):
            canvas.line(60, 700 - 20 * number, 360, 700 - 20 * number)
        for column in range(4):
            canvas.line(60 + 100 * column, 700, 60 + 100 * column, 700 - 20 * len(rows))
        for number, row in enumerate(rows):
            for column, text in enumerate(row):
                canvas.drawString(65 + 100 * column, 686 - 20 * number, text)

    return pdf(page)


@pytest.mark.parametrize(
    ("name", "write"),
    [("a.html", _html), ("a.md", _markdown), ("a.docx", _docx), ("a.pptx", _pptx), ("a.pdf", _pdf)],
)
def test_a_label_written_once_is_in_each_row_of_its_group(tmp_path: Path, name: str, write: Any) -> None:
    table = read_bytes(tmp_path, name, write(ROWS)).of(ElementType.TABLE)[0]
    assert table.grid == tuple(map(tuple, WHOLE))
    assert table.header_rows == 1
    assert "| Süd | Ulm | 30 |" in table.text


@pytest.mark.parametrize("name", ["a.csv", "a.xlsx"])
def test_a_label_written_once_in_a_sheet_is_in_each_row_and_said(tmp_path: Path, name: str) -> None:
    out = io.BytesIO()
    book: Any = openpyxl.Workbook()
    for row in ROWS:
        book.active.append([int(cell) if cell.isdigit() else cell or None for cell in row])
    book.save(out)
    data = "\n".join(",".join(row) for row in ROWS).encode() if name == "a.csv" else out.getvalue()
    reading = read_bytes(tmp_path, name, data)
    assert [row.text for row in reading.of(ElementType.ROW)][-1] == "Kreis: Süd | Ort: Ulm | Säcke: 30"
    assert "written once" in reading.notes()


def test_labels_of_several_columns_are_repeated_and_totals_are_not_in_a_group() -> None:
    rows = [
        ["2023", "Q1", "Jan", "5"],
        ["", "", "Feb", "6"],
        ["", "Q2", "Apr", "7"],
        ["", "", "May", "8"],
        ["2024", "Q1", "Jan", "9"],
        ["", '"', "Feb", "10"],
        ["Total", "", "", "45"],
    ]
    labels = written_once(rows, lambda _: False)
    assert labels is not None
    for row in rows:
        labels.fill(row)
    assert rows[3] == ["2023", "Q2", "May", "8"]
    assert rows[5] == ["2024", "Q1", "Feb", "10"]
    assert rows[6] == ["Total", "", "", "45"]


@pytest.mark.parametrize(
    "rows",
    [
        [["Ann", "Oslo"], ["", "Rome"], ["Cy", "Bern"], ["Di", "Paris"]],  # one name is missing
        [["North", "A"], ["", "B"], ["North", "C"], ["", "D"]],  # a label that recurs is written in its rows
        [["", "A"], ["North", "B"], ["", "C"]],
        [["North", "A"], ["", ""], ["South", ""], ["", ""]],
    ],
)
def test_cells_that_are_missing_stay_empty(rows: list[list[str]]) -> None:
    assert written_once(rows, lambda _: False) is None


@given(st.lists(st.integers(2, 4), min_size=2, max_size=5))
def test_writing_labels_once_loses_nothing(sizes: list[int]) -> None:
    whole = [[f"g{group}", f"r{group}-{n}", "1"] for group, size in enumerate(sizes) for n in range(size)]
    seen: set[str] = set()
    rows = [["" if row[0] in seen or seen.add(row[0]) else row[0], *row[1:]] for row in whole]
    labels = written_once(rows, lambda _: False)
    assert labels is not None
    for row in rows:
        labels.fill(row)
    assert rows == whole


def test_a_merged_figure_is_written_in_each_row_and_counted_once() -> None:
    cells = [
        *(Cell(0, 0, "Dish", header=True), Cell(0, 1, "Small", header=True), Cell(0, 2, "Large", header=True)),
        *(Cell(1, 0, "Tea"), Cell(1, 1, "3.50"), Cell(1, 2, "4.50")),
        *(Cell(2, 0, "Water"), Cell(2, 1, "2.20", colspan=2)),
    ]
    table = build_table(cells)
    assert table is not None
    assert table.grid[2] == ("Water", "2.20", "")
    assert table.markdown.splitlines()[-1] == "| Water | 2.20 | 2.20 |"


@pytest.mark.parametrize(
    ("rows", "header_rows"),
    [
        ("<tr><td>Town</td><td>People</td></tr><tr><td>Ulm</td><td>120</td></tr><tr><td>Hof</td><td>45</td></tr>", 1),
        (
            "<tr><td rowspan=2>Plant</td><td colspan=2>Litres</td></tr><tr><td>2023</td><td>2024</td></tr>"
            "<tr><td>Avon</td><td>10</td><td>11</td></tr>",
            2,
        ),
        ("<tr><td>Who</td><td>Role</td><td>Room</td></tr><tr><td>Ann</td><td>Cook</td><td>B12</td></tr>", 1),
        ("<tr><td colspan=2>Prices</td></tr><tr><td>Item</td><td>Euro</td></tr><tr><td>Tea</td><td>3</td></tr><tr><td>Jam</td><td>5</td></tr>", 2),
        ("<tr><td>Owner</td><td>Rolf</td></tr><tr><td>Boat</td><td>Ida</td></tr>", 0),
        ("<tr><td>Ulm</td><td>120</td></tr><tr><td>Hof</td><td>45</td></tr>", 0),
    ],
)  # fmt: skip
def test_the_header_of_a_table_without_header_cells_is_found(tmp_path: Path, rows: str, header_rows: int) -> None:
    table = read_bytes(tmp_path, "a.html", f"<table>{rows}</table>").of(ElementType.TABLE)[0]
    assert table.header_rows == header_rows


def test_texts_of_two_cells_are_two_words_however_close_they_are(tmp_path: Path) -> None:
    def page(canvas: Any) -> None:
        canvas.setFont("Helvetica", 10)
        for number, (code, name) in enumerate((("400", "Bad Request"), ("429", "Too Many"), ("503", "Unavailable"))):
            top = 700 - 20 * number
            canvas.rect(60, top, 22, 20)
            canvas.rect(82, top, 100, 20)
            canvas.drawString(65, top + 6, code)
            canvas.drawString(82.6, top + 6, name)

    text = read_bytes(tmp_path, "a.pdf", pdf(page)).text
    assert "429Too" not in text
    assert "| 429 | Too Many |" in text


def test_a_bar_inside_a_cell_does_not_part_it(tmp_path: Path) -> None:
    table = read_bytes(tmp_path, "a.md", "| cmd | what |\n|---|---|\n| ps \\| wc | count |\n").of(ElementType.TABLE)[0]
    assert table.grid == (("cmd", "what"), ("ps | wc", "count"))


def test_lines_with_a_row_of_dots_keep_their_labels_and_values(tmp_path: Path) -> None:
    fees = ["Fees of the harbour", "Deposit " + "." * 60 + " 300 EUR", "Late return " + ". " * 30 + "15 EUR per day"]
    reading = read_bytes(tmp_path, "a.pdf", pdf(lambda canvas: lines(canvas, 60, 60, fees)))
    assert [line.rpartition(". ")[2] for line in reading.text.split("\n")][-2:] == ["300 EUR", "15 EUR per day"]
    marked = read_bytes(tmp_path, "a.md", "\n".join(fees[1:]))
    assert marked.text.count("\n") == 1
