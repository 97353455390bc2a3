"""Questions as people type them about their own sheets: how much, what costs, lists of values, months without a year, who has most."""

from __future__ import annotations

from pathlib import Path

import pytest

from citewell.agent.tables.language.phrasing import phrase
from citewell.agent.tables.language.table_planner import Planned, Refused, TablePlanner, gives_what_was_weighed
from citewell.agent.tables.run.engine import TableEngine
from citewell.agent.tables.run.results import row_hits
from citewell.types import ColumnKind
from tests.agent.tables.sheets import OWNER, Sheets

EXPENSES: dict[str, ColumnKind] = {
    "Date": "date",
    "Category": "text",
    "Vendor": "text",
    "Amount (EUR)": "number",
    "Paid by": "text",
}
EXPENSE_ROWS = (
    ("2025-01-03", "Rent", "Lenz", 1850.0, "Bank transfer"),
    ("2025-01-14", "Travel", "Deutsche Bahn", 212.4, "Credit card"),
    ("2025-02-03", "Rent", "Lenz", 1850.0, "Bank transfer"),
    ("2025-02-19", "Travel", "Lufthansa", 388.2, "Credit card"),
    ("2025-03-03", "Rent", "Lenz", 1920.0, "Bank transfer"),
    ("2025-03-10", "Software", "GitHub", 504.0, "Credit card"),
    ("2025-03-31", "Salaries", None, 15100.0, "Bank transfer"),
)
PRICES: dict[str, ColumnKind] = {
    "Article": "text",
    "Product": "text",
    "Category": "text",
    "Price net": "number",
    "In stock": "integer",
    "Supplier": "text",
}
PRICE_ROWS = (
    ("A-1001", "Oak table", "Tables", 489.0, 12, "Brandt"),
    ("A-1003", "Folding table", "Tables", 119.9, 38, "Mobilo"),
    ("A-2001", "Chair Lisa", "Chairs", 79.0, 140, "Mobilo"),
    ("A-2003", "Office chair Ergo", "Chairs", 349.0, 0, "Sitwell"),
    ("A-4001", "Desk lamp", "Lamps", 59.9, 48, "Lumen"),
)
LOANS: dict[str, ColumnKind] = {
    "Borrower ID": "text",
    "Name": "text",
    "Business": "text",
    "Town": "text",
    "Loan amount (GHS)": "integer",
    "Interest rate": "number",
    "Start date": "date",
    "Status": "text",
}
LOAN_ROWS = (
    ("B001", "Ama Mensah", "Tailoring", "Kumasi", 4500, 0.24, "2024-01-15", "Repaid"),
    ("B002", "Yaw Darko", "Poultry farm", "Techiman", 12000, 0.22, "2024-02-01", "Active"),
    ("B003", "Efua Asante", "Bakery", "Kumasi", 8000, 0.24, "2025-03-10", "In arrears"),
    ("B004", "Kwame Ofori", "Phone repair", "Accra", 3000, 0.26, "2025-04-22", "Active"),
)
REPAYMENTS: dict[str, ColumnKind] = {
    "Date": "date",
    "Borrower ID": "text",
    "Amount paid (GHS)": "integer",
    "Method": "text",
}
REPAYMENT_ROWS = (
    ("2024-02-15", "B001", 465, "Cash"),
    ("2024-03-01", "B002", 887, "Bank"),
    ("2024-03-15", "B001", 465, "Bank"),
)


@pytest.fixture
def sheets(tmp_path: Path) -> Sheets:
    return Sheets(tmp_path)


