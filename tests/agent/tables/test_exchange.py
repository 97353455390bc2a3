"""A follow-up that names another time takes the place of the one before, as far as a table has times."""

from __future__ import annotations

import pytest

from citewell.agent.tables.language.exchange import exchanged
from citewell.agent.tables.language.links import table_words
from citewell.types import TableColumn, TableInfo
from tests.agent.tables.sheets import LOAN_VALUES, LOANS

WORDS = table_words(LOANS, LOAN_VALUES, {"Disbursed": (2024, 2025)})


@pytest.mark.parametrize(
    ("base", "own", "question"),
    [
        ("how many loans were disbursed in 2024?", "and in 2025?", "how many loans were disbursed in 2025?"),
        ("total amount in March 2024", "and in June?", "total amount in June"),
        ("when does the office open?", "and on Sundays?", None),
        ("what is the total amount in 2024?", "and in Kumasi?", None),
        ("amount in 2024 " + "a" * 1_000, "and in 2025?", None),
    ],
)
def test_what_takes_whose_place(base: str, own: str, question: str | None) -> None:
    assert exchanged(base, own, WORDS) == question


def test_a_table_without_dates_tells_no_times() -> None:
    bare = TableInfo(
        id="t0",
        resource_id="r",
        version=1,
        filename="a.csv",
        name="a",
        sheet=None,
        columns=(TableColumn("A", "text"),),
        rows=1,
    )
    assert exchanged("sum in 2024", "and in 2025?", table_words(bare, {"A": ("x",)})) is None
