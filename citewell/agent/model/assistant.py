"""Answers with a chat model: it decides what to look up, or is given what a first search found, and everything it says is checked after."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

from citewell.agent.citations.bracketed import space_markers
from citewell.agent.citations.writer import AnswerWriter
from citewell.agent.extractive.refusal import explain, in_scope
from citewell.agent.interface import NO_ANSWER, TextDelta
from citewell.agent.model import prompts
from citewell.agent.model.history import ThreadHistory
from citewell.agent.model.unsearched import RECALLED, Standing, UnsearchedAnswers
from citewell.agent.model.window import TokenCounter, source_blocks
from citewell.agent.offload import offload
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
    """Decides with a chat model. Past a budget it is asked to answer with what it has, without tools.

    unsearched: judges what the model says without having looked anything up, where the first search is its decision; None where it
    is always made. Until something was looked up nothing that the model says is shown.
    """

    def __init__(
        self,
        model: ChatModel,
        toolbox: Toolbox,
        planners: Planners | None,
        counter: TokenCounter,
        budget: Budget,
        unsearched: UnsearchedAnswers | None = None,
    ) -> None:
        self._unsearched = unsearched
        self._model = model
        self._toolbox = toolbox
        self._planners = planners
        self._counter = counter
        self._history = ThreadHistory(model, counter)
        self._budget = budget

    async def step(self, turn: TurnState) -> Step:
        """What the question needs in any case (a search, a table query), unless the model decides on that too; then as it decides."""
        if turn.intent.kind == "general_conversation":
            return await self._small_talk(turn)
        if turn.stage is NextStep.LOOK_UP:
            turn.note("first_search", "always" if self._unsearched is None else "model")
            if self._unsearched is None:
                return await first_calls(turn, self._toolbox, self._planners)
            turn.stage = NextStep.DECIDE
        messages = await self._messages(turn)
        try:
            return await self._ask(turn, messages)
        except ProviderRejected as error:
            too_long = error.details.get("reason") == "context_too_long"
            if turn.seen and not too_long and not turn.dialogue.blind:
                turn.dialogue.blind = True
                turn.note("picture_refused", error.message)
                return await self._ask(turn, await self._messages(turn))
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
        held: list[TextDelta] = []
        is_held = turn.stage is NextStep.DECIDE and not _has_looked(turn)
        if dialogue.writer is None:
            dialogue.writer = AnswerWriter(turn.emit, lambda: turn.book.sources)
        writer = AnswerWriter(held.append, tuple) if is_held else dialogue.writer
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
        if is_held:
            return await self._unsearched_step(turn, writer, held)
        if not text:
            raise ProviderUnavailable("The model returned an empty answer. Ask again.")
        _note_removed(turn, writer)
        answered = NO_ANSWER.rstrip(".").lower() not in text.lower()
        if answered:
            return Draft(text, True, turn.book.sources)
        hits = [source.hit for source in turn.book.sources]
        why = await offload(sum(len(hit.chunk.text) for hit in hits), explain, turn.request.message, hits)
        return Draft(text, False, turn.book.sources, turn.book.sources[:3], no_answer=in_scope(why, turn.request.scope))

    async def _unsearched_step(self, turn: TurnState, writer: AnswerWriter, held: Sequence[TextDelta]) -> Step:
        """The answer that was given without a look-up, where it may be shown; else the look-up, after which the model is asked again."""
        assert self._unsearched is not None
        thread = await self._history.recall(turn, self._thread_tokens(turn))
        with turn.timed("check_citations"):
            standing = await self._unsearched.judge(
                writer.text, turn.request.message, [past.content for past in thread]
            )
        if standing is Standing.ASSERTS:
            turn.note("first_search", "required")
            if turn.dialogue.rounds:
                turn.dialogue.rounds.append((None, len(turn.results)))
            return await first_calls(turn, self._toolbox, self._planners)
        turn.note("first_search", "none")
        turn.intent = replace(turn.intent, kind="general_conversation")
        if standing is Standing.RECALLS:
            turn.notices[RECALLED] = None
        for delta in held:
            turn.emit(delta)
        _note_removed(turn, writer)
        return Draft(writer.text, answered=True)

    def _thread_tokens(self, turn: TurnState) -> int:
        return turn.dialogue.context_tokens // _HISTORY_SHARE

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
                tools=self._toolbox.model_specs(sees=self._sees(turn)) if tools else (),
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
        """System, thread, question with the first findings, then each round of calls with its results, or what was looked up since."""
        dialogue, results = turn.dialogue, turn.results
        if not dialogue.context_tokens:
            dialogue.context_tokens = self._budget.context_tokens
        first = dialogue.rounds[0][1] if dialogue.rounds else len(results)
        thread = await self._history.recall(turn, self._thread_tokens(turn))
        rules = prompts.system_prompt(
            native_citations=self._cites_natively,
            decides=self._unsearched is not None,
            instructions=turn.request.instructions,
        )
        messages = [ChatMessage(role="system", content=rules), *thread, self._question(turn, results[:first])]
        ends = [start for _, start in dialogue.rounds[1:]] + [len(results)]
        for (answer, start), end in zip(dialogue.rounds, ends, strict=False):
            if answer is None:
                messages.append(self._question(turn, results[start:end]))
                continue
            messages.append(answer)
            messages += [self._tool_message(turn, result) for result in results[start:end]]
        return messages

    def _question(self, turn: TurnState, results: Sequence[ToolResult]) -> ChatMessage:
        """The question with what was looked up for it. A model that decides has the thread, and reads the message as it is."""
        found = {source.n: source for result in results for source in result.sources}
        blocks = source_blocks(list(found.values()), self._counter, turn.dialogue.context_tokens)
        question = turn.question if self._unsearched is None else turn.request.message.strip()
        prompt = prompts.question_prompt(
            space_markers(question),
            [space_markers(result.text) for result in results if result.call.name == "query_table"],
            has_sources=bool(blocks),
            native_citations=self._cites_natively,
            searched=bool(results),
        )
        return ChatMessage(role="user", content=prompt, sources=blocks)

    @property
    def _cites_natively(self) -> bool:
        return Capability.SEARCH_RESULT_BLOCKS in self._model.capabilities

    def _tool_message(self, turn: TurnState, result: ToolResult) -> ChatMessage:
        blocks = source_blocks(result.sources, self._counter, turn.dialogue.context_tokens // 2)
        is_hidden = bool(result.images) and not self._sees(turn)
        return ChatMessage(
            role="tool",
            content=prompts.HIDDEN if is_hidden else space_markers(result.text),
            tool_call_id=result.call.id,
            sources=blocks,
            images=() if is_hidden else result.images,
        )

    def _sees(self, turn: TurnState) -> bool:
        return Capability.MULTIMODAL in self._model.capabilities and not turn.dialogue.blind

    def _is_last(self, turn: TurnState) -> bool:
        """Whether the model must answer now."""
        budget, dialogue = self._budget, turn.dialogue
        return (
            len(dialogue.rounds) >= budget.model_calls - 1
            or len(turn.results) >= budget.tool_calls
            or dialogue.tokens >= budget.tokens * 3 // 4
            or time.monotonic() - turn.started >= budget.seconds / 2
        )


def _note_removed(turn: TurnState, writer: AnswerWriter) -> None:
    if writer.removed:
        turn.note("removed_citations", list(dict.fromkeys(writer.removed)))


def _has_looked(turn: TurnState) -> bool:
    """Whether something was looked up that can be cited. A list of files, a page as it is and a search that found nothing cannot."""
    return any(result.sources or result.table is not None for result in turn.results)
