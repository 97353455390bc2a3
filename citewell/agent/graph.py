"""The state machine of a turn: `detect_intent → (rephrase) → assistant ⇄ tools → check_citations → end`."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypedDict

from citewell.agent.citations.check import CheckedAnswer, CitationChecker, with_references
from citewell.agent.citations.forms import without_source_list
from citewell.agent.citations.unmarked import UnmarkedSentences
from citewell.agent.extractive.answerer import ExtractiveAnswerer
from citewell.agent.extractive.refusal import explain
from citewell.agent.extractive.thresholds import THRESHOLDS, ExtractiveThresholds
from citewell.agent.interface import (
    AgentEvent,
    AnswerReader,
    Conversations,
    Done,
    ElementLookup,
    Failed,
    FiltersInferred,
    Library,
    MessageModel,
    PageTables,
    PictureFiles,
    Searcher,
    Source,
    TableReader,
    Tables,
    TextDelta,
    TurnRequest,
    TurnUsage,
    UsedDocs,
    Vocabulary,
    WholeFiles,
)
from citewell.agent.keyless import Keyless
from citewell.agent.memory import EarlierConversations
from citewell.agent.model.assistant import Budget, ModelAssistant
from citewell.agent.model.known import KnownModel
from citewell.agent.model.small import SmallAssistant
from citewell.agent.model.steady import ProfiledUnderstanding, SteadyAssistant
from citewell.agent.model.understanding import ModelUnderstanding
from citewell.agent.model.unsearched import UnsearchedAnswers
from citewell.agent.model.window import TokenCounter
from citewell.agent.rules import RuleAssistant, RuleUnderstanding
from citewell.agent.tables.lookup.table_lookup import TableLookup
from citewell.agent.tables.meaning.nearest import NearestTables
from citewell.agent.tables.picture.illustrator import Illustrator
from citewell.agent.tables.picture.planner import PicturePlanner
from citewell.agent.tables.planner import TablePlanner
from citewell.agent.tables.run.copies import CopyReader
from citewell.agent.tables.run.engine import TableEngine, UnusableTable, faults_of
from citewell.agent.turn.state import Draft, TurnState
from citewell.agent.turn.steps import PLANNED_CALL, AssistantStep, Planners, Understanding
from citewell.agent.turn.tools import Toolbox
from citewell.agent.understand.understanding import MessageReader
from citewell.agent.whole.request import asks_for_whole
from citewell.agent.whole.step import WholeDocuments
from citewell.agent.whole.written import WholeBudget
from citewell.errors import CitewellError, EmptyQuery
from citewell.ports import Capability, ChatModel, Embedder
from citewell.ports.metering import CHARACTERS_PER_TOKEN, Tally, tallied
from citewell.text.correction import Speller
from citewell.types import Answer, Citation, FirstSearch, JsonObject, StatementRead, Usage, Verdict
from citewell.types.chat_models import ChatProfile

if TYPE_CHECKING:
    from langgraph.graph.state import CompiledStateGraph

log = logging.getLogger(__name__)
MAX_STEPS = 40
MIN_SURE = 0.5
"""Confidence from which an answer by rules is likelier right than wrong: it stands where a chat model found none."""


class _Channels(TypedDict):
    """LangGraph's state: one channel, which holds the turn."""

    turn: TurnState


