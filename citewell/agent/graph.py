"""The state machine of a turn: `detect_intent → (rephrase) → assistant ⇄ tools → check_citations → end`."""

from __future__ import annotations

import asyncio
import logging
import operator
import time
from collections.abc import AsyncGenerator
from dataclasses import replace
from typing import Annotated, Any, Literal, TypedDict, cast

from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.runtime import Runtime
from langsmith import tracing_context

from citewell.agent.citations.check import CitationChecker, with_references
from citewell.agent.extractive.answerer import Answerability, ExtractiveAnswerer
from citewell.agent.interface import (
    AgentEvent,
    Done,
    ElementLookup,
    Failed,
    Library,
    Searcher,
    Tables,
    TextDelta,
    TurnRequest,
    UsedDocs,
)
from citewell.agent.model.assistant import Budget, ModelAssistant
from citewell.agent.model.understanding import ModelUnderstanding
from citewell.agent.rules import RuleAssistant, RuleUnderstanding
from citewell.agent.tables.language.table_planner import TablePlanner
from citewell.agent.tables.run.engine import TableEngine
from citewell.agent.turn.state import TurnContext
from citewell.agent.turn.steps import AssistantStep, Draft, Task, Understanding
from citewell.agent.turn.tools import Toolbox, ToolResult
from citewell.agent.understand.intent import Intent
from citewell.agent.understand.rephrase import Rephrased
from citewell.errors import CitewellError, EmptyQuery
from citewell.metering import CHARACTERS_PER_TOKEN, Tally, tallied
from citewell.ports import ChatModel, Embedder, ToolCall
from citewell.types import Answer, JsonObject

log = logging.getLogger(__name__)
MAX_STEPS = 40


class TurnState(TypedDict, total=False):
    """What the steps hand on."""

    intent: Intent
    rephrased: Rephrased
    question: str
    queries: tuple[str, ...]
    calls: tuple[ToolCall, ...]
    results: Annotated[tuple[ToolResult, ...], operator.add]
    draft: Draft | None
    answer: Answer


