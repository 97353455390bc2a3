"""From what a reader says of a table to the answer, over real rows."""

from __future__ import annotations

import pytest

from citewell.agent.tables.language.phrasing import phrase
from citewell.agent.tables.planner import Planned, TablePlanner
from citewell.agent.tables.run.engine import TableEngine
from citewell.agent.tables.run.results import row_hits
from citewell.types.table_reading import ColumnRole, GroupFigure, NumberUse, RowOperation, ValueUse
from tests.agent.tables.meaning.says import Says
from tests.agent.tables.sheets import LOAN_COLUMNS, LOAN_ROWS, OWNER, Sheets

ANSWER, MEASURE, GROUP = ColumnRole.ANSWER, ColumnRole.MEASURE, ColumnRole.GROUP
IS, AMOUNT = ValueUse.IS, "Amount (GHS)"


async def answered(sheets: Sheets, question: str, says: Says) -> str | None:
    """The answer that follows from what the reader says, of all the sheets."""
    engine = TableEngine(sheets)
    planned = await TablePlanner(engine, reader=says).consider(OWNER, question, list(sheets.tables.values()))
    if not isinstance(planned, Planned):
        return None
    result = await engine.run(OWNER, planned.plan.table, planned.plan.query)
    return phrase(planned.plan, result, planned.left_out, list(range(1, len(row_hits(OWNER, result)) + 1)))


@pytest.mark.parametrize(
    ("question", "says", "answer"),
    [
        (
            "what does ama owe us",
            Says(RowOperation.LOOKUP, {AMOUNT: ANSWER}, {"Ama Mensah": IS}),
            "Amount for Ama Mensah: GHS 5000.50 [1].",
        ),
        (
            "people behind with their money",
            Says(RowOperation.FILTER, {"Borrower": ANSWER}, {"overdue": IS}),
            "Borrower where Status is overdue: Kofi Boateng [1] and Esi Owusu [2].",
        ),
        (
            "how many are late in the capital",
            Says(RowOperation.COUNT, {}, {"overdue": IS, "Accra": IS}),
            "There is 1 row in “Loans” where Branch is Accra and Status is overdue [1].",
        ),
        (
            "how many outside Accra",
            Says(RowOperation.COUNT, {}, {"Accra": ValueUse.IS_NOT}),
            "There are 3 rows in “Loans” where Branch is not Accra [1].",
        ),
        (
            "how many went out before 2025",
            Says(RowOperation.COUNT, {}, {}, [(NumberUse.LT, "Disbursed")]),
            "There are 3 rows in “Loans” where Disbursed is under 2025-01-01 [1].",
        ),
        (
            "money lent in Accra",
            Says(RowOperation.SUM, {AMOUNT: MEASURE}, {"Accra": IS}),
            "The total of Amount is GHS 8300.75, over 3 rows where Branch is Accra [1].",
        ),
        (
            "where do we lend",
            Says(RowOperation.DISTINCT, {"Branch": MEASURE}),
            "The number of different values of Branch is 3, over 6 rows [1].",
        ),
        (
            "who has the smallest",
            Says(RowOperation.EXTREME, {AMOUNT: MEASURE, "Borrower": ANSWER}, descending=False),
            "Amount was lowest for Esi Owusu: GHS 800.25 [1].",
        ),
        (
            "which branch lends most",
            Says(RowOperation.EXTREME, {AMOUNT: MEASURE, "Branch": GROUP}, figure=GroupFigure.SUM),
            "Total Amount was highest, GHS 12,000, for Kumasi [1] and Tamale [2].",
        ),
        (
            "the two oldest",
            Says(RowOperation.TOP, {"Disbursed": MEASURE}, {}, [(NumberUse.LIMIT, "")], descending=False),
            "The 2 earliest by Disbursed:\n- Ama Mensah: 2024-01-15 [1]\n- Kofi Boateng: 2024-03-01 [2]",
        ),
        (
            "loans at each branch",
            Says(RowOperation.GROUP, {"Branch": GROUP}, figure=GroupFigure.COUNT),
            "Rows by Branch:\n- Accra: 3 [1]\n- Kumasi: 2 [2]\n- Tamale: 1 [3]",
        ),
        (
            "is anybody in Tamale late",
            Says(RowOperation.EXISTS, {}, {"Tamale": IS, "overdue": IS}),
            "No, there is no row in “Loans” where Branch is Tamale and Status is overdue [1].",
        ),
        (
            "did Kofi get more than Esi",
            Says(
                RowOperation.COMPARE, {AMOUNT: MEASURE}, {"Kofi Boateng": IS, "Esi Owusu": IS}, figure=GroupFigure.SUM
            ),
            "Amount was higher for Kofi Boateng, GHS 12,000 [2], than for Esi Owusu, GHS 800.25 [1], a difference of GHS 11,199.75.",
        ),
        (
            "what part is late",
            Says(RowOperation.SHARE, {}, {"overdue": ValueUse.PART}, figure=GroupFigure.COUNT),
            "Status is overdue in 2 of 6 rows in “Loans”, which is 33.3% [2].",
        ),
        (
            "still without a date",
            Says(RowOperation.FILTER, {"Borrower": ANSWER, "Disbursed": ColumnRole.EMPTY}),
            "The Borrower where Disbursed is empty is Akua Asante [1].",
        ),
    ],
)
async def test_each_operation(sheets: Sheets, question: str, says: Says, answer: str) -> None:
    sheets.add(LOAN_COLUMNS, LOAN_ROWS)
    found = await answered(sheets, question, says)
    assert found is not None
    assert found.startswith(answer)


