"""The services behind protocols of others: MCP."""

from __future__ import annotations

from typing import TYPE_CHECKING

from citewell.composition.stores import Stores
from citewell.features.mcp.service import McpTools
from citewell.features.turns import LateAssistant
from citewell.features.usage.service import Ledger
from citewell.settings import Settings

if TYPE_CHECKING:
    from citewell.agent.turn.tools import Toolbox


def mcp_tools(settings: Settings, stores: Stores, ledger: Ledger, extractive: LateAssistant) -> McpTools:
    """The tools for MCP clients, with those of the assistant that needs no chat model."""

    async def toolbox() -> Toolbox:
        return (await extractive.get()).toolbox

    return McpTools(
        toolbox=toolbox,
        projects=stores.projects,
        resources=stores.resources,
        content=stores.content,
        ledger=ledger,
        top_k=settings.retrieval.top_k,
        public_url=settings.mail.public_url,
    )
