"""A turn without a chat model: rules read the message, plan the table query or the search, and compose the answer."""

from __future__ import annotations

from collections.abc import Sequence

from citewell.agent.citations.bracketed import quotable
from citewell.agent.citations.markdown import neutralise
from citewell.agent.extractive.answerer import ExtractiveAnswerer
from citewell.agent.interface import Source, TextDelta
from citewell.agent.tables.language.phrasing import phrase
from citewell.agent.tables.language.table_planner import Planned, TablePlanner
from citewell.agent.turn.state import TurnContext
from citewell.agent.turn.steps import Draft, Step, Task, first_calls, searches
from citewell.agent.turn.tools import MAX_TOP_K, Toolbox, ToolResult
from citewell.agent.understand.small_talk import reply
from citewell.agent.understand.understanding import Understood, understand
from citewell.types import ChunkType, Hit


class RuleUnderstanding:
    """By rules alone."""

    async def read(self, context: TurnContext) -> Understood:
        """The intent; the message joined with what it refers to."""
        return await understand(context.request)


class RuleAssistant:
    """Works without a chat model: a table query where the question is one for a table, else one search and the sentences that answer."""

    def __init__(self, answerer: ExtractiveAnswerer, toolbox: Toolbox, planner: TablePlanner | None = None) -> None:
        self._answerer = answerer
        self._toolbox = toolbox
        self._planner = planner

    async def step(self, context: TurnContext, task: Task, results: Sequence[ToolResult]) -> Step:
        """First the table query or the search, then the answer from what it found."""
        if task.intent.kind == "general_conversation":
            return _say(context, Draft(reply(task.intent.small_talk), answered=True))
        if not results:
            return await first_calls(context, task, self._toolbox, self._planner)
        if context.planned is not None and results[-1].table is not None:
            draft = _from_table(context.planned, results[-1])
            return _say(context, draft) if draft else await searches(context, task)
        if results[-1].call.name == "query_table":
            return await searches(context, task)
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


def _from_table(planned: Planned, result: ToolResult) -> Draft | None:
    """The worded result, with its sources numbered from 1; None when it does not answer."""
    assert result.table is not None
    sources = tuple(Source(n, source.hit) for n, source in enumerate(result.sources, start=1))
    text = phrase(planned.plan, result.table, planned.left_out, [source.n for source in sources])
    return Draft(text, True, sources) if text else None


def _say(context: TurnContext, draft: Draft) -> Draft:
    context.emit(TextDelta(draft.text))
    return draft
