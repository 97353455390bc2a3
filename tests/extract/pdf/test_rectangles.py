"""The text inside a stored rectangle is the text of its span, however the page is turned and cropped."""

from __future__ import annotations

import io
import re
from itertools import pairwise
from pathlib import Path
from typing import Any

import pypdfium2
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from reportlab.pdfbase import pdfmetrics
from reportlab.pdfbase.ttfonts import TTFont
from reportlab.pdfgen.canvas import Canvas

from citewell.types import Box, Element
from tests.depth import examples
from tests.extract.pdf.drawing import COLUMNS, HEIGHT, RATES, lines, pdf, prose, read_pdf

PARAGRAPH = st.lists(st.text("abcdefghij klmnop.", min_size=8, max_size=40), min_size=1, max_size=6)


@given(
    paragraphs=st.lists(PARAGRAPH, min_size=1, max_size=4),
    rotation=st.sampled_from([0, 90, 180, 270]),
    inset=st.integers(0, 40),
)
@settings(max_examples=examples(40), deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_text_inside_each_rectangle_is_that_of_its_span(
    paragraphs: list[list[str]], rotation: int, inset: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    def page(canvas: Canvas) -> None:
        top = 80.0
        for paragraph in paragraphs:
            top = lines(canvas, 80, top, paragraph) + 15

    data = turned(pdf(page), rotation, inset)
    for element in read_pdf(tmp_path_factory.mktemp("pdf"), data).elements:
        assert spans(element) == [folded(text_in(data, box, rotation, inset)) for box in element.locator.boxes]


def test_superscripts_do_not_pull_other_lines_into_the_rectangle(tmp_path: Path) -> None:
    def page(canvas: Canvas) -> None:
        for i, text in enumerate(prose(4)):
            lines(canvas, 60, 60 + 11 * i, [text])
        end = 60 + canvas.stringWidth(prose(4)[2], "Helvetica", 10)
        canvas.setFont("Helvetica", 6)
        canvas.drawString(end, HEIGHT - 60 - 22 - 10 + 4, "12")

    data = pdf(page)
    (element,) = read_pdf(tmp_path, data).elements
    assert spans(element) == [folded(text_in(data, box, 0, 0)) for box in element.locator.boxes]


def test_marks_that_stand_among_letters_of_other_lines_have_rectangles_of_their_own(tmp_path: Path) -> None:
    def page(canvas: Canvas) -> None:
        for i, text in enumerate(prose(3)):
            lines(canvas, 60, 60 + 9 * i, [text])
        raised = canvas.beginText(60, HEIGHT - 130)
        for text, rise in (("the sum of x", 0), ("2", 8), (" and y", 0), ("i", -5), (" below it", 0)):
            raised.setRise(rise)
            raised.textOut(text)
        canvas.drawText(raised)
        lines(canvas, 60, 130, [prose(1, 5)[0]])

    assert_round_trip(tmp_path, pdf(page))


def test_lines_that_overlap_have_rectangles_that_do_not(tmp_path: Path) -> None:
    def page(canvas: Canvas) -> None:
        for i in range(6):
            lines(canvas, 60, 60 + 6.8 * i, ["jumping glyphs, big quay", "my lighthouse by dyke"][i % 2 :][:1])

    assert_round_trip(tmp_path, pdf(page))


def test_slanted_lines_beside_each_other_are_told_apart(tmp_path: Path) -> None:
    def page(canvas: Canvas) -> None:
        canvas.translate(200, 400)
        canvas.rotate(20)
        for i in range(4):
            canvas.drawString(0, -12 * i, prose(4)[i])

    assert_round_trip(tmp_path, pdf(page))


def test_a_line_drawn_back_to_front_is_read_from_its_rectangles_in_its_order(tmp_path: Path) -> None:
    def page(canvas: Canvas) -> None:
        for i, text in reversed(list(enumerate(["first", "second", "third", "fourth"]))):
            lines(canvas, 60 + 38 * i, 60, [text])
        lines(canvas, 60, 72, prose(2))

    (element,) = assert_round_trip(tmp_path, pdf(page))
    assert element.text.startswith("first second third fourth the river")


def test_glyphs_without_meaning_are_left_out_of_rectangles(tmp_path: Path) -> None:
    pdfmetrics.registerFont(TTFont("Vera", "Vera.ttf"))
    data = pdf(lambda canvas: lines(canvas, 60, 60, ["a dose of 18 µg each day"], font="Vera"), pageCompression=0)
    assert b"<00B5>" in data
    (element,) = assert_round_trip(tmp_path, data.replace(b"<00B5>", b"<0001>"))
    assert element.text == "a dose of 18 g each day"
    assert len(element.locator.boxes) == 2


@pytest.mark.parametrize("order", ["by row", "by column"])
def test_table_rows_hold_their_cells_in_order_however_they_were_drawn(tmp_path: Path, order: str) -> None:
    cells = {(r, c): text for r, row in enumerate(RATES) for c, text in enumerate(row)}
    cells[2, 0] = "Car loan|van loan"

    def page(canvas: Canvas) -> None:
        for row, column in sorted(cells, key=lambda place: place if order == "by row" else place[::-1]):
            for i, text in enumerate(cells[row, column].split("|")):
                lines(canvas, COLUMNS[column], 100 + 30 * row + 11 * i, [text])
        for row in range(len(RATES) + 1):
            canvas.line(70, HEIGHT - 97 - 30 * row, 460, HEIGHT - 97 - 30 * row)
        for x in (70, 210, 310, 390, 460):
            canvas.line(x, HEIGHT - 97, x, HEIGHT - 97 - 30 * len(RATES))

    (table,) = assert_round_trip(tmp_path, pdf(page))
    assert table.grid is not None
    assert table.grid[2] == ("Car loan van loan", "5 years", "7.25", "150")


def test_columns_of_a_table_too_long_for_one_chunk_have_rectangles_of_their_own(tmp_path: Path) -> None:
    rows = [["Name", "What it is for", "Notes"], *([f"Item {i}", prose(1, i, 6)[0], "x" * 30] for i in range(4))]

    def page(canvas: Canvas) -> None:
        for row, texts in enumerate(rows):
            for column, text in enumerate(texts):
                repeated = [text] * (7 if row == 2 and column else 1)
                lines(canvas, 60 + 150 * column, 100 + 20 * row + 60 * (row > 2), repeated, leading=1.0)
        for y in (97, 117, 137, 217, 237, 257):
            canvas.line(55, HEIGHT - y, 560, HEIGHT - y)
        for x in (55, 205, 355, 560):
            canvas.line(x, HEIGHT - 97, x, HEIGHT - 257)

    (table,) = assert_round_trip(tmp_path, pdf(page))
    assert spans(table)[:3] == ["Name", "Whatitisfor", "Notes"]


def assert_round_trip(folder: Path, data: bytes) -> list[Element]:
    elements = read_pdf(folder, data).elements
    for element in elements:
        assert spans(element) == read_back(data, element)
    return elements


def read_back(data: bytes, element: Element) -> list[str]:
    return [folded(text_in(data, box, 0, 0)) for box in element.locator.boxes]


def spans(element: Element) -> list[str]:
    return [folded(shown(element.text[a:b])) for a, b in pairwise([*element.span_starts, len(element.text)])]


def shown(text: str) -> str:
    """A table's Markdown as it stands on the page."""
    return re.sub(r"(?m)^\|( --- \|)+$", "", text).replace("|", " ") if "|" in text else text


def folded(text: str) -> str:
    return "".join(text.split())


def turned(data: bytes, rotation: int, inset: int) -> bytes:
    """The file with its page rotated, and cropped by `inset` points on the left and twice as much on top."""
    document = pypdfium2.PdfDocument(data)
    page: Any = document[0]
    left, bottom, right, top = page.get_mediabox()
    page.set_cropbox(left + inset, bottom, right, top - 2 * inset)
    page.set_rotation(rotation)
    buffer = io.BytesIO()
    document.save(buffer)
    document.close()
    return buffer.getvalue()


def text_in(data: bytes, box: Box, rotation: int, inset: int) -> str:
    """What PDFium finds inside a rectangle of the shown page, by user-space coordinates worked out here."""
    document = pypdfium2.PdfDocument(data)
    page: Any = document[box.page - 1]
    left, bottom, right, top = page.get_cropbox()
    corners = {
        0: (left + box.x0, top - box.y1, left + box.x1, top - box.y0),
        90: (left + box.y0, bottom + box.x0, left + box.y1, bottom + box.x1),
        180: (right - box.x1, bottom + box.y0, right - box.x0, bottom + box.y1),
        270: (right - box.y1, top - box.x1, right - box.y0, top - box.x0),
    }
    textpage = page.get_textpage()
    found = textpage.get_text_bounded(*corners[rotation])
    textpage.close()
    page.close()
    document.close()
    return found
