"""The text inside a stored rectangle is the text of its span, however the page is turned and cropped."""

from __future__ import annotations

import io
from itertools import pairwise
from pathlib import Path

import pypdfium2
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from reportlab.pdfgen.canvas import Canvas

from citewell.types import Box, Element
from tests.extract.pdf.drawing import HEIGHT, lines, pdf, prose, read_pdf

PARAGRAPH = st.lists(st.text("abcdefghij klmnop.", min_size=8, max_size=40), min_size=1, max_size=6)


@given(
    paragraphs=st.lists(PARAGRAPH, min_size=1, max_size=4),
    rotation=st.sampled_from([0, 90, 180, 270]),
    inset=st.integers(0, 40),
)
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
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


def spans(element: Element) -> list[str]:
    return [folded(element.text[a:b]) for a, b in pairwise([*element.span_starts, len(element.text)])]


def folded(text: str) -> str:
    return "".join(text.split())


def turned(data: bytes, rotation: int, inset: int) -> bytes:
    """The file with its page rotated, and cropped by `inset` points on the left and twice as much on top."""
    document = pypdfium2.PdfDocument(data)
    page = document[0]
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
    page = document[box.page - 1]
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