BUDGET = (("Gas", 100.0, 120.0, 90.0), ("Power", 200.0, 150.0, 160.0), ("Water", 50.0, 50.0, 50.0))


@pytest.mark.parametrize(
    ("question", "says", "answer"),
    [
        (
            "how much more gas in 2024 than in 2023, in percent",
            Says(RowOperation.CHANGE, {"2023": MEASURE, "2024": MEASURE}, {"Gas": IS}, percent=True),
            "2023 100; 2024 120 for Gas, a difference of 20: 20% more than 2023 [1].",
        ),
        (
            "both years together",
            Says(RowOperation.DIFFERENCE, {"2023": MEASURE, "2024": MEASURE}, figure=GroupFigure.SUM),
            "Total: 2023 350; 2024 320, a difference of 30 [1].",
        ),
        (
            "how has power developed",
            Says(RowOperation.TREND, {"2023": MEASURE, "2024": MEASURE, "2025": MEASURE}, {"Power": IS}),
            "2023 200; 2024 150; 2025 160 for Power, down by 40 (20%) [1].",
        ),
        (
            "what got dearer last year",
            Says(RowOperation.FILTER, {"Line": ANSWER, "2024": ColumnRole.MORE, "2023": ColumnRole.LESS}),
            "The Line where 2024 is over 2023 is Gas [1].",
        ),
    ],
)
async def test_columns_side_by_side(sheets: Sheets, question: str, says: Says, answer: str) -> None:
    sheets.add({"Line": "text", "2023": "number", "2024": "number", "2025": "number"}, BUDGET, filename="Budget.xlsx")
    assert await answered(sheets, question, says) == answer


async def test_a_figure_over_the_years(sheets: Sheets) -> None:
    rows = [(2023, 640.0), (2024, 700.0), (2025, 800.0)]
    sheets.add({"Year": "integer", "Balance": "number"}, rows, filename="Fund.xlsx")
    says = Says(RowOperation.TREND, {"Balance": MEASURE, "Year": ANSWER})
    assert await answered(sheets, "is the fund growing", says) == (
        "Balance rose from 640 in 2023 to 800 in 2025, up by 160 (25%):\n- 2023: 640 [1]\n- 2024: 700 [2]\n- 2025: 800 [3]"
    )


async def test_nothing_is_planned_where_the_table_is_not_meant(sheets: Sheets) -> None:
    sheets.add(LOAN_COLUMNS, LOAN_ROWS)
    says = Says(RowOperation.COUNT, {}, {"overdue": IS}, meant=-8.0)
    assert await answered(sheets, "why are the neighbors late with their rent", says) is None