async def _answer(sheets: Sheets, question: str) -> str | None:
    engine = TableEngine(sheets)
    planned = await TablePlanner(engine).consider(OWNER, question, list(sheets.tables.values()))
    if not isinstance(planned, Planned):
        return f"refused: {planned.reason}" if planned is not None else None
    result = await engine.run(OWNER, planned.plan.table, planned.plan.query)
    assert gives_what_was_weighed(planned, result)
    return phrase(planned.plan, result, planned.left_out, list(range(1, len(row_hits(OWNER, result)) + 1)))


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("how much did we spend on travel?", "The total of Amount is EUR 600.60, over 2 rows where Category is Travel [1]."),
        ("How much do we pay Lenz?", "The total of Amount is EUR 5620, over 3 rows where Vendor is Lenz [1]."),
        ("average rent", "The average of Amount is EUR 1873.33, over 3 rows where Category is Rent [1]."),
        ("total paid by credit card", "The total of Amount is EUR 1104.60, over 3 rows where Paid by is Credit card [1]."),
        ("what did we buy from GitHub?",
         "Date: 2025-03-10; Category: Software; Vendor: GitHub; Amount (EUR): 504; Paid by: Credit card [1]"),
        ("how many expenses in March?",
         "There are 3 rows in “expenses.csv” where Date is at least 2025-03-01 and Date is under 2025-04-01 [1]."),
        ("total amount in the first quarter",
         "The total of Amount is EUR 21,824.60, over 7 rows where Date is at least 2025-01-01 and Date is under 2025-04-01 [1]."),
        ("total amount per month",
         "Total of Amount by month:\n- 2025-01: EUR 2062.40 [1]\n- 2025-02: EUR 2238.20 [2]\n- 2025-03: EUR 17,524 [3]"),
        ("amount by vendor",
         "Total of Amount by Vendor:\n- (empty): EUR 15,100 [1]\n- Lenz: EUR 5620 [2]\n- GitHub: EUR 504 [3]\n- Lufthansa: EUR 388.20 [4]\n"
         "- Deutsche Bahn: EUR 212.40 [5]"),
        ("which vendor did we pay the most?", "Total Amount was highest for Lenz: EUR 5620 [1]."),
        ("highest amount apart from salaries", "The highest Amount (EUR) where Category is not Salaries is EUR 1920 [1]."),
        ("biggest expense category apart from salaries", "Total Amount was highest for Rent where Category is not Salaries: EUR 5620 [1]."),
        ("how many times did we pay Lenz?", "There are 3 rows in “expenses.csv” where Vendor is Lenz [1]."),
        ("list all categories",
         "There are 4 different values of Category:\n- Rent (3 rows) [1]\n- Salaries (1 row) [2]\n- Software (1 row) [3]\n- Travel (2 rows) [4]"),
    ],
)  # fmt: skip
async def test_of_expenses(sheets: Sheets, question: str, answer: str) -> None:
    sheets.add(EXPENSES, EXPENSE_ROWS, filename="expenses.csv", sheet=None)
    assert await _answer(sheets, question) == answer


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("What does article A-2001 cost?", "Price net for Chair Lisa: 79 [1]."),
        ("average price of tables", "The average of Price net is 304.45, over 2 rows where Category is Tables [1]."),
        ("total stock of tables", "The total of In stock is 50, over 2 rows where Category is Tables [1]."),
        ("how many chairs are in stock?", "The total of In stock is 140, over 2 rows where Category is Chairs [1]."),
        ("which product is out of stock?", "Product: Office chair Ergo [1]"),
        ("what's our most expensive product?", "Price net was highest for Oak table: 489 [1]."),
        ("chairs under 100 euros",
         "Article: A-2001; Product: Chair Lisa; Category: Chairs; Price net: 79; In stock: 140; Supplier: Mobilo [1]"),
        ("who are the suppliers",
         "There are 4 different values of Supplier:\n- Brandt (1 row) [1]\n- Lumen (1 row) [2]\n- Mobilo (2 rows) [3]\n- Sitwell (1 row) [4]"),
        ("price by product",
         "- Product: Oak table; Price net: 489 [1]\n- Product: Folding table; Price net: 119.9 [2]\n- Product: Chair Lisa; Price net: 79 [3]\n"
         "- Product: Office chair Ergo; Price net: 349 [4]\n- Product: Desk lamp; Price net: 59.9 [5]"),
        ("price by category",
         "refused: it does not say whether the total or the average of Price net is meant (prices.csv)"),
    ],
)  # fmt: skip
async def test_of_a_price_list(sheets: Sheets, question: str, answer: str) -> None:
    sheets.add(PRICES, PRICE_ROWS, filename="prices.csv", sheet=None)
    assert await _answer(sheets, question) == answer


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("What is the largest loan?", "Loan amount was highest for Yaw Darko: GHS 12,000 [1]."),
        ("top 2 loans", "The 2 highest by Loan amount:\n- Yaw Darko: GHS 12,000 [1]\n- Efua Asante: GHS 8000 [2]"),
        ("how many borrowers are there in total?", "There are 4 different values of Borrower ID in “Borrowers” [1]."),
        ("When did Yaw Darko get his loan?", "Start date for Yaw Darko: 2024-02-01 [1]."),
        ("What business does Ama Mensah run?", "Business for Ama Mensah: Tailoring [1]."),
        ("loan amount by town",
         "Total of Loan amount by Town:\n- Kumasi: GHS 12,500 [1]\n- Techiman: GHS 12,000 [2]\n- Accra: GHS 3000 [3]"),
        ("when was the last repayment made?", "The latest Date is 2024-03-15 [1]."),
        ("how many repayments did B001 make?", "There are 2 rows in “Repayments” where Borrower ID is B001 [1]."),
        ("Which town has the most borrowers?", "Kumasi has the most rows: 2 [1]."),
        ("total amount lent in Kumasi", "The total of Loan amount is GHS 12,500, over 2 rows where Town is Kumasi [1]."),
        ("how many loans are active and how many are in arrears?", "Rows by Status where Status is one of Active, In arrears:\n- Active: 2 [1]\n- In arrears: 1 [2]"),
    ],
)  # fmt: skip
async def test_of_loans_and_their_repayments(sheets: Sheets, question: str, answer: str) -> None:
    sheets.add(LOANS, LOAN_ROWS, filename="loans.xlsx", sheet="Borrowers")
    sheets.add(REPAYMENTS, REPAYMENT_ROWS, filename="loans.xlsx", sheet="Repayments")
    assert await _answer(sheets, question) == answer


