"""Answers with a chat model: it is given what a first search found, may call tools for more, and everything it says is checked after."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

from citewell.agent.citations.bracketed import space_markers
from citewell.agent.citations.writer import AnswerWriter
from citewell.agent.interface import NO_ANSWER
from citewell.agent.model import prompts
from citewell.agent.model.history import ThreadHistory
from citewell.agent.model.window import TokenCounter, source_blocks
from citewell.agent.turn.state import Draft, NextStep, ToolResult, TurnState
from citewell.agent.turn.steps import Planners, Step, first_calls
from citewell.agent.turn.tools import Toolbox
from citewell.errors import ProviderRejected, ProviderUnavailable
from citewell.ports import Capability, ChatMessage, ChatModel, ToolCall

_SMALL_TALK_TOKENS = 200
_HISTORY_SHARE = 4
_MIN_CONTEXT_TOKENS = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """Limits of one turn. context_tokens: passages per message; tokens: everything sent to and got from the model.

    answer_tokens and temperature are what answers are asked for with; None leaves the length to the provider.
    """

    model_calls: int = 6
    tool_calls: int = 12
    context_tokens: int = 8_000
    tokens: int = 100_000
    seconds: float = 120.0
    answer_tokens: int | None = None
    temperature: float = 0.0


class ModelAssistant:
    """Decides with a chat model. Past a budget it is asked to answer with what it has, without tools."""

    def __init__(
        self,
        model: ChatModel,
        toolbox: Toolbox,
        planners: Planners | None,
        counter: TokenCounter,
        budget: Budget,
    ) -> None:
        self._model = model
        self._toolbox = toolbox
        self._planners = planners
        self._counter = counter
        self._history = ThreadHistory(model, counter)
        self._budget = budget

    async def step(self, turn: TurnState) -> Step:
        """First what the question needs in any case (a search, a table query); then as the model decides."""
        if turn.intent.kind == "general_conversation":
            return await self._small_talk(turn)
        if turn.stage is NextStep.LOOK_UP:
            return await first_calls(turn, self._toolbox, self._planners)
        messages = await self._messages(turn)
        try:
            return await self._ask(turn, messages)
        except ProviderRejected as error:
            too_long = error.details.get("reason") == "context_too_long"
            if not too_long or turn.dialogue.context_tokens <= _MIN_CONTEXT_TOKENS:
                raise
            turn.dialogue.context_tokens //= 4
            return await self._ask(turn, await self._messages(turn))

    async def _small_talk(self, turn: TurnState) -> Draft:
        messages = [
            ChatMessage(role="system", content=prompts.SMALL_TALK),
            *await self._history.recall(turn, self._budget.context_tokens // _HISTORY_SHARE),
            ChatMessage(role="user", content=turn.request.message),
        ]
        writer = AnswerWriter(turn.emit, tuple)
        await self._stream(
            turn,
            messages,
            writer,
            tools=False,
            max_tokens=min(_SMALL_TALK_TOKENS, self._budget.answer_tokens or _SMALL_TALK_TOKENS),
        )
        return Draft(writer.finish(), answered=True)

    async def _ask(self, turn: TurnState, messages: list[ChatMessage]) -> Step:
        dialogue = turn.dialogue
        last = self._is_last(turn)
        if last:
            messages = [*messages, ChatMessage(role="user", content=prompts.LAST_CALL)]
        if dialogue.writer is None:
            dialogue.writer = AnswerWriter(turn.emit, lambda: turn.book.sources)
        writer = dialogue.writer
        # Vendors refuse a thread that holds tool calls unless the tools are declared, so past the budget calls are not heeded.
        tools = Capability.TOOLS in self._model.capabilities and not (last and not dialogue.rounds)
        written_before = len(writer.text)
        calls = await self._stream(turn, messages, writer, tools=tools, max_tokens=self._budget.answer_tokens)
        if calls and not last:
            said = writer.finish()[written_before:]
            answer = ChatMessage(role="assistant", content=said.strip(), tool_calls=calls)
            dialogue.rounds.append((answer, len(turn.results)))
            if said and not said.endswith("\n"):
                writer.write("\n\n")
            return calls
        text = writer.finish()
        if not text:
            raise ProviderUnavailable("The model returned an empty answer. Ask again.")
        if writer.removed:
            turn.note("removed_citations", list(dict.fromkeys(writer.removed)))
        answered = NO_ANSWER.rstrip(".").lower() not in text.lower()
        return Draft(text, answered, turn.book.sources, () if answered else turn.book.sources[:3])

    async def _stream(
        self,
        turn: TurnState,
        messages: Sequence[ChatMessage],
        writer: AnswerWriter,
        *,
        tools: bool,
        max_tokens: int | None = None,
    ) -> tuple[ToolCall, ...]:
        """Say what the model says; the calls that it wants made."""
        turn.show_prompt("answer", messages)
        calls: list[ToolCall] = []
        with turn.timed("model"):
            async for delta in self._model.stream(
                messages,
                tools=self._toolbox.specs if tools else (),
                max_tokens=max_tokens,
                temperature=self._budget.temperature,
            ):
                if delta.text:
                    writer.write(delta.text)
                if delta.cited_source is not None:
                    writer.cite(delta.cited_source)
                if delta.tool_call is not None:
                    calls.append(delta.tool_call)
                if delta.usage is not None:
                    turn.dialogue.tokens += delta.usage.input_tokens + delta.usage.output_tokens
        return tuple(calls)

    async def _messages(self, turn: TurnState) -> list[ChatMessage]:
        """System, thread, question with the first findings, then each round of calls with its results."""
        dialogue, results = turn.dialogue, turn.results
        if not dialogue.context_tokens:
            dialogue.context_tokens = self._budget.context_tokens
        first = dialogue.rounds[0][1] if dialogue.rounds else len(results)
        found = {source.n: source for result in results[:first] for source in result.sources}
        blocks = source_blocks(list(found.values()), self._counter, dialogue.context_tokens)
        tables = [space_markers(result.text) for result in results[:first] if result.call.name == "query_table"]
        thread = await self._history.recall(turn, dialogue.context_tokens // _HISTORY_SHARE)
        native = Capability.SEARCH_RESULT_BLOCKS in self._model.capabilities
        question = prompts.question_prompt(
            space_markers(turn.question), tables, has_sources=bool(blocks), native_citations=native
        )
        rules = prompts.system_prompt(native_citations=native, instructions=turn.request.instructions)
        messages = [
            ChatMessage(role="system", content=rules),
            *thread,
            ChatMessage(role="user", content=question, sources=blocks),
        ]
        ends = [start for _, start in dialogue.rounds[1:]] + [len(results)]
        for (answer, start), end in zip(dialogue.rounds, ends, strict=False):
            messages.append(answer)
            messages += [self._tool_message(turn, result) for result in results[start:end]]
        return messages

    def _tool_message(self, turn: TurnState, result: ToolResult) -> ChatMessage:
        blocks = source_blocks(result.sources, self._counter, turn.dialogue.context_tokens // 2)
        return ChatMessage(role="tool", content=space_markers(result.text), tool_call_id=result.call.id, sources=blocks)

    def _is_last(self, turn: TurnState) -> bool:
        """Whether the model must answer now."""
        budget, dialogue = self._budget, turn.dialogue
        return (
            len(dialogue.rounds) >= budget.model_calls - 1
            or len(turn.results) >= budget.tool_calls
            or dialogue.tokens >= budget.tokens * 3 // 4
            or time.monotonic() - turn.started >= budget.seconds / 2
        )
