"""HEAD for every address that supports GET: the same status and headers, without a body. Plain ASGI, like `health.observer`."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

_KEY = "citewell.head"
_MCP = "/mcp"  # GET opens a stream there; its transport answers HEAD itself


class HeadRequests:
    """ASGI middleware: answers HEAD like GET. The server, whose scope does not change, sends no body."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on."""
        if scope["type"] == "http" and scope["method"] == "HEAD" and scope["path"] != scope.get("root_path", "") + _MCP:
            scope = {**scope, "method": "GET", _KEY: True}
        await self._app(scope, receive, send)


def without_body(request: Request, response: Response) -> Response:
    """Send a response; for HEAD, a stream is not started."""
    if _KEY not in request.scope:
        return response
    head = Response(status_code=response.status_code, background=response.background)
    head.raw_headers = response.raw_headers
    return head
