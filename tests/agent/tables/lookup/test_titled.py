"""Tables of labels with one value each: given whole by their title, or by one row."""

from __future__ import annotations

import pytest

from citewell.agent.tables.lookup.table_lookup import TableLookup
from citewell.types import Element
from tests.agent.tables.lookup.statements import ANNUAL_REPORT, Files, table

OUTLOOK = [
    ["Net sales", "$10.95 billion to $11.05 billion"],
    ["New stores, net", "25-30"],
    ["Operating margin", "14.7%"],
]
TABLE = table(5, OUTLOOK, "FY23 Outlook", header_rows=0)


async def said(question: str, *tables: Element) -> str:
    files = Files(Acme=(*ANNUAL_REPORT, *tables))
    found = await TableLookup(files).answer("ada", question, files.scope, ())
    return "" if found is None else found.text


@pytest.mark.parametrize("question", ["What is the outlook for 2023?", "guidance", "Acme's forecast for fiscal 2023"])
async def test_a_table_is_given_whole_where_the_question_is_its_title(question: str) -> None:
    assert await said(question, TABLE) == (
        "FY23 Outlook:\n\n- Net sales: $10.95 billion to $11.05 billion [1]\n- New stores, net: 25-30 [2]\n- Operating margin: 14.7% [3]"
    )


async def test_a_row_is_named_beside_the_title() -> None:
    assert await said("expected new stores", TABLE) == "FY23 Outlook: New stores, net: 25-30 [1]"
    assert "$10.95 billion" in await said("What is the outlook for net sales in 2023?", TABLE)


@pytest.mark.parametrize(
    "question", ["What is the outlook for 2022?", "new stores", "Why is the outlook so low?", "outlook for employees"]
)
async def test_other_years_and_words_that_the_table_does_not_have_give_nothing(question: str) -> None:
    assert await said(question, TABLE) == ""


async def test_a_figure_of_a_statement_is_not_taken_from_the_outlook() -> None:
    assert "Net sales came to $1,500 million in 2023" in await said("net sales in 2023", TABLE)


async def test_two_tables_of_that_title_give_nothing() -> None:
    assert await said("outlook for 2023", TABLE, table(6, OUTLOOK, "Fiscal 2023 outlook", header_rows=0)) == ""
