"""Who holds an office is told by what names the office."""

from __future__ import annotations

import pytest

from citewell.adapters.embedder.builtin import BuiltinEmbedder
from citewell.adapters.reader.builtin import BuiltinReader
from citewell.adapters.reader.reading_model import ReadingModel
from citewell.agent.extractive.answerer import ExtractiveAnswerer
from citewell.agent.extractive.roles import asked_office
from citewell.agent.understand.question import read_question
from tests.agent.fakes import hit

SPONSOR = hit("The sponsor at Harbour Line is Ada Reed, who also heads the sales of the line.", ordinal=1)
CHIEF = hit(
    "Harbour Line grew by a tenth. Before she came to Harbour Line she worked at Quay Bank. Ada Reed is chief executive officer of Harbour Line.",
    ordinal=2,
)


@pytest.mark.parametrize(
    ("question", "office"),
    [
        ("Who is the CEO of Harbour Line?", "CEO"),
        ("who's the chief executive officer?", "CEO"),
        ("What is the CEO of Harbour Line called?", "CEO"),
        ("Who was Harbour Line's treasurer?", "treasur"),
    ],
)
def test_an_office_is_read_off_a_question(question: str, office: str) -> None:
    found = asked_office(read_question(question))
    assert found is not None
    assert office in (found.term, *found.titles)


@pytest.mark.parametrize(
    "question", ["Who tests?", "What is the fee of the CEO?", "What is the scale called?", "When did the CEO come?"]
)
def test_other_questions_ask_for_no_office(question: str) -> None:
    assert asked_office(read_question(question)) is None


async def test_somebody_of_another_office_is_not_given() -> None:
    answerer = ExtractiveAnswerer(BuiltinEmbedder.load(), reader=BuiltinReader(ReadingModel.open()))
    for question in ("Who is the CEO of Harbour Line?", "Who is the treasurer of Harbour Line?"):
        assert not (await answerer.answer(question, [SPONSOR])).answered


async def test_a_title_is_found_by_its_other_form() -> None:
    extract = await ExtractiveAnswerer(BuiltinEmbedder.load(), reader=BuiltinReader(ReadingModel.open())).answer(
        "Who is the CEO of Harbour Line?", [SPONSOR, CHIEF]
    )
    assert extract.parts[0].startswith("Ada Reed is chief executive officer")