class Assistant:
    """Answers turns. One instance serves all owners; nothing of a turn outlives it.

    searcher, library and elements are implemented over storage and retrieval, and are given the request's owner each time.
    """

    def __init__(
        self,
        searcher: Searcher,
        embedder: Embedder,
        *,
        library: Library | None = None,
        elements: ElementLookup | None = None,
        tables: Tables | None = None,
        chat_model: ChatModel | None = None,
        budget: Budget | None = None,
        answerability: Answerability | None = None,
    ) -> None:
        self._library = library
        self._counter = embedder.tokenizer
        self._toolbox = Toolbox(searcher, library, tables)
        self._checker = CitationChecker(embedder, elements)
        planner = TablePlanner(TableEngine(tables)) if tables is not None else None
        self._understanding: Understanding
        self._assistant: AssistantStep
        if chat_model is None:
            self._understanding = RuleUnderstanding()
            self._assistant = RuleAssistant(ExtractiveAnswerer(embedder, answerability), self._toolbox, planner)
        else:
            self._understanding = ModelUnderstanding(chat_model, embedder.tokenizer)
            self._assistant = ModelAssistant(chat_model, self._toolbox, planner, embedder.tokenizer, budget or Budget())
        self._graph = self._build()

    @property
    def toolbox(self) -> Toolbox:
        """The tools, for those who bring an assistant of their own."""
        return self._toolbox

    async def run(self, request: TurnRequest, tally: Tally | None = None) -> AsyncGenerator[AgentEvent]:
        """The events of one turn; the last is `Done` or `Failed`. Closing the iterator stops the work.

        tally collects what the turn spends, also when it does not come to its end.
        """
        events: asyncio.Queue[AgentEvent] = asyncio.Queue()
        context = TurnContext(request=request, emit=events.put_nowait, tally=tally or Tally())
        work = asyncio.create_task(self._work(context))
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
        context = TurnContext(request=request, emit=lambda _: None)
        return await self._turn(context)

    async def _work(self, context: TurnContext) -> None:
        try:
            context.emit(await self._turn(context))
        except CitewellError as error:
            context.emit(Failed(error.code, error.message, error.details))
        except asyncio.CancelledError:  # the reader has left, or the server stops
            context.emit(Failed("internal", "The answer could not be finished."))
            raise
        except BaseException:
            log.exception("a turn failed unexpectedly")
            context.emit(Failed("internal", "The answer could not be finished."))
            raise

    async def _turn(self, context: TurnContext) -> Done:
        if not context.request.message.strip():
            raise EmptyQuery
        try:
            with tracing_context(enabled=False), tallied(context.tally):
                found = await self._graph.ainvoke(
                    TurnState(results=(), draft=None), context=context, config={"recursion_limit": MAX_STEPS}
                )
            if context.stuffing is not None:
                context.meter.stuffing_tokens = await context.stuffing
        finally:
            if context.stuffing is not None:
                context.stuffing.cancel()
        state = cast(TurnState, found)
        context.timings_ms["total"] = round((time.monotonic() - context.started) * 1000, 2)
        draft, answer = state.get("draft"), state.get("answer")
        assert draft is not None
        assert answer is not None
        answer = replace(answer, trace=_trace(context, state))
        usage = context.meter.usage(context.tally)
        return Done(answer=answer, usage=usage, nearest=draft.nearest, summary=context.summary)

    async def _count_stuffing(self, request: TurnRequest) -> int | None:
        """Tokens of the turn, had every file in scope been sent whole with the thread: four characters each."""
        if self._library is None:
            return None
        thread = sum(len(past.content) for past in request.history) + len(request.message)
        files = await self._library.count_characters(request.owner_id, request.scope)
        return (files + thread) // CHARACTERS_PER_TOKEN

    def _build(self) -> CompiledStateGraph[Any, TurnContext, Any, Any]:
        graph = StateGraph(TurnState, context_schema=TurnContext)
        graph.add_node("detect_intent", self._detect_intent)
        graph.add_node("rephrase", self._rephrase)
        graph.add_node("assistant", self._step)
        graph.add_node("tools", self._run_tools)
        graph.add_node("check_citations", self._check_citations)
        graph.add_edge(START, "detect_intent")
        graph.add_conditional_edges("detect_intent", _after_intent)
        graph.add_edge("rephrase", "assistant")
        graph.add_conditional_edges("assistant", _after_assistant)
        graph.add_edge("tools", "assistant")
        graph.add_edge("check_citations", END)
        return graph.compile()

    async def _detect_intent(self, state: TurnState, runtime: Runtime[TurnContext]) -> TurnState:
        context = runtime.context
        with context.timed("detect_intent"):
            understood = await self._understanding.read(context)
        if understood.intent.kind == "document_query":
            context.stuffing = asyncio.create_task(self._count_stuffing(context.request))
        message = context.request.message.strip()
        return {
            "intent": understood.intent,
            "rephrased": understood.rephrased,
            "question": message,
            "queries": (message,),
        }

    async def _rephrase(self, state: TurnState, runtime: Runtime[TurnContext]) -> TurnState:
        rephrased = state.get("rephrased")
        assert rephrased is not None
        return {"question": rephrased.question, "queries": rephrased.queries}

    async def _step(self, state: TurnState, runtime: Runtime[TurnContext]) -> TurnState:
        context = runtime.context
        with context.timed("assistant"):
            step = await self._assistant.step(context, _task(state), state.get("results", ()))
        if isinstance(step, Draft):
            return {"draft": step, "calls": ()}
        return {"calls": step}

    async def _run_tools(self, state: TurnState, runtime: Runtime[TurnContext]) -> TurnState:
        context = runtime.context
        results: list[ToolResult] = []
        with context.timed("tools"):
            for call in state.get("calls", ()):
                results.append(await self._toolbox.run(context, call))
                context.append("tool_calls", {"name": call.name, "arguments": call.arguments})
        return {"results": tuple(results), "calls": ()}

    async def _check_citations(self, state: TurnState, runtime: Runtime[TurnContext]) -> TurnState:
        context, draft = runtime.context, state.get("draft")
        assert draft is not None
        with context.timed("check_citations"):
            checked = await self._checker.check(context.request.owner_id, draft.text, draft.sources, settled=True)
        cited = {citation.n for citation in checked.citations}
        if cited:
            context.emit(UsedDocs(tuple(source for source in draft.sources if source.n in cited)))
        if checked.removed:
            context.note("removed_citations", list(checked.removed))
        if checked.reasons:
            context.note("citation_reasons", {str(n): list(reasons) for n, reasons in checked.reasons.items()})
        text = checked.text
        if context.request.references and checked.citations:
            text = with_references(text, checked.citations)
            context.emit(TextDelta(text[len(checked.text) :]))
        answer = Answer(text=text, citations=checked.citations, intent=_intent(state).kind, answered=draft.answered)
        return {"answer": answer}


def _after_intent(state: TurnState, runtime: Runtime[TurnContext]) -> Literal["rephrase", "assistant"]:
    rephrased = state.get("rephrased")
    changed = rephrased is not None and rephrased.queries != state.get("queries")
    return "rephrase" if changed and _intent(state).kind == "document_query" else "assistant"


def _after_assistant(state: TurnState) -> Literal["tools", "check_citations"]:
    return "tools" if state.get("calls") else "check_citations"


def _intent(state: TurnState) -> Intent:
    return state.get("intent") or Intent("document_query", 0.0)


def _task(state: TurnState) -> Task:
    return Task(_intent(state), state.get("question", ""), state.get("queries", ()))


def _trace(context: TurnContext, state: TurnState) -> JsonObject:
    intent = _intent(state)
    return {
        "intent": intent.kind,
        "intent_confidence": intent.confidence,
        "question": state.get("question", ""),
        "timings_ms": dict(context.timings_ms),
        **context.details,
    }
