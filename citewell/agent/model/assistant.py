"""Answers with a chat model: it decides what to look up, or is given what a first search found, and everything it says is checked after."""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

from citewell.agent.citations.bracketed import space_markers
from citewell.agent.citations.writer import AnswerWriter
from citewell.agent.extractive.refusal import explain, in_scope
from citewell.agent.interface import Source
from citewell.agent.model import prompts
from citewell.agent.model.history import ThreadHistory
from citewell.agent.model.known import KnownModel
from citewell.agent.model.listening import (
    MAX_ANSWER_TOKENS,
    MAX_HIDDEN_TOKENS,
    MIN_WINDOW,
    Heard,
    Listener,
    Request,
    Speech,
)
from citewell.agent.model.unsearched import RECALLED, Standing, UnsearchedAnswers
from citewell.agent.model.window import TokenCounter, block_tokens, source_blocks
from citewell.agent.offload import offload
from citewell.agent.spoken import says_no_answer
from citewell.agent.turn.specs import TOOL_NAMES
from citewell.agent.turn.state import Draft, NextStep, ToolResult, TurnState
from citewell.agent.turn.steps import Planners, Step, first_calls
from citewell.agent.turn.tools import Toolbox
from citewell.errors import ProviderRejected, ProviderUnavailable
from citewell.ports import Capability, ChatMessage, ChatModel, SourceBlock, ToolCall, ToolSpec
from citewell.ports.metering import CHARACTERS_PER_TOKEN, sent_tokens
from citewell.types.chat_models import ChatProfile
from citewell.types.conversations import Remembered

