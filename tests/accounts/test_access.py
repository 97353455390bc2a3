"""Every route of the OpenAPI document × every kind of credential: who is let in is what the table of access says, and nothing else."""

from __future__ import annotations

import re
import time
import uuid
from collections.abc import Iterator
from dataclasses import dataclass

import httpx
import pytest

from citewell.features.declared import Reach
from citewell.types.accounts import AccessScope
from tests.accounts.people import Browser, signed_up
from tests.contract_servers.jwks import claims_of, signed
from tests.server.declared import ACCESS
from tests.server.in_process import InProcessServer
from tests.server.running import Server

pytestmark = pytest.mark.slow(60)
# Work that a request without a body begins, and what it would take: let in or not is seen with the other credentials.
_BEGINS_WORK = {("POST", "/samples"), ("POST", "/reindex")}


@dataclass(frozen=True)
class World:
    """The things that requests name, and who asks."""

    server: Server
    routes: list[tuple[str, str]]
    project: str
    inside: str
    outside: str
    other_project: str
    ada: Browser
    ben: Browser

    def key(self, browser: Browser | None = None, **given: object) -> str:
        """A token of the machine's owner, or of somebody else."""
        body = {"name": "key"} | given
        made = browser.call("POST", "/tokens", json=body) if browser else self.server.client.post("/tokens", json=body)
        assert made.status_code == 201, made.text
        return made.json()["token"]

    def ask(self, method: str, path: str, token: str | None, **ids: str) -> httpx.Response:
        """A request with an empty body; ids that are not given exist nowhere."""
        address = re.sub(r"\{(\w+)(?::path)?\}", lambda found: ids.get(found[1], str(uuid.uuid4())), path)
        headers = {} if token is None else {"Authorization": f"Bearer {token}"}
        body = None if method == "GET" else {}
        return self.client.request(method, address, headers=headers, json=body)

    @property
    def client(self) -> httpx.Client:
        return self.server.client

    def refusals(self, token: str | None, **ids: str) -> dict[tuple[str, str], int]:
        """What every route but the public ones answers."""
        return {
            route: self.ask(*route, token, **ids).status_code
            for route in self.routes
            if ACCESS[route].scope is not None and route not in _BEGINS_WORK
        }


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    folder = tmp_path_factory.mktemp("matrix")
    with InProcessServer(folder / "data", CITEWELL_ACCOUNTS="on", CITEWELL_SIGN_UP="open") as server:
        signed_up(server.url, "administrator@example.org")
        ada, ben = signed_up(server.url, "ada@example.org"), signed_up(server.url, "ben@example.org")
        project = ada.call("POST", "/projects", json={"name": "Shared"}).json()["id"]
        other = ada.call("POST", "/projects", json={"name": "Private"}).json()["id"]
        ids = [
            ada.call("POST", "/ingest", files={"file": (name, name.encode())}, data={"project": where}).json()["id"]
            for name, where in (("inside.txt", project), ("outside.txt", other))
        ]
        paths = httpx.get(f"{server.url}/openapi.json").json()["paths"]
        found = [(method.upper(), path) for path, methods in paths.items() for method in methods]
        with httpx.Client(base_url=server.url, timeout=60) as bare:
            inside, outside = ids
            made = World(server, [_named(*route) for route in found], project, inside, outside, other, ada, ben)
            tokens = server.client
            server.client = _WithTokens(tokens, bare)  # pyright: ignore[reportAttributeAccessIssue]
            yield made
            server.client = tokens


class _WithTokens:
    """Makes tokens as the machine's owner, and asks everything else as nobody."""

    def __init__(self, owner: httpx.Client, bare: httpx.Client) -> None:
        self.post, self.request, self.close = owner.post, bare.request, owner.close


def _named(method: str, path: str) -> tuple[str, str]:
    """The row's name of a route: the document leaves out that a parameter may hold slashes."""
    return next((method, known) for _, known in ACCESS if known.replace(":path", "") == path)


def test_every_route_has_a_row_and_every_row_a_route(world: World) -> None:
    assert set(world.routes) == set(ACCESS) - {("POST", "/mcp")}
    assert len(world.routes) > 70


