"""`Pitch Deck.pptx`: ten slides; slide 7 shows revenue and expenses as a picture of a chart, with no text of its own."""

from __future__ import annotations

import io
from pathlib import Path

from pptx import Presentation
from pptx.dml.color import RGBColor
from pptx.enum.text import PP_ALIGN
from pptx.oxml.ns import qn
from pptx.presentation import Presentation as PresentationType
from pptx.slide import Slide
from pptx.text.text import _Paragraph
from pptx.util import Emu, Inches, Pt

from sample_files.chart import quarterly_chart
from sample_files.figures import COMPANY
from sample_files.office import WRITTEN, freeze_dates

_GREEN = RGBColor(0x1F, 0x4D, 0x3F)
_INK = RGBColor(0x22, 0x2B, 0x28)


def write(path: Path) -> None:
    deck = Presentation()
    deck.slide_width, deck.slide_height = Inches(13.333), Inches(7.5)
    _cover(deck)
    _bullets(
        deck,
        "The problem",
        "A trader who needs GHS 3,000 for stock borrows from her supplier at 8% to 15% per month.",
        "Banks ask for payslips and collateral; phone apps ask for her contacts.",
        "Both decide without ever seeing her stall.",
    )
    _bullets(
        deck,
        "What we do",
        "Small loans after a visit: at most GHS 5,000 for a first loan, more as trust grows.",
        "2.5% per month on what is still owed, and one fee of 2%. The cost is named in cedis.",
        "Two short sessions before signing. A third of people lower the amount they ask for.",
    )
    _bullets(
        deck,
        "Why it works",
        "94.2% of instalments arrive on time.",
        "64% of borrowers are repeat borrowers.",
        "Officers are judged by respect and repayment, never by the number of loans.",
        notes="The respect score comes from calls made by someone from another branch.",
    )
    _table_slide(deck)
    _bullets(
        deck,
        "How a loan earns money",
        "An average loan of GHS 4,870 over about five months earns roughly GHS 390 in interest and fees.",
        "Visits and calls for it cost about GHS 175; lost loans about GHS 60.",
        "What remains pays for branches. From 90 borrowers on, a branch carries itself; Kumasi is nearly there.",
    )
    _chart_slide(deck)
    _bullets(
        deck,
        "Next: Takoradi",
        "Fourth branch opens in the third quarter of 2026, after two months of sessions without loans.",
        "At most 15 loans per month until the first ten are repaid.",
        "Target for the end of 2026: 700 active borrowers and GHS 2.45 million lent out.",
    )
    _bullets(
        deck,
        "Team",
        "Two founders: one ran a fabric stall for eleven years, one built payment systems.",
        "Five loan officers, all from the markets they serve; three trainers; one accountant.",
        "An outside member on the credit committee since the first loan.",
    )
    _bullets(
        deck,
        "What we are raising",
        "GHS 900,000 as a four-year loan, in cedis.",
        "88% becomes loans; the rest pays officers, training, rooms and software.",
        "Quarterly report on one page, with the figures that went wrong first.",
        notes="Lenders so far prefer quarterly repayments after a first year of interest only.",
    )
    properties = deck.core_properties
    properties.title, properties.author = f"{COMPANY}: pitch deck", COMPANY
    properties.created = properties.modified = WRITTEN
    properties.last_modified_by = COMPANY
    deck.save(str(path))
    freeze_dates(path)


def _slide(deck: PresentationType, title: str, notes: str | None = None) -> Slide:
    slide = deck.slides.add_slide(deck.slide_layouts[5])
    shape = slide.shapes.title
    assert shape is not None
    shape.left, shape.top, shape.width, shape.height = Inches(0.8), Inches(0.5), Inches(11.7), Inches(1)
    shape.text_frame.text = title
    paragraph = shape.text_frame.paragraphs[0]
    paragraph.alignment = PP_ALIGN.LEFT
    font = paragraph.runs[0].font
    font.size, font.bold, font.color.rgb = Pt(38), True, _GREEN
    if notes:
        text_frame = slide.notes_slide.notes_text_frame
        assert text_frame is not None
        text_frame.text = notes
    return slide


def _text(slide: Slide, top: float, height: float, lines: tuple[str, ...], size: int, bulleted: bool = False) -> None:
    frame = slide.shapes.add_textbox(Inches(0.8), Inches(top), Inches(11.7), Inches(height)).text_frame
    frame.word_wrap = True
    for i, line in enumerate(lines):
        paragraph = frame.paragraphs[0] if i == 0 else frame.add_paragraph()
        paragraph.text = line
        if bulleted:
            _bullet(paragraph)
        font = paragraph.runs[0].font
        font.size, font.color.rgb = Pt(size), _INK
        paragraph.space_after = Pt(16)


def _bullet(paragraph: _Paragraph) -> None:
    """python-pptx has no call for bullets; this writes what PowerPoint writes."""
    properties = paragraph._p.get_or_add_pPr()
    properties.set("marL", "342900")
    properties.set("indent", "-342900")
    properties.insert_element_before(properties.makeelement(qn("a:buChar"), {"char": "•"}), "a:tabLst", "a:defRPr")


def _cover(deck: PresentationType) -> None:
    slide = _slide(deck, COMPANY)
    shape = slide.shapes.title
    assert shape is not None
    shape.top = Inches(2.4)
    shape.text_frame.paragraphs[0].runs[0].font.size = Pt(60)
    _text(slide, 3.7, 2, ("Fair small loans for market traders in Ghana", "Pitch deck, January 2026"), 26)


def _bullets(deck: PresentationType, title: str, *lines: str, notes: str | None = None) -> None:
    _text(_slide(deck, title, notes), 1.9, 4.8, lines, 26, bulleted=True)


def _table_slide(deck: PresentationType) -> None:
    slide = _slide(deck, "Three branches, three years")
    rows = [
        ("Branch", "Opened", "Active borrowers", "Portfolio (GHS)"),
        ("Accra", "March 2023", "131", "455,300"),
        ("Tema", "February 2024", "98", "309,800"),
        ("Kumasi", "September 2024", "83", "259,500"),
        ("Together", "–", "312", "1,024,600"),
    ]
    frame = slide.shapes.add_table(len(rows), 4, Inches(0.8), Inches(1.9), Inches(11.7), Inches(3.6))
    for r, row in enumerate(rows):
        for c, text in enumerate(row):
            cell = frame.table.cell(r, c)
            cell.text = text
            cell.text_frame.paragraphs[0].runs[0].font.size = Pt(20)
            if r == 0:
                cell.fill.solid()
                cell.fill.fore_color.rgb = _GREEN


def _chart_slide(deck: PresentationType) -> None:
    slide = _slide(deck, "Profitable since the third quarter")
    buffer = io.BytesIO()
    quarterly_chart().save(buffer, "PNG", optimize=True)
    width = Inches(9.6)
    picture = slide.shapes.add_picture(buffer, Emu((deck.slide_width - width) // 2), Inches(1.6), width)
    picture.name = "Revenue and expenses by quarter"