async def test_a_month_of_several_years_is_that_of_each(sheets: Sheets) -> None:
    sheets.add(LOANS, LOAN_ROWS, filename="loans.xlsx", sheet="Borrowers")
    answer = "There is 1 row in “Borrowers” where Start date is one of 2024-03, 2025-03 [1]."
    assert await _answer(sheets, "How many records are in March?") == answer
    assert (await _answer(sheets, "How many records are since March?") or "").startswith(
        "refused: it is not clear which year"
    )


async def test_of_several_tables_none_is_answered_from_that_the_question_does_not_name(sheets: Sheets) -> None:
    sheets.add(
        {"Item": "text", "Q1": "integer"}, [("Heating", 2100), ("Repairs", 350)], filename="hall.xlsx", sheet="Budget"
    )
    sheets.add(
        {"First name": "text", "Joined": "text"},
        [("Jana", "2019"), ("Petr", "2021")],
        filename="hall.xlsx",
        sheet="Members",
    )
    engine = TableEngine(sheets)
    found = await TablePlanner(engine).consider(
        OWNER, "which cost is the highest?", list(sheets.tables.values()), only=True
    )
    assert not isinstance(found, Planned)


async def test_a_query_that_gives_other_values_than_were_weighed_is_no_answer(sheets: Sheets) -> None:
    sheets.add(PRICES, PRICE_ROWS, filename="prices.csv", sheet=None)
    engine = TableEngine(sheets)
    planned = await TablePlanner(engine).consider(OWNER, "How many records are there?", list(sheets.tables.values()))
    assert isinstance(planned, Planned)
    result = await engine.run(OWNER, planned.plan.table, planned.plan.query)
    for weighed, agrees in ((None, True), (frozenset({"5.0"}), True), (frozenset({"4.0"}), False)):
        one = Planned(planned.plan, planned.left_out, 0.9, weighed)
        assert gives_what_was_weighed(one, result) is agrees


async def test_what_is_no_question_of_amounts_is_refused(sheets: Sheets) -> None:
    sheets.add(LOANS, LOAN_ROWS, filename="loans.xlsx", sheet="Borrowers")
    for question in ("how much rain fell in Kumasi?", "who sank the Titanic?"):
        found = await TablePlanner(TableEngine(sheets)).consider(OWNER, question, list(sheets.tables.values()))
        assert found is None or isinstance(found, Refused), question


