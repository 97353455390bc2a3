"""Service accounts over HTTP: programs with keys, in the projects that they are members of, and nowhere else."""

from __future__ import annotations

import json
import re
import time
import uuid
from collections.abc import Callable
from typing import Any

import httpx
import pytest

from citewell.features.declared import Reach
from citewell.types.accounts import AccessScope
from tests.accounts.people import Browser, signed_up
from tests.server.declared import ACCESS
from tests.server.running import Server

pytestmark = pytest.mark.slow(20)
RECIPE = b"The recipe of the harbour inn needs seven limes and a spoon of smoked salt."
SECRET = b"The password of the harbour inn's safe is nineteen pelicans and seven limes."
_PROMISED_SECONDS = 5.0
_CLIENT = httpx.Client(timeout=60)  # making one takes longer than a request


class Manager:
    """Ada, with a project that her service accounts may use, and a file outside it."""

    def __init__(self, server: Server) -> None:
        self.url = server.url
        self.browser = signed_up(server.url, f"{uuid.uuid4().hex[:12]}@example.org", name="Ada")
        self.project = self.browser.call("POST", "/projects", json={"name": "Kitchen"}).json()["id"]
        self.recipe = self.add("recipe.txt", RECIPE, project=self.project)
        self.secret = self.add("secret.txt", SECRET)

    def add(self, name: str, content: bytes, **fields: str) -> str:
        made = self.browser.call("POST", "/ingest", files={"file": (name, content)}, data=fields)
        assert made.status_code == 201, made.text
        assert self.browser.get(f"/resources/{made.json()['id']}/events").is_success
        return made.json()["id"]

    def robot(self, role: str | None = None, name: str | None = None) -> dict[str, Any]:
        """A service account, and its membership of the project."""
        made = self.browser.call("POST", "/service-accounts", json={"name": name or uuid.uuid4().hex})
        assert made.status_code == 201, made.text
        robot = made.json()
        if role is not None:
            path = f"/projects/{self.project}/members/{robot['owner']}"
            assert self.browser.call("PUT", path, json={"role": role}).status_code == 204
        return robot

    def key(self, robot: dict[str, Any], *scopes: str, **more: Any) -> dict[str, Any]:
        body = {"name": "key", "scopes": list(scopes) or ["read", "ask", "write", "admin"], **more}
        made = self.browser.call("POST", f"/service-accounts/{robot['id']}/keys", json=body)
        assert made.status_code == 201, made.text
        return made.json()

    def program(self, robot: dict[str, Any], *scopes: str, **more: Any) -> Callable[..., httpx.Response]:
        """What sends requests with a new key."""
        return sender(self.url, self.key(robot, *scopes, **more)["token"])


def sender(url: str, key: str) -> Callable[..., httpx.Response]:
    def send(method: str, path: str, headers: dict[str, str] | None = None, **request: Any) -> httpx.Response:
        bearer = {"Authorization": f"Bearer {key}"} | (headers or {})
        return _CLIENT.request(method, url + path, headers=bearer, **request)

    return send


@pytest.fixture(scope="module")
def ada(accounts: Server, administrator: Browser) -> Manager:
    """Somebody who is no administrator."""
    assert administrator.owner
    return Manager(accounts)


@pytest.fixture(scope="module")
def ben(accounts: Server, administrator: Browser) -> Browser:
    assert administrator.owner
    return signed_up(accounts.url, f"{uuid.uuid4().hex[:12]}@example.org")


def in_project(ada: Manager) -> dict[str, str]:
    return {"X-Citewell-Project": ada.project}


def found(answer: httpx.Response) -> set[str]:
    assert answer.is_success, answer.text
    return {hit["resource_id"] for hit in answer.json()["hits"]}


def test_a_member_reaches_its_project_and_nothing_else_of_its_manager(ada: Manager) -> None:
    robot = ada.robot("viewer")
    ask, query = ada.program(robot), {"query": "limes of the harbour inn"}
    assert found(ask("POST", "/search", in_project(ada), json=query)) == {ada.recipe}
    assert found(ask("POST", "/search", json=query)) == set()
    assert ask("GET", f"/resources/{ada.recipe}/file").content == RECIPE
    assert ask("GET", f"/resources/{ada.secret}/file").status_code == 404
    assert ask("DELETE", f"/resources/{ada.recipe}").status_code == 403
    assert ask("POST", "/ingest", in_project(ada), files={"file": ("a.txt", b"A")}).status_code == 403
    answer = ask("POST", "/chat", in_project(ada), json={"message": "How many limes does the recipe need?"}).json()
    assert "seven limes" in answer["answer"]
    assert ada.browser.get(f"/threads/{answer['thread_id']}").status_code == 404
    assert ask("GET", "/shared-projects").json()["projects"] == [
        {"id": ada.project, "name": "Kitchen", "owner": ada.browser.owner, "owner_name": "Ada", "role": "viewer"}
    ]


