"""A follow-up that names another value or column goes on from what the question before meant of the table."""

from __future__ import annotations

import pytest

from citewell.agent.tables.planner import Planned
from citewell.agent.tables.run.engine import TableEngine
from citewell.types import ColumnKind
from tests.agent.tables.sheets import LOAN_COLUMNS, LOAN_ROWS, OWNER, Sheets, planner_of, said_of

HARVEST: dict[str, ColumnKind] = {"Orchard": "text", "Variety": "text", "Crates": "integer", "Picked": "date"}
HARVEST_ROWS = (
    ("Okafor", "Braeburn", 40, "2024-09-02"),
    ("Okafor", "Gala", 25, "2024-09-05"),
    ("Lindgren", "Gala", 31, "2025-09-03"),
    ("Lindgren", "Cox", 12, "2025-09-20"),
)


@pytest.fixture
def library(sheets: Sheets) -> Sheets:
    sheets.add(LOAN_COLUMNS, LOAN_ROWS)
    sheets.add(HARVEST, HARVEST_ROWS, filename="harvest.csv", sheet=None)
    return sheets


async def _after(sheets: Sheets, *thread: str) -> str | None:
    """What the last message is answered with in this thread; None where it does not go on from the one before."""
    engine = TableEngine(sheets)
    tables = list(sheets.tables.values())
    found = await planner_of(engine).continued(OWNER, thread[:-1], thread[-1], tables)
    return await said_of(engine, found) if isinstance(found, Planned) else None


@pytest.mark.parametrize(
    ("thread", "words"),
    [
        (("How many loans are overdue?", "And paid?"), "There are 2 rows"),
        (("What is the total amount in Accra?", "what about Kumasi"), "12,000"),
        (("How many crates of Gala were picked?", "cox?"), "12"),
        (("Which branch gave loan 2?", "And the borrower?"), "Kofi Boateng"),
        (("How many loans are overdue?", "and paid?", "in Accra?"), "There is 1 row"),
        (("Wie viele Kredite sind overdue?", "Und wie viele sind paid?"), "2"),
    ],
)
async def test_the_same_is_said_of_what_it_names(library: Sheets, thread: tuple[str, ...], words: str) -> None:
    answer = await _after(library, *thread)
    assert answer is not None
    assert words in answer


@pytest.mark.parametrize(
    "thread",
    [
        ("How many loans are overdue?", "Who may borrow money from a bank in Accra at all?"),
        ("How many loans are overdue?", "And the weather?"),
        ("When does the office open?", "and in Kumasi?"),
        ("How many loans are overdue?", "and paid? " + "a" * 1_000),
    ],
)
async def test_a_question_of_its_own_does_not_go_on(library: Sheets, thread: tuple[str, ...]) -> None:
    assert await _after(library, *thread) is None