APARTMENTS: dict[str, ColumnKind] = {
    "Ref": "text",
    "City": "text",
    "Size m²": "integer",
    "Rent": "integer",
    "Pets allowed": "text",
    "Furnished": "text",
}
APARTMENT_ROWS = (
    ("APT-201", "Lyon", 43, 827, "Yes", "No"),
    ("APT-202", "Vienna", 84, 1596, "No", "Yes"),
    ("APT-203", "Ghent", 115, 1500, "Yes", "Yes"),
    ("APT-204", "Ghent", 60, 900, "No", "Yes"),
)
HARVEST: dict[str, ColumnKind] = {
    "Parcel": "text",
    "Grape": "text",
    "Picking date": "date",
    "Weight (kg)": "integer",
    "Hours": "number",
}
HARVEST_ROWS = (
    ("Nord", "Pinot Noir", "2023-09-07", 3270, 5.0),
    ("Sud", "Pinot Noir", "2023-09-12", 1200, 2.5),
    ("Nord", "Chardonnay", "2024-09-02", 900, 2.0),
)


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Show the two largest apartments", "The 2 highest by Size m²:\n- APT-203: 115 [1]\n- APT-202: 84 [2]"),
        ("Which apartments in Ghent allow pets?",
         "Ref: APT-203; City: Ghent; Size m²: 115; Rent: 1500; Pets allowed: Yes; Furnished: Yes [1]"),
        ("How many furnished apartments are there?", "There are 3 rows in “apartments.csv” where Furnished is Yes [1]."),
        ("How many apartments are not furnished?", "There is 1 row in “apartments.csv” where Furnished is No [1]."),
        ("What's the cheapest apartment?", "Rent was lowest for APT-201: 827 [1]."),
    ],
)  # fmt: skip
async def test_of_apartments(sheets: Sheets, question: str, answer: str) -> None:
    sheets.add(APARTMENTS, APARTMENT_ROWS, filename="apartments.csv", sheet=None)
    assert await _answer(sheets, question) == answer


FLATS: dict[str, ColumnKind] = {
    "Flat": "text",
    "Area": "text",
    "Rooms": "integer",
    "Size (m2)": "integer",
    "Rent (EUR)": "integer",
    "Pets": "text",
}
FLAT_ROWS = (
    ("A1", "Old Town", 2, 54, 890, "yes"),
    ("A2", "Harbour", 3, 78, 1250, "no"),
    ("B1", "Old Town", 1, 31, 610, "no"),
    ("B2", "Riverside", 4, 110, 1710, "yes"),
    ("C1", "Harbour", 2, 60, 980, "yes"),
)


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Which flats allow pets?", "- Flat: A1 [1]\n- Flat: B2 [2]\n- Flat: C1 [3]"),
        ("Which flats do not allow pets?", "- Flat: A2 [1]\n- Flat: B1 [2]"),
        ("What is the cheapest flat that allows pets?", "Rent was lowest for A1 where Pets is yes: EUR 890 [1]."),
        ("Which is the cheapest flat with pets permitted?", "Rent was lowest for A1 where Pets is yes: EUR 890 [1]."),
        ("Which flats allow pets and have 2 rooms?", "- Flat: A1 [1]\n- Flat: C1 [2]"),
        ("Cheapest flat with 2 rooms?", "Rent was lowest for A1 where Rooms is 2: EUR 890 [1]."),
        ("What is the average rent of flats with 2 rooms?", "The average of Rent is EUR 935, over 2 rows where Rooms is 2 [1]."),
        ("Which flat costs less than 900?", "- Flat: A1 [1]\n- Flat: B1 [2]"),
        ("What is the highest rent under 1000?", "Rent was highest for C1 where Rent (EUR) is under 1000: EUR 980 [1]."),
    ],
)  # fmt: skip
async def test_of_flats(sheets: Sheets, question: str, answer: str) -> None:
    sheets.add(FLATS, FLAT_ROWS, filename="flats.csv", sheet=None)
    assert await _answer(sheets, question) == answer


