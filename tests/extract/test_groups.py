"""Groups of a table's rows: which label heads which rows."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from citewell.extract.core.groups import parents

INDENTED = [
    (0, ["", "2022", "2021"]),
    (120, ["ASSETS", "", ""]),
    (0, ["Current assets:", "", ""]),
    (7, ["Cash", "4,236", "3,844"]),
    (7, ["Prepaid expenses", "835", "993"]),
    (18, ["Total current assets", "5,071", "4,837"]),
    (0, ["Goodwill", "12,787", "12,668"]),
    (0, ["Stockholders’ equity:", "", ""]),
    (7, ["Preferred stock:", "", ""]),
    (14, ["Issued", "5", "4"]),
    (7, ["Retained earnings", "28,319", "23,905"]),
]
FLAT = [
    (0, ["", "2022"]),
    (0, ["Investing activities", ""]),
    (0, ["Capital expenditures", "(312)"]),
    (0, ["Net cash used in investing activities", "(314)"]),
    (0, ["Effect of exchange rates", "(56)"]),
    (0, ["Financing activities", ""]),
    (0, ["Stock options", "46"]),
]


def path(rows: Sequence[Sequence[str]], heads: Sequence[int], number: int) -> list[str]:
    """The labels that head a row, the outermost first."""
    labels: list[str] = []
    above = heads[number]
    while above >= 0:
        labels.insert(0, rows[above][0].rstrip(" :"))
        above = heads[above]
    return labels


@pytest.mark.parametrize(
    ("table", "row", "expected"),
    [
        (INDENTED, 3, ["Current assets"]),
        (INDENTED, 5, ["Current assets"]),
        (INDENTED, 6, []),
        (INDENTED, 9, ["Stockholders’ equity", "Preferred stock"]),
        (INDENTED, 10, ["Stockholders’ equity"]),
        (FLAT, 2, ["Investing activities"]),
        (FLAT, 3, ["Investing activities"]),
        (FLAT, 4, []),
        (FLAT, 6, ["Financing activities"]),
    ],
)
def test_a_row_is_headed_by_the_labels_that_its_indentation_and_the_totals_above_leave_open(
    table: list[tuple[float, list[str]]], row: int, expected: list[str]
) -> None:
    rows = [cells for _, cells in table]
    heads = parents(rows, [indent for indent, _ in table], header_rows=1)
    assert path(rows, heads, row) == expected


def test_header_rows_and_tables_without_groups_have_no_heads() -> None:
    rows = [["", "2022"], ["Sales", "5"], ["", "6"]]
    assert parents(rows, [0.0] * 3, header_rows=1) == [-1, -1, -1]
