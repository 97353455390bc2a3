"""Answers with a chat model: it is given what a first search found, may call tools for more, and everything it says is checked after."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

from citewell.agent.citations.bracketed import spaced
from citewell.agent.citations.saying import Speaker
from citewell.agent.interface import NO_ANSWER
from citewell.agent.model import prompts
from citewell.agent.model.history import Memory
from citewell.agent.model.window import TokenCounter, source_blocks
from citewell.agent.tables.language.table_planner import TablePlanner
from citewell.agent.turn.state import TurnContext
from citewell.agent.turn.steps import Draft, Step, Task, first_calls
from citewell.agent.turn.tools import Toolbox, ToolResult
from citewell.errors import ProviderRejected, ProviderUnavailable
from citewell.ports import Capability, ChatMessage, ChatModel, ToolCall

_SMALL_TALK_TOKENS = 200
_HISTORY_SHARE = 4
_SMALLEST_CONTEXT = 500


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
        planner: TablePlanner | None,
        counter: TokenCounter,
        budget: Budget,
    ) -> None:
        self._model = model
        self._toolbox = toolbox
        self._planner = planner
        self._counter = counter
        self._memory = Memory(model, counter)
        self._budget = budget

    async def step(self, context: TurnContext, task: Task, results: Sequence[ToolResult]) -> Step:
        """First what the question needs in any case (a search, a table query); then as the model decides."""
        context.meter.model = self._model.model
        if task.intent.kind == "general_conversation":
            return await self._small_talk(context)
        if not results:
            return await first_calls(context, task, self._toolbox, self._planner)
        messages = await self._messages(context, task, results)
        try:
            return await self._ask(context, messages, len(results))
        except ProviderRejected as error:
            if error.details.get("reason") != "context_too_long" or context.context_tokens <= _SMALLEST_CONTEXT:
                raise
            context.context_tokens //= 4
            return await self._ask(context, await self._messages(context, task, results), len(results))

    async def _small_talk(self, context: TurnContext) -> Draft:
        messages = [
            ChatMessage(role="system", content=prompts.SMALL_TALK),
            *await self._memory.recall(context, self._budget.context_tokens // _HISTORY_SHARE),
            ChatMessage(role="user", content=context.request.message),
        ]
        speaker = Speaker(context.emit, tuple)
        await self._stream(
            context,
            messages,
            speaker,
            tools=False,
            max_tokens=min(_SMALL_TALK_TOKENS, self._budget.answer_tokens or _SMALL_TALK_TOKENS),
        )
        return Draft(speaker.finish(), answered=True)

    async def _ask(self, context: TurnContext, messages: list[ChatMessage], tool_calls: int) -> Step:
        last = self._is_last(context, tool_calls)
        if last:
            messages = [*messages, ChatMessage(role="user", content=prompts.LAST_CALL)]
        if context.speaker is None:
            context.speaker = Speaker(context.emit, lambda: context.book.sources)
        # Vendors refuse a thread that holds tool calls unless the tools are declared, so past the budget calls are not heeded.
        tools = Capability.TOOLS in self._model.capabilities and not (last and not context.rounds)
        said_before = len(context.speaker.text)
        calls = await self._stream(
            context, messages, context.speaker, tools=tools, max_tokens=self._budget.answer_tokens
        )
        if calls and not last:
            said = context.speaker.finish()[said_before:]
            context.rounds.append((ChatMessage(role="assistant", content=said.strip(), tool_calls=calls), tool_calls))
            if said and not said.endswith("\n"):
                context.speaker.say("\n\n")
            return calls
        text = context.speaker.finish()
        if not text:
            raise ProviderUnavailable("The model gave an empty answer.")
        if context.speaker.removed:
            context.note("removed_citations", list(dict.fromkeys(context.speaker.removed)))
        answered = NO_ANSWER.rstrip(".").lower() not in text.lower()
        return Draft(text, answered, context.book.sources, () if answered else context.book.sources[:3])

    async def _stream(
        self,
        context: TurnContext,
        messages: Sequence[ChatMessage],
        speaker: Speaker,
        *,
        tools: bool,
        max_tokens: int | None = None,
    ) -> tuple[ToolCall, ...]:
        """Say what the model says; the calls that it wants made."""
        context.show_prompt("answer", messages)
        calls: list[ToolCall] = []
        context.meter.calls += 1
        with context.timed("model"):
            async for delta in self._model.stream(
                messages,
                tools=self._toolbox.specs if tools else (),
                max_tokens=max_tokens,
                temperature=self._budget.temperature,
            ):
                if delta.text:
                    speaker.say(delta.text)
                if delta.cited_source is not None:
                    speaker.cite(delta.cited_source)
                if delta.tool_call is not None:
                    calls.append(delta.tool_call)
                if delta.usage is not None:
                    context.meter.add(delta.usage)
        return tuple(calls)

    async def _messages(self, context: TurnContext, task: Task, results: Sequence[ToolResult]) -> list[ChatMessage]:
        """System, thread, question with the first findings, then each round of calls with its results."""
        if not context.context_tokens:
            context.context_tokens = self._budget.context_tokens
        first = context.rounds[0][1] if context.rounds else len(results)
        found = {source.n: source for result in results[:first] for source in result.sources}
        blocks = source_blocks(list(found.values()), self._counter, context.context_tokens)
        tables = [spaced(result.text) for result in results[:first] if result.call.name == "query_table"]
        thread = await self._memory.recall(context, context.context_tokens // _HISTORY_SHARE)
        native = Capability.SEARCH_RESULT_BLOCKS in self._model.capabilities
        question = prompts.question_prompt(
            spaced(task.question), tables, has_sources=bool(blocks), native_citations=native
        )
        said = context.request.instructions
        messages = [
            ChatMessage(role="system", content=prompts.system_prompt(native_citations=native, instructions=said)),
            *thread,
            ChatMessage(role="user", content=question, sources=blocks),
        ]
        for index, (answer, start) in enumerate(context.rounds):
            end = context.rounds[index + 1][1] if index + 1 < len(context.rounds) else len(results)
            messages.append(answer)
            messages += [self._tool_message(context, result) for result in results[start:end]]
        return messages

    def _tool_message(self, context: TurnContext, result: ToolResult) -> ChatMessage:
        blocks = source_blocks(result.sources, self._counter, context.context_tokens // 2)
        return ChatMessage(role="tool", content=spaced(result.text), tool_call_id=result.call.id, sources=blocks)

    def _is_last(self, context: TurnContext, tool_calls: int) -> bool:
        """Whether the model must answer now."""
        budget, meter = self._budget, context.meter
        return (
            len(context.rounds) >= budget.model_calls - 1
            or tool_calls >= budget.tool_calls
            or meter.input_tokens + meter.output_tokens >= budget.tokens * 3 // 4
            or time.monotonic() - context.started >= budget.seconds / 2
        )