async def test_columns_of_other_kinds_are_not_added_up(sheets: Sheets) -> None:
    sheets.add(LOAN_COLUMNS, LOAN_ROWS)
    says = Says(RowOperation.SUM, {"Borrower": MEASURE})
    assert await answered(sheets, "what do the borrowers add up to", says) is None


async def test_months_by_name_come_in_the_order_of_the_rows(sheets: Sheets) -> None:
    rows = [("Jan", "A", 5), ("Jan", "B", 6), ("Feb", "A", 7), ("Mar", "A", 2)]
    sheets.add({"Month": "text", "Door": "text", "Visits": "integer"}, rows, filename="Visits.xlsx")
    says = Says(RowOperation.TREND, {"Visits": MEASURE, "Month": ANSWER})
    assert await answered(sheets, "how do visits develop", says) == (
        "Visits fell from 11 in Jan to 2 in Mar, down by 9 (81.8%):\n- Jan: 11 [1]\n- Feb: 7 [2]\n- Mar: 2 [3]"
    )


async def test_nothing_of_a_number_is_zero(sheets: Sheets) -> None:
    rows = [("1 June", 0.0), ("2 June", 3.5), ("3 June", 0.0)]
    sheets.add({"Day": "text", "Rain mm": "number"}, rows, filename="Weather.xlsx", sheet="June")
    says = Says(RowOperation.COUNT, {"Rain mm": ColumnRole.EMPTY})
    assert await answered(sheets, "how many dry days", says) == ("There are 2 rows in “June” where Rain mm is 0 [1].")


async def test_a_year_that_no_condition_uses_is_not_passed_over(sheets: Sheets) -> None:
    sheets.add(LOAN_COLUMNS, LOAN_ROWS, filename="Loans 2024 and 2025.xlsx")
    passed_over = Says(RowOperation.SUM, {AMOUNT: MEASURE})
    used = Says(RowOperation.SUM, {AMOUNT: MEASURE}, {}, [(NumberUse.EQ, "Disbursed")])
    assert await answered(sheets, "what did we lend in 2024", passed_over) is None
    found = await answered(sheets, "what did we lend in 2024", used)
    assert found is not None
    assert found.startswith("The total of Amount is GHS 17,800.75")


LOANS_OF = {"Loans": MEASURE}
TOTALLED = [("Accra", 100), ("Kumasi", 250), ("Tamale", 50), ("Total", 400)]


@pytest.mark.parametrize(
    ("says", "answer"),
    [
        (Says(RowOperation.SUM, LOANS_OF), "The total of Loans is 400, over 3 rows [1]."),
        (
            Says(RowOperation.EXTREME, {**LOANS_OF, "Branch": ANSWER}),
            "Loans were highest for Kumasi: 250 [1].",
        ),
    ],
)
async def test_a_total_row_is_not_counted_with_the_rows_that_it_sums_up(
    sheets: Sheets, says: Says, answer: str
) -> None:
    sheets.add({"Branch": "text", "Loans": "integer"}, TOTALLED, sheet="Summary")
    left_out = "\nRow 5 of Loans.xlsx/Summary, a total of the others, is left out."
    assert await answered(sheets, "loans", says) == answer + left_out


async def test_amounts_of_several_currencies_are_not_added_up(sheets: Sheets) -> None:
    rows = (("A1", 1200, "EUR"), ("A2", 850, "GBP"), ("A3", 5000, "USD"), ("A4", 100, "EUR"))
    sheets.add({"Invoice": "text", "Amount": "integer", "Currency": "text"}, rows, filename="owed.csv", sheet=None)
    total = Says(RowOperation.SUM, {"Amount": MEASURE})
    of_one = Says(RowOperation.SUM, {"Amount": MEASURE}, {"EUR": IS})
    assert await answered(sheets, "total amount", total) is None
    assert (await answered(sheets, "total amount in EUR", of_one) or "").startswith("The total of Amount is 1300")
