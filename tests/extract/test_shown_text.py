"""What a document shows is in its passages, wherever on the page it is: in the text, in headers and footers, in form fields."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import docx
import pytest
import xlsxwriter
from pptx import Presentation
from pptx.util import Inches
from reportlab.pdfgen.canvas import Canvas

from citewell.chunk.chunker import chunk_elements
from citewell.chunk.config import ChunkConfig
from citewell.extract.core.sink import ELEMENTS_FILE
from citewell.types import Element
from tests.chunk.documents import Words
from tests.extract.documents.reading import read_bytes
from tests.extract.pdf.drawing import lines, pdf, prose

TOP, BOTTOM = "Invoice RX-17 of 6 May", "IBAN XX12 3456, kept by Ida Kern"
BODY = ["A box of nails costs ten crowns.", "The crane lifts ten tonnes.", "Boats lie at the quay until noon."]


def pdf_file() -> bytes:
    def page_of(number: int) -> Callable[[Canvas], None]:
        def page(canvas: Canvas) -> None:
            lines(canvas, 60, 30, [TOP])
            lines(canvas, 60, 110, [*prose(12, 5 * number), BODY[number]])
            lines(canvas, 60, 800, [f"{BOTTOM} Page {number + 1} of 3"])
            canvas.drawString(60, 300, "Monthly income")
            canvas.acroForm.textfield(name=f"T{number}", value=f"43{number}0 EUR", x=200, y=296, width=90, height=18)

        return page

    return pdf(*(page_of(number) for number in range(3)))


def docx_file() -> bytes:
    document = docx.Document()
    for text in BODY:
        document.add_paragraph(text)
    document.sections[0].header.paragraphs[0].text = TOP
    document.sections[0].footer.paragraphs[0].text = BOTTOM
    return saved(document.save)


def pptx_file() -> bytes:
    deck = Presentation()
    slides: list[Any] = [deck.slides.add_slide(deck.slide_layouts[5]) for _ in BODY]
    for slide, text in zip(slides, BODY, strict=True):
        slide.shapes.title.text = text
    for text in (TOP, BOTTOM):
        shape = slides[0].shapes.add_textbox(Inches(1), Inches(6), Inches(4), Inches(1))
        shape.text_frame.text = text
        deck.slide_master.shapes._spTree.append(shape._element)
    return saved(deck.save)


def xlsx_file() -> bytes:
    buffer = io.BytesIO()
    with xlsxwriter.Workbook(buffer, {"in_memory": True}) as book:
        sheet = book.add_worksheet("Stock")
        sheet.write_column("A1", ["Remark", *BODY])
        sheet.set_header(f"&L{TOP}")
        sheet.set_footer(f"&L{BOTTOM}&RPage &P of &N")
    return buffer.getvalue()


def html_file() -> bytes:
    body = "".join(f"<p>{text}</p>" for text in BODY)
    page = (
        f"<html><body><header><p>{TOP}</p></header><h1>Stock</h1>{body}<footer><p>{BOTTOM}</p></footer></body></html>"
    )
    return page.encode()


def rtf_file() -> bytes:
    body = "".join(f"{text}\\par " for text in BODY)
    return rf"{{\rtf1\ansi {{\header {TOP}\par}}{{\footer {BOTTOM}\par}}{body}}}".encode()


def saved(save: Callable[[io.BytesIO], object]) -> bytes:
    buffer = io.BytesIO()
    save(buffer)
    return buffer.getvalue()


FILES = {
    "a.pdf": (pdf_file, ["Monthly income: 4300 EUR", "Monthly income: 4320 EUR"]),
    "a.docx": (docx_file, []),
    "a.pptx": (pptx_file, []),
    "a.xlsx": (xlsx_file, []),
    "a.html": (html_file, []),
    "a.rtf": (rtf_file, []),
}


@pytest.mark.parametrize("name", FILES)
def test_every_text_that_is_shown_is_in_a_passage_and_what_runs_is_in_one(tmp_path: Path, name: str) -> None:
    build, more = FILES[name]
    reading = read_bytes(tmp_path, name, build())
    stored = [json.loads(line) for line in (reading.folder / ELEMENTS_FILE).read_bytes().splitlines()]
    chunks = list(chunk_elements([Element.from_json(data) for data in stored], ChunkConfig(), Words(), ""))
    held = [re.sub(r"\s+", " ", f"{chunk.context} {chunk.text}") for chunk in chunks]
    for text in (TOP, BOTTOM):
        assert sum(chunk.count(text) for chunk in held) == 1, text
    for text in (*BODY, *more):
        assert any(text in chunk for chunk in held), text
