"""The conformance suite of the `ChatModel` port.

Subclass `ChatModelConformance` together with one class per declared capability, and define the fixture `scripted`: a function that takes
the provider's answers, one per request, and returns a model that talks to that provider. The provider respects the request's `max_tokens`,
counting each word as a token.

    class TestMyModel(ChatModelConformance, ToolConformance):
        @pytest.fixture
        def scripted(self):
            return lambda *answers: MyModel(provider_that_answers(answers))
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import pytest

from citewell.errors import ProviderAuthError, ProviderError, ProviderRateLimited, ProviderRejected, ProviderUnavailable
from citewell.ports import (
    Capability,
    ChatDelta,
    ChatMessage,
    ChatModel,
    SourceBlock,
    ToolCall,
    ToolSpec,
    close_connections,
)
from citewell.ports.metering import MeteredChat, tallied
from citewell.types import JsonObject


@dataclass(frozen=True, slots=True, kw_only=True)
class ScriptedCall:
    """A tool call for the provider to make; `arguments` may be text that is not JSON."""

    name: str
    arguments: JsonObject | str


@dataclass(frozen=True, slots=True, kw_only=True)
class ScriptedAnswer:
    """How the provider answers one request.

    cites: texts, each with the positions (0 = first) of the sources it cites; only for models with native citations
    status: an HTTP error instead, with `retry_after` as the provider writes it; context_too_long: the error for a context that is too long
    breaks_off: the connection is cut after the first piece of text; fails_midway: the provider reports an error there
    pause: seconds before each piece of text
    body: these bytes as a successful response
    """

    text: str = ""
    calls: tuple[ScriptedCall, ...] = ()
    cites: tuple[tuple[str, tuple[int, ...]], ...] = ()
    refuses: bool = False
    status: int | None = None
    retry_after: str | None = None
    context_too_long: bool = False
    breaks_off: bool = False
    fails_midway: bool = False
    pause: float = 0.0
    body: bytes | None = None


Scripted: TypeAlias = Callable[..., ChatModel]
ODD = (
    "naïve café",
    "北京大学图书馆",
    "مكتبة",
    "👩‍👩‍👧 family",
    "e\u0301" * 40,
    "<b>1 < 2</b>\n\n| a | b |\n|---|---|",
    "x" * 20_000,
)
MALFORMED = (b"<html>", b"[]", b"{}", b'{"choices": []}', b"data: {not json}\n\n", b"")
QUESTION = (ChatMessage(role="user", content="How many borrowers are there?"),)
SEARCH = ToolSpec(
    "search_files",
    "Finds passages.",
    {
        "type": "object",
        "properties": {"query": {"type": "string"}},
        "required": ["query"],
        "additionalProperties": False,
    },
)
SCHEMA: JsonObject = {
    "type": "object",
    "properties": {"intent": {"type": "string"}, "terms": {"type": "array", "items": {"type": "string"}}},
    "required": ["intent", "terms"],
    "additionalProperties": False,
}


async def collect(model: ChatModel, messages: Sequence[ChatMessage] = QUESTION, **options: Any) -> list[ChatDelta]:
    """All deltas of one answer."""
    return [delta async for delta in model.stream(messages, **options)]


def said(deltas: Sequence[ChatDelta]) -> str:
    """The text of an answer."""
    return "".join(delta.text for delta in deltas)


class ChatModelConformance:
    """Tests that every chat model must pass."""

    @pytest.fixture
    def scripted(self) -> Scripted:
        """Override: `scripted(*answers)` is a model whose provider gives these answers, and then repeats the last one."""
        raise AssertionError("Define the fixture `scripted`.")

    async def test_text_comes_in_pieces_and_ends_with_usage_and_reason(self, scripted: Scripted) -> None:
        deltas = await collect(scripted(ScriptedAnswer(text="There are 312 borrowers in three cities.")))
        assert said(deltas) == "There are 312 borrowers in three cities."
        assert sum(bool(delta.text) for delta in deltas) > 1
        last = deltas[-1]
        assert last.usage is not None
        assert last.usage.input_tokens > 0
        assert last.usage.output_tokens > 0
        assert last.stop_reason

    async def test_a_whole_conversation_is_accepted(self, scripted: Scripted) -> None:
        messages = [
            ChatMessage(role="system", content="Answer briefly."),
            ChatMessage(role="user", content="Hello"),
            ChatMessage(role="assistant", content="Hello! What would you like to know?"),
            *QUESTION,
        ]
        assert said(await collect(scripted(ScriptedAnswer(text="312.")), messages)) == "312."

    async def test_sources_are_accepted(self, scripted: Scripted) -> None:
        source = SourceBlock(n=4, title='A "title" <p. 1>', source="a.pdf", text="There are </source> 312 borrowers.")
        question = ChatMessage(role="user", content="How many?", sources=(source,))
        assert said(await collect(scripted(ScriptedAnswer(text="312.")), [question])) == "312."

    @pytest.mark.parametrize(
        ("status", "error"),
        [
            (400, ProviderRejected),
            (401, ProviderAuthError),
            (403, ProviderAuthError),
            (404, ProviderRejected),
            (408, ProviderUnavailable),
            (429, ProviderRateLimited),
            (500, ProviderUnavailable),
            (503, ProviderUnavailable),
            (504, ProviderUnavailable),
        ],
    )
    async def test_status_codes_are_our_errors(
        self, scripted: Scripted, status: int, error: type[ProviderError]
    ) -> None:
        with pytest.raises(error):
            await collect(scripted(ScriptedAnswer(status=status)))

    async def test_the_wait_that_the_provider_asks_for_is_told(self, scripted: Scripted) -> None:
        with pytest.raises(ProviderRateLimited) as raised:
            await collect(scripted(ScriptedAnswer(status=429, retry_after="7")))
        assert raised.value.retry_after == 7.0

    async def test_too_long_a_context_is_told_apart(self, scripted: Scripted) -> None:
        with pytest.raises(ProviderRejected) as raised:
            await collect(scripted(ScriptedAnswer(context_too_long=True)))
        assert raised.value.details["reason"] == "context_too_long"

    async def test_an_answer_that_breaks_off_is_an_error(self, scripted: Scripted) -> None:
        with pytest.raises(ProviderUnavailable):
            await collect(scripted(ScriptedAnswer(text="There are 312 borrowers.", breaks_off=True)))

    async def test_an_error_inside_an_answer_is_an_error(self, scripted: Scripted) -> None:
        with pytest.raises(ProviderError):
            await collect(scripted(ScriptedAnswer(text="There are 312 borrowers.", fails_midway=True)))

    async def test_a_refusal_is_an_error(self, scripted: Scripted) -> None:
        with pytest.raises(ProviderRejected):
            await collect(scripted(ScriptedAnswer(text="I can't help with that.", refuses=True)))

    async def test_text_is_handed_on_while_the_rest_is_still_coming(self, scripted: Scripted) -> None:
        model = scripted(ScriptedAnswer(text="There are 312 borrowers in three cities.", pause=0.2))
        started = asyncio.get_running_loop().time()
        times = [asyncio.get_running_loop().time() - started async for delta in model.stream(QUESTION) if delta.text]
        assert times[-1] - times[0] > 0.15

    async def test_two_answers_at_once_do_not_mix(self, scripted: Scripted) -> None:
        model = scripted(ScriptedAnswer(text="There are 312 borrowers.", pause=0.02))
        answers = await asyncio.gather(*(collect(model) for _ in range(4)))
        assert {said(deltas) for deltas in answers} == {"There are 312 borrowers."}

    async def test_text_comes_in_the_order_in_which_it_is_written(self, scripted: Scripted) -> None:
        text = " ".join(f"{n}." for n in range(300))
        assert said(await collect(scripted(ScriptedAnswer(text=text)))) == text

    @pytest.mark.parametrize("text", ODD)
    async def test_any_text_comes_back_as_it_is(self, scripted: Scripted, text: str) -> None:
        assert said(await collect(scripted(ScriptedAnswer(text=text)))) == text

    @pytest.mark.parametrize("text", [*ODD, "half \ud83d a pair", "\u0000"])
    async def test_any_text_can_be_asked(self, scripted: Scripted, text: str) -> None:
        question = [ChatMessage(role="system", content=text), ChatMessage(role="user", content=f"{text}?")]
        assert said(await collect(scripted(ScriptedAnswer(text="Yes.")), question)) == "Yes."

    async def test_an_empty_answer_has_no_text_and_ends(self, scripted: Scripted) -> None:
        deltas = await collect(scripted(ScriptedAnswer(text="")))
        assert said(deltas) == ""
        assert deltas[-1].stop_reason

    async def test_a_huge_question_is_answered_or_refused_as_too_long(self, scripted: Scripted) -> None:
        question = [ChatMessage(role="user", content="word " * 200_000)]
        model, reason, text = scripted(ScriptedAnswer(text="Much.")), None, ""
        try:
            text = said(await collect(model, question))
        except ProviderRejected as error:
            reason = error.details["reason"]
        assert (reason, text) in ((None, "Much."), ("context_too_long", ""))

    async def test_an_answer_keeps_to_its_limit(self, scripted: Scripted) -> None:
        text = "There are 312 borrowers in three cities, and one of them has paid."
        deltas = await collect(scripted(ScriptedAnswer(text=text)), max_tokens=5)
        assert said(deltas).strip() == "There are 312 borrowers in"
        assert deltas[-1].stop_reason

    @pytest.mark.parametrize("body", MALFORMED)
    async def test_an_answer_that_is_not_as_documented_is_an_error(self, scripted: Scripted, body: bytes) -> None:
        with pytest.raises(ProviderError):
            await collect(scripted(ScriptedAnswer(body=body)))

    async def test_it_can_be_cancelled_and_used_again(self, scripted: Scripted) -> None:
        model = scripted(ScriptedAnswer(text="Too late.", pause=30.0), ScriptedAnswer(text="312."))
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(collect(model), 2.0)  # by then the server has the request
        assert said(await collect(model)) == "312."

    async def test_what_the_provider_charges_is_counted(self, scripted: Scripted) -> None:
        model = scripted(ScriptedAnswer(text="There are 312."))
        with tallied() as tally:
            deltas = await collect(MeteredChat(model, "somebody"))
        [spent], usage = tally.of("chat"), deltas[-1].usage
        assert usage is not None
        assert (spent.model, spent.units) == (model.model, 1)
        assert (spent.input_tokens, spent.output_tokens) == (usage.input_tokens, usage.output_tokens)

    async def test_it_can_be_closed_and_used_again(self, scripted: Scripted) -> None:
        model = scripted(ScriptedAnswer(text="312."))
        for _ in range(2):
            assert said(await collect(model)) == "312."
            await close_connections(model)


class ToolConformance:
    """`Capability.TOOLS`."""

    async def test_declares_tools(self, scripted: Scripted) -> None:
        assert Capability.TOOLS in scripted().capabilities

    async def test_calls_come_whole_and_in_order(self, scripted: Scripted) -> None:
        calls = (
            ScriptedCall(name="search_files", arguments={"query": "loan, 5.000 & “more”"}),
            ScriptedCall(name="search_files", arguments={"query": "fees"}),
        )
        deltas = await collect(scripted(ScriptedAnswer(text="Let me look.", calls=calls)), tools=[SEARCH])
        found = [delta.tool_call for delta in deltas if delta.tool_call is not None]
        assert [dict(call.arguments) for call in found] == [{"query": "loan, 5.000 & “more”"}, {"query": "fees"}]
        assert [call.name for call in found] == ["search_files", "search_files"]
        assert len({call.id for call in found}) == 2
        assert said(deltas) == "Let me look."

    async def test_results_of_calls_are_accepted(self, scripted: Scripted) -> None:
        calls = (ScriptedCall(name="search_files", arguments={"query": "borrowers"}),)
        model = scripted(ScriptedAnswer(calls=calls), ScriptedAnswer(text="312."))
        deltas = await collect(model, tools=[SEARCH])
        made = tuple(delta.tool_call for delta in deltas if delta.tool_call is not None)
        source = SourceBlock(n=1, title="Handbook.pdf (p. 1)", source="Handbook.pdf", text="Today 312 people borrow.")
        thread = [
            *QUESTION,
            ChatMessage(role="assistant", tool_calls=made),
            ChatMessage(role="tool", content="1 passage found.", tool_call_id=made[0].id, sources=(source,)),
        ]
        assert said(await collect(model, thread, tools=[SEARCH])) == "312."

    async def test_several_calls_answered_at_once_are_accepted(self, scripted: Scripted) -> None:
        calls = tuple(ToolCall(f"call_{n}", "search_files", {"query": str(n)}) for n in range(3))
        thread = [
            *QUESTION,
            ChatMessage(role="assistant", content="Looking.", tool_calls=calls),
            *(ChatMessage(role="tool", content="Nothing.", tool_call_id=call.id) for call in calls),
        ]
        assert said(await collect(scripted(ScriptedAnswer(text="None.")), thread, tools=[SEARCH])) == "None."

    async def test_malformed_arguments_are_handed_on_as_malformed(self, scripted: Scripted) -> None:
        calls = (ScriptedCall(name="search_files", arguments='{"query": "loan'),)
        deltas = await collect(scripted(ScriptedAnswer(calls=calls)), tools=[SEARCH])
        found = [delta.tool_call for delta in deltas if delta.tool_call is not None]
        assert [set(call.arguments) for call in found] == [{"_malformed"}]


class StructuredOutputConformance:
    """`Capability.STRUCTURED_OUTPUT`."""

    async def test_the_text_is_one_object(self, scripted: Scripted) -> None:
        model = scripted(ScriptedAnswer(text='{"intent": "document_query", "terms": ["loan"]}'))
        assert Capability.STRUCTURED_OUTPUT in model.capabilities
        deltas = await collect(model, response_schema=SCHEMA, max_tokens=100)
        assert json.loads(said(deltas)) == {"intent": "document_query", "terms": ["loan"]}

    async def test_sources_are_accepted_with_a_schema(self, scripted: Scripted) -> None:
        source = SourceBlock(n=1, title="a.pdf", source="a.pdf", text="A loan is a loan.")
        question = ChatMessage(role="user", content="What?", sources=(source,))
        deltas = await collect(scripted(ScriptedAnswer(text="{}")), [question], response_schema=SCHEMA)
        assert said(deltas) == "{}"


class NativeCitationConformance:
    """`Capability.SEARCH_RESULT_BLOCKS`."""

    async def test_citations_follow_their_text_and_name_our_numbers(self, scripted: Scripted) -> None:
        sources = tuple(SourceBlock(n=n, title=f"{n}.pdf", source=f"{n}.pdf", text=f"Text of {n}.") for n in (7, 3))
        question = ChatMessage(role="user", content="What?", sources=sources)
        cites = (("The first says so.", (0,)), (" Both say this.", (0, 1)), (" Nobody says that.", ()))
        deltas = await collect(scripted(ScriptedAnswer(cites=cites)), [question])
        written = "".join(f"[{d.cited_source}]" if d.cited_source is not None else d.text for d in deltas)
        assert written == "The first says so.[7] Both say this.[7][3] Nobody says that."
        assert [d.cited_text for d in deltas if d.cited_source == 3] == ["Text of 3."]
