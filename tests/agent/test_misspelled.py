"""Misspelled questions are corrected by the words of the passages found, or of the table asked, and searched for again."""

from __future__ import annotations

from citewell.agent.extractive.thresholds import ExtractiveThresholds
from citewell.agent.graph import Assistant
from citewell.agent.interface import Done, TurnRequest
from citewell.text.correction import Speller
from tests.agent.fakes import WordEmbedder, WordSearcher, hit

SPELLER = Speller(dict)
GATE = hit("The harbour gate closes at half past nine in the evening.", headings=("Hours",), ordinal=1)
FEES = hit("Berths are paid on arrival, and cranes by the hour.", headings=("Charges",), ordinal=2)


async def asked(message: str) -> tuple[Done, list[str]]:
    searcher = WordSearcher([GATE, FEES])
    limits = ExtractiveThresholds(answer=0.05)
    assistant = Assistant(searcher, WordEmbedder(), thresholds=limits, speller=SPELLER)
    done = await assistant.answer(TurnRequest(owner_id="ada", message=message))
    return done, [request.query for request in searcher.requests]


async def test_a_question_is_searched_for_again_as_it_was_meant() -> None:
    done, queries = await asked("When does the harbour gaet closse in the evenning?")
    assert queries == [
        "When does the harbour gaet closse in the evenning?",
        "When does the harbour gate closes in the evening?",
    ]
    assert done.answer.text.startswith("The harbour gate closes at half past nine")
    assert done.answer.trace["corrected"] == queries[1]


async def test_what_is_spelt_as_the_files_do_is_searched_for_once() -> None:
    done, queries = await asked("When does the harbour gate closes?")
    assert len(queries) == 1
    assert "corrected" not in done.answer.trace


async def test_words_are_corrected_by_passages_of_the_owner_alone() -> None:
    other = hit("The zeppelin hangar opens at noon for the harbour.", owner="eve", ordinal=3)
    searcher = WordSearcher([GATE, other])
    assistant = Assistant(searcher, WordEmbedder(), speller=SPELLER)
    await assistant.answer(TurnRequest(owner_id="ada", message="When does the zepelin land in the harbour?"))
    assert all("zeppelin" not in request.query for request in searcher.requests)
