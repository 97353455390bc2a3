"""The segment, region or category with the highest figure, among the rows that a total adds up."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from citewell.agent.tables.lookup.table_lookup import TableLookup
from citewell.types import Element
from tests.agent.tables.lookup.statements import ANNUAL_REPORT, Files, table

SEGMENTS = [
    ["Years ended December 31,", "2023", "2022"],
    ["Hotels", "$ 700", "$ 500"],
    ["Share of revenue", "47 %", "42 %"],
    ["Casinos", "600", "600"],
    ["Boats", "120", "60"],
    ["Other", "80", "40"],
    ["Total revenue", "$ 1,500", "$ 1,200"],
    ["Towers", "9,000", "9,000"],
]
WITHOUT_LABEL = [*SEGMENTS[:6], ["", "$ 1,500", "$ 1,200"]]
BY_SEGMENT = table(5, SEGMENTS, "Revenue by segment (in millions)")


async def said(question: str, *tables: Element) -> str:
    files = Files(Acme=(*ANNUAL_REPORT, *tables))
    found = await TableLookup(files).answer("ada", question, files.scope, ())
    return "" if found is None else found.text


@pytest.mark.parametrize(
    "question",
    ["Which segment has the highest revenue?", "What is Acme's largest segment?", "Which region made the highest net sales in 2023?"],
)  # fmt: skip
@pytest.mark.parametrize("grid", [SEGMENTS, WITHOUT_LABEL])
async def test_the_highest_of_the_rows_that_a_total_adds_up_is_given_with_their_number(
    question: str, grid: Sequence[Sequence[str]]
) -> None:
    assert await said(question, table(5, grid, "Revenue by segment (in millions)")) == (
        "Hotels came to $700 million in 2023 [1]. It is the highest of 4 in “Revenue by segment (in millions)”."
    )


async def test_a_year_decides_which_is_the_highest() -> None:
    assert "Casinos came to $600 million in 2022" in await said(
        "Which segment had the highest revenue in 2022?", BY_SEGMENT
    )
    assert await said("Which segment had the highest revenue in 2019?", BY_SEGMENT) == ""


@pytest.mark.parametrize(
    "question",
    [
        "Which segment has the highest operating income?",
        "Which segment has the lowest revenue?",  # what is left over
        "Which segment had the highest revenue per employee?",
        "Which customer has the highest revenue?",
    ],
)
async def test_nothing_is_said_of_what_the_total_does_not_add_up(question: str) -> None:
    assert await said(question, BY_SEGMENT) == ""


async def test_tables_that_give_different_parts_give_no_answer_unless_one_is_about_such_parts() -> None:
    other = [
        *SEGMENTS[:1],
        ["East", "$ 900", "$ 1"],
        ["West", "500", "1"],
        ["North", "100", "1"],
        ["Total revenue", "1,500", "3"],
    ]
    regions = table(6, other, "Revenue by region (in millions)")
    assert "East came to $900 million" in await said("Which region has the highest revenue?", BY_SEGMENT, regions)
    assert "Hotels came to $700 million" in await said("Which segment has the highest revenue?", BY_SEGMENT, regions)
    assert await said("Which market has the highest revenue?", BY_SEGMENT, regions) == ""
