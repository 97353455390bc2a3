"""Right-to-left text: words and lines in the order of reading, paragraphs by their right edge, rectangles where they stand."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from reportlab.pdfbase import pdfmetrics
from reportlab.pdfbase.ttfonts import TTFont
from reportlab.pdfgen.canvas import Canvas

from citewell.types import ElementType
from tests.extract.pdf.drawing import HEIGHT, WIDTH, boxes_of, pdf, prose, read_pdf
from tests.extract.scanning import FONT

RIGHT = WIDTH - 60


def hebrew(text: str) -> str:
    """Each Latin letter as the Hebrew one at the same place of its alphabet."""
    return "".join(chr(0x05D0 + ord(c) - ord("a")) if c.isalpha() else c for c in text)


def right_to_left(*paragraphs: list[str]) -> bytes:
    """A page of paragraphs set flush right, each line drawn as it looks: its last letter first."""
    pdfmetrics.registerFont(TTFont("Vera", str(FONT)))

    def page(canvas: Canvas) -> None:
        top = 60.0
        for texts in paragraphs:
            canvas.setFont("Vera", 10)
            for text in texts:
                canvas.drawRightString(RIGHT, HEIGHT - top - 10, text[::-1])
                top += 12
            top += 14

    def meant(match: re.Match[bytes]) -> bytes:
        return b"%s <%04X>" % (match[1], 0x05D0 + int(match[2], 16) - 0x61)

    # The font says of each letter that it means a Hebrew one.
    return re.sub(rb"(<[0-9A-F]{2}>) <00(6[1-9A-F]|7[0-9A])>", meant, pdf(page, pageCompression=0))


def test_words_and_lines_come_in_the_order_of_reading(tmp_path: Path) -> None:
    texts = prose(5)
    reading = read_pdf(tmp_path, right_to_left(texts))
    assert reading.texts(ElementType.PARAGRAPH) == [hebrew(" ".join(texts))]


def test_paragraphs_are_told_by_their_right_edge(tmp_path: Path) -> None:
    first, second = prose(5), [*prose(4, start=7), "till then"]
    reading = read_pdf(tmp_path, right_to_left(first, second))
    assert reading.texts(ElementType.PARAGRAPH) == [hebrew(" ".join(first)), hebrew(" ".join(second))]


def test_each_line_has_its_rectangle(tmp_path: Path) -> None:
    (element,) = read_pdf(tmp_path, right_to_left(prose(4))).of(ElementType.PARAGRAPH)
    assert len(boxes_of(element)) == 4
    assert all(x1 == pytest.approx(RIGHT, abs=2) for _, _, x1, _ in boxes_of(element))
