"""Routers that are loaded when they are asked for: the same answers as if all had been there, whichever request is first, and however many are."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest
from fastapi import APIRouter
from fastapi.routing import APIRoute
from starlette.routing import Route

from citewell.app import build
from citewell.features.declared import PUBLIC
from citewell.features.http import check_declared
from citewell.features.routers import ROUTERS, Application
from citewell.features.routing import Router
from citewell.settings import load_settings
from tests.server.running import RunningServer

_ASKED = {
    "/chat": 405,
    "/audit": 200,
    "/webhooks": 200,
    "/webhooks/deliveries": 200,
    "/webhooks/none": 404,
    "/threads": 200,
    "/threads/": 307,
    "/resources": 200,
    "/resources/none/tables": 404,
    "/projects": 200,
    "/projects/none/members": 404,
    "/telegram/none": 404,
    "/v1/models": 200,
    "/nowhere": 404,
    "/ready": 200,
    "/openapi.json": 200,
}


@pytest.fixture
async def app(tmp_path: Path) -> AsyncIterator[Application]:
    """An application that is open and was asked nothing yet."""
    app = build(load_settings(data=tmp_path / "data"))
    async with app.router.lifespan_context(app):
        yield app


def _client(app: Application) -> httpx.AsyncClient:
    token = app.state.services.folder.token()
    headers = {"Authorization": f"Bearer {token}"}
    return httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://127.0.0.1", headers=headers)


def test_each_router_is_listed_with_the_beginnings_of_its_addresses() -> None:
    for late in ROUTERS:
        routes = late.load().routes
        assert all(isinstance(route, Route) for route in routes)
        begins = {"/" + route.path.split("/")[1] for route in routes if isinstance(route, Route)}
        assert begins == set(late.begins.split()), late


async def test_a_request_has_those_routers_answer_whose_addresses_begin_as_its_own(app: Application) -> None:
    assert _included(app) == []
    async with _client(app) as client:
        assert (await client.get("/health")).status_code == 200
        assert _included(app) == ["health.endpoints"]
        assert (await client.get("/nowhere")).json()["error"]["code"] == "not_found"
        assert (await client.get("/webhooks")).status_code == 200
        assert _included(app) == ["health.endpoints", "triggers.endpoints", "webhooks.endpoints"]
        assert (await client.get("/resources")).status_code == 200
    expected = ["health", "resources", "tables", "triggers", "webhooks"]
    assert _included(app) == [f"{name}.endpoints" for name in expected]


def _included(app: Application) -> list[str]:
    """The modules of the routers that answer, in their order."""
    routers = [getattr(route, "original_router", None) for route in app.routes]
    modules = {id(late.load()): late.module for late in ROUTERS}
    return [modules[id(router)] for router in routers if router is not None]


async def test_the_order_of_the_routes_is_that_of_the_list_whatever_was_asked_first(app: Application) -> None:
    for late in reversed(ROUTERS):
        await app.routing.prepare(late.begins.split()[0])
    assert _included(app) == [late.module for late in ROUTERS]


async def test_the_description_is_about_all_features_and_the_same_whatever_was_asked_first(
    app: Application, tmp_path: Path
) -> None:
    asked = build(load_settings(data=tmp_path / "other"))
    await asked.routing.prepare("/webhooks")
    await asked.routing.prepare_all()
    described = app.openapi()
    assert described == asked.openapi()
    assert list(described["paths"]) == list(asked.openapi()["paths"])
    assert len(described["paths"]) > 80
    assert "resource.indexed" in described["webhooks"]


async def test_first_requests_that_come_at_once_are_all_answered(app: Application) -> None:
    paths = [*_ASKED] * 5
    async with _client(app) as client:
        answers = await asyncio.gather(*(client.get(path) for path in paths))
    assert {path: answer.status_code for path, answer in zip(paths, answers, strict=True)} == _ASKED
    assert len(_included(app)) == len(ROUTERS)


@pytest.mark.full
def test_first_requests_to_a_server_that_begins_to_listen_are_all_answered(tmp_path: Path) -> None:
    """Here the modules are not loaded yet, and the server loads what a question needs meanwhile."""
    paths = [*_ASKED] * 3
    with RunningServer(tmp_path / "data") as server, ThreadPoolExecutor(len(paths)) as threads:
        answers = [*threads.map(server.client.get, paths)]
    assert {path: answer.status_code for path, answer in zip(paths, answers, strict=True)} == _ASKED


def test_a_route_that_declares_nothing_is_not_included() -> None:
    def silent() -> int:
        return 0

    router = APIRouter()
    router.add_api_route("/silent", silent, methods=["GET"])
    with pytest.raises(LookupError, match="GET /silent does not declare"):
        check_declared(router.routes)


def test_a_route_cannot_be_defined_without_saying_what_it_requires() -> None:
    with pytest.raises(TypeError, match="access"):
        Router().get("/silent")  # pyright: ignore[reportCallIssue]
    with pytest.raises(TypeError, match="audit"):
        Router().post("/silent", access=PUBLIC)  # pyright: ignore[reportCallIssue]


def test_every_route_asks_for_what_it_declares() -> None:
    routes = [route for late in ROUTERS for route in late.load().routes]
    check_declared(routes)
    assert len([route for route in routes if isinstance(route, APIRoute)]) > 130
