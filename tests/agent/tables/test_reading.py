"""What every word of a question means for a table; a word that means nothing is left over, and what could mean two things is said."""

from __future__ import annotations

from datetime import date

import pytest

from citewell.agent.tables.language.links import table_words
from citewell.agent.tables.language.question_reading import Reading
from citewell.agent.tables.language.reading import read
from citewell.agent.tables.language.wording import Operation
from citewell.agent.tables.query.typed import Comparator
from citewell.types import TableInfo
from tests.agent.tables.sheets import LOAN_WORDS, LOANS


def _read(question: str) -> Reading:
    return read(question, LOAN_WORDS)


def _conditions(question: str) -> list[tuple[str, str, object]]:
    return [(c.ref.column, c.comparison.value, c.value) for c in _read(question).conditions]


AMOUNT, TERM, DAY = "Amount (GHS)", "Term (months)", "Disbursed"


@pytest.mark.parametrize(
    ("question", "conditions"),
    [
        # values of cells
        ("records in Accra", [("Branch", "eq", "Accra")]),
        ("overdue records in accra", [("Status", "eq", "overdue"), ("Branch", "eq", "Accra")]),
        ("records in Accra or Kumasi", [("Branch", "in", ("Accra", "Kumasi"))]),
        ("records of Kofi Boateng", [("Borrower", "eq", "Kofi Boateng")]),
        # negation
        ("records not in Accra", [("Branch", "ne", "Accra")]),
        ("records that are not overdue", [("Status", "ne", "overdue")]),
        ("records without Accra and Kumasi", [("Branch", "not_in", ("Accra", "Kumasi"))]),
        ("records with status other than paid", [("Status", "ne", "paid")]),
        ("records excluding Tamale", [("Branch", "ne", "Tamale")]),
        ("records worse than Accra", [("Branch", "eq", "Accra")]),
        # numbers
        ("amount over 5,000", [(AMOUNT, "gt", 5000)]),
        ("amount of at least 5k", [(AMOUNT, "gte", 5000)]),
        ("amount no more than 800.25", [(AMOUNT, "lte", 800.25)]),
        ("amount is less than 800", [(AMOUNT, "lt", 800)]),
        ("amount greater than or equal to 800", [(AMOUNT, "gte", 800)]),
        ("amount >= 800", [(AMOUNT, "gte", 800)]),
        ("amount between 800 and 5,000", [(AMOUNT, "gte", 800), (AMOUNT, "lte", 5000)]),
        ("more than 12 term", [(TERM, "gt", 12)]),
        ("a term of 12", [(TERM, "eq", 12)]),
        ("term is not 12", [(TERM, "ne", 12)]),
        # dates, on the only column of dates
        ("disbursed in 2024", [(DAY, "gte", "2024-01-01"), (DAY, "lt", "2025-01-01")]),
        ("disbursed in December 2024", [(DAY, "gte", "2024-12-01"), (DAY, "lt", "2025-01-01")]),
        ("disbursed on 2024-02-29", [(DAY, "gte", "2024-02-29"), (DAY, "lt", "2024-03-01")]),
        ("disbursed before 2024", [(DAY, "lt", "2024-01-01")]),
        ("disbursed after June 2024", [(DAY, "gte", "2024-07-01")]),
        ("disbursed since 2024", [(DAY, "gte", "2024-01-01")]),
        ("disbursed until 2024", [(DAY, "lt", "2025-01-01")]),
        ("disbursed since 2024 and before 2025", [(DAY, "gte", "2024-01-01"), (DAY, "lt", "2025-01-01")]),
        ("disbursed on 2024-02-30", []),
    ],
)
def test_conditions(question: str, conditions: list[tuple[str, str, object]]) -> None:
    assert _conditions(question) == conditions


@pytest.mark.parametrize(
    ("question", "left"),
    [
        ("records in Accra", []),
        ("records in Paris", ["Paris"]),
        ("records worse than Accra", ["worse"]),
        ("the second highest amount", ["second"]),
        ("amount over 5,000 percentage", ["percentage"]),
        ("records neither paid nor overdue", ["neither", "nor"]),
        ("disbursed on 2024-02-30", ["2024-02-30"]),
        ("term of 12 or 24", ["24"]),
    ],
)
def test_words_without_a_meaning_are_left_over(question: str, left: list[str]) -> None:
    assert _read(question).left_over == left


