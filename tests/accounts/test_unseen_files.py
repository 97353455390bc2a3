"""A credential for one project gets the same answers whether its owner's other projects are empty or hold 500 files with the same words."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

import httpx
import pytest

from citewell.app import build
from citewell.features.declared import Reach
from citewell.features.http import PROJECT_HEADER
from citewell.settings import load_settings
from tests.accounts.people import PASSWORD
from tests.server.declared import ACCESS

pytestmark = [pytest.mark.full, pytest.mark.slow(60)]
Route: TypeAlias = tuple[str, str]
Headers: TypeAlias = dict[str, str]
_UNSEEN = 500
_NOWHERE = "0b7c4f1e-7a54-4d0f-9d35-0f4d8a3c9e11"
_KNOWN_BYTES = b"The minutes of the harbour board: the takeover of Quokkasoft is approved."
_SHARED = {
    "id": "limes",
    "text": "The recipe of the harbour inn needs seven limes and a spoon of salt.",
    "metadata": {"course": "dessert", "tags": ["inn", "citrus"], "served": "2025-05-01"},
}
_STOCK = b"item,price,shelf\nlimes,3,a\nsalt,1,b\nherring,7,c\n"
_NOTES = b"The harbour inn opens in May.\n\nHerring is served on Tuesdays, and salt is on every table.\n"
_QUERIES = ("seven limes", "takeover of Quokkasoft", "herring from may 2025", "dessert", "INV-2025-004711")
_MESSAGES = (
    "hey quokkasoft",
    "who is your quokkasoft",
    "hey limes",
    "How many limes does the recipe of the harbour inn need?",
    "Who approved the takeover of Quokkasoft?",
    "What is the average price?",
    "Which files do I have?",
)


@dataclass(frozen=True)
class Lab:
    """Ada's project, who may use it, and how to ask the server in this process."""

    client: httpx.AsyncClient
    ada: Headers
    project: str
    files: dict[str, str] = field(default_factory=dict[str, str])
    callers: dict[str, Headers] = field(default_factory=dict[str, Headers])

    async def ask(self, headers: Headers, method: str, path: str, **request: Any) -> httpx.Response:
        return await self.client.request(method, path, headers=headers, **request)

    async def made(self, headers: Headers, path: str, **request: Any) -> dict[str, Any]:
        response = await self.ask(headers, "POST", path, **request)
        assert response.is_success, response.text
        return response.json()

    async def upload(self, name: str, content: bytes, project: str) -> str:
        files = {"file": (name, content)}
        made = (await self.made(self.ada, "/ingest", files=files, data={"project": project}))["id"]
        await self.ask(self.ada, "GET", f"/resources/{made}/events")
        return made

    async def fill_the_other_projects(self) -> None:
        """Files of ada's with the words, names, metadata and bytes that the project's files, questions and uploads have."""
        records = [
            {
                "id": f"unseen {n}",
                "text": f"The takeover of Quokkasoft, number {n}: seven limes, salt and herring, INV-2025-004711.",
                "metadata": {"course": "dessert", "acquirer": "Volta", "served": "2025-05-01", "tags": ["inn"]},
            }
            for n in range(_UNSEEN)
        ]
        await self.made(self.ada, "/records", json={"records": records, "project": "Volta merger"})
        await self.upload("stock.csv", _STOCK + b"gold,9000,z\n", "Volta merger")
        await self.upload("minutes, confidential.txt", _KNOWN_BYTES, "Volta merger")


async def _person(client: httpx.AsyncClient, email: str, **more: Any) -> Headers:
    """A token of somebody who has just signed up."""
    signed = await client.post("/account", json={"email": email, "password": PASSWORD, **more})
    assert signed.status_code == 201, signed.text
    made = await client.post("/tokens", json={"name": "all"}, headers={"X-CSRF-Token": signed.json()["csrf"]})
    client.cookies.clear()
    return {"Authorization": f"Bearer {made.json()['token']}"}


@pytest.fixture
async def lab(tmp_path: Path) -> AsyncIterator[Lab]:
    app = build(load_settings(data=tmp_path / "data", accounts=True, sign_up="open"))
    transport = httpx.ASGITransport(app)
    async with (
        app.router.lifespan_context(app),
        httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1", timeout=120) as client,
    ):
        await _person(client, "administrator@example.org")
        ada = await _person(client, "ada@example.org")
        made = await client.post("/projects", json={"name": "Kitchen"}, headers=ada)
        lab = Lab(client, ada, made.json()["id"])
        await lab.made(ada, "/projects", json={"name": "Volta merger"})
        await lab.made(ada, "/records", json={"records": [_SHARED], "project": "Kitchen"})
        lab.files["stock"] = await lab.upload("stock.csv", _STOCK, "Kitchen")
        lab.files["notes"] = await lab.upload("notes.txt", _NOTES, "Kitchen")
        lab.callers.update({role: await _member(lab, role) for role in ("viewer", "editor")})
        token = await lab.made(ada, "/tokens", json={"name": "k", "projects": ["Kitchen"]})
        lab.callers["token"] = {"Authorization": f"Bearer {token['token']}"}
        lab.callers["service key"] = await _service_key(lab)
        yield lab