@pytest.mark.parametrize(
    "question",
    ["Which flats include heating?", "Which flats allow dogs?", "Which flat has 2 balconies?", "Who paid the most?"],
)
async def test_what_flats_do_not_say_is_refused(sheets: Sheets, question: str) -> None:
    table = sheets.add(FLATS, FLAT_ROWS, filename="flats.csv", sheet=None)
    assert not isinstance(await TablePlanner(TableEngine(sheets)).consider(OWNER, question, [table]), Planned)


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Which customer has the largest invoice?", "Amount was highest for Meyer: EUR 2410 [1]."),
        ("What is the largest invoice?", "Amount was highest for 2025-004: EUR 2410 [1]."),
        ("Which invoice is the smallest?", "Amount was lowest for 2025-005: EUR 75 [1]."),
        ("Which invoices are unpaid?", "- Invoice: 2025-002 [1]\n- Invoice: 2025-004 [2]"),
        ("Which invoices have not been paid yet?", "- Invoice: 2025-002 [1]\n- Invoice: 2025-004 [2]"),
        ("How much is unpaid?", "The total of Amount is EUR 2970, over 2 rows where Paid on is empty [1]."),
        ("Which unpaid invoice is the largest?", "Amount was highest for 2025-004 where Paid on is empty: EUR 2410 [1]."),
        ("Which invoices are undisputed?", "- Invoice: 2025-001 [1]\n- Invoice: 2025-005 [2]"),
        ("What does Schmidt owe?",
         "The total of Amount is EUR 560, over 1 row where Customer is Schmidt and Paid on is empty [1]."),
        ("How much did Schmidt pay?",
         "The total of Amount is EUR 75, over 1 row where Customer is Schmidt and Paid on is filled in [1]."),
        ("How much has Weber paid?",
         "The total of Amount is EUR 1500, over 2 rows where Customer is Weber and Paid on is filled in [1]."),
        ("Which customer paid the most?", "Total Amount was highest for Weber where Paid on is filled in: EUR 1500 [1]."),
        ("Which customer owes the most?", "Total Amount was highest for Meyer where Paid on is empty: EUR 2410 [1]."),
        ("When was invoice 2025-003 paid?", "Paid on for 2025-003: 2025-02-20 [1]."),
    ],
)  # fmt: skip
async def test_of_invoices(sheets: Sheets, question: str, answer: str) -> None:
    columns: dict[str, ColumnKind] = {
        "Invoice": "text", "Customer": "text", "Amount (EUR)": "number", "Paid on": "date", "Disputed": "text",
    }  # fmt: skip
    rows = (
        ("2025-001", "Weber", 1200, "2025-01-30", "no"),
        ("2025-002", "Schmidt", 560, None, "yes"),
        ("2025-003", "Weber", 300, "2025-02-20", "yes"),
        ("2025-004", "Meyer", 2410, None, "yes"),
        ("2025-005", "Schmidt", 75, "2025-03-04", "no"),
    )
    sheets.add(columns, rows, filename="invoices.csv", sheet=None)
    assert await _answer(sheets, question) == answer


@pytest.mark.parametrize("question", ["What's the deposit for APT-203?", "Which colour is APT-203?"])
async def test_what_no_column_says_is_not_answered_by_the_row(sheets: Sheets, question: str) -> None:
    table = sheets.add(APARTMENTS, APARTMENT_ROWS, filename="apartments.csv", sheet=None)
    found = await TablePlanner(TableEngine(sheets)).consider(OWNER, question, [table], only=True)
    assert not isinstance(found, Planned)


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("How many kilos of Pinot Noir did we pick in 2023?",
         "The total of Weight is 4470 kg, over 2 rows where Grape is Pinot Noir and Picking date is at least 2023-01-01 and Picking date is under 2024-01-01 [1]."),
        ("Hours worked per parcel", "Total of Hours by Parcel:\n- Nord: 7 [1]\n- Sud: 2.5 [2]"),
        ("How many hours in Nord?", "The total of Hours is 7, over 2 rows where Parcel is Nord [1]."),
    ],
)  # fmt: skip
async def test_of_a_harvest(sheets: Sheets, question: str, answer: str) -> None:
    sheets.add(HARVEST, HARVEST_ROWS, filename="harvest.csv", sheet=None)
    assert await _answer(sheets, question) == answer


async def test_what_was_earned_is_a_sum_and_a_fee_is_not(sheets: Sheets) -> None:
    columns: dict[str, ColumnKind] = {"Appointment ID": "text", "Type": "text", "Status": "text", "Fee": "number"}
    rows = [
        ("A1", "Blood test", "completed", 85.0),
        ("A2", "Check", "cancelled", 60.0),
        ("A3", "Check", "completed", 60.0),
    ]
    sheets.add(columns, rows, filename="appointments.csv", sheet=None)
    told = await _answer(sheets, "What did we earn from completed appointments?")
    assert told == "The total of Fee is 145, over 2 rows where Status is completed [1]."
    assert await _answer(sheets, "What does a blood test cost?") == "Fee for A1: 85 [1]."


