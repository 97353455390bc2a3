"""`/mcp`: the tools over the stateless streamable HTTP transport, with a Citewell token. `?project=NAME` (repeatable) limits what they see."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from typing import TYPE_CHECKING

from starlette.requests import Request
from starlette.types import ASGIApp, Receive, Scope, Send

from citewell.errors import CitewellError
from citewell.features.audited import record_of
from citewell.features.auth.service import AuthService
from citewell.features.bodies import sender_is_known
from citewell.features.declared import DECLARED, READ, Declared, everything, views
from citewell.features.http import check_access, error_response
from citewell.features.mcp.service import OWNER, SCOPE, McpTools
from citewell.features.requests import invalid_request, unknown_names
from citewell.types import Scope as QuestionScope
from citewell.types.audit import AuditAction

if TYPE_CHECKING:
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

_DECLARED = Declared(everything(READ), views(AuditAction.TOOLS_CALLED))


class McpEndpoint:
    """An ASGI app for one route; `run` it as long as the server lives. The first authenticated request starts the transport."""

    def __init__(self) -> None:
        setattr(self, DECLARED, {("POST", "/mcp"): _DECLARED})
        self._auth: AuthService | None = None
        self._tools: McpTools | None = None
        self._wanted: asyncio.Event | None = None
        self._transport: asyncio.Future[ASGIApp] | None = None

    @asynccontextmanager
    async def run(self, tools: McpTools, auth: AuthService) -> AsyncGenerator[None]:
        """Serve these tools within the block."""
        self._auth, self._tools = auth, tools
        self._wanted = asyncio.Event()
        self._transport = asyncio.get_running_loop().create_future()
        keeper = asyncio.create_task(self._keep(tools, self._wanted, self._transport))
        try:
            yield
        finally:
            self._transport.cancel()
            keeper.cancel()
            await asyncio.gather(keeper, return_exceptions=True)

    async def _keep(self, tools: McpTools, wanted: asyncio.Event, transport: asyncio.Future[ASGIApp]) -> None:
        """Run the transport from the first request on, in this task, because its task group must be entered and left in one task."""
        await wanted.wait()
        try:
            session_manager = await asyncio.to_thread(_load)
            manager = session_manager(tools)
            async with manager.run():
                transport.set_result(manager.handle_request)
                await asyncio.Event().wait()
        except Exception as error:
            if transport.done():
                raise
            transport.set_exception(error)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Check the token, then hand over to the transport."""
        request = Request(scope)
        assert self._tools is not None
        async with AsyncExitStack() as slot:
            try:
                payer, scope[OWNER], scope[SCOPE] = await self._admit(request)
                await slot.enter_async_context(self._tools.turn(payer))
            except CitewellError as error:
                await error_response(error)(scope, receive, send)
                return
            assert self._wanted is not None
            assert self._transport is not None
            self._wanted.set()
            # Shielded: a client that disconnects must not cancel what others are waiting for.
            transport = await asyncio.shield(self._transport)
            await transport(scope, receive, send)

    async def _admit(self, request: Request) -> tuple[str, str, QuestionScope]:
        """Who the call counts for, whose files it reads, and which of them."""
        assert self._auth is not None
        assert self._tools is not None
        kind, _, token = request.headers.get("authorization", "").partition(" ")
        principal = await self._auth.authenticate(token.strip() if kind.lower() == "bearer" else None)
        owner_id = principal.owner_id
        payer = principal.managed_by or owner_id
        await self._auth.admit(payer)
        record_of(request).sent_by(principal)
        check_access(_DECLARED.access, principal)
        sender_is_known(request)
        if wrong := unknown_names("query", request.query_params, ("project",)):
            raise invalid_request(wrong)
        return payer, owner_id, await self._tools.scope(owner_id, request.query_params.getlist("project"))


def _load() -> Callable[[McpTools], StreamableHTTPSessionManager]:
    """Import the `mcp` library, which takes half a second or more and which most servers never need."""
    from citewell.features.mcp.transport import session_manager

    return session_manager
