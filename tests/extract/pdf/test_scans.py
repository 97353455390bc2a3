"""Scanned pages: read by OCR whichever way they lie, placed where the text stands, and reported when nothing could be read."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from PIL import Image
from reportlab.lib.utils import ImageReader
from reportlab.pdfbase import pdfmetrics
from reportlab.pdfbase.ttfonts import TTFont
from reportlab.pdfgen.canvas import Canvas

from citewell.types import ElementType
from tests.extract.pdf.drawing import HEIGHT, WIDTH, lines, pdf, prose, read_pdf
from tests.extract.scanning import FONT, scan

pytestmark = pytest.mark.slow(15)

SENTENCES = ["The bridge was closed for repairs", "in the second week of March", "and opened again in June."]


@pytest.mark.full
@pytest.mark.parametrize("turned", [0, 90, 180, 270])
def test_a_scan_is_read_in_order_whichever_way_it_lies(tmp_path: Path, turned: int) -> None:
    picture = scan(SENTENCES).rotate(-turned, expand=True)

    def page(canvas: Canvas) -> None:
        canvas.setPageSize((WIDTH, WIDTH * picture.height / picture.width))
        canvas.drawImage(ImageReader(picture), 0, 0, WIDTH, WIDTH * picture.height / picture.width)

    reading = read_pdf(tmp_path, pdf(page), ocr=True)
    assert " ".join(reading.text.split()) == " ".join(SENTENCES)
    (unit,) = reading.summary.coverage.units
    assert unit.ocr_share == 1.0
    assert unit.ocr_confidence is not None
    assert unit.ocr_confidence > 0.9


@pytest.mark.full
def test_rectangles_of_a_scan_lie_where_the_lines_are_drawn(tmp_path: Path) -> None:
    picture = scan(SENTENCES)
    scale = WIDTH / picture.width

    def page(canvas: Canvas) -> None:
        canvas.drawImage(ImageReader(picture), 0, HEIGHT - picture.height * scale, WIDTH, picture.height * scale)

    (element,) = read_pdf(tmp_path, pdf(page), ocr=True).of(ElementType.PARAGRAPH)
    tops = [box.y0 / scale for box in element.locator.boxes]
    assert tops == pytest.approx([60, 120, 180], abs=15)
    assert all(box.x0 / scale == pytest.approx(60, abs=15) for box in element.locator.boxes)


@pytest.mark.full
def test_text_in_a_picture_on_a_page_of_text_belongs_to_the_picture(tmp_path: Path) -> None:
    picture = scan(["Gauge 7", "4.20 m"], noise=True)

    def page(canvas: Canvas) -> None:
        lines(canvas, 60, 60, prose(6))
        canvas.drawImage(ImageReader(picture), 60, 300, 300, 300 * picture.height / picture.width)

    reading = read_pdf(tmp_path, pdf(page), ocr=True)
    (image,) = reading.of(ElementType.IMAGE)
    assert image.text.split("\n") == ["Gauge 7", "4.20 m"]
    assert image.confidence is not None
    assert reading.texts(ElementType.PARAGRAPH) == [" ".join(prose(6))]


STAMPS = {
    "fax header": (20, ["12/03/2025 09:14 FROM: Harbour office 0181 4960 TO: 0181 5512 PAGE 1 OF 2"]),
    "Bates number": (800, ["BN-000123 CONFIDENTIAL"]),
    "download": (780, ["This copy was downloaded from 10.0.0.7 on 3 March 2025", "All use is subject to the terms."]),
}


@pytest.mark.parametrize("stamp", STAMPS)
def test_a_scan_under_a_line_of_text_is_read_beside_that_line(tmp_path: Path, stamp: str) -> None:
    top, texts = STAMPS[stamp]
    picture = scan([*SENTENCES, *[""] * 16])

    def page(canvas: Canvas) -> None:
        canvas.drawImage(ImageReader(picture), 0, 0, WIDTH, HEIGHT)
        lines(canvas, 60, top, texts, size=8)

    reading = read_pdf(tmp_path, pdf(page), ocr=True)
    assert sorted(filter(None, reading.texts())) == sorted([" ".join(texts), " ".join(SENTENCES)])
    unread = read_pdf(tmp_path, pdf(page))
    assert "Page 1 has next to no text, and it was not scanned: OCR is off." in unread.notes()


def test_a_picture_of_few_bytes_is_read_once_and_not_kept(tmp_path: Path) -> None:
    picture = scan(["The spare key hangs in the mill"]).convert("1")

    def page(canvas: Canvas) -> None:
        lines(canvas, 60, 60, prose(6))
        canvas.drawImage(ImageReader(picture), 60, 300, 300, 300 * picture.height / picture.width)

    reading = read_pdf(tmp_path, pdf(page, page), ocr=True)
    assert reading.texts(ElementType.IMAGE) == ["The spare key hangs in the mill"]
    assert reading.summary.blobs == ()


@pytest.mark.full
def test_an_empty_scan_is_reported(tmp_path: Path) -> None:
    picture = Image.effect_noise((800, 1100), 20).convert("RGB")

    def page(canvas: Canvas) -> None:
        canvas.drawImage(ImageReader(picture), 0, 0, WIDTH, HEIGHT)

    reading = read_pdf(tmp_path, pdf(page), ocr=True)
    assert reading.text == ""
    assert "Page 1 has no text, and OCR found none." in reading.notes()


@pytest.mark.full
def test_a_text_layer_of_meaningless_characters_is_read_by_ocr_instead(tmp_path: Path) -> None:
    picture = scan(SENTENCES)
    pdfmetrics.registerFont(TTFont("Vera", str(FONT)))

    def page(canvas: Canvas) -> None:
        canvas.setPageSize((WIDTH, WIDTH * picture.height / picture.width))
        canvas.drawImage(ImageReader(picture), 0, 0, WIDTH, WIDTH * picture.height / picture.width)
        layer = canvas.beginText(20, 20)
        layer.setFont("Vera", 8)
        layer.setTextRenderMode(3)
        layer.textOut("thebridgewasclosed")
        canvas.drawText(layer)

    # The font says of each letter that it means a character of the private use area.
    data = re.sub(rb"(<[0-9A-F]{2}> <)00([67])", rb"\1F0\2", pdf(page, pageCompression=0))
    reading = read_pdf(tmp_path, data, ocr=True)
    assert " ".join(reading.text.split()) == " ".join(SENTENCES)
    assert "The text layer of page 1 is unreadable; it was read by OCR." in reading.notes()