QUARTERS: dict[str, ColumnKind] = {
    "Quarter": "text",
    "Revenue (EUR)": "number",
    "Margin (%)": "number",
    "Staff": "integer",
}
QUARTER_ROWS = (
    ("Q1 2025", 120_000.0, 24.0, 12),
    ("Q2 2025", 98_000.5, 18.37, 13),
    ("Q3 2025", 143_000.0, 30.0, 13),
    ("Q4 2025", 150_000.0, 15.0, 15),
)
ROSE = "Revenue was higher in Q4 2025, EUR 150,000 [2], than in Q3 2025, EUR 143,000 [1], a difference of EUR 7000."
SANK = "Margin was higher in Q1 2025, 24% [1], than in Q2 2025, 18.37% [2], a difference of 5.63 percentage points."


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("By how much did revenue grow from Q3 2025 to Q4 2025?", ROSE),
        ("How much did revenue increase between Q3 2025 and Q4 2025?", ROSE),
        ("How much higher was revenue in Q4 than in Q3?", ROSE),
        ("How much more was the revenue in Q4 2025 compared to Q3 2025?", ROSE),
        ("Did revenue fall from Q3 to Q4?", ROSE),
        ("How did revenue change from Q3 to Q4?", ROSE),
        ("did margin go up or down from Q1 to Q2?", SANK),
        ("is the margin in Q2 lower than in Q1?", SANK),
        ("Did staff grow between Q2 and Q3?", "Staff was the same, 13, in Q2 2025 [1] and Q3 2025 [2]."),
    ],
)  # fmt: skip
async def test_a_change_is_the_difference_of_the_two_rows_that_are_named(
    sheets: Sheets, question: str, answer: str
) -> None:
    sheets.add(QUARTERS, QUARTER_ROWS, filename="quarters.csv", sheet=None)
    assert await _answer(sheets, question) == answer


@pytest.mark.parametrize(
    "question",
    [
        "total revenue from Q1 up to Q3",
        "How did revenue change from Q1 to Q2 to Q3?",
        "Did revenue and margin grow from Q1 to Q2?",
        "What revenue went from Q1 to Q2?",
    ],
)
async def test_a_change_of_something_else_is_not_guessed(sheets: Sheets, question: str) -> None:
    sheets.add(QUARTERS, QUARTER_ROWS, filename="quarters.csv", sheet=None)
    answer = await _answer(sheets, question)
    assert answer is None or answer.startswith("refused: ") or "difference" not in answer


STAFF: dict[str, ColumnKind] = {
    "Name": "text",
    "Team": "text",
    "Manager": "text",
    "Remote": "text",
    "Salary": "integer",
}
STAFF_ROWS = (
    ("Ana", "IT", "Bo", "no", 50000),
    ("Bo", "Sales", None, "no", 70000),
    ("Cyd", "IT", "Bo", "yes", 60000),
    ("Dee", "HR", "Bo", "no", 45000),
)


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("average salary in IT", "The average of Salary is 55,000, over 2 rows where Team is IT [1]."),
        ("highest salary in IT", "Salary was highest for Cyd where Team is IT: 60,000 [1]."),
        ("who has no manager", "Name: Bo; Team: Sales; Remote: no; Salary: 70,000 [1]"),
        ("people without a manager", "Name: Bo; Team: Sales; Remote: no; Salary: 70,000 [1]"),
        ("total salary over 48000", "The total of Salary is 180,000, over 3 rows where Salary is over 48,000 [1]."),
    ],
)  # fmt: skip
async def test_short_words_and_numbers_are_read_for_what_they_are(sheets: Sheets, question: str, answer: str) -> None:
    sheets.add(STAFF, STAFF_ROWS, filename="people.csv", sheet=None)
    assert await _answer(sheets, question) == answer


async def test_figures_of_different_scales_are_not_compared(sheets: Sheets) -> None:
    columns: dict[str, ColumnKind] = {"Project": "text", "Budget": "text", "Progress": "number"}
    rows = (("Alpha", "$12k", 0.7), ("Gamma", "$1.2m", 0.2), ("Delta", "$5k", 1.0))
    sheets.add(columns, rows, filename="budgets.csv", sheet=None)
    assert await _answer(sheets, "highest budget") == "refused: Budget holds text, not numbers (budgets.csv)"


