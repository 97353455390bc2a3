"""Whatever a chat model does, the user has the answer that there is without it, and is told why."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence
from typing import Any

import pytest

from citewell.agent.interface import Failed, PastMessage
from citewell.agent.model.known import KnownModel
from citewell.agent.spoken import NO_ANSWER
from citewell.errors import (
    ProviderAuthError,
    ProviderQuotaSpent,
    ProviderRateLimited,
    ProviderRejected,
    ProviderUnavailable,
    SpendingLimitReached,
    SpendQuotaReached,
)
from citewell.ports import ChatDelta, ToolCall
from citewell.types import Scope, Verdict
from citewell.types.chat_models import ChatProfile, ModelExamination
from tests.agent.chat_fakes import LIMIT, Scripted, ask

CIRCLES = [ChatDelta(text="The policy is set by the maximum loan of the policy. ")] * 50
FULL, SMALL = KnownModel(chosen=ChatProfile.FULL), KnownModel(chosen=ChatProfile.SMALL)


@pytest.mark.parametrize("known", [FULL, SMALL], ids=["full", "small"])
@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (ProviderUnavailable("Nothing answers at http://localhost:11434/v1."), "Nothing answers at"),
        (ProviderAuthError(), "refused the key"),
        (ProviderQuotaSpent(), "no credit left"),
        (ProviderRateLimited(), "rate limit"),
        (ProviderRejected("The model refused to answer."), "refused to answer"),
        (SpendingLimitReached(), "spending limit"),
        ("", "empty answer"),
        (" \n ", "empty answer"),
        (CIRCLES, "repeats itself"),
        ('{"name": "search_user_files", "arguments": {"query": "loan"}}', "empty answer"),
        ("A first-time borrower may receive at most GHS 9,000. [1]", "No passage supports"),
        ("The moon landing of 1969 was watched by everybody.", "No passage supports"),
        ("I'm sorry, but the provided documents do not contain this.", "No passage supports"),
    ],
)
async def test_the_answer_without_the_model_is_given_with_the_reason(known: KnownModel, answer: Any, why: str) -> None:
    done, seen, _ = await ask(Scripted([answer]), known)
    assert LIMIT in done.answer.text
    assert seen == done.answer.text
    assert done.answer.citations[0].verdict is Verdict.SUPPORTED
    assert done.notice is not None
    assert why in done.notice


async def test_a_model_that_is_too_slow_is_left_when_the_time_of_the_answer_is_over() -> None:
    class Slow(Scripted):
        async def stream(self, messages: Sequence[Any], **_: Any) -> AsyncGenerator[ChatDelta]:
            await asyncio.sleep(30)
            yield ChatDelta(text="late")

    done, _, _ = await ask(Slow([]), FULL, seconds=0.2)
    assert LIMIT in done.answer.text
    assert done.notice is not None
    assert "did not answer within" in done.notice


async def test_what_was_streamed_of_an_answer_that_breaks_off_is_withdrawn() -> None:
    def breaks(_: object) -> Any:
        return [ChatDelta(text="A first-time borrower may receive at most GHS 9 and then"), *CIRCLES]

    done, seen, _ = await ask(Scripted([breaks]), FULL)
    assert seen == done.answer.text
    assert "GHS 9 " not in seen


async def test_a_thought_that_began_without_saying_so_is_withdrawn() -> None:
    deltas = [ChatDelta(text="Okay. Perhaps it is 9,000?\n"), ChatDelta(retracts=True), ChatDelta(text=f"{LIMIT} [1]")]
    done, seen, _ = await ask(Scripted([deltas]), FULL)
    assert seen == done.answer.text == f"{LIMIT} [1]"


async def test_a_spent_quota_of_the_asker_ends_the_question() -> None:
    with pytest.raises(AssertionError) as failed:
        await ask(Scripted([SpendQuotaReached()]), FULL)
    assert isinstance(failed.value.args[0], Failed) or "quota_spend" in str(failed.value)


async def test_a_refusal_stands_where_the_rules_have_no_answer_and_has_their_help() -> None:
    done, _, _ = await ask(Scripted([NO_ANSWER]), FULL, message="What is the first loan of Mongolia?")
    assert not done.answer.answered
    assert done.answer.no_answer is not None
    assert "Mongolia" in done.answer.no_answer.text
    assert done.nearest


@pytest.mark.parametrize("known", [FULL, SMALL], ids=["full", "small"])
async def test_a_sentence_without_a_number_gets_that_of_the_passage_that_states_it(known: KnownModel) -> None:
    done, seen, _ = await ask(Scripted([f"{LIMIT}"]), known)
    assert done.answer.text == seen == f"{LIMIT} [1]"
    assert done.answer.citations[0].verdict is Verdict.SUPPORTED
    assert done.notice is None


async def test_a_call_that_is_only_repeated_is_not_made_again() -> None:
    call = [ChatDelta(tool_call=ToolCall("1", "search_user_files", {"query": "loan"}))]
    model = Scripted([call])
    done, _, _ = await ask(model, FULL)
    assert len(model.sent) == 3
    assert LIMIT in done.answer.text


async def test_a_model_without_room_for_tools_is_asked_in_small_and_within_its_context() -> None:
    refused = ProviderRejected(
        "request (2062 tokens) exceeds the context size (2048 tokens)", reason="context_too_long"
    )
    known = KnownModel(chosen=ChatProfile.FULL, is_own=True)
    model = Scripted([refused, refused, f"{LIMIT} [1]"])
    done, _, _ = await ask(model, known)
    assert done.answer.text == f"{LIMIT} [1]"
    assert known.context == 2048
    assert known.profile(model) is ChatProfile.SMALL


@pytest.mark.parametrize(
    ("examination", "profile"),
    [
        (ModelExamination(calls_tools=True, cites=True, reads=900, writes=40), ChatProfile.FULL),
        (ModelExamination(calls_tools=True, cites=True, reads=20, writes=5), ChatProfile.SMALL),
        (ModelExamination(calls_tools=False, cites=True, reads=900, writes=40), ChatProfile.SMALL),
        (ModelExamination(calls_tools=True, cites=False, reads=900, writes=40), ChatProfile.SMALL),
        (ModelExamination(calls_tools=True, cites=True, reads=900, writes=40, window=2048), ChatProfile.SMALL),
        (None, ChatProfile.SMALL),
    ],
    ids=["able and quick", "slow", "no tools", "no citations", "no room", "not examined"],
)
def test_the_examination_chooses_the_profile_and_a_hand_overrides_it(
    examination: ModelExamination | None, profile: ChatProfile
) -> None:
    model = Scripted([""])
    assert KnownModel(is_own=True, examination=examination).profile(model) is profile
    assert KnownModel().profile(model) is ChatProfile.FULL
    assert KnownModel(is_own=True, chosen=ChatProfile.SMALL).profile(model) is ChatProfile.SMALL
    if examination is not None:
        assert ModelExamination.from_json(examination.to_json()) == examination
        assert "an answer on this machine" in examination.told(profile)


async def test_what_was_said_under_another_scope_reaches_the_model_with_its_answer_and_marked() -> None:
    elsewhere = Scope(resource_ids=("r9",))
    history = tuple(
        past
        for n in range(3)
        for past in (
            PastMessage("user", f"What is fee {n}?", elsewhere),
            PastMessage("assistant", f"Fee {n} is EUR {n}. [1]", elsewhere),
        )
    )
    model = Scripted([f"{LIMIT} [1]"])
    await ask(model, FULL, history=history)
    thread = model.sent[-1][1:-1]
    assert [message.role for message in thread] == ["user", "assistant"] * 3
    assert thread[0].content == "(Asked of other files than now:) What is fee 0?"
    assert thread[1].content == "(From those other files, not to be repeated now:) Fee 0 is EUR 0."
