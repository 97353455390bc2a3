"""Which fiscal year a period belongs to: by the words and figures of its file, never silently another one."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from citewell.agent.tables.lookup.table_lookup import TableLookup
from citewell.types import Element
from tests.agent.tables.lookup.statements import INCOME, Files, table

TITLE = "Consolidated Statements of Income (in thousands)"
SALES = [
    ["", "52 Weeks Ended", "", "13 Weeks Ended", ""],
    ["", "January 28, 2023", "January 29, 2022", "January 28, 2023", "January 29, 2022"],
    ["Net sales", "$ 10,208,580", "$ 8,630,889", "$ 3,226,773", "$ 2,729,388"],
    ["Cost of sales", "6,164,070", "5,262,335", "2,014,270", "1,702,059"],
    ["Net income", "1,242,408", "985,837", "340,751", "289,366"],
]
CUT_OFF = [["", "2023", "2022"], ["Cash", "$ 737,877", "$ 431,560"], ["Total assets", "5,370,411", "4,764,379"]]
FLOWS = [
    ["", "52 Weeks Ended", ""],
    ["", "January 28, 2023", "January 29, 2022"],
    ["Cash at the beginning of the year", "$ 431,560", "$ 1,046,051"],
    ["Cash at the end of the year", "737,877", "431,560"],
]
BY_DATE = ("Our fiscal years ended as follows: fiscal 2022, which ended on January 28, 2023.",)
BY_AMOUNTS = (
    "Net sales increased 18.3% to $10.2 billion compared to $8.6 billion in fiscal 2021, due to new stores.",
    "Net income increased to $1.2 billion compared to $985.8 million in fiscal 2021.",
)
BY_END = ("Fiscal 2023, which ended January 28, 2023, included 52 weeks.",)


def report(grid: Sequence[Sequence[str]] = SALES) -> tuple[Element, ...]:
    return (table(1, grid, TITLE, header_rows=2),)


async def said(question: str, texts: Sequence[str], tables: Sequence[Element] | None = None) -> str:
    files = Files(texts, Acme=report() if tables is None else tables)
    found = await TableLookup(files).answer("ada", question, files.scope, ())
    return "" if found is None else found.text


@pytest.mark.parametrize(
    "text",
    [
        *BY_DATE,
        "the 52 weeks ended January 28, 2023 (“fiscal 2022”)",
        "the year ended January 28, 2023, or fiscal 2022",
        "FY22 (52 weeks ended 28 January 2023)",
        "| Fiscal 2022 | 52 weeks | January 28, 2023 |\n| --- | --- | --- |",
    ],
)
async def test_a_number_beside_a_date_says_which_fiscal_year_that_is(text: str) -> None:
    found = await said("What were net sales in fiscal 2022?", [text])
    assert found == "Net sales came to $10,208,580 thousand in fiscal 2022 (52 weeks ended January 28, 2023) [1]."
    assert "$8,630,889 thousand in fiscal 2021" in await said("What were net sales in FY21?", [text])
    assert "$8,630,889 thousand in fiscal 2021" in await said("What were net sales in 2021?", [text])


async def test_amounts_that_sentences_give_to_fiscal_years_are_found_in_the_columns() -> None:
    assert "$10,208,580 thousand in fiscal 2022" in await said("net sales in fiscal 2022", BY_AMOUNTS)
    assert "$985,837 thousand in fiscal 2021" in await said("net income FY2021", BY_AMOUNTS)


async def test_a_file_that_calls_years_by_their_end_is_answered_so() -> None:
    assert "$10,208,580 thousand in 2023 (52 weeks ended January 28, 2023) [1]." in await said(
        "net sales in fiscal 2023", BY_END
    )
    assert "$8,630,889 thousand in 2022" in await said("net sales in 2022", BY_END)


async def test_years_alone_in_the_headers_of_several_tables_tell_it_by_the_figures_they_repeat() -> None:
    repeated = [["", "2022", "2021"], *([row[0], row[1], row[2]] for row in SALES[2:])]
    tables = (*report(), table(2, repeated, "Overview"), table(3, repeated, "Highlights"))
    assert "$10,208,580 thousand in fiscal 2022" in await said("net sales in fiscal 2022", (), tables)


async def test_a_year_in_which_one_ends_is_taken_where_none_has_its_number_unless_it_is_called_fiscal() -> None:
    assert "in fiscal 2022 (52 weeks ended January 28, 2023)" in await said("net sales 2023", BY_DATE)
    assert await said("net sales in fiscal 2023", BY_DATE) == ""
    dated = await said("net sales for the year ended January 29, 2022", BY_DATE)
    assert "$8,630,889 thousand in fiscal 2021 (52 weeks ended January 29, 2022)" in dated


async def test_both_years_are_given_where_the_file_does_not_say_which_is_meant() -> None:
    assert await said("net sales in fiscal 2022", ()) == (
        "Net sales came to $10,208,580 thousand in 2023 (52 weeks ended January 28, 2023) [1]"
        " and $8,630,889 thousand in 2022 (52 weeks ended January 29, 2022) [2]."
        " The file does not say how it numbers its fiscal years."
    )
    assert await said("net sales in fiscal 2021", ()) == ""
    change = await said("How did net sales change from 2022 to 2023?", ())
    assert change.endswith("The file does not say how it numbers its fiscal years.")
    assert "fiscal years" not in await said("Did net sales rise?", ())


async def test_years_that_end_in_december_are_never_unclear() -> None:
    tables = (table(1, INCOME, "Consolidated Statements of Income (in millions)"),)
    assert await said("net sales in fiscal 2022", (), tables) == "Net sales came to $1,200 million in 2022 [1]."


async def test_a_year_that_ends_in_the_first_days_of_january_is_the_one_before() -> None:
    grid = [["Years ended", "December 31, 2023", "January 1, 2023"], ["Net sales", "$ 85", "$ 80"]]
    tables = (table(1, grid, "Statements of Earnings (in millions)"),)
    assert "$80 million in fiscal 2022 (january 1, 2023)" in (await said("net sales in 2022", (), tables)).casefold()
    assert "$85 million in 2023" in await said("net sales in 2023", (), tables)


async def test_headers_that_lost_their_dates_are_read_by_the_figures_they_share() -> None:
    tables = (*report(), table(2, CUT_OFF), table(3, FLOWS, "Statements of Cash Flows (in thousands)", header_rows=2))
    assert await said("total assets in fiscal 2022", BY_DATE, tables) == (
        "Total assets came to $5,370,411 thousand in fiscal 2022 (ended in 2023) [1]."
    )


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("What was net income in the fourth quarter?", "came to $340,751 thousand in fiscal 2022 (13 weeks ended January 28, 2023) [1]."),
        ("What was net income in Q4 2021?", "came to $289,366 thousand in fiscal 2021"),
        ("Did net income rise in the fourth quarter?", "an increase of $51,385 thousand (17.8%)."),
        ("What was cost of sales in the full year?", "came to $6,164,070 thousand in fiscal 2022 (52 weeks ended January 28, 2023) [1]."),
        ("What was net income for the 13 weeks?", "came to $340,751 thousand"),
    ],
)  # fmt: skip
async def test_a_quarter_or_a_full_year_without_a_year_is_the_newest(question: str, expected: str) -> None:
    assert expected in await said(question, BY_DATE)


async def test_a_quarter_that_no_column_has_is_not_answered_with_a_year() -> None:
    assert await said("What was net income in the second quarter?", BY_DATE) == ""
    annual = (table(1, INCOME, "Consolidated Statements of Income (in millions)"),)
    assert await said("What was net income in the fourth quarter?", (), annual) == ""
    assert "$300 million" in await said("What was net income in the full year?", (), annual)
