"""Questions that name the file they are about: answered from its tables alone, as if nothing else were in scope."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from citewell.agent.tables.language.named_file import of_named_file
from citewell.agent.tables.picture.planner import PicturePlanner, PlannedPicture
from citewell.agent.tables.run.engine import TableEngine
from citewell.types import ColumnKind
from tests.agent.tables.sheets import LOAN_COLUMNS, LOAN_ROWS, LOANS, OWNER, Sheets, answer_of, planner_of

_COLUMNS: dict[str, ColumnKind] = {"Shop": "text", "Amount": "number", "City": "text"}
_LIST = replace(LOANS, filename="list.csv", resource_id="list")
_SHOPS = replace(LOANS, filename="shop list.csv", resource_id="shops")


@pytest.fixture
def sheets(tmp_path: Path) -> Sheets:
    found = Sheets(tmp_path)
    found.add(LOAN_COLUMNS, LOAN_ROWS)
    found.add(
        _COLUMNS, [("a", 17.0, "Accra"), ("b", 18.0, "Tema"), ("d", 2.0, "Tema")], filename="list.csv", sheet=None
    )
    found.add(_COLUMNS, [("a", 7.0, "Accra"), ("b", 8.0, "Tema")], filename="shop list.csv", sheet=None)
    return found


@pytest.mark.full
@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("What is the total amount in the file “shop list.csv”?", "The total of Amount is 15, over 2 rows [1]."),
        ("In LIST.CSV, which shop has the highest amount?", "Amount was highest for b: 18 [1]."),
        ("Total amount of list.csv in Tema", "The total of Amount is 20, over 2 rows where City is Tema [1]."),
    ],
)
async def test_a_question_is_answered_from_the_file_that_it_names(sheets: Sheets, question: str, answer: str) -> None:
    assert await answer_of(sheets, question) == answer


async def test_a_picture_is_drawn_of_the_file_that_is_named(sheets: Sheets) -> None:
    engine = TableEngine(sheets)
    planner = PicturePlanner(engine, planner_of(engine))
    found = await planner.consider(OWNER, "Plot the total amount by city in list.csv", list(sheets.tables.values()))
    assert isinstance(found, PlannedPicture)
    assert found.table.filename == "list.csv"


def test_what_is_asked_is_left_without_the_name() -> None:
    found = of_named_file("How many loans are in the Excel file “Shop List.csv”?", [_LIST, _SHOPS, LOANS])
    assert found is not None
    assert (found.question, found.tables) == ("How many loans are?", (_SHOPS,))


@pytest.mark.parametrize(
    "question",
    [
        "How many rows are there in my-list.csv?",
        "How many rows are there in list.csv.gz?",
        "Compare the total amount of list.csv and Loans.xlsx",
        "list.csv",
        "How many rows does the list have?",
    ],
)
def test_no_file_is_taken_for_another(question: str) -> None:
    assert of_named_file(question, [_LIST, LOANS]) is None