def test_an_editor_adds_to_the_project_and_what_it_added_outlives_it(ada: Manager) -> None:
    robot = ada.robot("editor")
    ask = ada.program(robot, "read", "write")
    made = ask("POST", "/ingest", in_project(ada), files={"file": ("note.txt", uuid.uuid4().bytes.hex().encode())})
    own = ask("POST", "/ingest", files={"file": ("own.txt", b"The service account's own file.")})
    assert (made.status_code, own.status_code) == (201, 201)
    assert ada.browser.get(f"/resources/{made.json()['id']}").json()["project_ids"] == [ada.project]
    assert ada.browser.get(f"/resources/{own.json()['id']}").status_code == 404
    assert ada.browser.call("DELETE", f"/service-accounts/{robot['id']}").status_code == 204
    assert ada.browser.get(f"/resources/{made.json()['id']}").status_code == 200
    members = ada.browser.get(f"/projects/{ada.project}/members").json()["members"]
    assert robot["owner"] not in {one["id"] for one in members}


def test_it_is_listed_with_its_projects_and_among_their_members(ada: Manager) -> None:
    robot = ada.robot("editor", "night run")
    listed = ada.browser.get("/service-accounts").json()["service_accounts"]
    [one] = [one for one in listed if one["id"] == robot["id"]]
    assert one["projects"] == [{"id": ada.project, "name": "Kitchen", "role": "editor"}]
    assert (one["name"], one["state"], one["owner"]) == ("night run", "active", robot["owner"])
    members = ada.browser.get(f"/projects/{ada.project}/members").json()["members"]
    [member] = [one for one in members if one["id"] == robot["owner"]]
    assert (member["name"], member["service"], member["role"]) == ("night run", True, "editor")
    path = f"/service-accounts/{robot['id']}"
    assert ada.browser.call("PATCH", path, json={"name": "day run"}).json()["name"] == "day run"
    taken = ada.browser.call("POST", "/service-accounts", json={"name": " day  run "})
    assert (taken.status_code, taken.json()["error"]["code"]) == (409, "conflict")
    assert ada.browser.call("POST", "/service-accounts", json={"name": "  "}).status_code == 400


def test_its_key_is_shown_once_and_rotated(ada: Manager) -> None:
    robot = ada.robot("viewer")
    made = ada.key(robot, "read", days=30)
    path = f"/service-accounts/{robot['id']}/keys"
    [listed] = ada.browser.get(path).json()["tokens"]
    assert "token" not in listed
    assert (listed["id"], listed["scopes"], listed["prefix"]) == (made["id"], ["read"], made["token"][:10])
    fresh = ada.browser.call("POST", f"{path}/{made['id']}/rotation").json()
    assert (fresh["name"], fresh["scopes"]) == ("key", ["read"])
    assert refused_in_time(sender(ada.url, made["token"]))
    assert sender(ada.url, fresh["token"])("GET", "/projects").status_code == 200
    assert ada.browser.call("POST", f"{path}/{made['id']}/rotation").status_code == 404
    assert ada.browser.call("DELETE", f"{path}/{fresh['id']}").status_code == 204
    assert refused_in_time(sender(ada.url, fresh["token"]))
    assert ada.browser.get(path).json()["tokens"] == []


def refused_in_time(ask: Callable[..., httpx.Response]) -> bool:
    """Whether a key is refused within what is promised, and stays so."""
    end = time.monotonic() + _PROMISED_SECONDS
    while time.monotonic() < end:
        if ask("GET", "/projects").status_code == 401:
            return ask("POST", "/search", json={"query": "x"}).status_code == 401
    return False


