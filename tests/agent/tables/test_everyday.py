"""Questions as people type them about their own sheets: how much, what costs, lists of values, months without a year, who has most."""

from __future__ import annotations

import pytest

from citewell.agent.tables.planner import Planned, Refused
from citewell.agent.tables.run.engine import TableEngine
from citewell.types import ColumnKind
from tests.agent.tables.sheets import OWNER, Sheets, answer_of, planner_of

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


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("average rent", "The average of Amount is EUR 1873.33, over 3 rows where Category is Rent [1]."),
        ("total paid by credit card", "The total of Amount is EUR 1104.60, over 3 rows where Paid by is Credit card [1]."),
        ("how many times did we pay Lenz?", "There are 3 rows in “expenses.csv” where Vendor is Lenz [1]."),
    ],
)  # fmt: skip
async def test_of_expenses(sheets: Sheets, question: str, answer: str) -> None:
    sheets.add(EXPENSES, EXPENSE_ROWS, filename="expenses.csv", sheet=None)
    assert await answer_of(sheets, question) == answer


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("average price of tables", "The average of Price net is 304.45, over 2 rows where Category is Tables [1]."),
        ("total stock of tables", "The total of In stock is 50, over 2 rows where Category is Tables [1]."),
        ("what's our most expensive product?", "Price net was highest for Oak table: 489 [1]."),
    ],
)  # fmt: skip
async def test_of_a_price_list(sheets: Sheets, question: str, answer: str) -> None:
    sheets.add(PRICES, PRICE_ROWS, filename="prices.csv", sheet=None)
    assert await answer_of(sheets, question) == answer


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("When did Yaw Darko get his loan?", "Start date for Yaw Darko: 2024-02-01 [1]."),
        ("What business does Ama Mensah run?", "Business for Ama Mensah: Tailoring [1]."),
        ("loan amount by town",
         "Total of Loan amount by Town:\n- Kumasi: GHS 12,500 [1]\n- Techiman: GHS 12,000 [2]\n- Accra: GHS 3000 [3]"),
        ("how many repayments did B001 make?", "There are 2 rows in “Repayments” where Borrower ID is B001 [1]."),
        ("total amount lent in Kumasi", "The total of Loan amount is GHS 12,500, over 2 rows where Town is Kumasi [1]."),
    ],
)  # fmt: skip
async def test_of_loans_and_their_repayments(sheets: Sheets, question: str, answer: str) -> None:
    sheets.add(LOANS, LOAN_ROWS, filename="loans.xlsx", sheet="Borrowers")
    sheets.add(REPAYMENTS, REPAYMENT_ROWS, filename="loans.xlsx", sheet="Repayments")
    assert await answer_of(sheets, question) == answer


async def test_what_is_no_question_of_amounts_is_refused(sheets: Sheets) -> None:
    sheets.add(LOANS, LOAN_ROWS, filename="loans.xlsx", sheet="Borrowers")
    for question in ("how much rain fell in Kumasi?", "who sank the Titanic?"):
        found = await planner_of(TableEngine(sheets)).consider(OWNER, question, list(sheets.tables.values()))
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
        ("How many furnished apartments are there?", "There are 3 rows in “apartments.csv” where Furnished is Yes [1]."),
        ("How many apartments are not furnished?", "There is 1 row in “apartments.csv” where Furnished is No [1]."),
    ],
)  # fmt: skip
async def test_of_apartments(sheets: Sheets, question: str, answer: str) -> None:
    sheets.add(APARTMENTS, APARTMENT_ROWS, filename="apartments.csv", sheet=None)
    assert await answer_of(sheets, question) == answer


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
        ("What is the cheapest flat that allows pets?", "Rent was lowest for A1 where Pets is yes: EUR 890 [1]."),
        ("Which is the cheapest flat with pets permitted?", "Rent was lowest for A1 where Pets is yes: EUR 890 [1]."),
        ("Cheapest flat with 2 rooms?", "Rent was lowest for A1 where Rooms is 2: EUR 890 [1]."),
        ("What is the average rent of flats with 2 rooms?", "The average of Rent is EUR 935, over 2 rows where Rooms is 2 [1]."),
    ],
)  # fmt: skip
async def test_of_flats(sheets: Sheets, question: str, answer: str) -> None:
    sheets.add(FLATS, FLAT_ROWS, filename="flats.csv", sheet=None)
    assert await answer_of(sheets, question) == answer


@pytest.mark.parametrize(
    "question",
    [
        "Which flats include heating?",
        "Who paid the most?",
        "How many tenants live in A1?",
        "What is the deposit of B1?",
    ],
)
async def test_what_flats_do_not_say_is_refused(sheets: Sheets, question: str) -> None:
    table = sheets.add(FLATS, FLAT_ROWS, filename="flats.csv", sheet=None)
    assert not isinstance(await planner_of(TableEngine(sheets)).consider(OWNER, question, [table]), Planned)


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("What is the largest invoice?", "Amount was highest for 2025-004: EUR 2410 [1]."),
        ("Which invoice is the smallest?", "Amount was lowest for 2025-005: EUR 75 [1]."),
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
    assert await answer_of(sheets, question) == answer


@pytest.mark.parametrize("question", ["What's the deposit for APT-203?", "Which colour is APT-203?"])
async def test_what_no_column_says_is_not_answered_by_the_row(sheets: Sheets, question: str) -> None:
    table = sheets.add(APARTMENTS, APARTMENT_ROWS, filename="apartments.csv", sheet=None)
    found = await planner_of(TableEngine(sheets)).consider(OWNER, question, [table], only=True)
    assert not isinstance(found, Planned)


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Hours worked per parcel", "Total of Hours by Parcel:\n- Nord: 7 [1]\n- Sud: 2.5 [2]"),
    ],
)  # fmt: skip
async def test_of_a_harvest(sheets: Sheets, question: str, answer: str) -> None:
    sheets.add(HARVEST, HARVEST_ROWS, filename="harvest.csv", sheet=None)
    assert await answer_of(sheets, question) == answer
