"""`/mcp`: the tools over the streamable HTTP transport, stateless, with a token of ours. `?project=NAME` narrows what they see."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from importlib.metadata import version
from typing import Any

from mcp import types
from mcp.server import Server, ServerRequestContext
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.types import Receive, Scope, Send

from citewell.errors import CitewellError
from citewell.features.auth.service import AuthService
from citewell.features.http import error_body, status_of
from citewell.features.mcp.service import INSTRUCTIONS, McpTools
from citewell.features.requests import invalid_request, unknown_field
from citewell.storage.projects import ProjectRepository
from citewell.types import Scope as QuestionScope

_OWNER = "citewell.owner"
_SCOPE = "citewell.scope"


class McpEndpoint:
    """An ASGI app for one route; `run` it for as long as the server lives."""

    def __init__(self) -> None:
        self._manager: StreamableHTTPSessionManager | None = None
        self._auth: AuthService | None = None
        self._projects: ProjectRepository | None = None

    @asynccontextmanager
    async def run(self, tools: McpTools, auth: AuthService, projects: ProjectRepository) -> AsyncGenerator[None]:
        """Serve these tools within the block."""
        self._auth, self._projects = auth, projects
        self._manager = StreamableHTTPSessionManager(_server(tools), json_response=True, stateless=True)
        async with self._manager.run():
            yield

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Check the token, then hand over to the transport."""
        assert self._manager is not None
        request = Request(scope)
        try:
            scope[_OWNER], scope[_SCOPE] = await self._admit(request)
        except CitewellError as error:
            headers = {"WWW-Authenticate": "Bearer"} if status_of(error) == 401 else {}
            if (retry_after := getattr(error, "retry_after", None)) is not None:
                headers["Retry-After"] = str(max(1, round(retry_after)))
            await JSONResponse({"error": error_body(error)}, status_of(error), headers)(scope, receive, send)
            return
        await self._manager.handle_request(scope, receive, send)

    async def _admit(self, request: Request) -> tuple[str, QuestionScope]:
        assert self._auth is not None
        assert self._projects is not None
        kind, _, token = request.headers.get("authorization", "").partition(" ")
        owner_id = await self._auth.authenticate(token.strip() if kind.lower() == "bearer" else None)
        self._auth.admit(owner_id)
        known = ("project",)
        if wrong := [unknown_field(f"query.{name}", name, known) for name in request.query_params if name not in known]:
            raise invalid_request(wrong)
        project = request.query_params.get("project")
        return owner_id, QuestionScope(await self._projects.resolve(owner_id, project) if project else None)


def _server(tools: McpTools) -> Server[Any]:
    async def list_tools(
        _: ServerRequestContext[Any], __: types.PaginatedRequestParams | None
    ) -> types.ListToolsResult:
        return tools.list()

    async def call_tool(
        context: ServerRequestContext[Any], params: types.CallToolRequestParams
    ) -> types.CallToolResult:
        assert context.request is not None
        scope = context.request.scope
        return await tools.call(scope[_OWNER], scope[_SCOPE], params.name, params.arguments)

    return Server(
        "citewell",
        version=version("citewell"),
        title="Citewell",
        instructions=INSTRUCTIONS,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )
