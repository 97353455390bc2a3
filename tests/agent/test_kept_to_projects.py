"""Tools of an asker who is kept to some projects: they tell of no other project, not even by its name."""

from __future__ import annotations

from typing import Any

import pytest

from citewell.agent.interface import TurnRequest
from citewell.agent.turn.state import ToolResult, TurnState
from citewell.agent.turn.tools import Toolbox
from citewell.ports import ToolCall
from citewell.types import Condition, Expression, Operator, ResourceInfo, Scope, SearchRequest, SearchResult, Trace

KEPT = {"id-kitchen": "Kitchen", "id-garden": "Garden"}


class _Noting:
    """A searcher and library that finds nothing and notes what it is asked."""

    def __init__(self) -> None:
        self.asked: list[SearchRequest] = []
        self.filters: tuple[Expression, ...] = ()

    async def search(self, request: SearchRequest) -> SearchResult:
        self.asked.append(request)
        return SearchResult((), Trace())

    async def narrowed(self, owner_id: str, scope: Scope, filters: tuple[Expression, ...]) -> Scope:
        self.filters = filters
        return scope

    async def list_resources(self, owner_id: str, scope: Scope) -> list[ResourceInfo]:
        return []


async def _called(noting: Any, name: str, kept_to: dict[str, str] | None = KEPT, **arguments: Any) -> ToolResult:
    scope = Scope(tuple(kept_to)) if kept_to is not None else Scope()
    request = TurnRequest(owner_id="ada", message="", scope=scope, kept_to=kept_to)
    toolbox = Toolbox(noting, library=noting)
    return await toolbox.run(
        TurnState(request=request, emit=lambda _: None), ToolCall("1", name, {"query": "limes", **arguments})
    )


def _ids(*projects: str) -> Condition:
    return Condition("project", Operator.IN, projects)


@pytest.mark.parametrize("tool", ["search_files", "search_user_files"])
async def test_filters_ask_for_the_projects_that_the_asker_is_kept_to(tool: str) -> None:
    noting = _Noting()
    for value, seen in (("kit", _ids("id-kitchen")), ("vol", _ids("00000000-0000-0000-0000-000000000000"))):
        await _called(noting, tool, filters=[{"field": "project", "operator": "prefix", "value": value}])
        assert noting.asked[-1].conditions == (seen,)


async def test_projects_are_named_among_those_that_the_asker_is_kept_to() -> None:
    noting = _Noting()
    await _called(noting, "search_files", projects=["Kitchen"])
    assert noting.asked[-1].projects == ("id-kitchen",)
    refused = await _called(noting, "search_files", projects=["Volta merger"])
    assert refused.failed
    assert "There is no project called 'Volta merger'" in refused.text
    assert len(noting.asked) == 1


async def test_lists_of_files_are_filtered_alike() -> None:
    noting, condition = _Noting(), {"field": "project", "value": "Garden"}
    toolbox_call = ToolCall("1", "list_resources", {"filters": [condition]})
    request = TurnRequest(owner_id="ada", message="", scope=Scope(tuple(KEPT)), kept_to=KEPT)
    library: Any = noting
    await Toolbox(noting, library=library).run(TurnState(request=request, emit=lambda _: None), toolbox_call)
    assert noting.filters == (_ids("id-garden"),)


async def test_an_asker_who_is_kept_to_nothing_names_any_project() -> None:
    noting, condition = _Noting(), {"field": "project", "value": "Volta merger"}
    await _called(noting, "search_files", None, projects=["Volta merger"], filters=[condition])
    assert noting.asked[-1].projects == ("Volta merger",)
    assert noting.asked[-1].conditions == (Condition("project", Operator.EQ, "Volta merger"),)