class Assistant:
    """Answers turns. One instance serves all owners; nothing of a turn outlives it.

    searcher, library, elements and files are implemented over storage and retrieval, and are given the request's owner each time.
    copies: reads the tables; None for a reader of its own. speller: corrects questions that are answered without a chat model.
    conversations: earlier ones of those who ask; None if they are never searched. first_search: who decides it, where the chat model has tools. known: what is known of the chat model; full and a vendor's unless said. thresholds are those of answers without a chat model; chat_model reports what it spends to the running tally (`citewell.ports.metering.MeteredChat`).
    """

    def __init__(
        self,
        searcher: Searcher,
        embedder: Embedder,
        *,
        library: Library | None = None,
        elements: ElementLookup | None = None,
        tables: Tables | None = None,
        copies: CopyReader | None = None,
        page_tables: PageTables | None = None,
        vocabulary: Vocabulary | None = None,
        files: WholeFiles | None = None,
        pictures: PictureFiles | None = None,
        whole_budget: WholeBudget | None = None,
        chat_model: ChatModel | None = None,
        budget: Budget | None = None,
        first_search: FirstSearch = FirstSearch.MODEL,
        thresholds: ExtractiveThresholds = THRESHOLDS,
        answer_reader: AnswerReader | None = None,
        across: Embedder | None = None,
        table_reader: TableReader | None = None,
        message_model: MessageModel | None = None,
        speller: Speller | None = None,
        known: KnownModel | None = None,
        conversations: Conversations | None = None,
    ) -> None:
        self._library = library
        self._engine = None if tables is None else TableEngine(tables, copies)
        self._toolbox = Toolbox(searcher, library, self._engine, files, pictures)
        self._checker = CitationChecker(embedder, elements)
        self._illustrator = None if self._engine is None else Illustrator(self._engine)
        nearest = NearestTables(embedder)
        planners = None if self._engine is None else _planners(self._engine, speller, table_reader, nearest)
        self._reader = reader = MessageReader(message_model, vocabulary)
        answerer = ExtractiveAnswerer(embedder, thresholds, answer_reader, across)
        self._memory = None if conversations is None else EarlierConversations(conversations, answerer, embedder)
        lookup = None if page_tables is None else TableLookup(page_tables, reader=table_reader, nearest=nearest)

        def about_whole(inner: AssistantStep, model: ChatModel | None) -> AssistantStep:
            if files is None or library is None:
                return inner
            return WholeDocuments(inner, self._toolbox, library, files, model, whole_budget, across)

        rules = about_whole(RuleAssistant(answerer, self._toolbox, planners, lookup, speller), None)
        self._keyless = Keyless(rules, self._toolbox)
        self._understanding: Understanding = RuleUnderstanding(reader)
        self._assistant: AssistantStep = rules
        if chat_model is not None:
            known, limits = known or KnownModel(), budget or Budget()
            # Without tools a model has no way to decide.
            decides = first_search is FirstSearch.MODEL and Capability.TOOLS in chat_model.capabilities
            judge = UnsearchedAnswers(self._checker) if decides else None
            counter = embedder.tokenizer
            full = ModelAssistant(chat_model, self._toolbox, planners, counter, limits, judge, known)
            self._ask_first(chat_model, about_whole(full, chat_model), known, limits, counter, decides=decides)
        self._marks = UnmarkedSentences(embedder)
        self._answer_reader = answer_reader
        self._chat_model = chat_model.model if chat_model is not None else ""
        self._graph: CompiledStateGraph[Any, Any, Any, Any] | None = None
        self._building = asyncio.Lock()

    def _ask_first(
        self,
        model: ChatModel,
        full: AssistantStep,
        known: KnownModel,
        limits: Budget,
        counter: TokenCounter,
        *,
        decides: bool,
    ) -> None:
        """Have a chat model read messages and answer, with the rules behind it. full: asks it with tools."""
        asked = ModelUnderstanding(model, self._reader, counter, asks_for_whole if decides else None)
        self._understanding = ProfiledUnderstanding(model, known, asked, self._understanding)
        small = SmallAssistant(model, self._keyless, counter, limits, known)
        self._assistant = SteadyAssistant(model, full, small, self._keyless, limits, known)

    @property
    def chat_model(self) -> str:
        """The name of the chat model; empty without one."""
        return self._chat_model

    @property
    def toolbox(self) -> Toolbox:
        """The tools, for those who bring an assistant of their own."""
        return self._toolbox

    async def prepare(self) -> None:
        """Load what the first turn would, in the order in which it needs it; one that begins meanwhile waits for the same.

        One after the other: imports in several threads take turns with the interpreter's lock, and longer than in one.
        """
        await self._ready_graph()
        await self._reader.prepare()
        if self._answer_reader is not None:
            await self._answer_reader.read("ready", [StatementRead("It is ready.")])
        if self._engine is not None:
            await self._engine.prepare()

    async def run(self, request: TurnRequest, tally: Tally | None = None) -> AsyncGenerator[AgentEvent]:
        """The events of one turn; the last is `Done` or `Failed`. Closing the iterator stops the work.

        tally collects what the turn spends, also when it does not come to its end.
        """
        events: asyncio.Queue[AgentEvent] = asyncio.Queue()
        turn = TurnState(request=request, emit=events.put_nowait, tally=tally or Tally())
        work = asyncio.create_task(self._work(turn))
        try:
            while True:
                event = await events.get()
                yield event
                if isinstance(event, Done | Failed):
                    break
        finally:
            if not work.done():
                work.cancel()
            await asyncio.gather(work, return_exceptions=True)

    async def answer(self, request: TurnRequest) -> Done:
        """The end of the turn at once; raises what `Failed` would have said."""
        return await self._turn(TurnState(request=request, emit=lambda _: None))

    async def _work(self, turn: TurnState) -> None:
        try:
            turn.emit(await self._turn(turn))
        except CitewellError as error:
            turn.emit(Failed(error.code, error.message, error.details))
        except asyncio.CancelledError:  # the reader has left, or the server stops
            turn.emit(Failed("internal", "The answer could not be finished."))
            raise
        except BaseException:
            log.exception("a turn failed unexpectedly")
            turn.emit(Failed("internal", "The answer could not be finished."))
            raise

    async def _turn(self, turn: TurnState) -> Done:
        if not turn.request.message.strip():
            raise EmptyQuery
        try:
            with tallied(turn.tally):
                await self._walk(turn)
            stuffing_tokens = await turn.stuffing if turn.stuffing is not None else None
        finally:
            if turn.stuffing is not None:
                turn.stuffing.cancel()
        turn.timings_ms["total"] = round((time.monotonic() - turn.started) * 1000, 2)
        assert turn.draft is not None
        assert turn.answer is not None
        answer = replace(turn.answer, trace=_trace(turn))
        return Done(
            answer=answer,
            usage=self._usage(turn, stuffing_tokens),
            nearest=turn.draft.nearest,
            summary=turn.dialogue.summary,
            notice=" ".join(turn.notices) or None,
        )

    async def _walk(self, turn: TurnState) -> None:
        """Take the turn through the graph, up to its checked answer."""
        graph = await self._ready_graph()
        from langsmith import tracing_context

        with tracing_context(enabled=False):
            await graph.ainvoke(_Channels(turn=turn), config={"recursion_limit": MAX_STEPS})

    async def _ready_graph(self) -> CompiledStateGraph[Any, Any, Any, Any]:
        """The graph, which loads LangGraph once: that takes half a second or more, so in a thread, as others are being served."""
        async with self._building:
            if self._graph is None:
                self._graph = await asyncio.to_thread(self._build)
            return self._graph

    def _usage(self, turn: TurnState, stuffing_tokens: int | None) -> TurnUsage:
        stuffing = None
        if stuffing_tokens is not None:
            stuffing = Usage(
                kind="context_stuffing", provider="", model=self._chat_model, input_tokens=stuffing_tokens, units=1
            )
        return TurnUsage(model=self._chat_model, searches=turn.searches, spent=turn.tally.spent, stuffing=stuffing)

    async def _count_stuffing(self, request: TurnRequest) -> int | None:
        """Tokens of the turn, had every file in scope been sent whole with the thread: four characters each."""
        if self._library is None:
            return None
        thread = sum(len(past.content) for past in request.history) + len(request.message)
        files = await self._library.count_characters(request.owner_id, request.scope)
        return (files + thread) // CHARACTERS_PER_TOKEN

    def _build(self) -> CompiledStateGraph[Any, Any, Any, Any]:
        from langgraph.graph import END, START, StateGraph

        graph = StateGraph(_Channels)
        for name, step in {
            "detect_intent": self._detect_intent,
            "rephrase": self._rephrase,
            "assistant": self._step,
            "tools": self._run_tools,
            "check_citations": self._check_citations,
        }.items():
            graph.add_node(name, _node(step))
        graph.add_edge(START, "detect_intent")
        graph.add_conditional_edges("detect_intent", _after_intent)
        graph.add_edge("rephrase", "assistant")
        graph.add_conditional_edges("assistant", _after_assistant)
        graph.add_edge("tools", "assistant")
        graph.add_edge("check_citations", END)
        return graph.compile()

    async def _detect_intent(self, turn: TurnState) -> None:
        with turn.timed("detect_intent"):
            understood = await self._understanding.read(turn)
        if understood.intent.kind == "document_query":
            turn.stuffing = asyncio.create_task(self._count_stuffing(turn.request))
        turn.intent, turn.rephrased, turn.read = understood.intent, understood.rephrased, understood.read
        turn.question = turn.request.message.strip()
        turn.queries = (turn.question,)
        if self._memory is not None:
            await self._memory.begin(turn)

    async def _rephrase(self, turn: TurnState) -> None:
        assert turn.rephrased is not None
        turn.question, turn.queries = turn.rephrased.question, turn.rephrased.queries

    async def _step(self, turn: TurnState) -> None:
        with turn.timed("assistant"):
            step = await self._assistant.step(turn)
        if isinstance(step, Draft):
            turn.draft = step
        else:
            turn.calls = step

    async def _run_tools(self, turn: TurnState) -> None:
        with turn.timed("tools"):
            known = len(turn.inferred)
            run = self._toolbox.run_for_model if self._chat_model else self._toolbox.run
            for call in turn.calls:
                turn.results += (await run(turn, call),)
                turn.append("tool_calls", {"name": call.name, "arguments": call.arguments})
            if len(turn.inferred) > known:
                turn.emit(FiltersInferred(tuple(turn.inferred.values())))
        turn.calls = ()

    async def _check_citations(self, turn: TurnState) -> None:
        assert turn.draft is not None
        draft = await self._marked(turn, turn.draft)
        checked = await self._checked(turn, draft)
        if draft.written and turn.intent.kind == "document_query":
            given = await self._weighed(turn, draft, checked)
            checked = checked if given.text == draft.text else await self._checked(turn, given)
            draft = given
        if draft.written and not turn.said:
            turn.say(draft.text)
        turn.draft = draft
        cited = {citation.n for citation in checked.citations}
        if cited:
            turn.emit(UsedDocs(tuple(_narrowed(one, checked.citations) for one in draft.sources if one.n in cited)))
        if checked.removed:
            turn.note("removed_citations", list(checked.removed))
        if checked.reasons:
            turn.note("citation_reasons", {str(n): list(reasons) for n, reasons in checked.reasons.items()})
        text = checked.text
        if turn.request.references and checked.citations:
            text = with_references(text, checked.citations)
            turn.emit(TextDelta(text[len(checked.text) :]))
        turn.answer = Answer(
            text=text,
            citations=checked.citations,
            intent=turn.intent.kind,
            answered=draft.answered,
            picture=await self._draw(turn, checked.citations) if draft.answered else None,
            confidence=self._confidence(turn, draft, checked),
            no_answer=draft.no_answer,
            inferred_filters=tuple(turn.inferred.values()),
        )
        if self._memory is not None:
            await self._memory.add(turn)

    async def _marked(self, turn: TurnState, draft: Draft) -> Draft:
        """The draft with the number of a passage behind each sentence that one states and no number follows."""
        if not draft.written or not draft.sources:
            return draft
        text = without_source_list(draft.text, draft.sources)
        with turn.timed("check_citations"):
            text = await self._marks.mark(turn.request.owner_id, text, draft.sources)
        if text != draft.text:
            turn.restart()
        return replace(draft, text=text)

    async def _checked(self, turn: TurnState, draft: Draft) -> CheckedAnswer:
        with turn.timed("check_citations"):
            return await self._checker.check(
                turn.request.owner_id,
                draft.text,
                draft.sources,
                settled=True,
                seen=() if turn.dialogue.blind else turn.seen,
                computed=draft.computed,
            )

    async def _weighed(self, turn: TurnState, draft: Draft, checked: CheckedAnswer) -> Draft:
        """What a chat model wrote, where a source supports it; the answer without a model where none does, or where that one is
        sure of what the model did not find."""
        supported = any(citation.verdict is not Verdict.UNSUPPORTED for citation in checked.citations)
        holds = supported or checked.held > 0.0
        if draft.answered and holds:
            return draft
        own = await self._keyless.extract(turn)
        is_small = turn.dialogue.profile is ChatProfile.SMALL
        sure = own.draft.answered and (is_small or own.draft.confidence is None or own.draft.confidence >= MIN_SURE)
        name = self._chat_model
        if draft.answered:
            return await self._keyless.give(turn, f"No passage supports what {name} said, so it is not shown.")
        if sure and holds:  # it says first that it does not know, and then what the files say
            return replace(draft, answered=True, nearest=())
        if sure:
            return await self._keyless.give(turn, f"{name} found no answer.")
        found = own.turn.results[-1].sources if own.turn.results else ()
        no_answer = own.draft.no_answer or explain(turn.request.message, [source.hit for source in found])
        return replace(draft, no_answer=no_answer, nearest=draft.nearest or own.draft.nearest)

    def _confidence(self, turn: TurnState, draft: Draft, checked: CheckedAnswer) -> float | None:
        """That of the draft; of what a chat model says about files, the share of its sentences whose citations hold."""
        is_weighed = draft.confidence is None and draft.written and draft.answered
        return round(checked.held, 4) if is_weighed and turn.intent.kind == "document_query" else draft.confidence

    async def _draw(self, turn: TurnState, citations: tuple[Citation, ...]) -> JsonObject | None:
        """The picture of the last table result that the answer cites."""
        if self._illustrator is None or not citations:
            return None
        wish = turn.picture_plan.wish if turn.picture_plan is not None else None
        cited = {citation.chunk_id for citation in citations}
        with turn.timed("draw"):
            for found in reversed(turn.results):
                asked = wish if found.call.id == PLANNED_CALL else None
                uses = asked is not None or any(source.hit.chunk.id in cited for source in found.sources)
                if found.table is not None and uses:
                    with suppress(UnusableTable), faults_of(found.table.table):  # the answer is complete without it
                        return await self._illustrator.draw(turn.request.owner_id, found.table, citations, asked)
                    return None
        return None


