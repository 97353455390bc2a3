"""The steps of a turn that rules or a chat model decide: reading the message, and what to look up or to answer next."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from citewell.agent.interface import Source
from citewell.agent.offload import offload
from citewell.agent.tables.language.table_planner import Planned, Refused, TablePlanner
from citewell.agent.turn.state import TurnContext
from citewell.agent.turn.tools import MAX_TOP_K, Toolbox, ToolResult, search_call
from citewell.agent.understand.intent import Intent
from citewell.agent.understand.question import read_question
from citewell.agent.understand.understanding import Understood
from citewell.ports import ToolCall


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


class Understanding(Protocol):
    """Reads the last message of a thread."""

    async def read(self, context: TurnContext) -> Understood:
        """Costs no embedding and touches no index."""
        ...


class AssistantStep(Protocol):
    """Decides the next step of a turn."""

    async def step(self, context: TurnContext, task: Task, results: Sequence[ToolResult]) -> Step:
        """Tool calls to run (their results come back in `results`), or the draft that ends the turn."""
        ...


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
    return await searches(context, task)


async def searches(context: TurnContext, task: Task) -> tuple[ToolCall, ...]:
    """One search; deep ones for a list, whose items stand scattered, and per query, for their sum to be judged."""
    question = await offload(len(task.question), read_question, task.question)
    if len(task.queries) == 1 and not question.wants_list:
        return (search_call(task.queries[0]),)
    depth = min(MAX_TOP_K, 3 * context.request.top_k)
    return tuple(search_call(query, top_k=depth) for query in task.queries)
