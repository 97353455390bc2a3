"""Routers that are loaded when they are asked for: the same answers as if all had been there, whichever request is first, and however many are."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest
from fastapi.routing import APIRoute
from starlette.routing import Route

from citewell import features
from citewell.app import build
from citewell.features.declared import PUBLIC, READ, narrowed, nothing
from citewell.features.http import Owner
from citewell.features.routers import FEATURES, Application
from citewell.features.routing import Router
from citewell.settings import load_settings
from tests.server.declared import DECLARED, ROUTES
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

_WITH_ROUTES = [feature.name for feature in FEATURES if feature.addresses]


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


def test_each_feature_names_the_beginnings_of_its_addresses() -> None:
    for feature in FEATURES:
        routes = [route for router in feature.load() for route in router.routes]
        assert all(isinstance(route, Route) for route in routes)
        begins = {"/" + route.path.split("/")[1] for route in routes if isinstance(route, Route)}
        assert begins == set(feature.addresses), feature


def test_every_folder_is_a_feature_and_all_but_the_one_that_is_no_router_have_routes() -> None:
    folders = {path.parent.name for path in (Path(features.__file__).parent).glob("*/__init__.py")}
    assert [feature.name for feature in FEATURES] == sorted(folders)
    assert [feature.name for feature in FEATURES if not feature.load()] == ["mcp"]


def test_a_route_that_another_hides_comes_before_it() -> None:
    """Features are tried by name. Were the order another, `/webhooks/{webhook_id}` would answer for a trigger."""
    routes = [route for route in ROUTES if isinstance(route, Route)]
    hidden = [
        (late.path, early.path)
        for place, late in enumerate(routes)
        for early in routes[:place]
        if late.path != early.path
        and (late.methods or set()) & (early.methods or set())
        and early.path_regex.match(late.path)
        and not late.path_regex.match(early.path)
    ]
    assert hidden == []


@pytest.mark.full
async def test_a_request_has_those_routers_answer_whose_addresses_begin_as_its_own(app: Application) -> None:
    assert _included(app) == []
    async with _client(app) as client:
        assert (await client.get("/health")).status_code == 200
        assert _included(app) == ["health"]
        assert (await client.get("/nowhere")).json()["error"]["code"] == "not_found"
        assert (await client.get("/webhooks")).status_code == 200
        assert _included(app) == ["health", "triggers", "webhooks"]
        assert (await client.get("/resources")).status_code == 200
    assert _included(app) == ["health", "resources", "tables", "triggers", "webhooks"]


def _included(app: Application) -> list[str]:
    """The features that answer, in their order."""
    routers = [getattr(route, "original_router", None) for route in app.routes]
    names = {id(router): feature.name for feature in FEATURES for router in feature.load()}
    return list(dict.fromkeys(names[id(router)] for router in routers if router is not None))


async def test_the_order_of_the_routes_is_that_of_the_features_whatever_was_asked_first(app: Application) -> None:
    for feature in reversed(FEATURES):
        for address in feature.addresses:
            await app.routing.prepare(address)
    assert _included(app) == _WITH_ROUTES


@pytest.mark.full
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


@pytest.mark.full
async def test_first_requests_that_come_at_once_are_all_answered(app: Application) -> None:
    paths = [*_ASKED] * 5
    async with _client(app) as client:
        answers = await asyncio.gather(*(client.get(path) for path in paths))
    assert {path: answer.status_code for path, answer in zip(paths, answers, strict=True)} == _ASKED
    assert _included(app) == _WITH_ROUTES


@pytest.mark.full
def test_first_requests_to_a_server_that_begins_to_listen_are_all_answered(tmp_path: Path) -> None:
    """Here the modules are not loaded yet, and the server loads what a question needs meanwhile."""
    paths = [*_ASKED] * 3
    with RunningServer(tmp_path / "data") as server, ThreadPoolExecutor(len(paths)) as threads:
        answers = [*threads.map(server.client.get, paths)]
    assert {path: answer.status_code for path, answer in zip(paths, answers, strict=True)} == _ASKED


def test_a_route_cannot_be_defined_without_saying_what_it_requires() -> None:
    with pytest.raises(TypeError, match="access"):
        Router().get("/silent")  # pyright: ignore[reportCallIssue]
    with pytest.raises(TypeError, match="audit"):
        Router().post("/silent", access=PUBLIC)  # pyright: ignore[reportCallIssue]


def test_a_route_that_does_not_ask_for_what_it_declares_cannot_be_defined() -> None:
    def silent() -> int:
        return 0

    for access, asked in ((nothing(READ), "who sends it"), (narrowed(READ), "who sends it")):
        with pytest.raises(LookupError, match=asked):
            Router().get("/silent", access=access)(silent)
    with pytest.raises(LookupError, match="the projects"):
        Router().get("/narrowed", access=narrowed(READ))(_asks_who)
    with pytest.raises(LookupError, match="who sends it"):
        Router().get("/public", access=PUBLIC)(_asks_who)


def _asks_who(owner: Owner) -> str:
    return owner


def test_every_route_declares_what_it_requires() -> None:
    assert len(DECLARED) > 130
    assert all(isinstance(route, APIRoute) for route in ROUTES)
    assert len(DECLARED) == 1 + sum(len(route.methods or ()) for route in ROUTES if isinstance(route, APIRoute))
