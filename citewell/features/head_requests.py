"""HEAD for every address that answers GET: the same status and headers, without a body. Plain ASGI, as `health.observer`."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

_KEY = "citewell.head"
_MCP = "/mcp"  # what GET would open there is a stream; its transport has an answer to HEAD of its own


class HeadRequests:
    """ASGI middleware: has a HEAD request answered as GET is. The server, whose scope stays as it is, sends no body."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on."""
        if scope["type"] == "http" and scope["method"] == "HEAD" and scope["path"] != scope.get("root_path", "") + _MCP:
            scope = {**scope, "method": "GET", _KEY: True}
        await self._app(scope, receive, send)


def without_body(request: Request, response: Response) -> Response:
    """What is sent of an answer: where only its head is asked for, nothing of a stream is made."""
    if _KEY not in request.scope:
        return response
    head = Response(status_code=response.status_code, background=response.background)
    head.raw_headers = response.raw_headers
    return head
