"""The steps of a turn that rules or a chat model decide: how the message is read, and what to look up or answer next."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from citewell.agent.offload import offload
from citewell.agent.tables.picture.planner import PicturePlanner, PlannedPicture
from citewell.agent.tables.planner import Planned, Refused, TablePlanner
from citewell.agent.tables.run.engine import UnusableTable
from citewell.agent.tables.thresholds import THRESHOLDS
from citewell.agent.turn.specs import MAX_TOP_K
from citewell.agent.turn.state import Draft, NextStep, TurnState
from citewell.agent.turn.tools import Toolbox, search_call
from citewell.agent.understand.question import read_question, wants_pictures
from citewell.agent.understand.understanding import Understood
from citewell.ports import ToolCall
from citewell.types import ChunkType, JsonValue, TableInfo

PLANNED_CALL = "table"  # the id of the call that the rules make, which no model's has
Step: TypeAlias = tuple[ToolCall, ...] | Draft


class Understanding(Protocol):
    """Reads the last message of a thread."""

    async def read(self, turn: TurnState) -> Understood:
        """The intent; the message made standalone; what the model that reads messages says of it."""
        ...


class AssistantStep(Protocol):
    """Decides the next step of a turn."""

    async def step(self, turn: TurnState) -> Step:
        """Tool calls to run (their results come back in `turn.results`), or the draft that ends the turn."""
        ...


@dataclass(frozen=True, slots=True)
class Planners:
    """Who plans the query of a data question, and that behind a picture."""

    tables: TablePlanner
    pictures: PicturePlanner


async def first_calls(
    turn: TurnState,
    toolbox: Toolbox,
    planners: Planners | None,
    beside: str = "",
    *,
    weighs: bool = False,
    or_search: bool = True,
) -> tuple[ToolCall, ...]:
    """What a question needs in any case: the table query that it means, else a search (`search_calls`).

    weighs: both, where it is not certain what is meant; or_search: without it, there is only the table query
    """
    tables = list(await toolbox.tables(turn))
    if tables and planners is not None:
        scope = turn.request.scope.resource_ids
        only = scope is not None and set(scope) <= {table.resource_id for table in tables}
        with turn.timed("plan_table_query"):
            drawn = await _plan(turn, planners, tables, only=only)
        if drawn is not None:
            turn.picture_plan, turn.stage = drawn, NextStep.READ_ROWS
            return (ToolCall(PLANNED_CALL, "query_table", drawn.query.to_json()),)
        if isinstance(turn.table_plan, Planned):
            uncertain = weighs and turn.table_plan.confidence < THRESHOLDS.certain
            searches = await search_calls(turn, beside) if uncertain else ()
            turn.stage = NextStep.READ_ROWS
            return (*searches, ToolCall(PLANNED_CALL, "query_table", turn.table_plan.plan.query.to_json()))
        if isinstance(turn.table_plan, Refused):
            turn.note("table_query_refused", turn.table_plan.reason)
    return await search_calls(turn, beside) if or_search else ()


async def _plan(turn: TurnState, planners: Planners, tables: list[TableInfo], *, only: bool) -> PlannedPicture | None:
    """The picture that is asked for; else the plan of a query, if any, is put down in the turn. Tables that cannot be used are left out."""
    while tables:
        try:
            drawn = await planners.pictures.consider(turn.request.owner_id, turn.question, tables)
            if isinstance(drawn, PlannedPicture):
                return drawn
            turn.table_plan = drawn or await _plan_of_table(turn, planners.tables, tables, only=only)
            return None
        except UnusableTable as error:
            turn.notices[error.notice] = None
            tables.remove(error.table)
    return None


async def _plan_of_table(
    turn: TurnState, planner: TablePlanner, tables: Sequence[TableInfo], *, only: bool
) -> Planned | Refused | None:
    """What the question means of the tables; of `and in Kumasi?`, the question before with the other value, where that is planned."""
    owner_id, rephrased = turn.request.owner_id, turn.rephrased
    if rephrased is not None and rephrased.base:
        exchanged = await planner.exchanged(owner_id, rephrased.base, turn.request.message, tables)
        found = await planner.consider(owner_id, exchanged, tables, only=only) if exchanged else None
        if isinstance(found, Planned):
            turn.note("table_question", exchanged)
            return found
    question = rephrased.asked if rephrased is not None and rephrased.asked else turn.question
    found = await planner.consider(owner_id, question, tables, only=only)
    sure = found.confidence if isinstance(found, Planned) else 0.0
    earlier = () if rephrased is None else rephrased.earlier
    after = await planner.continued(owner_id, earlier, turn.request.message, tables)
    return after if isinstance(after, Planned) and after.confidence > sure else found


async def search_calls(turn: TurnState, beside: str = "") -> tuple[ToolCall, ...]:
    """One search; deeper ones for a list, whose items may be far apart, for pictures, of which each that fits is named, and for several
    queries, whose hits are merged.

    The last is for `beside`, unless that is empty.

    Where rows cannot answer they are not searched: all that are of the kind that is asked about would come before what defines it.
    """
    turn.stage = NextStep.READ_PASSAGES
    question = await offload(len(turn.question), read_question, turn.question)
    arguments: dict[str, JsonValue] = {}
    if isinstance(turn.table_plan, Refused) and turn.table_plan.of_a_kind:
        arguments["types"] = [kind.value for kind in ChunkType if kind is not ChunkType.ROW]
    queries = (*turn.queries, beside) if beside else turn.queries
    if len(queries) > 1 or question.wants_list or wants_pictures(turn.question):
        arguments["top_k"] = min(MAX_TOP_K, 3 * turn.request.top_k)
    return tuple(search_call(query, **arguments) for query in queries)
