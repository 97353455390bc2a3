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
        ("how much did we spend on travel?", "The total of Amount is EUR 600.60, over 2 rows where Category is Travel [1]."),
        ("How much do we pay Lenz?", "The total of Amount is EUR 5620, over 3 rows where Vendor is Lenz [1]."),
        ("average rent", "The average of Amount is EUR 1873.33, over 3 rows where Category is Rent [1]."),
        ("total paid by credit card", "The total of Amount is EUR 1104.60, over 3 rows where Paid by is Credit card [1]."),
        ("what did we buy from GitHub?",
         "2025-03-10: Category Software, Vendor GitHub, Amount EUR 504, Paid by Credit card [1]"),
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
    assert await answer_of(sheets, question) == answer


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("What does article A-2001 cost?", "Price net for Chair Lisa: 79 [1]."),
        ("average price of tables", "The average of Price net is 304.45, over 2 rows where Category is Tables [1]."),
        ("total stock of tables", "The total of In stock is 50, over 2 rows where Category is Tables [1]."),
        ("how many chairs are in stock?", "The total of In stock is 140, over 2 rows where Category is Chairs [1]."),
        ("which product is out of stock?", "Office chair Ergo [1]"),
        ("what's our most expensive product?", "Price net was highest for Oak table: 489 [1]."),
        ("chairs under 100 euros",
         "A-2001: Product Chair Lisa, Category Chairs, Price net 79, In stock 140, Supplier Mobilo [1]"),
        ("who are the suppliers",
         "There are 4 different values of Supplier:\n- Brandt (1 row) [1]\n- Lumen (1 row) [2]\n- Mobilo (2 rows) [3]\n- Sitwell (1 row) [4]"),
        ("price by product",
         "- Oak table: Price net 489 [1]\n- Folding table: Price net 119.9 [2]\n- Chair Lisa: Price net 79 [3]\n"
         "- Office chair Ergo: Price net 349 [4]\n- Desk lamp: Price net 59.9 [5]"),
        ("price by category",
         "refused: it does not say whether the total or the average of Price net is meant (prices.csv)"),
    ],
)  # fmt: skip
async def test_of_a_price_list(sheets: Sheets, question: str, answer: str) -> None:
    sheets.add(PRICES, PRICE_ROWS, filename="prices.csv", sheet=None)
    assert await answer_of(sheets, question) == answer


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
    assert await answer_of(sheets, question) == answer


async def test_a_month_of_several_years_is_that_of_each(sheets: Sheets) -> None:
    sheets.add(LOANS, LOAN_ROWS, filename="loans.xlsx", sheet="Borrowers")
    answer = "There is 1 row in “Borrowers” where Start date is one of 2024-03, 2025-03 [1]."
    assert await answer_of(sheets, "How many records are in March?") == answer
    assert (await answer_of(sheets, "How many records are since March?") or "").startswith(
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
    found = await planner_of(engine).consider(
        OWNER, "which cost is the highest?", list(sheets.tables.values()), only=True
    )
    assert not isinstance(found, Planned)


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
        ("Show the two largest apartments", "The 2 highest by Size m²:\n- APT-203: 115 [1]\n- APT-202: 84 [2]"),
        ("Which apartments in Ghent allow pets?",
         "APT-203: City Ghent, Size m² 115, Rent 1500, Pets allowed Yes, Furnished Yes [1]"),
        ("How many furnished apartments are there?", "There are 3 rows in “apartments.csv” where Furnished is Yes [1]."),
        ("How many apartments are not furnished?", "There is 1 row in “apartments.csv” where Furnished is No [1]."),
        ("What's the cheapest apartment?", "Rent was lowest for APT-201: 827 [1]."),
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
        ("Which flats allow pets?", "- A1 [1]\n- B2 [2]\n- C1 [3]"),
        ("Which flats do not allow pets?", "- A2 [1]\n- B1 [2]"),
        ("What is the cheapest flat that allows pets?", "Rent was lowest for A1 where Pets is yes: EUR 890 [1]."),
        ("Which is the cheapest flat with pets permitted?", "Rent was lowest for A1 where Pets is yes: EUR 890 [1]."),
        ("Which flats allow pets and have 2 rooms?", "- A1 [1]\n- C1 [2]"),
        ("Cheapest flat with 2 rooms?", "Rent was lowest for A1 where Rooms is 2: EUR 890 [1]."),
        ("What is the average rent of flats with 2 rooms?", "The average of Rent is EUR 935, over 2 rows where Rooms is 2 [1]."),
        ("Which flat costs less than 900?", "- A1: Rent EUR 890 [1]\n- B1: Rent EUR 610 [2]"),
        ("What is the highest rent under 1000?", "Rent was highest for C1 where Rent (EUR) is under 1000: EUR 980 [1]."),
    ],
)  # fmt: skip
async def test_of_flats(sheets: Sheets, question: str, answer: str) -> None:
    sheets.add(FLATS, FLAT_ROWS, filename="flats.csv", sheet=None)
    assert await answer_of(sheets, question) == answer


@pytest.mark.parametrize(
    "question",
    ["Which flats include heating?", "Which flats allow dogs?", "Which flat has 2 balconies?", "Who paid the most?"],
)
async def test_what_flats_do_not_say_is_refused(sheets: Sheets, question: str) -> None:
    table = sheets.add(FLATS, FLAT_ROWS, filename="flats.csv", sheet=None)
    assert not isinstance(await planner_of(TableEngine(sheets)).consider(OWNER, question, [table]), Planned)


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Which customer has the largest invoice?", "Amount was highest for Meyer: EUR 2410 [1]."),
        ("What is the largest invoice?", "Amount was highest for 2025-004: EUR 2410 [1]."),
        ("Which invoice is the smallest?", "Amount was lowest for 2025-005: EUR 75 [1]."),
        ("Which invoices are unpaid?", "- 2025-002 [1]\n- 2025-004 [2]"),
        ("Which invoices have not been paid yet?", "- 2025-002 [1]\n- 2025-004 [2]"),
        ("How much is unpaid?", "The total of Amount is EUR 2970, over 2 rows where Paid on is empty [1]."),
        ("Which unpaid invoice is the largest?", "Amount was highest for 2025-004 where Paid on is empty: EUR 2410 [1]."),
        ("Which invoices are undisputed?", "- 2025-001 [1]\n- 2025-005 [2]"),
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
    assert await answer_of(sheets, question) == answer


@pytest.mark.parametrize("question", ["What's the deposit for APT-203?", "Which colour is APT-203?"])
async def test_what_no_column_says_is_not_answered_by_the_row(sheets: Sheets, question: str) -> None:
    table = sheets.add(APARTMENTS, APARTMENT_ROWS, filename="apartments.csv", sheet=None)
    found = await planner_of(TableEngine(sheets)).consider(OWNER, question, [table], only=True)
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
    assert await answer_of(sheets, question) == answer


async def test_what_was_earned_is_a_sum_and_a_fee_is_not(sheets: Sheets) -> None:
    columns: dict[str, ColumnKind] = {"Appointment ID": "text", "Type": "text", "Status": "text", "Fee": "number"}
    rows = [
        ("A1", "Blood test", "completed", 85.0),
        ("A2", "Check", "cancelled", 60.0),
        ("A3", "Check", "completed", 60.0),
    ]
    sheets.add(columns, rows, filename="appointments.csv", sheet=None)
    told = await answer_of(sheets, "What did we earn from completed appointments?")
    assert told == "The total of Fee is 145, over 2 rows where Status is completed [1]."
    assert await answer_of(sheets, "What does a blood test cost?") == "Fee for A1: 85 [1]."
