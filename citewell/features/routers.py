"""Finds the features by their folders, and has each answer from the first request to one of its addresses: loading all takes an eighth of the start."""

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
    """A folder of `citewell.features`: its `endpoints` module has the routers, and the folder's own module, which is small, their `ADDRESSES`.

    addresses: the first part of the path of each route: `/threads` for `/threads/{id}/messages`
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
    """Includes the features in an application whose other routes are there already, in their order, whichever is asked for first."""

    def __init__(self, app: FastAPI) -> None:
        self._app = app
        self._before = tuple(app.router.routes)
        self._included: dict[Feature, list[BaseRoute]] = {}
        self._missing: dict[str, list[Feature]] = {}
        for feature in FEATURES:
            for address in feature.addresses:
                self._missing.setdefault(address, []).append(feature)

    async def prepare(self, address: str) -> None:
        """Have the features with this address answer. They are loaded in a thread, and other requests answered meanwhile."""
        for feature in self._missing.get(address, ()):
            await asyncio.to_thread(feature.load)
            self._include(feature)
        self._missing.pop(address, None)

    async def prepare_all(self) -> None:
        """Have all features answer, one after the other."""
        for address in tuple(self._missing):
            await self.prepare(address)

    def include_all(self) -> None:
        """Have all features answer, at once."""
        for feature in FEATURES:
            self._include(feature)
        self._missing.clear()

    def _include(self, feature: Feature) -> None:
        """Unless another request has done so meanwhile."""
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
    """ASGI middleware: has the features answer that a request may be for."""

    def __init__(self, app: ASGIApp, routing: Routing) -> None:
        self._app = app
        self._routing = routing

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Load what is missing, then pass the request on."""
        if scope["type"] == "http":
            path = scope["path"].removeprefix(scope.get("root_path", ""))
            await self._routing.prepare("/" + path.lstrip("/").partition("/")[0])
        await self._app(scope, receive, send)


class Application(FastAPI):
    """The application, whose features answer once they were asked for or described; `routing` has them do so before."""

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
        """The API's description, which is about all features."""
        if self.openapi_schema is None:
            from citewell.features.webhooks.endpoints import describe_events

            self.routing.include_all()
            describe_events(self.webhooks)
        return super().openapi()


def _operation_name(route: APIRoute) -> str:
    """The function's name, which no other has: what generated clients and automation services call it."""
    return route.name
