"""What a question names of a table: columns by their whole names or a word that is theirs alone, and values of cells."""

from __future__ import annotations

import pytest

from citewell.agent.tables.language.links import (
    column_mentions,
    core_name,
    names_of_table,
    table_words,
    unit_words,
    value_mentions,
)
from citewell.agent.tables.language.wording import words
from citewell.types import TableColumn, TableInfo


def _table(*columns: str, kind: str = "number", filename: str = "Loan Book 2025.xlsx") -> TableInfo:
    return TableInfo(
        id="t0",
        resource_id="r",
        version=1,
        filename=filename,
        name="Active",
        sheet="Active",
        columns=tuple(TableColumn(name, kind) for name in columns),  # type: ignore[arg-type]
        rows=1,
    )


def _columns(question: str, *columns: str) -> list[tuple[str, str, bool]]:
    split = words(question)
    found = column_mentions(split, _table(*columns))
    return [(m.column.name, " ".join(w.text for w in split[m.first : m.last]), m.whole) for m in found]


@pytest.mark.parametrize(
    ("question", "columns", "found"),
    [
        ("the total amount", ["Amount (GHS)", "Branch"], [("Amount (GHS)", "amount", True)]),
        ("loan amount by branches", ["Loan amount", "Branch"], [("Loan amount", "loan amount", True), ("Branch", "branches", True)]),
        ("amount due", ["Amount", "Amount due"], [("Amount due", "amount due", True)]),
        ("the principal", ["Principal amount", "Interest amount"], [("Principal amount", "principal", False)]),
        ("the amount", ["Principal amount", "Interest amount"], []),  # a word of two columns names neither
        ("amount in USD", ["Amount (GHS)", "Amount (USD)"], [("Amount (USD)", "amount", True)]),
        ("the amount", ["Amount (GHS)", "Amount (USD)"], []),
        ("the name of it", ["Name"], []),  # a filler names nothing
        ("in 2024", ["2024 revenue", "2025 revenue"], []),
        ("2024 revenue", ["2024 revenue", "2025 revenue"], [("2024 revenue", "2024 revenue", True)]),
        ("nothing of it", ["Amount"], []),
    ],
)  # fmt: skip
def test_columns_are_found_by_their_names(
    question: str, columns: list[str], found: list[tuple[str, str, bool]]
) -> None:
    assert _columns(question, *columns) == found


def test_no_word_names_two_columns() -> None:
    mentions = column_mentions(words("loan amount due amount loan"), _table("Loan amount", "Amount due", "Loan"))
    places = [set(range(m.first, m.last)) for m in mentions]
    assert sum(map(len, places)) == len(set().union(*places))


def _values(question: str, **columns: tuple[str, ...]) -> list[tuple[str, str]]:
    table = _table(*columns, kind="text")
    return [(m.column.name, m.value) for m in value_mentions(words(question), table_words(table, columns))]


def test_values_are_found_whole_and_the_longest_wins() -> None:
    branches = ("Accra", "Accra Central", "Cape Coast")
    assert _values("loans of accra", Branch=branches) == [("Branch", "Accra")]
    assert _values("loans of Accra Central", Branch=branches) == [("Branch", "Accra Central")]
    assert _values("the cape", Branch=branches) == []
    assert _values("Central Accra", Branch=branches) == [("Branch", "Accra")]


def test_a_value_of_two_columns_is_found_in_both() -> None:
    found = _values("open ones", Status=("open", "closed"), Door=("open",))
    assert found == [("Status", "open"), ("Door", "open")]


def test_a_period_is_found_without_its_year_where_there_is_one_of_it_only() -> None:
    assert _values("revenue of Q1", Quarter=("Q1 2025", "Q2 2025")) == [("Quarter", "Q1 2025")]
    assert _values("revenue of Q1", Quarter=("Q1 2024", "Q1 2025")) == []
    assert _values("revenue of Q1 2024", Quarter=("Q1 2024", "Q1 2025")) == [("Quarter", "Q1 2024")]


@pytest.mark.parametrize(
    ("name", "core", "unit"),
    [
        ("Amount (GHS)", "Amount", {"ghs"}),
        ("Speed [km/h]", "Speed", {"km/h"}),
        ("Term (months)", "Term", {"month"}),
        ("Amount", "Amount", set[str]()),
        ("(GHS)", "(GHS)", {"ghs"}),
        ("Cost (net) per unit", "Cost (net) per unit", set[str]()),
    ],
)
def test_a_unit_is_told_from_the_name(name: str, core: str, unit: set[str]) -> None:
    assert core_name(name) == core
    assert unit_words(name) == unit


def test_a_table_is_named_by_its_sheet_and_its_file() -> None:
    names = names_of_table(_table("Amount"))
    assert {"loan", "book", "2025", "activ"} <= names
    assert "xlsx" not in names