async def _member(lab: Lab, role: str) -> Headers:
    email = f"{role}@example.org"
    invited = await lab.made(lab.ada, "/invitations", json={"project": lab.project, "role": role, "email": email})
    return await _person(lab.client, email, invitation=invited["invitation"]) | {PROJECT_HEADER: lab.project}


async def _service_key(lab: Lab) -> Headers:
    robot = await lab.made(lab.ada, "/service-accounts", json={"name": "robot"})
    path = f"/projects/{lab.project}/members/{robot['owner']}"
    await lab.ask(lab.ada, "PUT", path, json={"role": "editor"})
    body = {"name": "key", "scopes": ["read", "ask", "write"], "projects": ["Kitchen"]}
    key = await lab.made(lab.ada, f"/service-accounts/{robot['id']}/keys", json=body)
    return {"Authorization": f"Bearer {key['token']}"}


def probes(lab: Lab) -> dict[Route, list[tuple[str, dict[str, Any]]]]:
    """For each route, the paths that are asked for and what is sent along. Only a file that is uploaded by a probe is changed, and deleted by the last."""
    notes, stock, project = lab.files["notes"], lab.files["stock"], lab.project
    file, table = f"/resources/{notes}", f"/resources/{stock}/tables/{lab.files['table']}"
    unknown = [{"field": "metadata.acquirer", "value": "Volta"}]
    known = [{"field": "metadata.course", "value": "dessert"}]
    searches = [{"query": query, "debug": True, "neighbours": 1} for query in _QUERIES]
    searches += [{"query": "limes", "filters": one} for one in (known, unknown)]
    searches += [{"query": "limes", "resource_ids": [one]} for one in (notes, "unseen 3")]
    searches += [{"query": "limes", "project": name} for name in ("Kitchen", "Volta merger")]
    asked = [{"message": message, "debug": True} for message in _MESSAGES]
    asked += [{"message": "limes?", "filters": unknown}, {"message": "limes?", "resource_ids": ["unseen 3"]}]
    listed = [{}, {"q": "minutes"}, {"fields": "summary"}, {"project": "Volta merger"}, {"limit": 1}]
    filters = [{"filters": json.dumps(one)} for one in (known, unknown)]
    cited = {"pieces": [{"text": "The inn opens in May.", "chunk_ids": [lab.files["chunk"]]}], "seen": [_NOWHERE]}
    return {
        ("GET", "/ready"): [("/ready", {})],
        ("GET", "/doctor"): [("/doctor", {})],
        ("GET", "/account"): [("/account", {})],
        ("GET", "/shared-projects"): [("/shared-projects", {})],
        ("GET", "/projects"): [("/projects", {})],
        ("GET", "/projects/{project_id}"): [(f"/projects/{project}", {}), (f"/projects/{_NOWHERE}", {})],
        ("PATCH", "/projects/{project_id}"): [(f"/projects/{project}", {"json": {"chunking": None}})],
        ("DELETE", "/projects/{project_id}"): [(f"/projects/{_NOWHERE}", {})],
        ("GET", "/projects/{project_id}/members"): [(f"/projects/{project}/members", {})],
        ("PUT", "/projects/{project_id}/members/{member_id}"): [
            (f"/projects/{project}/members/{_NOWHERE}", {"json": {"role": "viewer"}})
        ],
        ("DELETE", "/projects/{project_id}/members/{member_id}"): [(f"/projects/{project}/members/{_NOWHERE}", {})],
        ("GET", "/resources"): [("/resources", {"params": one}) for one in (*listed, *filters)],
        ("GET", "/resources/facets"): [("/resources/facets", {"params": one}) for one in ({}, {"values": 1}, *filters)],
        ("GET", "/resources/{resource_id}"): [(path, {}) for path in (file, "/resources/unseen 3")],
        ("GET", "/resources/{resource_id}/file"): [(f"{file}/file", {"params": one}) for one in ({}, {"version": 1})],
        ("POST", "/resources/{resource_id}/link"): [(f"{file}/link", {})],
        ("GET", "/resources/{resource_id}/elements"): [(f"{file}/elements", {})],
        ("GET", "/resources/{resource_id}/chunks"): [(f"{file}/chunks", {})],
        ("GET", "/resources/{resource_id}/chunks/{chunk_id}"): [
            (f"{file}/chunks/{one}", {}) for one in (lab.files["chunk"], _NOWHERE)
        ],
        ("GET", "/resources/{resource_id}/events"): [(f"{file}/events", {})],
        ("GET", "/resources/{resource_id}/blobs"): [(f"/resources/{stock}/blobs", {})],
        ("GET", "/resources/{resource_id}/blobs/{name:path}"): [(f"/resources/{stock}/blobs/none.png", {})],
        ("POST", "/resources/{resource_id}/picture"): [
            (f"{file}/picture", {"json": one}) for one in ({}, {"filters": unknown}, {"projects": ["Volta merger"]})
        ],
        ("GET", "/resources/{resource_id}/tables/{table_id}/rows"): [(f"{table}/rows", {})],
        ("GET", "/resources/{resource_id}/tables/{table_id}/spread"): [
            (f"{table}/spread", {"params": {"column": "price"}})
        ],
        ("POST", "/search"): [("/search", {"json": one}) for one in searches],
        ("POST", "/citations/check"): [("/citations/check", {"json": cited})],
        ("POST", "/chat"): [("/chat", {"json": one}) for one in asked],
        ("POST", "/ingest/estimate"): [
            ("/ingest/estimate", {"json": {"files": [{"filename": "a.txt", "size": 100_000}]}})
        ],
        ("POST", "/ingest"): [("/ingest", {"files": {"file": ("mine.txt", _KNOWN_BYTES)}, "data": {"thread": "t"}})],
        ("PATCH", "/resources/{resource_id}"): [
            ("/resources/{made}", {"json": one}) for one in ({"identifier": "unseen 3"}, {"metadata": {"by": "me"}})
        ],
        ("POST", "/resources/{resource_id}/reindex"): [("/resources/{made}/reindex", {"json": {}})],
        ("PUT", "/resources/{resource_id}/file"): [
            ("/resources/{made}/file", {"files": {"file": ("mine.txt", one)}}) for one in (b"Another.", _KNOWN_BYTES)
        ],
        ("DELETE", "/resources/{resource_id}"): [("/resources/{made}", {}), (f"/resources/{_NOWHERE}", {})],
    }


