"""`Growth Plan.docx`: next year's plan, with a table of targets and one of risks."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from docx import Document
from docx.document import Document as DocumentType
from docx.enum.text import WD_ALIGN_PARAGRAPH
from docx.shared import Cm, Pt, RGBColor

from sample_files.figures import COMPANY, QUARTERS
from sample_files.office import WRITTEN, freeze_dates


def write(path: Path) -> None:
    document = Document()
    _style(document)
    document.add_heading("Growth Plan 2026", 0)
    document.add_paragraph(f"{COMPANY} · Draft for the board meeting of January 2026")
    _where_we_stand(document)
    _targets(document)
    _takoradi(document)
    _money(document)
    _risks(document)
    properties = document.core_properties
    properties.title, properties.author, properties.comments = "Growth Plan 2026", COMPANY, ""
    properties.created = properties.modified = WRITTEN
    document.save(str(path))
    freeze_dates(path)


def _style(document: DocumentType) -> None:
    section = document.sections[0]
    section.page_width, section.page_height = Cm(21), Cm(29.7)
    section.left_margin = section.right_margin = Cm(2.3)
    section.top_margin = section.bottom_margin = Cm(2.2)
    normal = document.styles["Normal"]
    normal.font.name, normal.font.size = "Calibri", Pt(11)
    normal.paragraph_format.space_after = Pt(7)
    for name in ("Title", "Heading 1", "Heading 2"):
        document.styles[name].font.color.rgb = RGBColor(0x1F, 0x4D, 0x3F)
    footer = section.footer.paragraphs[0]
    footer.text = f"{COMPANY} · Growth Plan 2026 · Confidential"
    footer.alignment = WD_ALIGN_PARAGRAPH.CENTER


def _where_we_stand(document: DocumentType) -> None:
    total = sum(quarter.revenue for quarter in QUARTERS)
    last = QUARTERS[-1]
    document.add_heading("Where we stand", 1)
    document.add_paragraph(
        f"We closed 2025 with 312 active borrowers in three branches and GHS 1,024,600 lent out. Revenue for the year was "
        f"GHS {total:,}. The third quarter was the first with a profit, and the fourth brought GHS {last.profit:,} on revenue "
        f"of GHS {last.revenue:,}. Two of three borrowers come back for another loan, most of them within a month of repaying."
    )
    document.add_paragraph(
        "What limits us is not demand. At the end of December 140 people had finished onboarding and were waiting for a "
        "decision, because five loan officers cannot visit more than they do. Every target below therefore begins with people."
    )


def _targets(document: DocumentType) -> None:
    document.add_heading("Targets by quarter", 1)
    document.add_paragraph("All figures are for the end of the quarter, all branches together.")
    _table(
        document,
        ("", "Q1 2026", "Q2 2026", "Q3 2026", "Q4 2026"),
        [
            ("Active borrowers", "370", "450", "560", "700"),
            ("Portfolio outstanding (GHS)", "1,230,000", "1,520,000", "1,930,000", "2,450,000"),
            ("Loan officers", "6", "7", "9", "10"),
            ("Branches", "3", "3", "4", "4"),
            ("Portfolio at risk over 30 days", "under 4.5%", "under 4.5%", "under 5%", "under 4.5%"),
            ("Revenue (GHS)", "112,000", "134,000", "165,000", "208,000"),
        ],
    )
    document.add_paragraph(
        "We accept a little more lateness in the third quarter, when Takoradi opens and most of its loans are first loans. "
        "If portfolio at risk passes 6% in any month, new branches and new officers stop until it is below 5% again."
    )


def _takoradi(document: DocumentType) -> None:
    document.add_heading("A fourth branch: Takoradi", 1)
    document.add_paragraph(
        "Takoradi has a large central market, a fishing harbour, and no lender of our kind within walking distance of either. "
        "We spent nine days there in October and spoke with 64 traders. Forty-one had borrowed in the last year, almost all from "
        "suppliers, at prices that come to between 8% and 15% per month when one works them out."
    )
    document.add_heading("How we will open it", 2)
    for step in (
        "March: rent two rooms near the market circle; budget GHS 38,000 for the first year.",
        "April: hire a branch manager from our own officers and two officers from the town.",
        "May and June: money basics sessions only, no loans. Whoever finishes is first in line.",
        "July: first loans, at most 15 per month until the first ten have been repaid.",
        "October: decide whether to lift the limit, by the share of instalments paid on time.",
    ):
        document.add_paragraph(step, style="List Number")


def _money(document: DocumentType) -> None:
    document.add_heading("What it costs, and where the money comes from", 1)
    document.add_paragraph(
        "The plan needs GHS 1,600,000 of new lending capital and GHS 210,000 for people, rooms and equipment over the year. "
        "Repayments and profit cover about a quarter. For the rest we are speaking with two social lenders about a loan of "
        "GHS 900,000 over four years, and with members of our own community about notes of GHS 1,000 to GHS 20,000."
    )
    _table(
        document,
        ("Use of funds", "GHS", "Share"),
        [
            ("Lending capital, existing branches", "1,050,000", "58%"),
            ("Lending capital, Takoradi", "550,000", "30%"),
            ("Loan officers and training", "126,000", "7%"),
            ("Rooms and equipment", "58,000", "3%"),
            ("Software and text messages", "26,000", "1%"),
        ],
    )


def _risks(document: DocumentType) -> None:
    document.add_heading("What could go wrong", 1)
    for risk, answer in (
        ("A market closes or burns.", "No branch may have more than 40% of its loans in one market; the emergency top-up fund is GHS 30,000."),
        ("The cedi loses value.", "We borrow in cedis only, and no loan runs longer than 36 weeks."),
        ("Officers leave.", "Two people know every borrower: the officer, and a colleague who visits once per loan."),
        ("We grow faster than we learn.", "The 6% rule above, and one week each quarter without any new loans, to read our own notes."),
    ):  # fmt: skip
        paragraph = document.add_paragraph(style="List Bullet")
        paragraph.add_run(f"{risk} ").bold = True
        paragraph.add_run(answer)
    document.add_heading("What we ask of the board", 1)
    document.add_paragraph(
        "Approve the targets, the Takoradi branch with its October checkpoint, and the search for GHS 900,000. We will report "
        "against the table above every quarter, on one page, with the figures that went wrong first."
    )


def _table(document: DocumentType, header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    table = document.add_table(rows=1, cols=len(header), style="Light Grid Accent 3")
    for cell, text in zip(table.rows[0].cells, header, strict=True):
        cell.text = text
    for row in rows:
        for i, (cell, text) in enumerate(zip(table.add_row().cells, row, strict=True)):
            cell.text = text
            if i:
                cell.paragraphs[0].alignment = WD_ALIGN_PARAGRAPH.RIGHT
    document.add_paragraph()
