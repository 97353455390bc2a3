"""What every route declares, as the features define it."""

from __future__ import annotations

from starlette.routing import Route

from citewell.features.declared import Access, Audited, Declared, declarations
from citewell.features.mcp.endpoints import McpEndpoint
from citewell.features.routers import ROUTERS

_MCP = Route("/mcp", McpEndpoint(), methods=["POST"])
DECLARED: dict[tuple[str, str], Declared] = {
    key: declared
    for routes in (*(late.load().routes for late in ROUTERS), [_MCP])
    for key, declared in declarations(routes)
}
_PAGE = ("GET", "/shared/{secret}")
ACCESS: dict[tuple[str, str], Access] = {key: one.access for key, one in DECLARED.items() if key != _PAGE}
AUDITED: dict[tuple[str, str], Audited] = {
    key: one.audit for key, one in DECLARED.items() if isinstance(one.audit, Audited)
}