class _Node(Protocol):
    async def __call__(self, state: _Channels) -> _Channels: ...


def _planners(
    engine: TableEngine, speller: Speller | None, reader: TableReader | None, nearest: NearestTables
) -> Planners:
    planner = TablePlanner(engine, speller=speller, reader=reader, nearest=nearest)
    return Planners(planner, PicturePlanner(engine, planner))


def _narrowed(source: Source, citations: Sequence[Citation]) -> Source:
    """The source at the place that its citations name, such as one row of a small table; as it is where they name several."""
    places = [citation.locator for citation in citations if citation.n == source.n]
    if any(place != places[0] for place in places):
        return source
    return replace(source, hit=replace(source.hit, chunk=replace(source.hit.chunk, locator=places[0])))


def _node(step: Callable[[TurnState], Awaitable[None]]) -> _Node:
    """A step as a node of the graph: it changes the turn, which goes on to the next node."""

    async def run(state: _Channels) -> _Channels:
        await step(state["turn"])
        return state

    return run


def _after_intent(state: _Channels) -> Literal["rephrase", "assistant"]:
    turn = state["turn"]
    changed = turn.rephrased is not None and turn.rephrased.queries != turn.queries
    return "rephrase" if changed and turn.intent.kind == "document_query" else "assistant"


def _after_assistant(state: _Channels) -> Literal["tools", "check_citations"]:
    return "tools" if state["turn"].calls else "check_citations"


def _trace(turn: TurnState) -> JsonObject:
    return {
        "intent": turn.intent.kind,
        "intent_confidence": turn.intent.confidence,
        "question": turn.question,
        "timings_ms": dict(turn.timings_ms),
        **turn.details,
    }
