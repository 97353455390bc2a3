"""The look of the sample PDFs: A4, a running header, page numbers, and a few paragraph and table styles."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from reportlab.lib.colors import HexColor, white
from reportlab.lib.enums import TA_LEFT
from reportlab.lib.pagesizes import A4
from reportlab.lib.styles import ParagraphStyle
from reportlab.lib.units import mm
from reportlab.pdfgen.canvas import Canvas
from reportlab.platypus import (
    BaseDocTemplate,
    Flowable,
    Frame,
    KeepTogether,
    ListFlowable,
    ListItem,
    PageBreak,
    PageTemplate,
    Paragraph,
    Spacer,
    Table,
    TableStyle,
)

from sample_files.figures import COMPANY

GREEN = HexColor("#1F4D3F")
GREY = HexColor("#5F6B66")
PALE = HexColor("#EEF3F0")

_BODY = ParagraphStyle("body", fontName="Helvetica", fontSize=11.5, leading=17, spaceAfter=8, alignment=TA_LEFT)
_TITLE = ParagraphStyle(
    "title", _BODY, fontName="Helvetica-Bold", fontSize=27, leading=32, textColor=GREEN, spaceAfter=4
)
_SUBTITLE = ParagraphStyle("subtitle", _BODY, fontSize=12.5, leading=18, textColor=GREY, spaceAfter=16)
_HEADING = ParagraphStyle(
    "heading", _BODY, fontName="Helvetica-Bold", fontSize=17, leading=22, textColor=GREEN, spaceBefore=6, spaceAfter=8
)
_SUBHEADING = ParagraphStyle(
    "subheading", _BODY, fontName="Helvetica-Bold", fontSize=12.5, leading=17, spaceBefore=8, spaceAfter=4
)
_CELL = ParagraphStyle("cell", _BODY, fontSize=10.5, leading=14, spaceAfter=0)
_HEAD_CELL = ParagraphStyle("head", _CELL, fontName="Helvetica-Bold", textColor=white)
_NOTE = ParagraphStyle("note", _BODY, leftIndent=8, rightIndent=8, spaceAfter=0)


def title(text: str, subtitle: str) -> list[Flowable]:
    return [Spacer(1, 18 * mm), Paragraph(text, _TITLE), Paragraph(subtitle, _SUBTITLE)]


def heading(text: str) -> Flowable:
    return Paragraph(text, _HEADING)


def subheading(text: str) -> Flowable:
    return Paragraph(text, _SUBHEADING)


def text(*paragraphs: str) -> list[Flowable]:
    return [Paragraph(" ".join(paragraph.split()), _BODY) for paragraph in paragraphs]


def bullets(*items: str) -> Flowable:
    entries = [ListItem(Paragraph(" ".join(item.split()), _BODY), leftIndent=14) for item in items]
    return ListFlowable(entries, bulletType="bullet", start="•", bulletFontSize=10, leftIndent=14)


def numbered(*items: str) -> Flowable:
    entries = [ListItem(Paragraph(" ".join(item.split()), _BODY), leftIndent=18) for item in items]
    return ListFlowable(entries, bulletType="1", bulletFormat="%s.", bulletFontSize=11.5, leftIndent=18)


def note(words: str) -> Flowable:
    """A shaded box with one paragraph."""
    box = Table([[Paragraph(" ".join(words.split()), _NOTE)]], colWidths=[170 * mm])
    box.setStyle(
        TableStyle(
            [
                ("BACKGROUND", (0, 0), (-1, -1), PALE),
                ("LINEBEFORE", (0, 0), (0, -1), 3, GREEN),
                ("TOPPADDING", (0, 0), (-1, -1), 8),
                ("BOTTOMPADDING", (0, 0), (-1, -1), 9),
            ]
        )
    )
    return KeepTogether([Spacer(1, 4), box, Spacer(1, 10)])


def table(rows: Sequence[Sequence[str]], widths_mm: Sequence[float]) -> Flowable:
    """A ruled table; the first row is its header."""
    cells = [[Paragraph(cell, _CELL if i else _HEAD_CELL) for cell in row] for i, row in enumerate(rows)]
    grid = Table(cells, colWidths=[width * mm for width in widths_mm], repeatRows=1)
    grid.setStyle(
        TableStyle(
            [
                ("BACKGROUND", (0, 0), (-1, 0), GREEN),
                ("GRID", (0, 0), (-1, -1), 0.5, HexColor("#B9C6BF")),
                ("ROWBACKGROUNDS", (0, 1), (-1, -1), [white, PALE]),
                ("VALIGN", (0, 0), (-1, -1), "MIDDLE"),
                ("TOPPADDING", (0, 0), (-1, -1), 5),
                ("BOTTOMPADDING", (0, 0), (-1, -1), 6),
            ]
        )
    )
    return KeepTogether([Spacer(1, 3), grid, Spacer(1, 10)])


def write_pages(path: Path, name: str, subject: str, pages: Sequence[Sequence[Flowable]]) -> None:
    """Write one PDF page per entry of `pages`; `RuntimeError` when an entry does not fit its page."""

    def furniture(canvas: Canvas, document: BaseDocTemplate) -> None:
        width, height = A4
        canvas.saveState()
        canvas.setFont("Helvetica", 8.5)
        canvas.setFillColor(GREY)
        if document.page > 1:
            canvas.drawString(20 * mm, height - 14 * mm, COMPANY)
            canvas.drawRightString(width - 20 * mm, height - 14 * mm, name)
            canvas.setStrokeColor(PALE)
            canvas.line(20 * mm, height - 16.5 * mm, width - 20 * mm, height - 16.5 * mm)
        canvas.drawCentredString(width / 2, 11 * mm, f"Page {document.page} of {len(pages)}")
        canvas.restoreState()

    document = BaseDocTemplate(
        str(path),
        pagesize=A4,
        title=f"{COMPANY}: {name}",
        author=COMPANY,
        subject=subject,
        invariant=1,
        pageCompression=0,
    )
    frame = Frame(20 * mm, 18 * mm, A4[0] - 40 * mm, A4[1] - 40 * mm, 0, 0, 0, 0)
    document.addPageTemplates([PageTemplate(frames=[frame], onPage=furniture)])
    story: list[Flowable] = []
    for page in pages:
        story += [*page, PageBreak()]
    document.build(story[:-1])
    if document.page != len(pages):
        raise RuntimeError(f"{path.name} has {document.page} pages instead of {len(pages)}: some text does not fit.")
