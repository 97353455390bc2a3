"""A whole turn without a chat model."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest

from citewell.agent.extractive.thresholds import ExtractiveThresholds
from citewell.agent.graph import Assistant
from citewell.agent.interface import AgentEvent, Done, Failed, PastMessage, TextDelta, TurnRequest, UsedDocs
from citewell.agent.spoken import NO_ANSWER
from citewell.agent.understand.small_talk import SmallTalk, reply
from citewell.types import Hit, NoAnswerReason, Scope, SearchOptions, SearchRequest, SearchResult, Verdict
from tests.agent.fakes import WordEmbedder, WordSearcher, hit
from tests.agent.reading import MESSAGES

LIMIT = "A first-time borrower may receive at most GHS 5,000."
RETURNING = "A returning borrower may receive at most GHS 12,000."
POLICY = [
    hit(f"{LIMIT} This is a ceiling, not an offer.", page=3, headings=("How much a borrower may receive",), ordinal=1),
    hit(f"{RETURNING} No loan may be more than two and a half times the last.", page=3, ordinal=2),
    hit("Interest is 2.5% per month, charged on what is still owed.", page=4, ordinal=3),
    hit("Our branch in Tema opens at eight.", resource="r2", filename="Handbook.pdf", page=9, ordinal=0),
]
STEPS = [
    hit("Bring your card.", resource="r2", filename="Handbook.pdf", page=2, ordinal=1, headings=("Onboarding, part one", "Step 1: Register at a branch")),
    hit("An officer comes.", resource="r2", filename="Handbook.pdf", page=2, ordinal=2, headings=("Onboarding, part one", "Step 2: Receive a visit")),
    hit("Ninety minutes.", resource="r2", filename="Handbook.pdf", page=5, ordinal=3, headings=("Onboarding, part two", "Step 3: Attend the session")),
    hit("A copy is yours.", resource="r2", filename="Handbook.pdf", page=7, ordinal=4, headings=("Onboarding, part three", "Step 4: Sign the agreement")),
]  # fmt: skip


class World:
    def __init__(self, *hits: Hit) -> None:
        self.embedder = WordEmbedder()
        self.searcher = WordSearcher(list(hits) or [*POLICY, *STEPS])
        self.assistant = Assistant(
            self.searcher, self.embedder, thresholds=ExtractiveThresholds(answer=0.05), message_model=MESSAGES
        )

    async def events(self, message: str, **request: Any) -> list[AgentEvent]:
        turn = TurnRequest(owner_id="ada", message=message, **request)
        return [event async for event in self.assistant.run(turn)]

    async def ask(self, message: str, **request: Any) -> Done:
        done = (await self.events(message, **request))[-1]
        assert isinstance(done, Done), done
        return done


async def test_answers_with_the_sentence_and_its_page() -> None:
    done = await World().ask("What's the maximum loan size for first-time borrowers?")
    assert "GHS 5,000" in done.answer.text
    assert done.answer.answered
    first = done.answer.citations[0]
    assert (first.n, first.label, first.verdict) == (1, "Loan Policy.pdf (p. 3)", Verdict.SUPPORTED)
    assert "GHS 5,000" in first.quote
    assert f"[{first.n}]" in done.answer.text


async def test_stream_adds_up_to_the_answer_and_ends_with_done() -> None:
    events = await World().events("What's the maximum loan size for first-time borrowers?")
    text = "".join(e.text for e in events if isinstance(e, TextDelta))
    assert isinstance(events[-1], Done)
    assert text.strip() == events[-1].answer.text
    used = [e for e in events if isinstance(e, UsedDocs)]
    assert [s.n for s in used[0].sources] == [c.n for c in events[-1].answer.citations]


async def test_small_talk_touches_neither_index_nor_embedder() -> None:
    world = World()
    done = await world.ask("Thanks, that's helpful")
    assert done.answer.intent == "general_conversation"
    assert world.searcher.requests == []
    assert world.embedder.texts == []


async def test_says_so_when_the_files_do_not_hold_it_and_offers_the_nearest() -> None:
    done = await World().ask("What's our customer acquisition cost per borrower?")
    assert done.answer.text.startswith(NO_ANSWER)
    assert done.answer.no_answer is not None
    assert done.answer.no_answer.reason is NoAnswerReason.NOT_MENTIONED
    assert done.answer.text.endswith(done.answer.no_answer.text)
    assert done.answer.confidence is not None
    assert done.answer.confidence < 0.05
    assert not done.answer.answered
    assert done.answer.citations == ()
    assert done.nearest


async def test_lists_steps_in_order_across_pages() -> None:
    done = await World().ask("List the onboarding steps for our program.")
    lines = done.answer.text.splitlines()
    assert [line.split(".")[0] for line in lines] == ["1", "2", "3", "4"]
    assert "Register" in lines[0]
    assert "Sign the agreement" in lines[3]
    assert {c.label for c in done.answer.citations} == {
        "Handbook.pdf (p. 2)",
        "Handbook.pdf (p. 5)",
        "Handbook.pdf (p. 7)",
    }


async def test_follow_up_is_answered_in_the_light_of_the_thread() -> None:
    history = (
        PastMessage("user", "What's the maximum loan size for first-time borrowers?"),
        PastMessage("assistant", f"{LIMIT} [1]"),
    )
    done = await World().ask("What about for returning borrowers?", history=history)
    assert "GHS 12,000" in done.answer.text


async def test_scope_and_owner_reach_the_search() -> None:
    world = World()
    done = await world.ask("When does the branch in Tema open?", scope=Scope(resource_ids=("r1",)))
    assert world.searcher.requests[0].scope.resource_ids == ("r1",)
    assert world.searcher.requests[0].owner_id == "ada"
    assert not any(c.resource_id == "r2" for c in done.answer.citations)


async def test_another_owners_files_are_not_seen() -> None:
    done = await World(*[hit(LIMIT, owner="eve")]).ask("What's the maximum loan size for first-time borrowers?")
    assert not done.answer.answered


async def test_references_are_appended_on_request() -> None:
    done = await World().ask("What's the maximum loan size for first-time borrowers?", references=True)
    assert "\nReferences\n[1] Loan Policy.pdf (p. 3)" in done.answer.text


async def test_bracketed_numbers_of_a_document_are_not_taken_for_citations() -> None:
    done = await World(hit("The survey of 2020 [12] counted 604 participants.")).ask(
        "How many participants did the survey count?"
    )
    assert "[12]" not in done.answer.text
    assert [c.n for c in done.answer.citations] == [1]


async def test_empty_message_is_a_typed_failure() -> None:
    events = await World().events("   ")
    (failed,) = events
    assert isinstance(failed, Failed)
    assert failed.code == "empty_query"


async def test_closing_the_stream_stops_the_search() -> None:
    started, stopped = asyncio.Event(), list[SearchRequest]()

    class Slow(WordSearcher):
        async def search(self, request: SearchRequest) -> SearchResult:
            started.set()
            try:
                return await asyncio.Future()
            except asyncio.CancelledError:
                stopped.append(request)
                raise

    assistant = Assistant(Slow(POLICY), WordEmbedder())
    stream = assistant.run(TurnRequest(owner_id="ada", message="What is the fee?"))
    waiting = asyncio.ensure_future(anext(stream))
    await started.wait()
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert len(stopped) == 1


async def test_debug_shows_hits_and_timings_of_each_step() -> None:
    done = await World().ask(
        "What's the maximum loan size for first-time borrowers?", options=SearchOptions(debug=True)
    )
    trace: Any = done.answer.trace
    assert {"detect_intent", "search", "extract", "check_citations", "total"} <= set(trace["timings_ms"])
    assert trace["searches"][0]["hits"][0]["place"] == "Loan Policy.pdf (p. 3)"
    assert trace["tool_calls"][0]["name"] == "search_files"


async def test_a_turn_that_begins_while_the_assistant_prepares_waits_for_the_same_and_loads_nothing_twice(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    built: list[object] = []
    build = Assistant._build

    def counted(assistant: Assistant) -> Any:
        built.append(assistant)
        return build(assistant)

    monkeypatch.setattr(Assistant, "_build", counted)
    world = World()
    _, done = await asyncio.gather(world.assistant.prepare(), world.ask("thanks a lot for that"))
    assert done.answer.intent == "general_conversation"
    assert len(built) == 1


async def test_preparing_embeds_nothing() -> None:
    world = World()
    await world.assistant.prepare()
    assert world.embedder.texts == []


async def test_a_question_about_the_assistant_in_words_of_the_files_is_answered_where_these_say_nothing_of_it() -> None:
    class Everything:
        async def holds_any(self, owner_id: str, scope: Scope, words: Sequence[str]) -> bool:
            return True

    searcher = WordSearcher(list(POLICY))
    assistant = Assistant(searcher, WordEmbedder(), message_model=MESSAGES, vocabulary=Everything())
    done = await assistant.answer(TurnRequest(owner_id="ada", message="I'm new here. How can you be of use to me?"))
    assert searcher.requests
    assert (done.answer.intent, done.answer.text) == ("general_conversation", reply(SmallTalk.ABOUT_ASSISTANT))
    done = await assistant.answer(TurnRequest(owner_id="ada", message="What is the fee for swimming?"))
    assert (done.answer.intent, done.answer.answered) == ("document_query", False)