FLATS_TO_LET: dict[str, ColumnKind] = {
    "Flat": "text",
    "Rooms": "integer",
    "Rent (EUR)": "integer",
    "Available from": "date",
    "Balcony": "text",
}
FLATS_TO_LET_ROWS = (
    ("A1", 2, 780, "2026-02-01", "yes"),
    ("A2", 3, 1050, "2025-12-15", "no"),
    ("B1", 1, 520, "2026-01-01", "no"),
    ("C1", 4, 980, "2026-03-15", "yes"),
)
ALL_RENTS = "- Flat: A1; Rent (EUR): 780 [1]\n- Flat: A2; Rent (EUR): 1050 [2]\n- Flat: B1; Rent (EUR): 520 [3]\n- Flat: C1; Rent (EUR): 980 [4]"


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("which flat is available first?", "Available from was earliest for A2: 2025-12-15 [1]."),
        ("Which flat becomes available last?", "Available from was latest for C1: 2026-03-15 [1]."),
        ("list all flats with their rent", ALL_RENTS),
        ("rent of all flats", ALL_RENTS),
        ("cheapest flat with a balcony", "Rent was lowest for A1 where Balcony is yes: EUR 780 [1]."),
        ("average rent of flats without a balcony", "The average of Rent is EUR 785, over 2 rows where Balcony is no [1]."),
        ("flats available before January 15, 2026", "- Flat: A2 [1]\n- Flat: B1 [2]"),
        ("which flats are available after 15 December 2025?", "- Flat: A1 [1]\n- Flat: B1 [2]\n- Flat: C1 [3]"),
        ("which flat is available on the 1st of January 2026", "Flat: B1 [1]"),
        ("flats available on 1.2.2026", "Flat: A1 [1]"),
    ],
)  # fmt: skip
async def test_days_lists_and_traits(sheets: Sheets, question: str, answer: str) -> None:
    sheets.add(FLATS_TO_LET, FLATS_TO_LET_ROWS, filename="letting.csv", sheet=None)
    assert await _answer(sheets, question) == answer


INVOICES_IN: dict[str, ColumnKind] = {"Invoice": "text", "Amount": "integer", "Currency": "text"}
INVOICE_IN_ROWS = (("A1", 1200, "EUR"), ("A2", 850, "GBP"), ("A3", 5000, "USD"), ("A4", 100, "EUR"))


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("total amount", "refused: its amounts are in several currencies (EUR, GBP, USD) (currencies.csv)"),
        ("highest amount", "refused: its amounts are in several currencies (EUR, GBP, USD) (currencies.csv)"),
        ("total amount in EUR", "The total of Amount is 1300, over 2 rows where Currency is EUR [1]."),
        ("total amount by currency", "Total of Amount by Currency:\n- USD: 5000 [1]\n- EUR: 1300 [2]\n- GBP: 850 [3]"),
    ],
)
async def test_amounts_of_several_currencies_are_not_added_up(sheets: Sheets, question: str, answer: str) -> None:
    sheets.add(INVOICES_IN, INVOICE_IN_ROWS, filename="currencies.csv", sheet=None)
    found = await _answer(sheets, question)
    assert found is not None and (found == answer or found.startswith("The row with"))


@pytest.mark.parametrize("question", ["total January", "highest January", "average January"])
@pytest.mark.parametrize("name", ["Zwischensumme", "Gross profit", "EBIT"])
async def test_lines_that_sum_up_others_are_not_counted_with_them(sheets: Sheets, question: str, name: str) -> None:
    columns: dict[str, ColumnKind] = {"Item": "text", "January": "number"}
    rows = (("Rent", 12500.0), ("Power", 1830.0), (name, 14330.0), ("Material", 7425.0))
    sheets.add(columns, rows, filename="costs.csv", sheet=None)
    answer = await _answer(sheets, question)
    assert answer is not None
    assert answer.startswith("refused: costs.csv holds subtotals among its rows")


async def test_a_price_that_is_not_named_is_not_added_up(sheets: Sheets) -> None:
    columns: dict[str, ColumnKind] = {"Item": "text", "Unit price": "number"}
    sheets.add(columns, (("Pump", 12.5), ("Valve", 3.0)), filename="Stock.xlsx", sheet="Stock")
    answer = await _answer(sheets, "total stock")
    assert answer is not None and answer.startswith("refused: it is not clear which column to add up")