def test_who_is_suspended_is_refused_and_comes_back(ada: Manager) -> None:
    robot, other = ada.robot("viewer"), ada.robot("viewer")
    ask, others = ada.program(robot), ada.program(other)
    assert ask("GET", "/projects").status_code == 200
    path = f"/service-accounts/{robot['id']}"
    assert ada.browser.call("PATCH", path, json={"state": "suspended"}).json()["state"] == "suspended"
    assert refused_in_time(ask)
    assert others("GET", "/projects").status_code == 200
    assert ada.browser.call("PATCH", path, json={"state": "active"}).is_success
    assert ask("GET", "/projects").status_code == 200


def test_who_is_deleted_is_refused_and_gone(ada: Manager) -> None:
    robot = ada.robot("viewer")
    ask = ada.program(robot)
    assert ask("GET", "/projects").status_code == 200
    assert ada.browser.call("DELETE", f"/service-accounts/{robot['id']}").status_code == 204
    assert refused_in_time(ask)
    for path in (f"/service-accounts/{robot['id']}/keys", "/service-accounts"):
        assert robot["id"] not in ada.browser.get(path).text
    assert ada.browser.call("DELETE", f"/service-accounts/{robot['id']}").status_code == 404


def test_suspending_its_manager_suspends_it(accounts: Server, administrator: Browser) -> None:
    carl = Manager(accounts)
    ask = carl.program(carl.robot("viewer"))
    assert ask("GET", "/projects").status_code == 200
    person = carl.browser.get("/account").json()["id"]
    assert administrator.call("PATCH", f"/people/{person}", json={"state": "suspended"}).is_success
    assert refused_in_time(ask)


def test_erasing_its_manager_erases_it(accounts: Server) -> None:
    carl = Manager(accounts)
    robot = carl.robot("editor")
    ask = carl.program(robot)
    made = ask("POST", "/ingest", files={"file": ("own.txt", b"A file of the service account alone.")})
    assert ask("GET", f"/resources/{made.json()['id']}/events").is_success
    receipt = carl.browser.call("POST", "/erasure", json={"confirm": "erase everything"}).json()
    places = {one["place"]: (one["before"], one["after"]) for one in receipt["removed"]}
    assert receipt["complete"], receipt
    assert places["table resources"] == (3, 0)
    assert places["table service_accounts"] == (1, 0)
    assert refused_in_time(ask)


def test_it_cannot_sign_in(ada: Manager) -> None:
    key = ada.key(ada.robot("viewer"))["token"]
    refused = httpx.post(f"{ada.url}/session", json={"token": key}, timeout=60)
    assert (refused.status_code, refused.json()["error"]["code"]) == (403, "forbidden")
    assert "set-cookie" not in refused.headers
    # Nor with a cookie that it makes itself.
    cookie = {f"citewell_{ada.url.rpartition(':')[2]}": key}
    with httpx.Client(base_url=ada.url, cookies=cookie, timeout=60) as client:
        assert client.get("/session").json()["signed_in"] is False
        assert client.get("/projects").status_code == 403
    ask = sender(ada.url, key)
    assert ask("GET", "/account").status_code == 404
    assert ask("PATCH", "/account", json={"password": "correct horse battery staple"}).status_code == 404
    assert ask("GET", "/account/sessions").status_code == 404


def test_it_invites_nobody_and_has_no_service_accounts_of_its_own(ada: Manager) -> None:
    robot = ada.robot("editor")
    ask = ada.program(robot)
    own = ask("POST", "/projects", json={"name": "Own"}).json()["id"]
    for body in ({}, {"project": own}, {"project": ada.project}):
        assert ask("POST", "/invitations", json=body).status_code == 403
    secret = ada.browser.call("POST", "/invitations", json={"project": ada.project}).json()["invitation"]
    assert ask("POST", "/invitations/accept", json={"invitation": secret}).status_code == 404
    path = f"/service-accounts/{robot['id']}"
    assert ask("GET", "/service-accounts").status_code == 403
    assert ask("POST", "/service-accounts", json={"name": "another"}).status_code == 403
    assert ask("POST", f"{path}/keys", json={"name": "more"}).status_code == 403
    assert ask("PATCH", path, json={"state": "active"}).status_code == 403
    assert ask("PUT", f"/projects/{ada.project}/members/{robot['owner']}", json={"role": "editor"}).status_code == 403


