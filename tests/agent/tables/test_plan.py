"""A question becomes the one typed query that it means, or the reason why it means none."""

from __future__ import annotations

from typing import Any

import pytest

from citewell.agent.tables.language.links import table_words
from citewell.agent.tables.language.metrics import CannotPlan
from citewell.agent.tables.language.plan import plan
from citewell.agent.tables.language.reading import read
from citewell.agent.tables.language.shape import Plan, Shape
from citewell.agent.tables.query.typed import (
    MAX_ROWS,
    Aggregate,
    ColumnRef,
    Comparator,
    Function,
    Order,
    RowCondition,
    TableQuery,
)
from citewell.types import TableColumn
from tests.agent.tables.sheets import LOAN_VALUES, LOAN_WORDS, LOANS

BORROWER = TableColumn("Borrower", "text")
AMOUNT, TERM, DAY = "Amount (GHS)", "Term (months)", "Disbursed"


def _plan(question: str) -> Plan | None:
    return plan(read(question, LOAN_WORDS), BORROWER)


def _query(**parts: Any) -> TableQuery:
    return TableQuery(source="r/t0", **parts)


def _is(column: str, value: object, comparison: Comparator = Comparator.EQ) -> RowCondition:
    return RowCondition(ColumnRef(column), comparison, value)  # type: ignore[arg-type]


def _figure(function: Function, column: str | None, *conditions: RowCondition) -> TableQuery:
    return _query(aggregates=(Aggregate(function, column),), conditions=conditions, limit=1)


def _filled(column: str) -> RowCondition:
    return RowCondition(ColumnRef(column), Comparator.NOT_EMPTY)


NAMED = RowCondition(ColumnRef("Branch"), Comparator.NOT_EMPTY)


def _grouped(
    function: Function,
    column: str | None,
    group: str,
    *conditions: RowCondition,
    descending: bool = True,
    limit: int = MAX_ROWS,
) -> TableQuery:
    aggregate = Aggregate(function, column)
    return _query(
        aggregates=(aggregate,),
        groups=(ColumnRef(group),),
        conditions=conditions,
        order=(Order(aggregate.name, descending),),
        limit=limit,
    )


def _ranked(*columns: str, by: str, descending: bool = True, limit: int = 21) -> TableQuery:
    return _query(columns=columns, conditions=(_filled(by),), order=(Order(by, descending),), limit=limit)


ACCRA, OVERDUE = _is("Branch", "Accra"), _is("Status", "overdue")
BOTH = _is("Branch", ("Accra", "Kumasi"), Comparator.IN)


@pytest.mark.parametrize(
    ("question", "shape", "query"),
    [
        # counts
        ("How many rows are in the sheet?", Shape.COUNT, _figure(Function.COUNT, None)),
        ("How many overdue records are in Accra?", Shape.COUNT, _figure(Function.COUNT, None, OVERDUE, ACCRA)),
        ("Number of records with an amount over 5,000", Shape.COUNT, _figure(Function.COUNT, None, _is(AMOUNT, 5000, Comparator.GT))),
        ("How many borrowers are overdue?", Shape.COUNT, _figure(Function.COUNT, None, OVERDUE)),
        ("How many records per branch?", Shape.GROUPS, _grouped(Function.COUNT, None, "Branch")),
        ("How many different branches are there?", Shape.FIGURE, _figure(Function.COUNT_DISTINCT, "Branch")),
        ("How many different branches per status?", Shape.GROUPS, _grouped(Function.COUNT_DISTINCT, "Branch", "Status")),
        # figures
        ("What is the total amount?", Shape.FIGURE, _figure(Function.SUM, AMOUNT, _filled(AMOUNT))),
        ("What is the sum of amount for records in Accra?", Shape.FIGURE, _figure(Function.SUM, AMOUNT, ACCRA, _filled(AMOUNT))),
        ("Average amount of Accra", Shape.FIGURE, _figure(Function.AVG, AMOUNT, ACCRA, _filled(AMOUNT))),
        ("What is the median term?", Shape.FIGURE, _figure(Function.MEDIAN, TERM, _filled(TERM))),
        ("What is the total amount by branch?", Shape.GROUPS, _grouped(Function.SUM, AMOUNT, "Branch")),
        ("Average term for each status in Accra", Shape.GROUPS, _grouped(Function.AVG, TERM, "Status", ACCRA)),
        ("Highest amount by branch", Shape.GROUPS, _grouped(Function.MAX, AMOUNT, "Branch")),
        # the highest and the lowest
        ("Which borrower has the highest amount?", Shape.EXTREME, _ranked("Borrower", AMOUNT, by=AMOUNT)),
        ("What is the lowest amount?", Shape.EXTREME, _ranked("Borrower", AMOUNT, by=AMOUNT, descending=False)),
        ("Top 3 borrowers by amount", Shape.TOP, _ranked("Borrower", AMOUNT, by=AMOUNT, limit=23)),
        ("Which borrower has the earliest disbursed?", Shape.EXTREME, _ranked("Borrower", DAY, by=DAY, descending=False)),
        ("Which branch has the highest total amount?", Shape.EXTREME, _grouped(Function.SUM, AMOUNT, "Branch", NAMED, limit=21)),
        ("Which branch has the lowest average term?", Shape.EXTREME, _grouped(Function.AVG, TERM, "Branch", NAMED, descending=False, limit=21)),
        ("Which branch has the most records?", Shape.EXTREME, _grouped(Function.COUNT, None, "Branch", NAMED, limit=21)),
        ("Which branch has the fewest records?", Shape.EXTREME, _grouped(Function.COUNT, None, "Branch", NAMED, descending=False, limit=21)),
        # comparisons of two
        ("Compare the total amount of Accra and Kumasi", Shape.COMPARE,
         _query(aggregates=(Aggregate(Function.SUM, AMOUNT),), groups=(ColumnRef("Branch"),), conditions=(BOTH,), limit=MAX_ROWS)),
        ("Compare the amount of Kofi Boateng and Esi Owusu", Shape.COMPARE,
         _query(columns=("Borrower", AMOUNT), conditions=(_is("Borrower", ("Kofi Boateng", "Esi Owusu"), Comparator.IN),), limit=MAX_ROWS)),
        # cells and rows
        ("What is the status of Kofi Boateng?", Shape.LOOKUP,
         _query(columns=("Borrower", "Status"), conditions=(_is("Borrower", "Kofi Boateng"),), limit=MAX_ROWS)),
        ("Amount and term of Esi Owusu", Shape.LOOKUP,
         _query(columns=("Borrower", AMOUNT, TERM), conditions=(_is("Borrower", "Esi Owusu"),), limit=MAX_ROWS)),
        ("Show the records in Accra", Shape.ROWS, _query(conditions=(ACCRA,), limit=MAX_ROWS)),
        ("Kofi Boateng", Shape.ROWS, _query(conditions=(_is("Borrower", "Kofi Boateng"),), limit=MAX_ROWS)),
    ],
)  # fmt: skip
def test_a_question_is_planned_as_what_it_means(question: str, shape: Shape, query: TableQuery) -> None:
    planned = _plan(question)
    assert planned is not None
    assert planned.query == query
    assert planned.shape is shape
    assert planned.table is LOANS


