"""A result in words: every figure with its citation, ties named, and silence where the rows give no one answer."""

from __future__ import annotations

from dataclasses import replace

import pytest

from citewell.agent.tables.language.phrasing import conditions_text, phrase
from citewell.agent.tables.planner import Planned
from citewell.agent.tables.query.typed import Aggregate, ColumnRef, Comparator, Function, RowCondition, TableQuery
from citewell.agent.tables.run.engine import TableEngine
from citewell.agent.tables.run.results import row_hits
from citewell.agent.tables.thresholds import THRESHOLDS
from citewell.types import ROW_COLUMN, ColumnKind
from tests.agent.tables.sheets import LOAN_COLUMNS, LOAN_ROWS, OWNER, Sheets, planner_of

COLUMNS: dict[str, ColumnKind] = {"Branch": "text", "Loans": "integer", "Amount (GHS)": "number"}


@pytest.fixture(scope="module")
def loans(tmp_path_factory: pytest.TempPathFactory) -> Sheets:
    sheets = Sheets(tmp_path_factory.mktemp("loans"))
    sheets.add(LOAN_COLUMNS, LOAN_ROWS)
    return sheets


async def _answer(sheets: Sheets, question: str) -> str | None:
    engine = TableEngine(sheets)
    planned = await planner_of(engine).consider(OWNER, question, list(sheets.tables.values()))
    assert isinstance(planned, Planned), planned
    result = await engine.run(OWNER, planned.plan.table, planned.plan.query)
    numbers = range(1, len(row_hits(OWNER, result)) + 1)
    return phrase(planned.plan, result, planned.left_out, list(numbers))


@pytest.mark.full
@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("How many records are in Tamale?", "There is 1 row in “Loans” where Branch is Tamale [1]."),
        ("How many different branches are there?", "The number of different values of Branch is 3, over 6 rows [1]."),
        ("What is the total amount?", "The total of Amount is GHS 32,300.75, over 5 rows [1]."),
        ("What is the total amount in Tamale?", "The total of Amount is GHS 12,000, over 1 row where Branch is Tamale [1]."),
        ("What is the total amount of borrower Akua Asante?", "No row where Borrower is Akua Asante has a value in Amount (GHS) [1]."),
        ("How many records per branch?", "Rows by Branch:\n- Accra: 3 [1]\n- Kumasi: 2 [2]\n- Tamale: 1 [3]"),
        ("Average term by status", "Average of Term by Status:\n- paid: 18 months [1]\n- active: 15 months [2]\n- overdue: 15 months [3]"),
        ("Which borrower has the lowest amount?", "Amount was lowest for Esi Owusu: GHS 800.25 [1]."),
        ("Which borrower has the highest amount?", "Amount was highest, GHS 12,000, for Kofi Boateng [1] and Yaw Darko [2]."),
        ("Which branch has the highest total amount?", "Total Amount was highest, GHS 12,000, for Kumasi [1] and Tamale [2]."),
        ("Top 2 borrowers by term", "The 2 highest by Term:\n- Kofi Boateng: 24 months [1]\n- Yaw Darko: 24 months [2]"),
        ("Compare the amount of Kofi Boateng and Yaw Darko",
         "Amount was the same, GHS 12,000, for Kofi Boateng [1] and Yaw Darko [2]."),
        ("Amount of Kofi Boateng", "Amount for Kofi Boateng: GHS 12,000 [1]."),
    ],
)  # fmt: skip
async def test_answers(loans: Sheets, question: str, answer: str) -> None:
    assert await _answer(loans, question) == answer


async def test_ties_at_the_end_of_a_ranking_are_all_named(sheets: Sheets) -> None:
    sheets.add(COLUMNS, [(name, n, 1.0) for name, n in zip("abcd", (5, 3, 3, 1), strict=True)])
    answer = await _answer(sheets, "Top 2 branches by loans")
    assert answer == "The 3 highest by Loans:\n- a: 5 [1]\n- b: 3 [2]\n- c: 3 [3]"