def test_nobody_makes_a_key_that_is_good_for_more_than_the_credential_that_asks(ada: Manager) -> None:
    robot = ada.robot("viewer")
    ask = ada.program(robot, "admin", "read")
    assert ask("POST", "/tokens", json={"name": "more", "scopes": ["write"]}).status_code == 403
    same = ask("POST", "/tokens", json={"name": "same"}).json()
    assert same["scopes"] == ["read", "admin"]
    assert same["id"] in {
        one["id"] for one in ada.browser.get(f"/service-accounts/{robot['id']}/keys").json()["tokens"]
    }
    # A manager's own token that is good for less makes no key for more, and rotates none.
    writing = ada.key(robot, "write")
    made = ada.browser.call("POST", "/tokens", json={"name": "k", "scopes": ["admin"]}).json()["token"]
    manage, path = sender(ada.url, made), f"/service-accounts/{robot['id']}/keys"
    assert manage("POST", path, json={"name": "more", "scopes": ["write"]}).status_code == 403
    assert manage("POST", f"{path}/{writing['id']}/rotation").status_code == 403
    assert manage("POST", path, json={"name": "less", "scopes": ["admin"]}).status_code == 201
    assert sender(ada.url, writing["token"])("POST", "/projects", json={"name": "W"}).status_code == 201


def test_a_key_for_one_project_is_kept_to_it_without_naming_it(ada: Manager) -> None:
    robot = ada.robot("viewer")
    other = ada.browser.call("POST", "/projects", json={"name": uuid.uuid4().hex}).json()["id"]
    assert ada.browser.call("PUT", f"/projects/{other}/members/{robot['owner']}", json={"role": "viewer"}).is_success
    plan = ada.add("plan.txt", b"The plan of the harbour inn: more limes.", project=other)
    ask, query = ada.program(robot, projects=["Kitchen"]), {"query": "limes of the harbour inn"}
    mine = {ada.recipe, ada.secret, plan}
    assert found(ask("POST", "/search", json=query)) & mine == {ada.recipe}
    assert found(ask("POST", "/search", in_project(ada), json=query)) & mine == {ada.recipe}
    assert ask("POST", "/search", {"X-Citewell-Project": other}, json=query).status_code == 404
    assert ask("POST", "/search", json=query | {"projects": [other]}).status_code == 404
    assert ask("GET", f"/resources/{ada.recipe}").status_code == 200
    assert ask("GET", f"/resources/{plan}").status_code == 404
    assert [one["name"] for one in ask("GET", "/projects").json()["projects"]] == ["Kitchen"]
    assert ask("GET", "/threads").status_code == 403
    assert ask("POST", "/tokens", json={"name": "more"}).status_code == 403
    both = ada.program(robot, projects=["Kitchen", other])
    assert found(both("POST", "/search", json=query)) & mine == {ada.recipe, plan}
    path = f"/service-accounts/{robot['id']}/keys"
    unknown = ada.browser.call("POST", path, json={"name": "k", "projects": ["My files"]})
    assert unknown.status_code == 404
    assert ada.browser.call("DELETE", f"/projects/{ada.project}/members/{robot['owner']}").status_code == 204
    assert ask("POST", "/search", json=query).status_code == 403
    assert found(both("POST", "/search", json=query)) == {plan}


def test_another_owner_reaches_neither_it_nor_its_keys(ada: Manager, ben: Browser) -> None:
    robot = ada.robot("viewer")
    key = ada.key(robot)
    path = f"/service-accounts/{robot['id']}"
    calls = [
        ("PATCH", path, {"state": "suspended"}),
        ("DELETE", path, None),
        ("GET", f"{path}/keys", None),
        ("POST", f"{path}/keys", {"name": "mine"}),
        ("POST", f"{path}/keys/{key['id']}/rotation", None),
        ("DELETE", f"{path}/keys/{key['id']}", None),
        ("DELETE", f"/tokens/{key['id']}", None),
    ]
    for method, address, body in calls:
        assert ben.call(method, address, json=body).status_code == 404, (method, address)
    assert ben.get("/service-accounts").json()["service_accounts"] == []
    mine = ben.call("POST", "/projects", json={"name": uuid.uuid4().hex}).json()["id"]
    assert ben.call("PUT", f"/projects/{mine}/members/{robot['owner']}", json={"role": "viewer"}).status_code == 404
    own = ben.call("POST", "/service-accounts", json={"name": "own"}).json()
    for method, address in (("POST", f"/keys/{key['id']}/rotation"), ("DELETE", f"/keys/{key['id']}")):
        assert ben.call(method, f"/service-accounts/{own['id']}{address}").status_code == 404
    assert sender(ada.url, key["token"])("GET", "/projects").status_code == 200


