"""What a question calls by a number is answered with what is said of that number, or not at all."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from citewell.adapters.embedder.builtin import BuiltinEmbedder
from citewell.adapters.reader.builtin import BuiltinReader
from citewell.adapters.reader.reading_model import ReadingModel
from citewell.agent.extractive.answerer import ExtractiveAnswerer
from tests.agent.fakes import hit

LOCKERS = [
    hit(f"Locker {n} is opened with the code {7919 * n}.", ordinal=n, filename="Lockers.txt") for n in (1, 9, 10, 11)
]
RULES = hit("The hall is swept every morning before the doors are opened.", ordinal=20, filename="Lockers.txt")
SALES = [
    hit(f"Net sales in fiscal {year} were {sales} million, more than ever.", ordinal=year, filename="Report.pdf")
    for year, sales in ((2021, 40), (2022, 48))
]
LATER = hit("Net sales were 51 million.", ordinal=30, filename="Report.pdf", headings=("Results of fiscal 2023",))
TERMS = hit("Goods can be returned within 14 days. The top 10 customers are served first.", ordinal=40)


@pytest.fixture
async def answerer() -> AsyncIterator[ExtractiveAnswerer]:
    embedder = BuiltinEmbedder.load()
    yield ExtractiveAnswerer(embedder, reader=BuiltinReader(ReadingModel.open()))
    await embedder.aclose()


async def test_the_thing_with_that_number_is_what_answers(answerer: ExtractiveAnswerer) -> None:
    found = await answerer.answer("With which code is locker 10 opened?", [*LOCKERS, RULES])
    assert found.text == "Locker 10 is opened with the code 79190. [1]"


@pytest.mark.parametrize("question", ["With which code is locker 999 opened?", "Which code opens locker no. 5?"])
async def test_another_number_is_no_answer(answerer: ExtractiveAnswerer, question: str) -> None:
    assert not (await answerer.answer(question, [*LOCKERS, RULES])).answered


@pytest.mark.parametrize(("known", "asked"), [("12-345", "12-999"), ("4711/24", "4711/23"), ("2024-0017", "2024-0071")])
async def test_a_number_of_several_parts_is_one_number(answerer: ExtractiveAnswerer, known: str, asked: str) -> None:
    passages = [hit(f"Order {known} belongs to the bakery in Elm Street."), RULES]
    assert (await answerer.answer(f"Who does order {known} belong to?", passages)).answered
    assert not (await answerer.answer(f"Who does order {asked} belong to?", passages)).answered


async def test_the_number_may_stand_over_the_passage(answerer: ExtractiveAnswerer) -> None:
    found = await answerer.answer("What were net sales in fiscal 2023?", [*SALES, LATER])
    assert found.text == "Net sales were 51 million. [1]"
    assert not (await answerer.answer("What were net sales in fiscal 2019?", SALES)).answered


async def test_quantities_may_differ(answerer: ExtractiveAnswerer) -> None:
    found = await answerer.answer("Can goods be returned within 30 days?", [TERMS])
    assert "within 14 days" in found.text


async def test_the_number_of_something_else_in_a_passage_is_not_that_number(answerer: ExtractiveAnswerer) -> None:
    beside = [
        hit(f"Deliveries come at gate 10. Locker {n} is opened with the code {7919 * n}.", ordinal=n) for n in (1, 9)
    ]
    asked = "With which code is locker 10 opened?"
    assert (await answerer.answer(asked, [*beside, *LOCKERS])).text == "Locker 10 is opened with the code 79190. [1]"
    assert "Locker 9" not in (await answerer.answer(asked, beside)).text


async def test_a_letter_tells_things_apart_as_a_number_does(answerer: ExtractiveAnswerer) -> None:
    roofs = [
        hit(f"The roof of House {letter} was renewed in {year}.", ordinal=year)
        for letter, year in (("B", 2009), ("C", 2017))
    ]
    assert (await answerer.answer("When was the roof of House C renewed?", roofs)).text.startswith(
        "The roof of House C"
    )
    assert not (await answerer.answer("When was the roof of House A renewed?", roofs)).answered


async def test_each_of_two_numbers_is_one_that_is_asked_for(answerer: ExtractiveAnswerer) -> None:
    found = await answerer.answer("With which codes are locker 9 and locker 10 opened?", [*LOCKERS, RULES])
    assert found.text.startswith(("Locker 9 is", "Locker 10 is"))
