"""`Finance Sheet.xlsx`: the loans of one officer, the year's metrics, and revenue by quarter."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from pathlib import Path

from openpyxl import Workbook
from openpyxl.styles import Alignment, Border, Font, PatternFill, Side
from openpyxl.worksheet.worksheet import Worksheet

from sample_files.figures import BRANCH, COMPANY, LOANS, OFFICER, OVERDUE, QUARTERS
from sample_files.office import WRITTEN, freeze_dates

Cell = str | int | float | date

_HEADER = PatternFill("solid", start_color="1F4D3F")
_OVERDUE = PatternFill("solid", start_color="FBE3D6")
_RULE = Border(bottom=Side(style="thin", color="D0D7D3"))


def write(path: Path) -> None:
    book = Workbook()
    _loans(book.active)
    _metrics(book.create_sheet("Metrics"))
    _quarters(book.create_sheet("Revenue by quarter"))
    book.properties.creator = f"{COMPANY} finance"
    book.properties.title = "Finance Sheet 2025"
    book.properties.created = WRITTEN
    book.save(path)
    freeze_dates(path)


def _loans(sheet: Worksheet) -> None:
    sheet.title = "Loans"
    header = ("Loan ID", "Borrower", "Business", "Branch", "Officer", "Loan number", "Disbursed", "Amount (GHS)", "Term (weeks)",
              "Instalments paid", "Outstanding (GHS)", "Days overdue", "Status")  # fmt: skip
    rows = [
        (f"AC-{loan.number}", f"B-{loan.borrower}", loan.business, BRANCH, OFFICER, loan.cycle, loan.disbursed, loan.amount,
         loan.weeks, loan.paid, loan.outstanding, loan.days_overdue, loan.status)
        for loan in LOANS
    ]  # fmt: skip
    _table(sheet, header, rows, (10, 10, 22, 9, 9, 13, 12, 14, 14, 17, 18, 14, 10))
    for row in sheet.iter_rows(min_row=2):
        row[6].number_format = "yyyy-mm-dd"
        row[7].number_format = "#,##0"
        row[10].number_format = "#,##0.00"
        if row[12].value == "overdue":
            for cell in row:
                cell.fill = _OVERDUE


def _metrics(sheet: Worksheet) -> None:
    outstanding = sum(loan.outstanding for loan in LOANS)
    at_risk = sum(loan.outstanding for loan in OVERDUE if loan.days_overdue > 30)
    book = f"{BRANCH}, officer {OFFICER}"
    rows: list[tuple[Cell, ...]] = [
        ("Active borrowers", 312, "people", "All branches", "31 December 2025"),
        ("Borrowers who are women", 78, "%", "All branches", "31 December 2025"),
        ("Portfolio outstanding", 1_024_600, "GHS", "All branches", "31 December 2025"),
        ("Loans disbursed", 471, "loans", "All branches", "Year 2025"),
        ("Average loan size", 4_870, "GHS", "All branches", "Year 2025"),
        ("Repeat borrowers", 64, "%", "All branches", "Year 2025"),
        ("Instalments paid on time", 94.2, "%", "All branches", "Year 2025"),
        ("Portfolio at risk over 30 days", 4.1, "%", "All branches", "31 December 2025"),
        ("Loans written off", 9, "loans", "All branches", "Year 2025"),
        ("Days from registration to payout", 13, "days", "All branches", "Median, year 2025"),
        ("Loan officers", 5, "people", "All branches", "31 December 2025"),
        ("Cash at bank", 238_400, "GHS", "All branches", "31 December 2025"),
        ("Loans disbursed", len(LOANS), "loans", book, "Year 2025"),
        ("Amount disbursed", sum(loan.amount for loan in LOANS), "GHS", book, "Year 2025"),
        ("Portfolio outstanding", round(outstanding, 2), "GHS", book, "31 December 2025"),
        ("Overdue loans", len(OVERDUE), "loans", book, "31 December 2025"),
        ("Portfolio at risk over 30 days", round(100 * at_risk / outstanding, 1), "%", book, "31 December 2025"),
    ]
    _table(sheet, ("Metric", "Value", "Unit", "Scope", "As of"), rows, (34, 14, 10, 16, 22))
    for row in sheet.iter_rows(min_row=2):
        row[1].number_format = "#,##0.0" if isinstance(row[1].value, float) else "#,##0"


def _quarters(sheet: Worksheet) -> None:
    rows: list[tuple[Cell, ...]] = [(q.name, q.revenue, q.expenses, q.profit) for q in QUARTERS]
    totals = [sum(getattr(q, key) for q in QUARTERS) for key in ("revenue", "expenses", "profit")]
    header = ("Quarter", "Revenue (GHS)", "Expenses (GHS)", "Profit (GHS)")
    _table(sheet, header, [*rows, ("Year 2025", *totals)], (14, 16, 16, 16))
    for row in sheet.iter_rows(min_row=2):
        for cell in row[1:]:
            cell.number_format = "#,##0;-#,##0"
    for cell in sheet[sheet.max_row]:
        cell.font = Font(bold=True)


def _table(sheet: Worksheet, header: Sequence[str], rows: Sequence[Sequence[Cell]], widths: Sequence[int]) -> None:
    sheet.append(list(header))
    for row in rows:
        sheet.append(list(row))
    for cell, width in zip(sheet[1], widths, strict=True):
        cell.font = Font(bold=True, color="FFFFFF")
        cell.fill = _HEADER
        cell.alignment = Alignment(wrap_text=True, vertical="center")
        sheet.column_dimensions[cell.column_letter].width = width
    for row in sheet.iter_rows(min_row=2):
        for cell in row:
            cell.border = _RULE
    sheet.freeze_panes = "A2"
    sheet.auto_filter.ref = sheet.dimensions