@pytest.mark.parametrize(
    ("question", "reason", "computes"),
    [
        ("What is the total status?", "Status holds text, not numbers", True),
        ("What is the latest amount and status?", "it is not clear what is asked of these rows", False),
        ("What is the total amount in Paris?", "it is not clear what “Paris” means in this table", True),
        ("What is the second highest amount?", "it is not clear what “second” means in this table", False),
        ("What is the average amount and the median term?", "it asks for several things at once", True),
        ("What is the average term and amount?", "it is not clear which column to measure", True),
        ("Which branch has an average amount?", "the question asks which one, but not for the highest or the lowest value", True),
        ("What is the total amount by branch and per status?", "it names more than one column to group by", True),
        ("How many overdue in Accra?", "it is not clear what to count", False),
        ("How many records have an insured amount?", "it is not clear what “Insured”, “Amount (GHS)” has to do with the count", True),
        ("How many different rows in Accra?", "it is not clear what to count", True),
        ("Compare the total amount of Accra", "it is not clear which two values to compare", True),
        ("Compare the highest amount of Accra and Kumasi", "it asks for several things at once", True),
        ("How many records over 5,000?", "it is not clear which column over 5,000 is about", True),
        ("How many records are overdue or in Accra?", "it is not clear which conditions “or” joins", True),
        ("Top 3 amounts of everybody", "it is not clear what “everybody” means in this table", True),
    ],
)  # fmt: skip
def test_a_question_without_one_meaning_is_refused_with_the_reason(question: str, reason: str, computes: bool) -> None:
    with pytest.raises(CannotPlan) as refused:
        _plan(question)
    assert str(refused.value) == reason
    assert refused.value.computes is computes


@pytest.mark.parametrize(
    "question",
    [
        "What is the capital of France?",
        "How do I apply for a mortgage?",
        "What is the total?",
        "Why was the policy changed?",
        "overdue",
        "",
    ],
)
def test_a_question_about_something_else_is_left_alone(question: str) -> None:
    assert _plan(question) is None


def test_an_answer_that_names_rows_must_not_name_two_of_one_name() -> None:
    borrower = _plan("Which borrower has the highest amount?")
    branch = _plan("Which branch has the highest total amount?")
    counted = _plan("How many borrowers are overdue?")
    compared = _plan("Compare the amount of Kofi Boateng and Esi Owusu")
    assert borrower
    assert branch
    assert counted
    assert compared
    assert borrower.unique == counted.unique == compared.unique == ("Borrower",)
    assert branch.unique == ()  # a group's name comes once
    assert compared.expected == 2


def test_the_label_names_rows_where_the_question_names_nothing() -> None:
    question = "What is the highest amount?"
    with_label, without = plan(read(question, LOAN_WORDS), BORROWER), plan(read(question, LOAN_WORDS), None)
    assert with_label
    assert without
    assert with_label.query.columns == ("Borrower", AMOUNT)
    assert without.query.columns == (AMOUNT,)
    assert with_label.subject == BORROWER
    assert without.subject is None


def test_every_spelling_of_a_value_is_counted() -> None:
    words = table_words(LOANS, LOAN_VALUES | {"Branch": ("ACCRA", "Accra", "Kumasi")})
    planned = plan(read("How many records are in accra?", words), None)
    assert planned
    assert planned.query.conditions == (_is("Branch", ("ACCRA", "Accra"), Comparator.IN),)