def test_without_a_valid_credential_there_is_no_way_in(world: World) -> None:
    claims = claims_of(world.ada.access_token)
    key = (world.server.data / "session_secret").read_bytes()
    expired = signed(claims | {"exp": int(time.time()) - 5}, key, "HS256", typ="at+jwt")
    revoked = world.key(world.ada)
    listed = world.ada.get("/tokens").json()["tokens"]
    world.ada.call("DELETE", f"/tokens/{listed[0]['id']}")
    time.sleep(2.1)  # what is revoked may pass for two seconds, which is promised; a request with it would count as one
    for name, token in {"none": None, "bad": "cw_bad", "expired": expired, "revoked": revoked}.items():
        answers = world.refusals(token, resource_id=world.inside, project_id=world.project)
        assert {route: status for route, status in answers.items() if status != 401} == {}, name


def test_somebody_who_is_suspended_is_out_everywhere(world: World) -> None:
    carl = signed_up(world.server.url, "carl@example.org")
    token, session = world.key(carl), carl.access_token
    administrator = Browser(world.server.url)
    administrator.sign_in("administrator@example.org")
    person = carl.get("/account").json()["id"]
    assert administrator.call("PATCH", f"/people/{person}", json={"state": "suspended"}).is_success
    for credential in (token, session):
        answers = world.refusals(credential)
        assert {route: status for route, status in answers.items() if status != 401} == {}


@pytest.mark.parametrize("scope", list(AccessScope))
def test_a_token_of_one_scope_opens_what_the_table_says(world: World, scope: AccessScope) -> None:
    answers = world.refusals(world.key(scopes=[scope.value]))
    expected = {route: ACCESS[route].scope is scope for route in answers}
    assert {route: status not in (401, 403) for route, status in answers.items()} == expected


def test_a_token_for_one_project_reaches_nothing_outside_it(world: World) -> None:
    token = world.key(world.ada, projects=[world.project])
    answers = world.refusals(token, resource_id=world.outside, project_id=world.other_project)
    expected = {Reach.EVERYTHING: 403, Reach.RESOURCE: 404, Reach.PROJECT: 404}
    wrong = {
        route: status
        for route, status in answers.items()
        if status != expected.get(ACCESS[route].reach, status)
        or (status in (401, 403)) != (ACCESS[route].reach is Reach.EVERYTHING)
    }
    assert wrong == {}
    assert world.ask("GET", "/resources/{resource_id}", token, resource_id=world.inside).status_code == 200


def test_another_owners_things_do_not_exist(world: World) -> None:
    before = world.ada.get("/resources").json()["resources"]
    token = world.key(world.ben)
    answers = world.refusals(token, resource_id=world.inside, project_id=world.project)
    reached = {
        route: status
        for route, status in answers.items()
        if ACCESS[route].reach in (Reach.RESOURCE, Reach.PROJECT)
        and status not in (404, 422)
        and "members" not in route[1]
    }
    assert reached == {}
    members = world.ask("GET", "/projects/{project_id}/members", token, project_id=world.project)
    assert members.json() == {"members": []}
    assert [one["id"] for one in world.ada.get("/resources").json()["resources"]] == [one["id"] for one in before]


@pytest.mark.parametrize("role", ["viewer", "editor"])
def test_a_member_may_do_in_the_project_what_the_role_says_and_nothing_outside_it(world: World, role: str) -> None:
    member = signed_up(world.server.url, f"{role}@example.org")
    body = {"project": world.project, "role": role}
    secret = world.ada.call("POST", "/invitations", json=body).json()["invitation"]
    assert member.call("POST", "/invitations/accept", json={"invitation": secret}).status_code == 204
    token = member.access_token
    good = {"viewer": {"read", "ask"}, "editor": {"read", "ask", "write"}}[role]
    for route in world.routes:
        access = ACCESS[route]
        if access.reach not in (Reach.RESOURCE, Reach.PROJECT) or access.scope is None:
            continue
        outside = world.ask(*route, token, resource_id=world.outside, project_id=world.other_project)
        assert outside.status_code in (404, 422) or outside.json() == {"members": []}, route
        if access.scope.value in good and route[0] != "GET":
            continue  # an editor's changes are tried in test_sharing.py
        inside = world.ask(*route, token, resource_id=world.inside, project_id=world.project)
        assert (inside.status_code == 403) == (access.scope.value not in good), (route, inside.text)


@pytest.mark.parametrize("scope", list(AccessScope))
def test_the_tools_for_mcp_clients_take_what_their_row_says(world: World, scope: AccessScope) -> None:
    headers = {"Authorization": f"Bearer {world.key(scopes=[scope.value])}"}
    status = httpx.post(f"{world.server.url}/mcp", headers=headers, json={}, timeout=60).status_code
    assert (status != 403) == (scope is AccessScope.READ)