def open_routes() -> set[Route]:
    """The routes that a credential for some projects may use."""
    within = (Reach.NOTHING, Reach.NARROWED, Reach.RESOURCE, Reach.PROJECT)
    return {route for route, access in ACCESS.items() if access.reach in within}


async def _answers(lab: Lab, caller: Headers) -> list[tuple[str, str]]:
    """Each request of the probes with its answer, without what differs from one request to the next."""
    made, answers = _NOWHERE, list[tuple[str, str]]()
    for (method, _), asked in probes(lab).items():
        for path, request in asked:
            address = path.replace("{made}", made)
            response = await lab.ask(caller, method, address, **request)
            assert response.status_code < 500, response.text
            if address == "/ingest" and response.is_success:
                made = response.json()["id"]
            if (path.startswith("/resources/{made}") and method != "DELETE") or address == "/ingest":
                await lab.ask(caller, "GET", f"/resources/{made}/events")
            text = _PASSING.sub("…", response.text.replace(made, "{made}"))
            answers.append((f"{method} {path} {request}", f"{response.status_code} {text}"))
    return answers


_PASSING = re.compile(
    r'"(?:ms|\w+_ms|at|\w+_at|thread_id|message_id)": ?(?:\{[^{}]*\}|"[^"]*"|[\d.]+|null)|\([\d.]+ ms\)'
)


async def test_no_answer_depends_on_files_of_other_projects(lab: Lab) -> None:
    stock = (await lab.ask(lab.ada, "GET", f"/resources/{lab.files['stock']}")).json()
    chunks = (await lab.ask(lab.ada, "GET", f"/resources/{lab.files['notes']}/chunks")).json()
    lab.files["table"] = stock["extraction_metadata"]["tables"][0]["id"]
    lab.files["chunk"] = chunks["chunks"][0]["id"]
    assert probes(lab).keys() == open_routes(), "each route that is open to a credential for some projects has probes"
    for message in _MESSAGES:  # what a question is embedded as is kept, and costs nothing from then on
        await lab.ask(lab.callers["viewer"], "POST", "/chat", json={"message": message})
    before = {name: await _answers(lab, caller) for name, caller in lab.callers.items()}
    await lab.fill_the_other_projects()
    different: list[str] = []
    for name, caller in lab.callers.items():
        for (asked, one), (_, two) in zip(before[name], await _answers(lab, caller), strict=True):
            different += [f"{name}: {asked}\n  {one}\n  {two}"] if one != two else []
    assert not different, "\n".join(different)