async def test_rows_past_those_that_are_cited_are_counted(sheets: Sheets) -> None:
    sheets.add(COLUMNS, [("Accra", n, 1.0) for n in range(THRESHOLDS.cited_rows + 3)] + [("Wa", 1, 1.0)])
    answer = await _answer(sheets, "Show the records of branch Accra")
    assert answer
    lines = answer.splitlines()
    assert len(lines) == THRESHOLDS.cited_rows + 1
    assert lines[-1] == "and 3 further rows."
    assert lines[THRESHOLDS.cited_rows - 1].endswith(f"[{THRESHOLDS.cited_rows}]")


async def test_nothing_is_compared_with_an_empty_cell(loans: Sheets) -> None:
    assert await _answer(loans, "Compare the amount of Kofi Boateng and Akua Asante") is None


async def test_two_are_not_compared_where_one_of_them_has_no_row(loans: Sheets) -> None:
    assert await _answer(loans, "Compare the total amount of overdue records in Accra and Tamale") is None
    assert await _answer(loans, "Compare the total amount of overdue records in Accra and Kumasi") is not None


async def test_an_endless_amount_is_never_the_total_of_the_others(sheets: Sheets) -> None:
    sheets.add(COLUMNS, [("Wa", 2, 3.0), ("Accra", 1, 2.0), ("Ho", 3, float("inf"))])
    assert "over 3 rows" in (await _answer(sheets, "What is the total amount?") or "")


def test_conditions_are_worded_and_those_of_the_machine_are_not() -> None:
    conditions = (
        RowCondition(ColumnRef("Status"), Comparator.NE, "paid"),
        RowCondition(ColumnRef("Branch"), Comparator.NOT_IN, ("Accra", "Wa")),
        RowCondition(ColumnRef("Amount"), Comparator.LT, 12_000),
        RowCondition(ColumnRef("Note"), Comparator.EMPTY),
        RowCondition(ColumnRef("Amount"), Comparator.NOT_EMPTY),
        RowCondition(ColumnRef(ROW_COLUMN), Comparator.NOT_IN, (9,)),
    )
    summed = TableQuery(source="t", conditions=conditions, aggregates=(Aggregate(Function.SUM, "Amount"),))
    assert conditions_text(summed) == (
        " where Status is not paid and Branch is none of Accra, Wa and Amount is under 12,000 and Note is empty"
    )
    assert conditions_text(replace(summed, conditions=conditions[-2:])) == ""
    counted = replace(summed, conditions=conditions[-2:], aggregates=(Aggregate(Function.COUNT),))
    assert conditions_text(counted) == " where Amount is filled in"


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("What is the price of the Desk?", "Price for Desk: 92.00 [1]."),
        ("total price", "The total of Price is 12,153.50, over 4 rows [1]."),
        ("lowest price", "Price was lowest for Lamp: 13.50 [1]."),
        ("average price where item is desk or chair", "The average of Price is 70.00, over 2 rows where Item is one of Desk, Chair [1]."),
        ("total quantity", "The total of Quantity is 20, over 4 rows [1]."),
    ],
)  # fmt: skip
async def test_amounts_have_the_decimals_that_the_file_shows(sheets: Sheets, question: str, answer: str) -> None:
    columns: dict[str, ColumnKind] = {"Item": "text", "Price": "number", "Fee (EUR)": "number", "Quantity": "integer"}
    rows = (("Desk", 92.0, 1.0, 3), ("Chair", 48.0, 2.0, 4), ("Lamp", 13.5, 3.0, 9), ("Press", 12000.0, 4.0, 4))
    sheets.add(columns, rows, decimals={"Price": 2, "Fee (EUR)": 2})
    assert await _answer(sheets, question) == answer


async def test_a_cited_row_shows_the_same_decimals_as_the_answer(sheets: Sheets) -> None:
    table = sheets.add({"Item": "text", "Price": "number"}, (("Desk", 92.0),), decimals={"Price": 2})
    result = await TableEngine(sheets).run(OWNER, table, TableQuery(source="resource-0/t0"))
    assert row_hits(OWNER, result)[0].chunk.text == "Item: Desk | Price: 92.00"
