"""The agent's tools for MCP clients: each call is a separate turn of the token's owner."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from citewell.agent.interface import TurnRequest
from citewell.features.usage.service import Ledger
from citewell.ports import ToolCall, ToolSpec
from citewell.ports.metering import Tally, tallied
from citewell.storage.files.projects import ProjectRepository
from citewell.types import JsonObject, Scope

if TYPE_CHECKING:
    from citewell.agent.turn.state import ToolResult
    from citewell.agent.turn.tools import Toolbox

# The keys in a request's ASGI scope under which the endpoint stores the caller and the projects.
OWNER = "citewell.owner"
SCOPE = "citewell.scope"


@dataclass(frozen=True, slots=True, kw_only=True)
class McpTools:
    """Lists and calls the tools, which `toolbox` loads on first use."""

    toolbox: Callable[[], Awaitable[Toolbox]]
    projects: ProjectRepository
    ledger: Ledger
    top_k: int

    async def specs(self) -> tuple[ToolSpec, ...]:
        """All tools; they are read-only."""
        return (await self.toolbox()).specs

    async def scope(self, owner_id: str, projects: Sequence[str]) -> Scope:
        """The scope of calls: projects by id or name, or everything if none is given. Raises `NotFound` for an unknown project."""
        return Scope(await self.projects.resolve_all(owner_id, projects) if projects else None)

    async def call(self, owner_id: str, scope: Scope, name: str, arguments: JsonObject) -> ToolResult:
        """The result of a call. Errors in its arguments are part of the result, for the model to read."""
        toolbox = await self.toolbox()
        from citewell.agent.turn.state import TurnState  # loaded with the tools

        request = TurnRequest(owner_id=owner_id, message="", scope=scope, top_k=self.top_k)
        turn = TurnState(request=request, emit=lambda _: None)
        with tallied(Tally(owner_id)) as tally:
            result = await toolbox.run(turn, ToolCall("mcp", name, arguments))
        await self.ledger.record_paid(owner_id, tally.spent)
        return result
