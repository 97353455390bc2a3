"""Who asks for pictures gets each one that fits, and not the best one's description alone."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from citewell.adapters.embedder.builtin import BuiltinEmbedder
from citewell.adapters.reader.builtin import BuiltinReader
from citewell.adapters.reader.reading_model import ReadingModel
from citewell.agent.extractive.answerer import ExtractiveAnswerer
from citewell.agent.understand.question import asks_for_any_picture, wants_pictures
from citewell.types import ChunkType, Hit, Locator
from tests.agent.fakes import hit

REQUEST = "Show me frames of a red car"


def frame(name: str, summary: str, second: float | None = None) -> Hit:
    text = f"Frame Summary: {summary}\n\nTags: outdoor, street\n\nTimestamp: 2026-11-16"
    return hit(text, type=ChunkType.IMAGE, resource=name, filename=f"{name}.png", locator=Locator(second=second))


CARS = [frame(f"car{n}", f"A red car outdoors, shot number {n}.") for n in range(4)]
BOAT = frame("boat", "A grey boat in the harbour.")
MANUAL = hit("A red car has to be washed once a week.", resource="manual", filename="manual.pdf")


@pytest.fixture
async def answerer() -> AsyncIterator[ExtractiveAnswerer]:
    embedder = BuiltinEmbedder.load()
    yield ExtractiveAnswerer(embedder, reader=BuiltinReader(ReadingModel.open()))
    await embedder.aclose()


@pytest.mark.parametrize(
    ("text", "asked"),
    [
        ("Show me frames tagged 'outdoor' from last week showing a red car.", True),
        ("Which pictures show a boat?", True),
        ("photos of the new branch", True),
        ("Are there any screenshots with the error?", True),
        ("Zeig mir alle Bilder mit Booten", True),
        ("Montre-moi les photos du port", True),
        ("What does the picture show?", False),
        ("What is written on the pictures of the report?", False),
        ("How many frames per second does the camera take?", False),
        ("Who shot the president?", False),
    ],
)
def test_it_is_known_from_the_words_whether_pictures_are_asked_for(text: str, asked: bool) -> None:
    assert wants_pictures(text) is asked


async def test_each_picture_that_fits_is_a_source(answerer: ExtractiveAnswerer) -> None:
    found = await answerer.answer(REQUEST, [*CARS, BOAT, MANUAL], pictures=True)

    assert found.answered
    assert {source.hit.filename for source in found.sources} == {f"car{n}.png" for n in range(4)}
    lines = found.text.split("\n")
    assert len(lines) == 4
    assert lines[0].startswith("1. A red car outdoors, shot number")
    assert lines[0].endswith("[1]")


async def test_pictures_of_which_the_same_is_said_are_each_named(answerer: ExtractiveAnswerer) -> None:
    alike = [frame(name, "A red car outdoors.") for name in ("one", "two", "three")]

    found = await answerer.answer(REQUEST, alike, pictures=True)

    assert [source.hit.filename for source in found.sources] == ["one.png", "two.png", "three.png"]


async def test_moments_of_one_video_are_pictures_of_their_own(answerer: ExtractiveAnswerer) -> None:
    moments = [frame("clip", f"A red car drives by, moment {second}.", float(second)) for second in (3, 9)]

    found = await answerer.answer(REQUEST, moments, pictures=True)

    assert [source.hit.chunk.locator.second for source in found.sources] == [3.0, 9.0]


async def test_where_no_picture_fits_there_is_none(answerer: ExtractiveAnswerer) -> None:
    found = await answerer.answer("Show me frames of an elephant in a bathtub", [*CARS, BOAT], pictures=True)

    assert not found.answered


async def test_pictures_beyond_the_first_passages_are_named_and_that_there_may_be_more(
    answerer: ExtractiveAnswerer,
) -> None:
    fleet = [frame(f"car{n}", f"A red car outdoors, shot number {n}.") for n in range(15)]

    found = await answerer.answer(REQUEST, fleet[:5], fleet[5:], pictures=True, cut_off=True)
    assert {source.hit.filename for source in found.sources} == {f"car{n}.png" for n in range(15)}
    assert found.text.endswith(
        "These are the first 15; there may be more. Name a file, a project or a date to see those that are left out."
    )
    complete = await answerer.answer(REQUEST, fleet[:5], fleet[5:], pictures=True)
    assert len(complete.sources) == 15
    assert "there may be more" not in complete.text
    judged = await answerer.answer(REQUEST, [*fleet[:5], BOAT], fleet[5:], pictures=True, cut_off=True)
    assert "there may be more" not in judged.text, "the search has come to pictures that do not fit"


@pytest.mark.parametrize(
    ("left", "any_picture"),
    [
        ("Show me frames", True),
        ("Which photos were taken", True),
        ("List all pictures", True),
        ("Zeig mir alle Bilder", True),
        ("Which frames show a boat", False),
        ("Show me frames of a red car", False),
    ],
)
def test_what_is_left_of_a_question_beside_its_filters_may_say_nothing(left: str, any_picture: bool) -> None:
    assert asks_for_any_picture(left) is any_picture


async def test_every_picture_is_listed_by_what_is_said_of_it(answerer: ExtractiveAnswerer) -> None:
    bare = hit("Picture boat.png: 320 × 200 pixels, PNG.", type=ChunkType.IMAGE, resource="boat", filename="boat.png")
    extract = answerer.list_pictures([CARS[0], bare, BOAT, MANUAL], cut_off=True)
    assert extract is not None
    assert "1. A red car outdoors, shot number 0. [1]\n2. A grey boat in the harbour. [2]" in extract.text
    assert "there may be more" in extract.text
    assert answerer.list_pictures([MANUAL], cut_off=False) is None