@pytest.mark.parametrize(
    ("question", "operations"),
    [
        ("how many records", [(Operation.COUNT, None)]),
        ("how many different branches", [(Operation.COUNT_DISTINCT, None)]),
        ("total amount", [(Operation.SUM, None)]),
        ("the mean of amount and the median term", [(Operation.AVG, None), (Operation.MEDIAN, None)]),
        ("top 3 borrowers by amount", [(Operation.MAX, 3)]),
        ("the five lowest amounts", [(Operation.MIN, 5)]),
        ("compare Accra with Kumasi", [(Operation.COMPARE, None)]),
        ("the term", []),
    ],
)
def test_operations(question: str, operations: list[tuple[Operation, int | None]]) -> None:
    assert [(o.operation, o.count) for o in _read(question).operations] == operations


@pytest.mark.parametrize(
    ("question", "groups", "entity"),
    [
        ("total amount by branch", ["Branch"], None),
        ("total amount per branch", ["Branch"], None),
        ("average term for each status", ["Status"], None),
        ("which branch has the highest total amount", [], "Branch"),
        ("top 3 borrowers by amount", [], "Borrower"),
        ("total amount", [], None),
    ],
)
def test_groups_and_what_is_asked_for(question: str, groups: list[str], entity: str | None) -> None:
    reading = _read(question)
    assert [g.name for g in reading.groups] == groups
    assert (reading.entity.name if reading.entity else None) == entity


def test_rows_and_the_tables_own_name_are_recognised() -> None:
    assert _read("how many rows are there").asks_rows
    assert not _read("how many overdue").asks_rows
    assert read("how many in Budget", table_words(_renamed("Budget"), {})).names_table
    assert not read("how many in Budget", table_words(_renamed("Fees"), {})).names_table


def _renamed(name: str) -> TableInfo:
    return TableInfo(
        id="t0", resource_id="r", version=1, filename=f"{name}.csv", name=name, sheet=None, columns=(), rows=1
    )


@pytest.mark.parametrize(
    "question",
    [
        "records that are overdue or have an amount over 10,000",
        "records that are paid or in Accra",
        "records that are either in Accra or not overdue",
        "records with a term over 12 or an amount under 900",
        "records of Kofi Boateng or with an amount of 12,000",
        "records disbursed before 2024 or after 2024",
    ],
)
def test_conditions_of_which_one_is_enough_are_not_read_as_both(question: str) -> None:
    reading = _read(question)
    assert reading.problem is not None
    assert "“or”" in reading.problem


@pytest.mark.parametrize(
    "question",
    [
        "overdue records in Accra or Kumasi",
        "records of the Accra branch or the Kumasi branch with an amount over 5,000",
        "records in Accra with an amount greater than or equal to 5,000",
        "paid or overdue records in Accra or Kumasi",
        "records not in Accra or Kumasi that are paid",
        "the amount or the term of overdue records in Accra",
    ],
)
def test_values_of_one_column_may_be_joined_by_or(question: str) -> None:
    reading = _read(question)
    assert reading.problem is None
    assert len(reading.conditions) >= 2


@pytest.mark.parametrize(
    "question",
    [
        "records disbursed in 2024 or 2025",
        "records disbursed in 2024 and 2025",
        "records disbursed from 2024 to 2025",
        "records disbursed in March 2024 and in May 2024",
        "records disbursed on 2024-01-15 and on 2024-03-01",
    ],
)
def test_several_times_are_not_read_as_one_that_is_all_of_them(question: str) -> None:
    reading = _read(question)
    assert reading.problem is not None


def test_a_number_that_could_be_of_two_columns_is_a_problem() -> None:
    reading = _read("how many records over 5,000")
    assert reading.problem == "it is not clear which column over 5,000 is about"
    assert reading.conditions == []


def test_no_number_is_two_numbers() -> None:
    assert (
        _read("how many records have a term of 12 and a term of 24").problem
        == "it names several numbers of Term (months)"
    )


def test_every_day_of_a_span_is_in_it_and_no_other() -> None:
    (low, high) = _read("disbursed in February 2024").conditions
    assert (low.comparison, high.comparison) == (Comparator.GTE, Comparator.LT)
    first, after = (date.fromisoformat(str(c.value)) for c in (low, high))
    assert (after - first).days == 29


def test_a_value_that_is_an_everyday_word_counts_only_beside_its_column() -> None:
    words = table_words(LOANS, {"Status": ("in", "no", "5")})
    assert read("how many rows are in the file", words).conditions == []
    assert [c.value for c in read("how many rows have status no", words).conditions] == ["no"]


def test_a_columns_name_is_not_taken_for_the_same_word_in_a_cell() -> None:
    reading = read("records per branch", table_words(LOANS, {"Status": ("branch", "Accra")}))
    assert [g.name for g in reading.groups] == ["Branch"]
    assert reading.conditions == []


@pytest.mark.parametrize("question", ["", "???", "or", "between", "over 5", "in 2024", "not", "top", "by", "than not"])
def test_scraps_of_questions_are_read_without_failing(question: str) -> None:
    assert isinstance(_read(question).left_over, list)
