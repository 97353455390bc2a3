"""The routers of all features, each loaded with the first request to one of its addresses: loading all takes an eighth of the start."""

from __future__ import annotations

import asyncio
import importlib
import pkgutil
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

from fastapi import FastAPI
from fastapi.routing import APIRoute
from starlette.routing import BaseRoute
from starlette.types import ASGIApp, Lifespan, Receive, Scope, Send

from citewell.features.routing import Router

_HERE = "citewell.features"


@dataclass(frozen=True, slots=True)
class Feature:
    """A folder of `citewell.features`: its `endpoints` module has the routers; its `__init__`, which is small, lists their `ADDRESSES`.

    addresses: the first part of each route's path: `/threads` for `/threads/{id}/messages`
    """

    name: str
    addresses: tuple[str, ...]

    @property
    def module(self) -> str:
        """The module that has the routers."""
        return f"{_HERE}.{self.name}.endpoints"

    def load(self) -> list[Router]:
        """The routers, in the order in which they are defined."""
        made = vars(importlib.import_module(self.module)).values()
        return [value for value in made if isinstance(value, Router)]


def _found() -> tuple[Feature, ...]:
    """Every folder beside this module, by name. Their routes are tried in this order."""
    folders = sorted(found.name for found in pkgutil.iter_modules([str(Path(__file__).parent)]) if found.ispkg)
    return tuple(Feature(name, importlib.import_module(f"{_HERE}.{name}").ADDRESSES) for name in folders)


FEATURES = _found()


class Routing:
    """Includes routers in an application that already has its other routes, in the order of the list, whichever is requested first."""

    def __init__(self, app: FastAPI) -> None:
        self._app = app
        self._before = tuple(app.router.routes)
        self._included: dict[Feature, list[BaseRoute]] = {}
        self._missing: dict[str, list[Feature]] = {}
        for feature in FEATURES:
            for address in feature.addresses:
                self._missing.setdefault(address, []).append(feature)

    async def prepare(self, address: str) -> None:
        """Load the routers for this prefix, in a thread, so that other requests are answered meanwhile."""
        for feature in self._missing.get(address, ()):
            await asyncio.to_thread(feature.load)
            self._include(feature)
        self._missing.pop(address, None)

    async def prepare_all(self) -> None:
        """Load all routers, one after the other."""
        for address in tuple(self._missing):
            await self.prepare(address)

    def include_all(self) -> None:
        """Load all routers at once."""
        for feature in FEATURES:
            self._include(feature)
        self._missing.clear()

    def _include(self, feature: Feature) -> None:
        """Include a router unless another request already has. Raises `LookupError` like `check_declared`."""
        if feature in self._included:
            return
        routes = self._app.router.routes
        present = len(routes)
        for router in feature.load():
            self._app.include_router(router)
        self._included[feature] = routes[present:]
        # The first route that fits answers.
        routes[:] = [*self._before, *(route for one in FEATURES for route in self._included.get(one, ()))]


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
