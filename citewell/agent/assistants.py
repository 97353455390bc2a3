"""Who decides in a turn what to look up and what to answer: the rule-based assistant; one with a chat model has the same shape."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from citewell.agent import smalltalk
from citewell.agent.bracketed import quotable
from citewell.agent.context import TurnContext
from citewell.agent.extractive import ExtractiveAnswerer
from citewell.agent.intent import Intent
from citewell.agent.markdown import neutralise
from citewell.agent.offload import offload
from citewell.agent.question import read_question
from citewell.agent.tables.phrasing import phrase
from citewell.agent.tables.planning import Planned, Refused, TablePlanner
from citewell.agent.tools import MAX_TOP_K, Toolbox, ToolResult, search_call
from citewell.agent.turns import Source, TextDelta
from citewell.ports import ToolCall
from citewell.types import ChunkType, Hit


@dataclass(frozen=True, slots=True)
class Draft:
    """An answer before its citations are checked; its text has been emitted already, so nothing in it may need to be taken back:
    it is safe to render, and each `[n]` in it names one of `sources`.

    sources are what `[n]` may name; nearest is offered where there is no answer.
    """

    text: str
    answered: bool
    sources: tuple[Source, ...] = ()
    nearest: tuple[Source, ...] = ()


Step: TypeAlias = tuple[ToolCall, ...] | Draft


@dataclass(frozen=True, slots=True)
class Task:
    """What is asked: the intent, the message made standalone, and the queries to search it with."""

    intent: Intent
    question: str
    queries: tuple[str, ...]


class AssistantStep(Protocol):
    """Decides the next step of a turn."""

    async def step(self, context: TurnContext, task: Task, results: Sequence[ToolResult]) -> Step:
        """Tool calls to run (their results come back in `results`), or the draft that ends the turn."""
        ...


class RuleAssistant:
    """Works without a chat model: a table query where the question is one for a table, else one search and the sentences that answer."""

    def __init__(self, answerer: ExtractiveAnswerer, toolbox: Toolbox, planner: TablePlanner | None = None) -> None:
        self._answerer = answerer
        self._toolbox = toolbox
        self._planner = planner

    async def step(self, context: TurnContext, task: Task, results: Sequence[ToolResult]) -> Step:
        """First the table query or the search, then the answer from what it found."""
        if task.intent.kind == "general_conversation":
            return _say(context, Draft(smalltalk.reply(task.intent), answered=True))
        if not results:
            return await first_calls(context, task, self._toolbox, self._planner)
        if context.planned is not None and results[-1].table is not None:
            draft = _from_table(context.planned, results[-1])
            return _say(context, draft) if draft else await _searches(context, task)
        if results[-1].call.name == "query_table":
            return await _searches(context, task)
        found = [[source.hit for source in result.sources] for result in results if result.call.name == "search_files"]
        return await self._from_passages(context, task.question, merged(found, MAX_TOP_K))

    async def _from_passages(self, context: TurnContext, question: str, hits: Sequence[Hit]) -> Draft:
        if context.refused is not None and context.refused.computes:
            hits = [hit for hit in hits if hit.chunk.type not in (ChunkType.ROW, ChunkType.TABLE)]
        top_k = context.request.top_k
        with context.timed("extract"):
            extract = await self._answerer.answer(question, hits[:top_k], hits[top_k:])
        context.note("confidence", round(extract.confidence, 4))
        if extract.answered:
            for part in extract.parts:
                context.emit(TextDelta(part))
            return Draft(extract.text, True, extract.sources)
        text = extract.text
        if context.refused is not None:
            text += f" I could not work it out from the tables: {neutralise(quotable(context.refused.reason))}."
        return _say(context, Draft(text, False, nearest=extract.sources))


async def first_calls(
    context: TurnContext, task: Task, toolbox: Toolbox, planner: TablePlanner | None
) -> tuple[ToolCall, ...]:
    """What a question needs in any case: the table query that the rules read from it, else a search."""
    tables = await toolbox.tables(context)
    if tables and planner is not None:
        with context.timed("plan_table_query"):
            planned = await planner.consider(context.request.owner_id, task.question, tables)
        if isinstance(planned, Planned):
            context.planned = planned
            return (ToolCall("table", "query_table", planned.plan.query.to_json()),)
        if isinstance(planned, Refused):
            context.refused = planned
            context.note("table_query_refused", planned.reason)
    return await _searches(context, task)


def merged(lists: Sequence[Sequence[Hit]], top_k: int) -> list[Hit]:
    """The hits of several searches by the sum of their scores, each list's scaled to 0..1."""
    if len(lists) == 1:
        return list(lists[0][:top_k])
    sums: dict[str, float] = {}
    hits: dict[str, Hit] = {}
    for found in lists:
        low = min((hit.score for hit in found), default=0.0)
        spread = max((hit.score for hit in found), default=0.0) - low
        for hit in found:
            hits.setdefault(hit.chunk.id, hit)
            sums[hit.chunk.id] = sums.get(hit.chunk.id, 0.0) + ((hit.score - low) / spread if spread else 1.0)
    return [hits[chunk_id] for chunk_id in sorted(sums, key=lambda c: -sums[c])][:top_k]


async def _searches(context: TurnContext, task: Task) -> tuple[ToolCall, ...]:
    """One search; deep ones for a list, whose items stand scattered, and per query, for their sum to be judged."""
    question = await offload(len(task.question), read_question, task.question)
    if len(task.queries) == 1 and not question.wants_list:
        return (search_call(task.queries[0]),)
    depth = min(MAX_TOP_K, 3 * context.request.top_k)
    return tuple(search_call(query, top_k=depth) for query in task.queries)


def _from_table(planned: Planned, result: ToolResult) -> Draft | None:
    """The worded result, with its sources numbered from 1; None when it does not answer."""
    assert result.table is not None
    sources = tuple(Source(n, source.hit) for n, source in enumerate(result.sources, start=1))
    text = phrase(planned.plan, result.table, planned.left_out, [source.n for source in sources])
    return Draft(text, True, sources) if text else None


def _say(context: TurnContext, draft: Draft) -> Draft:
    context.emit(TextDelta(draft.text))
    return draft