_SMALL_TALK_TOKENS = 200
_HISTORY_SHARE = 4
_MIN_CONTEXT_TOKENS = 256
MAX_SMALLER = 3
"""Times that a prompt which the model refused as too long is tried smaller."""
_LIMIT = re.compile(r"\d{3,7}")
CUT_OFF = "The answer was cut off at its longest. Ask for a part of it, or raise CITEWELL_MAX_TOKENS."


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """Limits of one turn. context_tokens: passages for one answer; tokens: everything sent to and got from the model.

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
        known: KnownModel | None = None,
    ) -> None:
        self._unsearched = unsearched
        self._model = model
        self._toolbox = toolbox
        self._planners = planners
        self._counter = counter
        self._history = ThreadHistory(model, counter)
        self._budget = budget
        self._known = known or KnownModel()
        self._listener = Listener(model, self._known, TOOL_NAMES)

    async def step(self, turn: TurnState) -> Step:
        """What the question needs in any case (a table query that the rules can plan, a search unless the model decides on it); then as the model decides."""
        if turn.intent.kind == "general_conversation":
            return await self._small_talk(turn)
        if turn.stage is NextStep.LOOK_UP:
            turn.note("first_search", "model" if self._decides else "always")
            turn.dialogue.searched = not self._decides
            if calls := await first_calls(turn, self._toolbox, self._planners, or_search=not self._decides):
                return calls
        if not turn.dialogue.searched:
            turn.stage = NextStep.DECIDE
        for attempt in range(MAX_SMALLER + 1):
            try:
                return await self._ask(turn, await self._messages(turn))
            except ProviderRejected as error:
                turn.restart()
                turn.dialogue.writer = None
                if error.details.get("reason") != "context_too_long":
                    if not turn.seen or turn.dialogue.blind:
                        raise
                    turn.dialogue.blind = True
                    turn.note("picture_refused", error.message)
                elif attempt == MAX_SMALLER or not self._shrinks(turn, error.message):
                    raise
        raise AssertionError("the last attempt returns or raises")

    def _shrinks(self, turn: TurnState, message: str) -> bool:
        """Whether fewer passages than the ones refused can be sent; what the refusal says of the context is remembered."""
        dialogue = turn.dialogue
        limits = [int(number) for number in _LIMIT.findall(message.replace(",", ""))]
        if self._known.is_own and (limits := [limit for limit in limits if limit >= MIN_WINDOW]):
            self._known.learn_window(min(limits))
        if dialogue.passage_tokens < _MIN_CONTEXT_TOKENS:
            return False
        dialogue.context_tokens = max(dialogue.passage_tokens // 2, _MIN_CONTEXT_TOKENS)
        return True

    @property
    def _decides(self) -> bool:
        """Whether the model decides on the first search; without tools it has no way to."""
        return self._unsearched is not None and Capability.TOOLS in self._model.capabilities

    async def _small_talk(self, turn: TurnState) -> Draft:
        messages = [
            ChatMessage(role="system", content=prompts.SMALL_TALK),
            *await self._history.recall(turn, self._budget.context_tokens // _HISTORY_SHARE),
            ChatMessage(role="user", content=turn.request.message),
        ]
        writer = AnswerWriter(turn.emit, tuple)
        longest = min(_SMALL_TALK_TOKENS, self._budget.answer_tokens or _SMALL_TALK_TOKENS)
        await self._hear(turn, Request(messages=messages, max_tokens=longest, longest=longest), writer)
        text = writer.finish()
        if not text:
            raise ProviderUnavailable(_EMPTY)
        return Draft(text, answered=True)

    async def _ask(self, turn: TurnState, messages: list[ChatMessage]) -> Step:
        dialogue = turn.dialogue
        last = self._is_last(turn)
        if last:
            messages = _with_last_call(messages)
        is_held = turn.stage is NextStep.DECIDE and not _has_looked(turn)
        if dialogue.writer is None:
            dialogue.writer = AnswerWriter(turn.emit, lambda: turn.book.sources)
        writer = AnswerWriter(lambda _: None, tuple) if is_held else dialogue.writer
        written_before = len(writer.text)
        turn.show_prompt("answer", messages)
        request = Request(
            messages=messages,
            tools=await self._tools(turn, last=last),
            max_tokens=self._budget.answer_tokens,
            longest=self._longest(is_held=is_held),
            temperature=self._budget.temperature,
            expected_seconds=self._expected,
        )
        heard = await self._hear(turn, request, writer)
        if heard.calls and not last:
            said = writer.finish()[written_before:]
            if all(_was_made(turn, call) for call in heard.calls):
                dialogue.last = True
                return await self._ask(turn, await self._messages(turn))
            answer = ChatMessage(role="assistant", content=said.strip(), tool_calls=heard.calls)
            dialogue.rounds.append((answer, len(turn.results)))
            if said and not said.endswith("\n"):
                writer.write("\n\n")
            return heard.calls
        text = (writer if is_held else dialogue.writer).finish()
        if is_held:
            return await self._unsearched_step(turn, writer, is_cut=heard.is_cut)
        if not text:
            raise ProviderUnavailable(_EMPTY)
        if heard.is_cut:
            turn.notices[CUT_OFF] = None
        _note_removed(turn, dialogue.writer)
        answered = not says_no_answer(text)
        if answered:
            return Draft(text, True, turn.book.sources, written=True)
        hits = [source.hit for source in turn.book.sources]
        why = await offload(sum(len(hit.chunk.text) for hit in hits), explain, turn.request.message, hits)
        why = in_scope(why, turn.request.scope, turn.request.message)
        return Draft(text, False, turn.book.sources, turn.book.sources[:3], written=True, no_answer=why)

    async def _unsearched_step(self, turn: TurnState, writer: AnswerWriter, *, is_cut: bool) -> Step:
        """The answer that was given without a look-up, where it may be shown; else the look-up, after which the model is asked again."""
        assert self._unsearched is not None
        thread = await self._history.in_scope(turn, self._thread_tokens(turn))
        with turn.timed("check_citations"):
            standing = await self._unsearched.judge(
                writer.text, turn.request.message, [past.content for past in thread]
            )
        if standing is Standing.ASSERTS or is_cut:
            turn.note("first_search", "required")
            turn.dialogue.searched = True
            if turn.dialogue.rounds:
                turn.dialogue.rounds.append((None, len(turn.results)))
            return await first_calls(turn, self._toolbox, self._planners)
        turn.note("first_search", "none")
        turn.intent = replace(turn.intent, kind="general_conversation")
        if standing is Standing.RECALLS:
            turn.notices[RECALLED] = None
        turn.say(writer.text)
        _note_removed(turn, writer)
        return Draft(writer.text, answered=True)

    async def _tools(self, turn: TurnState, *, last: bool) -> tuple[ToolSpec, ...]:
        """The tools to declare: none to a model that must answer, or that was given sources because it called none.

        Vendors refuse a thread that holds tool calls unless the tools are declared, so past the budget calls are not heeded.
        """
        dialogue = turn.dialogue
        told = turn.details.get("first_search") == "required"
        ends = last or (told and bool(turn.book.sources))
        if Capability.TOOLS not in self._model.capabilities or (ends and not dialogue.rounds):
            return ()
        if dialogue.has_tables is None:
            dialogue.has_tables = bool(await self._toolbox.tables(turn))
        return self._toolbox.model_specs(sees=self._sees(turn), tables=dialogue.has_tables)

    def _longest(self, *, is_held: bool) -> int | None:
        """Tokens of text after which the model is stopped. A vendor's model keeps to its own limits."""
        if not self._known.is_own:
            return None
        return MAX_HIDDEN_TOKENS if is_held else self._budget.answer_tokens or MAX_ANSWER_TOKENS

    @property
    def _expected(self) -> int | None:
        examination = self._known.examination
        return None if examination is None else round(examination.seconds_for(ChatProfile.FULL))

    def _thread_tokens(self, turn: TurnState) -> int:
        return self._room(turn) // _HISTORY_SHARE

    async def _hear(self, turn: TurnState, request: Request, writer: AnswerWriter) -> Heard:
        """Say what the model says; a thought that began without saying so is withdrawn."""
        current = writer

        def withdraw() -> None:
            turn.restart()
            current.forget()

        speech = Speech(write=current.write, cite=current.cite, withdraw=withdraw, sources=lambda: turn.book.sources)
        return await self._listener.hear(turn, request, speech)

    async def _messages(self, turn: TurnState) -> list[ChatMessage]:
        """System, thread, question with the first findings, then each round of calls with its results, or what was looked up since."""
        dialogue, results = turn.dialogue, turn.results
        if not dialogue.context_tokens:
            dialogue.context_tokens = self._budget.context_tokens
        first = dialogue.rounds[0][1] if dialogue.rounds else len(results)
        thread = await self._history.recall(turn, self._thread_tokens(turn))
        rules = prompts.system_prompt(
            native_citations=self._cites_natively,
            decides=self._unsearched is not None and not dialogue.searched,
            instructions=turn.request.instructions,
        )
        shown = _Shown(self._room(turn) - sent_tokens(thread), self._counter)
        messages = [ChatMessage(role="system", content=rules), *thread, self._question(turn, results[:first], shown)]
        ends = [start for _, start in dialogue.rounds[1:]] + [len(results)]
        for (answer, start), end in zip(dialogue.rounds, ends, strict=False):
            if answer is None:
                messages.append(self._question(turn, results[start:end], shown))
                continue
            messages.append(answer)
            messages += [self._tool_message(turn, result, shown) for result in results[start:end]]
        dialogue.passage_tokens = shown.used
        return messages

    def _room(self, turn: TurnState) -> int:
        """Tokens for the thread and the passages of one answer: what was set, and what the model's context has room for."""
        room, window = turn.dialogue.context_tokens or self._budget.context_tokens, self._known.context
        if window is None:
            return room
        rules = prompts.system_prompt(native_citations=self._cites_natively, decides=True)
        fixed = (len(rules) + len(turn.request.message)) // CHARACTERS_PER_TOKEN + self._tool_tokens(turn)
        answer = min(self._budget.answer_tokens or MAX_ANSWER_TOKENS, window // 4)
        return max(_MIN_CONTEXT_TOKENS, min(room, window - fixed - answer))

    def _tool_tokens(self, turn: TurnState) -> int:
        specs = self._toolbox.model_specs(sees=self._sees(turn), tables=turn.dialogue.has_tables is not False)
        return sum(len(spec.description) + len(str(dict(spec.parameters))) for spec in specs) // CHARACTERS_PER_TOKEN

    def _question(self, turn: TurnState, results: Sequence[ToolResult], shown: _Shown) -> ChatMessage:
        """The question with what was looked up for it. A model that decides has the thread, and reads the message as it is."""
        found = {source.n: source for result in results for source in result.sources if result.table is None}
        blocks, _ = shown.blocks(list(found.values()), share=1)
        question = turn.question if self._unsearched is None else turn.request.message.strip()
        prompt = prompts.question_prompt(
            space_markers(question),
            [space_markers(result.text) for result in results if result.call.name == "query_table"],
            has_sources=bool(blocks),
            native_citations=self._cites_natively,
            searched=any(result.call.name != "query_table" for result in results),
            remembered=[space_markers(f"{one.label}, {one.said_by}: {one.quote}") for one in _remembered(turn)],
        )
        return ChatMessage(role="user", content=prompt, sources=blocks)

    @property
    def _cites_natively(self) -> bool:
        return Capability.SEARCH_RESULT_BLOCKS in self._model.capabilities

    def _tool_message(self, turn: TurnState, result: ToolResult, shown: _Shown) -> ChatMessage:
        blocks, again = shown.blocks(result.sources, share=2)
        is_hidden = bool(result.images) and not self._sees(turn)
        text = prompts.HIDDEN if is_hidden else space_markers(result.text)
        known = f" Given above: {', '.join(f'[{n}]' for n in again)}." if again and result.table is None else ""
        return ChatMessage(
            role="tool",
            content=text + known,
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
            dialogue.last
            or len(dialogue.rounds) >= budget.model_calls - 1
            or len(turn.results) >= budget.tool_calls
            or dialogue.tokens >= budget.tokens * 3 // 4
            or time.monotonic() - turn.started >= budget.seconds / 2
        )


class _Shown:
    """The passages that the messages of one answer hold: each once, and together no more than there is room for."""

    def __init__(self, room: int, counter: TokenCounter) -> None:
        self._room = room
        self._counter = counter
        self._numbers: set[int] = set()
        self.used = 0

    def blocks(self, sources: Sequence[Source], share: int) -> tuple[tuple[SourceBlock, ...], list[int]]:
        """Those of the sources that are new and fit into a `share`th of what is left, and the numbers of those given before."""
        new = [source for source in sources if source.n not in self._numbers]
        again = [source.n for source in sources if source.n in self._numbers]
        blocks = source_blocks(new, self._counter, (self._room - self.used) // share)
        given = {block.n for block in blocks}
        self._numbers |= given
        self.used += sum(block_tokens([source for source in new if source.n in given], self._counter))
        return blocks, again


_EMPTY = "It returned an empty answer."


def _with_last_call(messages: Sequence[ChatMessage]) -> list[ChatMessage]:
    """The messages, the last of which asks for the answer; no two of the user's in a row, which some templates refuse."""
    *before, last = messages
    if last.role != "user":
        return [*messages, ChatMessage(role="user", content=prompts.LAST_CALL)]
    return [*before, replace(last, content=f"{prompts.LAST_CALL}\n\n{last.content}")]


def _remembered(turn: TurnState) -> Sequence[Remembered]:
    return () if turn.recalled is None else turn.recalled.quotes


def _was_made(turn: TurnState, call: ToolCall) -> bool:
    return any((call.name, call.arguments) == (one.call.name, one.call.arguments) for one in turn.results)


def _note_removed(turn: TurnState, writer: AnswerWriter) -> None:
    if writer.removed:
        turn.note("removed_citations", list(dict.fromkeys(writer.removed)))


def _has_looked(turn: TurnState) -> bool:
    """Whether something was looked up that can be cited. A list of files, a page as it is and a search that found nothing cannot."""
    return any(result.sources or result.table is not None for result in turn.results)
