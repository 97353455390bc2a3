"""A small model is asked in one short call, after the rules have looked up; what they are sure of stands as it is."""

from __future__ import annotations

import pytest

from citewell.agent.interface import ModelReads
from citewell.agent.model.known import KnownModel
from citewell.agent.model.small import CUT, MAX_PASSAGES
from citewell.ports import ChatDelta
from citewell.types.chat_models import ChatProfile, ModelExamination
from tests.agent.chat_fakes import LIMIT, Scripted, ask

KNOWN = KnownModel(chosen=ChatProfile.SMALL, is_own=True)


async def test_it_gets_the_best_passage_last_beside_the_question_and_neither_tools_nor_an_example() -> None:
    model = Scripted([f"{LIMIT} [1]"])
    done, _, events = await ask(model, KNOWN)
    assert done.answer.text == f"{LIMIT} [1]"
    (sent,) = model.sent
    assert [message.role for message in sent] == ["system", "user"]
    assert len(sent[0].content.split()) <= 70
    assert 1 <= len(sent[1].sources) <= MAX_PASSAGES
    assert sent[1].sources[-1].text == LIMIT
    assert model.options == [{"tools": [], "max_tokens": 300}]
    assert any(isinstance(event, ModelReads) and event.tokens > 0 for event in events)
    assert done.answer.trace["profile"] == "small"


@pytest.mark.parametrize("message", ["What is the capital of Mongolia?", "Thanks, that's helpful", "List the loans."])
async def test_it_is_not_asked_for_what_the_rules_settle(message: str) -> None:
    model = Scripted(["never"])
    done, _, _ = await ask(model, KNOWN, message=message)
    assert model.sent == []
    assert "never" not in done.answer.text


async def test_an_answer_in_json_is_taken_out_of_it() -> None:
    done, _, _ = await ask(Scripted([f'{{"answer": "{LIMIT}", "citations": [1]}}']), KNOWN)
    assert done.answer.text == f"{LIMIT} [1]"


async def test_an_answer_that_is_cut_off_ends_with_its_last_sentence_and_says_so() -> None:
    deltas = [ChatDelta(text=f"{LIMIT} [1] The fee is charged when a"), ChatDelta(stop_reason="length")]
    done, _, _ = await ask(Scripted([deltas]), KNOWN)
    assert done.answer.text == f"{LIMIT} [1]"
    assert done.notice == CUT


async def test_it_is_told_how_long_the_model_takes() -> None:
    examination = ModelExamination(calls_tools=False, cites=False, reads=100, writes=6)
    known = KnownModel(is_own=True, examination=examination)
    _, _, events = await ask(Scripted([f"{LIMIT} [1]"]), known)
    assert [event.seconds for event in events if isinstance(event, ModelReads)] == [20]
