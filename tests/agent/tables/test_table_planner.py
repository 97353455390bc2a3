"""Planning over the tables in scope: one table is chosen, totals are left out, and what has two answers is refused."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from citewell.agent.tables.planner import Planned, Refused
from citewell.agent.tables.run.engine import TableEngine, TableResult, UnusableTable
from citewell.errors import NotFound
from citewell.types import TableInfo
from tests.agent.tables.sheets import LOAN_COLUMNS, LOAN_ROWS, OWNER, Sheets, planner_of


class Desk:
    """A planner over tables, and the engine that runs what it plans."""

    def __init__(self, folder: Path) -> None:
        self.sheets = Sheets(folder)
        self.engine = TableEngine(self.sheets)
        self.planner = planner_of(self.engine)

    async def consider(self, question: str, tables: Sequence[TableInfo] | None = None) -> Planned | Refused | None:
        return await self.planner.consider(OWNER, question, tables or list(self.sheets.tables.values()))

    async def planned(self, question: str) -> Planned:
        found = await self.consider(question)
        assert isinstance(found, Planned), found
        return found

    async def refused(self, question: str) -> Refused:
        found = await self.consider(question)
        assert isinstance(found, Refused), found
        return found

    async def result(self, question: str) -> TableResult:
        plan = (await self.planned(question)).plan
        return await self.engine.run(OWNER, plan.table, plan.query)


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


@pytest.mark.parametrize(
    ("question", "rows"),
    [
        ("How many records are in Accra?", [(3,)]),
        ("How many overdue records are in Accra or Kumasi?", [(2,)]),
        ("How many records were disbursed in 2024?", [(3,)]),
        ("What is the total amount disbursed in Accra?", [(8300.75,)]),
        ("What is the total amount?", [(32300.75,)]),
        ("What is the total amount by branch?", [("Kumasi", 12000.0), ("Tamale", 12000.0), ("Accra", 8300.75)]),
        ("What is the status of Esi Owusu?", [("Esi Owusu", "overdue")]),
    ],
)
async def test_a_question_gets_its_figure(desk: Desk, question: str, rows: list[tuple[object, ...]]) -> None:
    desk.sheets.add(LOAN_COLUMNS, LOAN_ROWS)
    found = [row.values for row in (await desk.result(question)).rows]
    assert found == [pytest.approx(row) if isinstance(row[0], float) else row for row in rows]


@pytest.mark.parametrize(
    "question", ["Which loan has the highest outstanding amount?", "What is the largest amount outstanding?"]
)
async def test_of_two_columns_side_by_side_the_one_that_says_which_amount_is_measured(
    desk: Desk, question: str
) -> None:
    desk.sheets.add(
        {"Loan": "text", "Amount (GHS)": "number", "Outstanding (GHS)": "number"},
        [("A", 9000.0, 10.0), ("B", 100.0, 90.0), ("C", 500.0, 50.0)],
    )
    assert (await desk.result(question)).rows[0].values == ("B", 90.0)


async def test_a_date_that_is_asked_for_is_no_condition(desk: Desk) -> None:
    desk.sheets.add(LOAN_COLUMNS, LOAN_ROWS)
    found = await desk.planned("When was the loan of Esi Owusu disbursed?")
    assert "Disbursed" in found.plan.query.columns


TOTALLED = [("Accra", 100), ("Kumasi", 250), ("Tamale", 50), ("Total", 400)]


async def test_a_row_that_may_be_a_total_is_neither_added_nor_the_highest(desk: Desk) -> None:
    rows = [("Accra", 100), ("Kumasi", 250), ("Tamale", 50), ("Everywhere", 400)]
    desk.sheets.add({"Branch": "text", "Loans": "integer"}, rows, sheet="Summary")
    reason = "row 5 of Loans.xlsx/Summary is the sum of all the others, and may be their total"
    assert await desk.refused("What is the sum of loans?") == Refused(reason, computes=True)
    assert (await desk.refused("Which branch has the highest loans?")).reason == reason
    assert (await desk.result("Which branch has the lowest loans?")).rows[0].values == ("Tamale", 50)
    assert (await desk.planned("What is the sum of loans of branch Accra?")).left_out == ()


async def test_one_figure_that_is_the_sum_of_two_others_says_nothing(desk: Desk) -> None:
    desk.sheets.add(
        {"Branch": "text", "Loans": "integer"}, [("Accra", 100), ("Kumasi", 250), ("Wa", 350)], sheet="Summary"
    )
    assert (await desk.result("What is the sum of loans?")).rows[0].values == (700,)


async def test_a_career_at_the_end_is_not_the_highest_of_the_years(desk: Desk) -> None:
    rows = [("1999", 3, 10), ("2000", 5, 12), ("2001", 4, 9), ("Career*", 12, 29)]
    desk.sheets.add({"Year": "text", "Wins": "integer", "Starts": "integer"}, rows, sheet="Summary")
    assert (await desk.result("Which year had the highest wins?")).rows[0].values == ("2000", 5)


async def test_subtotals_among_the_rows_are_not_summed(desk: Desk) -> None:
    rows = [("Accra", 100), ("Kumasi", 250), ("Subtotal south", 350), ("Tamale", 50), ("Wa", 7)]
    desk.sheets.add({"Branch": "text", "Loans": "integer"}, rows, sheet="Summary")
    refused = await desk.refused("What is the sum of loans?")
    assert refused == Refused(
        "Loans.xlsx/Summary holds subtotals among its rows, which would be counted twice", computes=True
    )


async def test_a_question_about_no_table_is_left_alone(desk: Desk) -> None:
    desk.sheets.add(LOAN_COLUMNS, LOAN_ROWS)
    assert await desk.consider("What is the capital of France?") is None
    assert await desk.planner.consider(OWNER, "What is the total amount?", []) is None


async def test_another_owners_table_is_not_read(desk: Desk) -> None:
    table = desk.sheets.add(LOAN_COLUMNS, LOAN_ROWS)
    with pytest.raises(UnusableTable) as refused:
        await desk.planner.consider("ben", "What is the total amount?", [table])
    assert isinstance(refused.value.__cause__, NotFound)