def test_the_log_names_it_as_who_acted(ada: Manager) -> None:
    robot = ada.robot("editor", "logged")
    key = ada.key(robot)
    ask = sender(ada.url, key["token"])
    assert ask("GET", f"/resources/{ada.recipe}/file").is_success
    fresh = ada.browser.call("POST", f"/service-accounts/{robot['id']}/keys/{key['id']}/rotation").json()
    ada.browser.call("PATCH", f"/service-accounts/{robot['id']}", json={"state": "suspended"})
    entries = ada.browser.get("/audit", params={"limit": "500"}).json()["entries"]
    [seen] = [one for one in entries if one["actor_id"] == robot["owner"]]
    assert (seen["actor"], seen["actor_name"], seen["action"]) == ("service_account", "logged", "file.downloaded")
    assert (seen["credential_id"], seen["owner_id"]) == (key["id"], ada.browser.owner)
    done = {(one["action"], one["subject"], one["actor"]) for one in entries}
    assert {
        ("service_account.created", robot["id"], "person"),
        ("token.created", key["id"], "person"),
        ("token.rotated", key["id"], "person"),
        ("service_account.changed", robot["id"], "person"),
    } <= done
    assert not any(secret in json.dumps(entries) for secret in (key["token"], fresh["token"]))


@pytest.mark.full
@pytest.mark.parametrize("scope", list(AccessScope))
def test_a_key_of_one_scope_opens_what_the_table_says(ada: Manager, scope: AccessScope) -> None:
    """Every route of the OpenAPI document, as in `test_access.py`; what only people do stays closed."""
    ask = ada.program(ada.robot(), scope.value)
    for method, path in _routes(ada.url):
        access = ACCESS[method, path]
        if access.scope is None or (method, path) in _BEGINS_WORK:
            continue
        address = re.sub(r"\{(\w+)(?::path)?\}", lambda _: str(uuid.uuid4()), path)
        status = ask(method, address, json=None if method == "GET" else {}).status_code
        is_closed = path.startswith(("/service-accounts", "/people")) or (method, path) == ("POST", "/invitations")
        expected = access.scope is scope and (status == 422 or not is_closed)
        assert (status not in (401, 403)) == expected, (method, path)


@pytest.mark.parametrize("role", ["viewer", "editor"])
def test_a_member_may_do_in_the_project_what_the_role_says_and_nothing_outside_it(ada: Manager, role: str) -> None:
    ask, good = ada.program(ada.robot(role)), {"viewer": {"read", "ask"}, "editor": {"read", "ask", "write"}}[role]
    mine = ada.browser.get(f"/resources/{ada.secret}").json()["project_ids"][0]
    for method, path in _routes(ada.url):
        access = ACCESS[method, path]
        if access.reach not in (Reach.RESOURCE, Reach.PROJECT) or access.scope is None:
            continue
        body = None if method == "GET" else {}
        outside = path.replace("{resource_id}", ada.secret).replace("{project_id}", mine)
        answer = ask(method, re.sub(r"\{[^}]+\}", str(uuid.uuid4()), outside), json=body)
        assert answer.status_code in (404, 422) or answer.json() == {"members": []}, (method, path)
        if access.scope.value in good and method != "GET":
            continue
        inside = path.replace("{resource_id}", ada.recipe).replace("{project_id}", ada.project)
        answer = ask(method, re.sub(r"\{[^}]+\}", str(uuid.uuid4()), inside), json=body)
        assert (answer.status_code == 403) == (access.scope.value not in good), (method, path, answer.text)


def test_without_accounts_there_are_none(server: Server) -> None:
    answer = server.client.get("/service-accounts")
    assert answer.status_code == 404
    assert "CITEWELL_ACCOUNTS=on" in answer.text


# Work that a request without a body begins.
_BEGINS_WORK = {("POST", "/samples"), ("POST", "/reindex")}


def _routes(url: str) -> list[tuple[str, str]]:
    paths = httpx.get(f"{url}/openapi.json", timeout=60).json()["paths"]
    named = {known.replace(":path", ""): known for _, known in ACCESS}
    return [(method.upper(), named[path]) for path, methods in paths.items() for method in methods]
