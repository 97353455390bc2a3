"""The services behind protocols of others: MCP, and OpenAI's files, vector stores and responses."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from citewell.composition.stores import Stores
from citewell.features.mcp.service import McpTools
from citewell.features.openai_files.service import OpenAIFiles
from citewell.features.openai_responses.service import ResponseService
from citewell.features.resources.contents import ResourceContents
from citewell.features.resources.handed_out import StoredBytes
from citewell.features.resources.said import Said
from citewell.features.resources.service import ResourceService
from citewell.features.search.service import SearchService
from citewell.features.turns import LateAssistant, TurnRunner
from citewell.features.usage.service import Ledger
from citewell.ingest.capture import Spool, Spooled
from citewell.settings import Settings
from citewell.storage.conversations.threads import ThreadRepository
from citewell.system.shares import Shares
from citewell.types import JsonValue, Resource

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
        shares=Shares("tool calls", each=settings.auth.answers_at_once),
        public_url=settings.mail.public_url,
    )


@dataclass(frozen=True, slots=True)
class _FileActions:
    """The resource service as OpenAI's files need it."""

    resources: ResourceService
    contents: ResourceContents

    def receiving(self, owner_id: str, least: int = 0) -> AbstractAsyncContextManager[Spool]:
        return self.resources.receiving(owner_id, least)

    async def keep(self, owner_id: str, file: Spooled, filename: str) -> Resource:
        resource, _ = await self.resources.upload(owner_id, file, filename)
        return resource

    async def delete(self, owner_id: str, resource_id: str) -> None:
        await self.resources.delete(owner_id, resource_id)

    async def set_metadata(self, owner_id: str, resource_id: str, metadata: Mapping[str, JsonValue]) -> None:
        await self.resources.describe(owner_id, resource_id, Said(metadata=metadata))

    async def original(self, owner_id: str, resource_id: str) -> StoredBytes:
        return await self.contents.original(owner_id, resource_id, None)

    def wake(self) -> None:
        self.resources.payloads.wake()


def openai_files(
    stores: Stores, resources: ResourceService, contents: ResourceContents, search: SearchService
) -> OpenAIFiles:
    """Files and vector stores."""
    return OpenAIFiles(
        resources=stores.resources,
        projects=stores.projects,
        actions=_FileActions(resources, contents),
        search_for=search.search_for,
        max_bytes=resources.max_bytes,
    )


def openai_responses(stores: Stores, turns: TurnRunner) -> ResponseService:
    """Responses, stored as answers in threads."""
    return ResponseService(turns=turns, projects=stores.projects, threads=ThreadRepository(stores.database))
