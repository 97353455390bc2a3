"""What every route declares, as the features define it."""

from __future__ import annotations

from fastapi.routing import APIRoute
from starlette.routing import BaseRoute, Route

from citewell.features.declared import Access, Audited, Declared, declarations
from citewell.features.mcp.endpoints import McpEndpoint
from citewell.features.routers import FEATURES

_MCP = Route("/mcp", McpEndpoint(), methods=["POST"])
ROUTES: list[BaseRoute] = [route for feature in FEATURES for router in feature.load() for route in router.routes]
DECLARED: dict[tuple[str, str], Declared] = dict(declarations([*ROUTES, _MCP]))
_PAGES = {route.path for route in ROUTES if isinstance(route, APIRoute) and not route.include_in_schema}
ACCESS: dict[tuple[str, str], Access] = {key: one.access for key, one in DECLARED.items() if key[1] not in _PAGES}
AUDITED: dict[tuple[str, str], Audited] = {
    key: one.audit for key, one in DECLARED.items() if isinstance(one.audit, Audited)
}
