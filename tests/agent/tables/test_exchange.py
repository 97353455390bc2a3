"""Follow-ups that name another value or time take the place of the one before, as far as a table knows both."""

from __future__ import annotations

import pytest

from citewell.agent.tables.language.exchange import exchanged
from citewell.agent.tables.language.links import table_words
from citewell.agent.tables.planner import TablePlanner
from citewell.agent.tables.run.engine import TableEngine
from citewell.types import TableColumn, TableInfo
from tests.agent.tables.sheets import LOAN_COLUMNS, LOAN_ROWS, LOAN_VALUES, LOANS, OWNER, Sheets

WORDS = table_words(LOANS, LOAN_VALUES, {"Disbursed": (2024, 2025)})


@pytest.mark.parametrize(
    ("base", "own", "question"),
    [
        ("what is the total amount in Accra?", "and in Kumasi?", "what is the total amount in Kumasi?"),
        ("how many loans are overdue", "and paid?", "how many loans are paid"),
        ("how many loans in Accra or Tamale are overdue", "what about Kumasi", "how many loans in Kumasi are overdue"),
        ("how many loans were disbursed in 2024?", "and in 2025?", "how many loans were disbursed in 2025?"),
        ("total amount in March 2024", "and in June?", "total amount in June"),
        ("what is the total amount in Accra?", "and overdue?", None),
        ("what is the total amount?", "and in Kumasi?", None),
        ("when does the office open?", "and on Sundays?", None),
        ("amount in Accra " + "a" * 1_000, "and in Kumasi?", None),
    ],
)
def test_what_takes_whose_place(base: str, own: str, question: str | None) -> None:
    assert exchanged(base, own, WORDS) == question


async def test_tables_that_exchange_differently_exchange_nothing(sheets: Sheets) -> None:
    sheets.add(LOAN_COLUMNS, LOAN_ROWS)
    planner = TablePlanner(TableEngine(sheets))
    tables = list(sheets.tables.values())
    assert await planner.exchanged(OWNER, "total amount in Accra", "and in Kumasi?", tables) == "total amount in Kumasi"
    sheets.add({"Town": "text", "Region": "text"}, [("Accra Kumasi", "Accra"), ("Wa", "in Kumasi")])
    tables = list(sheets.tables.values())
    assert await planner.exchanged(OWNER, "total amount in Accra", "and in Kumasi?", tables) is None


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
