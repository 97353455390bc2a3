"""Planning over the tables in scope: one table is chosen, totals are left out, and what has two answers is refused."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from citewell.agent.tables.language.shape import Shape
from citewell.agent.tables.planner import Planned, Refused, TablePlanner
from citewell.agent.tables.query.typed import ColumnRef, Comparator, RowCondition
from citewell.agent.tables.run.engine import TableEngine, TableResult, UnusableTable
from citewell.agent.tables.thresholds import TableThresholds
from citewell.errors import NotFound
from citewell.types import ROW_COLUMN, TableInfo
from tests.agent.tables.sheets import LOAN_COLUMNS, LOAN_ROWS, OWNER, READER, Sheets, planner_of


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
        ("How many records were disbursed in Kumasi?", [(1,)]),
        ("What is the total amount disbursed in Accra?", [(8300.75,)]),
        ("What is the total amount?", [(32300.75,)]),
        ("What is the average amount?", [(6460.15,)]),
        ("What is the total amount by branch?", [("Kumasi", 12000.0), ("Tamale", 12000.0), ("Accra", 8300.75)]),
        ("Which branch has the most records?", [("Accra", 3), ("Kumasi", 2), ("Tamale", 1)]),
        ("What is the status of Esi Owusu?", [("Esi Owusu", "overdue")]),
        ("What is the total amount excluding Accra?", [(24000.0,)]),
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


async def test_the_difference_in_a_column_between_two_rows_is_computed(desk: Desk) -> None:
    desk.sheets.add({"Loan": "text", "Amount": "integer"}, [("AC-1", 3000), ("AC-2", 8000), ("AC-3", 100)])
    found = await desk.planned("What is the difference in amount between AC-1 and AC-2?")
    assert found.plan.shape in (Shape.SPAN, Shape.COMPARE)
    rows = (await desk.engine.run(OWNER, found.plan.table, found.plan.query)).rows
    assert {value for row in rows for value in row.values} >= {3000, 8000}
    assert 100 not in {value for row in rows for value in row.values}


async def test_a_date_that_is_asked_for_is_no_condition(desk: Desk) -> None:
    desk.sheets.add(LOAN_COLUMNS, LOAN_ROWS)
    found = await desk.planned("When was the loan of Esi Owusu disbursed?")
    assert "Disbursed" in found.plan.query.columns


async def test_a_figure_counts_only_the_rows_that_have_a_value(desk: Desk) -> None:
    desk.sheets.add(LOAN_COLUMNS, LOAN_ROWS)
    assert (await desk.result("What is the average amount?")).rows[0].rows.listed == (2, 3, 4, 5, 7)


async def test_of_one_table_alone_the_cell_that_is_asked_for_comes_before_the_rows_that_hold_it(desk: Desk) -> None:
    desk.sheets.add(LOAN_COLUMNS, LOAN_ROWS)
    tables = list(desk.sheets.tables.values())
    question = "Which branch has the borrower Esi Owusu?"
    alone = await desk.planner.consider(OWNER, question, tables, only=True)
    assert isinstance(alone, Planned)
    assert alone.plan.asked is not None
    assert alone.plan.asked.name == "Branch"
    assert (await desk.planned(question)).plan.shape is Shape.LOOKUP
    listed = await desk.planner.consider(OWNER, "Show the records of the status overdue", tables, only=True)
    assert isinstance(listed, Planned)
    assert listed.plan.shape is Shape.ROWS


async def test_rows_do_not_answer_what_makes_any_of_them_so(desk: Desk) -> None:
    desk.sheets.add(LOAN_COLUMNS, LOAN_ROWS)
    assert (await desk.planned("Which loans have the status overdue?")).plan.shape is Shape.LOOKUP
    refused = await desk.refused("When is a loan of status overdue?")
    assert refused.of_a_kind
    assert refused.computes
    assert (await desk.planned("What is an average amount?")).plan.shape is Shape.FIGURE


TOTALLED = [("Accra", 100), ("Kumasi", 250), ("Tamale", 50), ("Total", 400)]


async def test_a_total_row_is_not_counted_twice(desk: Desk) -> None:
    desk.sheets.add({"Branch": "text", "Loans": "integer"}, TOTALLED, sheet="Summary")
    planned = await desk.planned("What is the sum of loans?")
    assert planned.left_out == (5,)
    assert planned.plan.query.conditions[-1] == RowCondition(ColumnRef(ROW_COLUMN), Comparator.NOT_IN, (5,))
    assert (await desk.result("What is the sum of loans?")).rows[0].values == (400,)
    best = await desk.result("Which branch has the highest loans?")
    assert best.rows[0].values == ("Kumasi", 250)


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


async def test_a_total_row_can_still_be_looked_up(desk: Desk) -> None:
    desk.sheets.add({"Branch": "text", "Loans": "integer"}, TOTALLED, sheet="Summary")
    planned = await desk.planned("What are the loans of branch Kumasi?")
    assert planned.plan.shape is Shape.LOOKUP
    assert planned.left_out == ()


async def test_subtotals_among_the_rows_are_not_summed(desk: Desk) -> None:
    rows = [("Accra", 100), ("Kumasi", 250), ("Subtotal south", 350), ("Tamale", 50), ("Wa", 7)]
    desk.sheets.add({"Branch": "text", "Loans": "integer"}, rows, sheet="Summary")
    refused = await desk.refused("What is the sum of loans?")
    assert refused == Refused(
        "Loans.xlsx/Summary holds subtotals among its rows, which would be counted twice", computes=True
    )


async def test_one_of_several_rows_of_the_same_name_is_not_taken_for_the_answer(desk: Desk) -> None:
    desk.sheets.add(LOAN_COLUMNS, LOAN_ROWS)
    refused = await desk.refused("Which branch has the highest amount?")
    assert refused.computes
    assert refused.reason == "several rows have the same Branch; ask for the total, the average or the count"
    assert await desk.planned("Which borrower has the highest amount?")


async def test_between_two_tables_the_one_that_is_named_is_asked(desk: Desk) -> None:
    desk.sheets.add(LOAN_COLUMNS, LOAN_ROWS, sheet="Active")
    desk.sheets.add(LOAN_COLUMNS, LOAN_ROWS[:2], sheet="Closed")
    both = await desk.refused("What is the total amount?")
    assert both == Refused("several tables could be meant: Loans.xlsx/Active, Loans.xlsx/Closed", computes=True)
    planned = await desk.planned("What is the total amount in the sheet Closed?")
    assert planned.plan.table.sheet == "Closed"


async def test_the_table_that_explains_most_of_the_question_says_why_not(desk: Desk) -> None:
    desk.sheets.add(
        {"City": "text", "Amount": "number"}, [("Accra", 1.0), ("Wa", 2.0)], filename="Cities.csv", sheet=None
    )
    desk.sheets.add(LOAN_COLUMNS, LOAN_ROWS)
    refused = await desk.refused("What is the total amount of overdue borrowers in Paris by branch?")
    assert refused.reason == "it is not clear what “Paris” means in this table (Loans.xlsx/Loans)"


async def test_a_question_about_no_table_is_left_alone(desk: Desk) -> None:
    desk.sheets.add(LOAN_COLUMNS, LOAN_ROWS)
    assert await desk.consider("What is the capital of France?") is None
    assert await desk.planner.consider(OWNER, "What is the total amount?", []) is None


async def test_a_new_version_of_a_file_is_learnt_again(desk: Desk, tmp_path: Path) -> None:
    table = desk.sheets.add({"Branch": "text", "Loans": "integer"}, [("Accra", 1), ("Wa", 2)])
    assert await desk.consider("How many records are in Tamale?", [table]) == Refused(
        "it is not clear what “Tamale” means in this table (Loans.xlsx/Loans)", computes=True
    )
    newer = Sheets(tmp_path)
    changed = newer.add({"Branch": "text", "Loans": "integer"}, [("Tamale", 1), ("Wa", 2)])
    found = await Desk(tmp_path).consider("How many records are in Tamale?", [replace(changed, version=2)])
    assert isinstance(found, Planned)
    remembered = await desk.consider("How many records are in Tamale?", [table])
    assert isinstance(remembered, Refused)  # a version never changes, so what was learnt of it is kept


async def test_what_was_learnt_is_kept_within_bounds(desk: Desk) -> None:
    desk.planner = TablePlanner(desk.engine, reader=READER, thresholds=TableThresholds(cached_tables=2))
    for number in range(4):
        desk.sheets.add({"Branch": "text", f"Figure {number}": "integer"}, [("Accra", number), ("Wa", 2)])
    for number in range(4):
        assert (
            await desk.planned(f"What is the total figure {number}?")
        ).plan.table.resource_id == f"resource-{number}"


async def test_a_column_of_too_many_different_texts_has_no_known_values(desk: Desk) -> None:
    desk.planner = TablePlanner(desk.engine, reader=READER, thresholds=TableThresholds(distinct_values=3, held_rows=1))
    desk.sheets.add(LOAN_COLUMNS, LOAN_ROWS)
    assert (await desk.refused("How many records of Kofi Boateng are there?")).reason.startswith(
        "it is not clear what “Kofi”"
    )
    assert (await desk.result("How many records are in Accra?")).rows[0].values == (3,)


async def test_another_owners_table_is_not_read(desk: Desk) -> None:
    table = desk.sheets.add(LOAN_COLUMNS, LOAN_ROWS)
    with pytest.raises(UnusableTable) as refused:
        await desk.planner.consider("ben", "What is the total amount?", [table])
    assert isinstance(refused.value.__cause__, NotFound)
