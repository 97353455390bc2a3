"""The agent's tools, and files as documents, for MCP clients: each call is a separate turn of the token's owner."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from citewell.agent.interface import TurnRequest
from citewell.agent.turn.pictures import SOURCE
from citewell.errors import InvalidInput, NotFound
from citewell.features.usage.service import Ledger
from citewell.ports import ToolCall, ToolSpec
from citewell.ports.metering import Tally, tallied
from citewell.storage.files.content import ContentRepository
from citewell.storage.files.projects import ProjectRepository
from citewell.storage.files.resources import ResourceRepository
from citewell.system.shares import Shares
from citewell.types import Chunk, JsonObject, Resource, ResourceFilter, Scope

if TYPE_CHECKING:
    from citewell.agent.turn.state import ToolResult
    from citewell.agent.turn.tools import Toolbox

# The keys in a request's ASGI scope under which the endpoint stores the caller and the projects.
OWNER = "citewell.owner"
SCOPE = "citewell.scope"

PREFIX = "citewell_"
"""Begins the names of tools, so that they differ from those of the other servers of a client."""
MAX_DOCUMENT = 12_000
"""Characters of one document: about 3,000 tokens, as much as `read_resource` gives."""
_MAX_CHUNKS = 40
_PAGE = 100
_FILE = re.compile(r"(?:/?resources/)?([\w.-]{1,64})", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """The text of a file or of the surroundings of a passage, in reading order.

    passage: what was asked for; None for a file
    is_whole: whether the text is all that is indexed of the file
    """

    id: str
    file: Resource
    passage: Chunk | None
    text: str
    is_whole: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class McpTools:
    """Lists and calls the tools, which `toolbox` loads on first use, and reads documents.

    shares: how many calls of one owner run at once; public_url: begins links, if configured
    """

    toolbox: Callable[[], Awaitable[Toolbox]]
    projects: ProjectRepository
    resources: ResourceRepository
    content: ContentRepository
    ledger: Ledger
    top_k: int
    shares: Shares
    public_url: str | None = None

    def turn(self, payer: str) -> AbstractAsyncContextManager[None]:
        """A place among the calls that run for one payer at once. Raises `RateLimited` if there are too many."""
        return self.shares.hold(payer)

    async def specs(self) -> tuple[ToolSpec, ...]:
        """The agent's tools under their own names; they are read-only."""
        return (await self.toolbox()).specs

    async def scope(self, owner_id: str, projects: Sequence[str]) -> Scope:
        """The scope of calls: projects by id or name, or everything if none is given. Raises `NotFound` for an unknown project."""
        return Scope(await self.projects.resolve_all(owner_id, projects) if projects else None)

    async def call(self, owner_id: str, scope: Scope, name: str, arguments: JsonObject) -> ToolResult:
        """The result of a call, by the tool's own name. Errors in its arguments are part of the result, for the model to read."""
        toolbox = await self.toolbox()
        from citewell.agent.turn.state import TurnState  # loaded with the tools

        request = TurnRequest(owner_id=owner_id, message="", scope=scope, top_k=self.top_k)
        turn = TurnState(request=request, emit=lambda _: None)
        with tallied(Tally(owner_id)) as tally:
            result = await toolbox.run(turn, ToolCall("mcp", name, arguments))
        await self.ledger.record_paid(owner_id, tally.spent)
        return result

    async def files(self, owner_id: str, scope: Scope, cursor: str | None) -> tuple[list[Resource], str | None]:
        """A page of the files in scope, newest first, and the next cursor."""
        return await self.resources.page(owner_id, ResourceFilter(project_ids=scope.project_ids), _PAGE, cursor)

    async def document(self, owner_id: str, scope: Scope, id: str) -> Document:
        """A passage by `resources/…/chunks/…` with what surrounds it, or the beginning of a file by its id.

        Raises `NotFound` for what does not exist or is outside the scope, and `InvalidInput` for a file without text.
        """
        if place := SOURCE.fullmatch(id):
            file = await self._file(owner_id, scope, place[1])
            stored = (await self.content.load_chunks(owner_id, [place[2]])).get(place[2])
            if stored is None or stored.chunk.resource_id != file.id:
                raise NotFound
            return _document(id, file, stored.chunk, await self._around(owner_id, stored.chunk))
        whole = _FILE.fullmatch(id)
        if whole is None:
            raise NotFound
        file = await self._file(owner_id, scope, whole[1])
        beginning, _ = await self.content.chunks_page(file.id, _MAX_CHUNKS)
        if not beginning:
            raise InvalidInput(f"{file.filename} has no text that can be read ({file.status.value}).")
        return _document(file.id, file, None, beginning)

    async def _file(self, owner_id: str, scope: Scope, resource_id: str) -> Resource:
        """The file within the scope. Raises `NotFound`."""
        if not await self.projects.named_within(owner_id, replace(scope, resource_ids=(resource_id,))):
            raise NotFound
        return await self.resources.get(owner_id, resource_id)

    async def _around(self, owner_id: str, chunk: Chunk) -> list[Chunk]:
        """The chunk, then its neighbours, nearest first."""
        half = _MAX_CHUNKS // 2
        near = range(max(0, chunk.ordinal - half), chunk.ordinal + half)
        found = await self.content.neighbours(owner_id, chunk.resource_id, near)
        return sorted(found, key=lambda one: abs(one.ordinal - chunk.ordinal))


def _document(id: str, file: Resource, passage: Chunk | None, found: Sequence[Chunk]) -> Document:
    """The first of the chunks, and the following as long as all fit, in reading order."""
    kept, used = list[Chunk](), 0
    for one in found:
        used += len(one.text) + 2
        if kept and used > MAX_DOCUMENT:
            break
        kept.append(one)
    text = "\n\n".join(one.text for one in sorted(kept, key=lambda one: one.ordinal))
    return Document(id=id, file=file, passage=passage, text=text, is_whole=len(kept) == file.chunk_count)
