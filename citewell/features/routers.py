"""The routers of all features, each loaded with the first request to one of its addresses: loading all takes an eighth of the start."""

from __future__ import annotations

import asyncio
import importlib
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any

from fastapi import APIRouter, Depends, FastAPI
from fastapi.routing import APIRoute
from starlette.routing import BaseRoute
from starlette.types import ASGIApp, Lifespan, Receive, Scope, Send

from citewell.features.http import check_declared, known_parameters


@dataclass(frozen=True, slots=True)
class LateRouter:
    """A router, by the module in `citewell.features` that creates it.

    begins:     the prefixes of its addresses, separated by blanks: `/threads` for `/threads/{id}/messages`
    is_lenient: accepts unknown query parameters, because chat clients, probes, identity providers, and browsers that follow a link
                add their own
    """

    module: str
    begins: str
    name: str = "router"
    is_lenient: bool = False

    def load(self) -> APIRouter:
        """The router."""
        return getattr(importlib.import_module(f"citewell.features.{self.module}"), self.name)


ROUTERS = (
    LateRouter("health.endpoints", "/health /ready /doctor /metrics", is_lenient=True),
    LateRouter("resources.endpoints", "/ingest /records /resources"),
    LateRouter("estimates.endpoints", "/ingest"),
    LateRouter("search.endpoints", "/search"),
    LateRouter("citations.endpoints", "/citations"),
    LateRouter("chat.endpoints", "/chat"),
    LateRouter("openai_compatible.endpoints", "/v1", is_lenient=True),
    LateRouter("threads.endpoints", "/threads"),
    LateRouter("shared_answers.endpoints", "/threads /shares /shared-answers"),
    LateRouter("shared_answers.endpoints", "/shared", "page_router", is_lenient=True),
    LateRouter("projects.endpoints", "/projects"),
    LateRouter("quotas.endpoints", "/quotas /people"),
    LateRouter("reindexing.endpoints", "/reindex"),
    LateRouter("sources.endpoints", "/sources"),
    LateRouter("auth.endpoints", "/tokens"),
    LateRouter("usage.endpoints", "/usage"),
    LateRouter("owner_data.endpoints", "/export /erasure"),
    LateRouter("audit.endpoints", "/audit"),
    LateRouter("indexes.endpoints", "/indexes"),
    LateRouter("auth.endpoints", "/session", "session_router"),
    LateRouter("accounts.endpoints", "/account /session /people /invitations /projects /shared-projects"),
    LateRouter("identities.endpoints", "/session /account"),
    LateRouter("service_accounts.endpoints", "/service-accounts"),
    LateRouter("identities.endpoints", "/session", "return_router", is_lenient=True),
    LateRouter("suggestions.endpoints", "/suggestions"),
    LateRouter("samples.endpoints", "/samples"),
    LateRouter("tables.endpoints", "/resources"),
    LateRouter("local_models.endpoints", "/local-model"),
    LateRouter("telegram.endpoints", "/telegram"),
    LateRouter("telegram.endpoints", "/telegram", "webhook_router"),
    LateRouter("triggers.endpoints", "/webhooks"),
    LateRouter("webhooks.endpoints", "/webhooks"),
    LateRouter("web.pages", "/ /conversations /library /playground /settings /docs /assets", is_lenient=True),
)


class Routing:
    """Includes routers in an application that already has its other routes, in the order of the list, whichever is requested first."""

    def __init__(self, app: FastAPI, listed: Sequence[LateRouter] = ROUTERS) -> None:
        self._app = app
        self._listed = listed
        self._before = tuple(app.router.routes)
        self._included: dict[LateRouter, BaseRoute] = {}
        self._missing: dict[str, list[LateRouter]] = {}
        for late in listed:
            for begin in late.begins.split():
                self._missing.setdefault(begin, []).append(late)

    async def prepare(self, begin: str) -> None:
        """Load the routers for this prefix, in a thread, so that other requests are answered meanwhile."""
        for late in self._missing.get(begin, ()):
            await asyncio.to_thread(late.load)
            self._include(late)
        self._missing.pop(begin, None)

    async def prepare_all(self) -> None:
        """Load all routers, one after the other."""
        for begin in tuple(self._missing):
            await self.prepare(begin)

    def include_all(self) -> None:
        """Load all routers at once."""
        for late in self._listed:
            self._include(late)
        self._missing.clear()

    def _include(self, late: LateRouter) -> None:
        """Include a router unless another request already has. Raises `LookupError` like `check_declared`."""
        if late in self._included:
            return
        router = late.load()
        check_declared(router.routes)
        self._app.include_router(router, dependencies=[] if late.is_lenient else [Depends(known_parameters)])
        routes = self._app.router.routes
        self._included[late] = routes.pop()
        # The first matching route answers.
        routes[:] = [*self._before, *(self._included[one] for one in self._listed if one in self._included)]


class RoutersOnDemand:
    """ASGI middleware: loads the routers that a request may need."""

    def __init__(self, app: ASGIApp, routing: Routing) -> None:
        self._app = app
        self._routing = routing

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Load missing routers, then pass the request on."""
        if scope["type"] == "http":
            path = scope["path"].removeprefix(scope.get("root_path", ""))
            await self._routing.prepare("/" + path.lstrip("/").partition("/")[0])
        await self._app(scope, receive, send)


class Application(FastAPI):
    """The application. Its features are loaded when first requested or described, or earlier by `routing`."""

    def __init__(self, lifespan: Lifespan[FastAPI], *routes: BaseRoute) -> None:
        super().__init__(
            title="Citewell",
            version=version("citewell"),
            description="Answers from your own files that point to the exact source.",
            lifespan=lifespan,
            routes=[*routes],
            docs_url=None,
            redoc_url=None,
            generate_unique_id_function=_operation_name,
        )
        self.routing = Routing(self)

    def openapi(self) -> dict[str, Any]:
        """The API's description, covering all features."""
        if self.openapi_schema is None:
            from citewell.features.webhooks.endpoints import describe_events

            self.routing.include_all()
            describe_events(self.webhooks)
        return super().openapi()


def _operation_name(route: APIRoute) -> str:
    """The function's unique name, used by generated clients and automation services."""
    return route.name
