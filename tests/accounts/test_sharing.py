"""A project that is shared: its members search it and ask about it by their role, its other files stay the owner's, and chats the asker's."""

from __future__ import annotations

import json
import re
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import httpx
import pytest

from citewell.features.declared import Reach
from citewell.features.http import PROJECT_HEADER
from citewell.types.accounts import AccessScope
from tests.accounts.people import Browser, signed_up
from tests.server.declared import ACCESS
from tests.server.in_process import InProcessServer

pytestmark = pytest.mark.slow(20)
RECIPE = b"The recipe of the harbour inn needs seven limes and a spoon of smoked salt."
SECRET = b"The password of the harbour inn's safe is nineteen pelicans and seven limes."


@dataclass(frozen=True)
class Shared:
    """What ada has: a project with a recipe, and a secret outside it."""

    ada: Browser
    url: str
    project: str
    recipe: str
    secret: str

    def member(self, role: str) -> Browser:
        email = f"{uuid.uuid4().hex[:12]}@example.org"
        body = {"project": self.project, "role": role, "email": email}
        invitation = self.ada.call("POST", "/invitations", json=body).json()["invitation"]
        return signed_up(self.url, email, invitation=invitation)

    @property
    def kept_to_it(self) -> dict[str, str]:
        return {"X-Citewell-Project": self.project}


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shared]:
    with InProcessServer(tmp_path_factory.mktemp("sharing") / "data", CITEWELL_ACCOUNTS="on") as server:
        ada = signed_up(server.url, "ada@example.org")
        project = ada.call("POST", "/projects", json={"name": "Kitchen"}).json()["id"]
        recipe = _added(ada, "recipe.txt", RECIPE, project=project)
        yield Shared(ada, server.url, project, recipe, _added(ada, "secret.txt", SECRET))


def _added(browser: Browser, name: str, content: bytes, headers: dict[str, str] | None = None, **fields: str) -> str:
    """The id of a file once it can be searched: its events end with a terminal state."""
    made = browser.call("POST", "/ingest", files={"file": (name, content)}, data=fields, headers=headers or {})
    assert made.status_code == 201, made.text
    assert browser.get(f"/resources/{made.json()['id']}/events").is_success
    return made.json()["id"]


def _found(browser: Browser, query: str, headers: dict[str, str], **body: Any) -> list[str]:
    answer = browser.call("POST", "/search", json={"query": query} | body, headers=headers)
    assert answer.is_success, answer.text
    return [hit["resource_id"] for hit in answer.json()["hits"]]


@pytest.mark.full
def test_by_invitation_means_that_nobody_else_signs_up(shared: Shared) -> None:
    refused = Browser(shared.url).sign_up(f"{uuid.uuid4().hex}@example.org")
    assert refused.json()["error"]["code"] == "forbidden"


def test_a_member_finds_and_reads_what_is_in_the_project_and_only_that(shared: Shared) -> None:
    member = shared.member("viewer")
    assert member.get("/shared-projects").json()["projects"] == [
        {"id": shared.project, "name": "Kitchen", "owner": shared.ada.owner, "owner_name": "ada", "role": "viewer"}
    ]
    assert set(_found(member, "limes of the harbour inn", shared.kept_to_it)) == {shared.recipe}
    assert set(_found(shared.ada, "limes of the harbour inn", {})) == {shared.recipe, shared.secret}
    assert set(_found(shared.ada, "limes of the harbour inn", shared.kept_to_it)) == {shared.recipe}
    assert _found(member, "limes of the harbour inn", {}) == []
    listed = member.get("/resources", headers=shared.kept_to_it).json()["resources"]
    assert [one["id"] for one in listed] == [shared.recipe]
    assert member.get("/resources").json()["resources"] == []
    assert member.get(f"/resources/{shared.recipe}/file").content == RECIPE
    assert member.get(f"/resources/{shared.secret}/file").status_code == 404
    assert member.get(f"/resources/{shared.secret}", headers=shared.kept_to_it).status_code == 404


@pytest.mark.full
def test_the_header_is_described_where_the_address_alone_does_not_say_which_files_are_meant(shared: Shared) -> None:
    paths = httpx.get(f"{shared.url}/openapi.json").json()["paths"]
    described = {
        (method.upper(), path)
        for path, methods in paths.items()
        for method, operation in methods.items()
        if any((one["in"], one["name"]) == ("header", PROJECT_HEADER) for one in operation.get("parameters", []))
    }
    assert described == {route for route, access in ACCESS.items() if access.reach is Reach.NARROWED}


def test_naming_what_is_outside_opens_nothing(shared: Shared) -> None:
    member = shared.member("viewer")
    assert _found_or_refused(member, shared, resource_ids=[shared.secret]) == []
    assert _found_or_refused(member, shared, projects=["My files"]) == []
    assert _found_or_refused(member, shared, projects=["Kitchen", "My files"]) == []
    facets = member.get("/resources/facets", headers=shared.kept_to_it)
    assert "secret" not in facets.text
    for path in ("/resources", "/resources/facets"):
        assert member.get(path, params={"project": "My files"}, headers=shared.kept_to_it).status_code == 404
    for header in ("nothing", "My files", str(uuid.uuid4())):
        other = member.get("/resources", headers={"X-Citewell-Project": header})
        assert other.status_code == 404 or other.json()["resources"] == []


def _found_or_refused(member: Browser, shared: Shared, **body: Any) -> list[str]:
    answer = member.call("POST", "/search", json={"query": "limes pelicans"} | body, headers=shared.kept_to_it)
    return [] if answer.status_code == 404 else [hit["resource_id"] for hit in answer.json()["hits"]]


def test_a_members_chat_answers_from_the_project_and_is_the_members_own(shared: Shared) -> None:
    member = shared.member("viewer")
    body = {"message": "How many limes does the recipe of the harbour inn need?"}
    answer = member.call("POST", "/chat", json=body, headers=shared.kept_to_it).json()
    assert "seven limes" in answer["answer"]
    assert {one["resource_id"] for one in answer["citations"]} == {shared.recipe}
    assert [one["id"] for one in member.get("/threads").json()["threads"]] == [answer["thread_id"]]
    assert shared.ada.get(f"/threads/{answer['thread_id']}").status_code == 404
    again = member.call("POST", "/chat", json=body | {"thread_id": answer["thread_id"]}, headers=shared.kept_to_it)
    assert again.is_success
    hidden = {"message": "What is the password of the harbour inn's safe?"}
    reply = member.call("POST", "/chat", json=hidden, headers=shared.kept_to_it).text
    assert "pelicans" not in reply


def test_a_members_chat_has_its_quotations_while_the_project_is_shared(shared: Shared) -> None:
    member = shared.member("viewer")
    body = {"message": "How many limes does the recipe of the harbour inn need?"}
    thread = member.call("POST", "/chat", json=body, headers=shared.kept_to_it).json()["thread_id"]

    def cited() -> list[tuple[bool, bool]]:
        messages = member.get(f"/threads/{thread}").json()["messages"]
        return [(one["available"], "seven limes" in one["quote"]) for one in messages[-1]["citations"]]

    assert cited() == [(True, True)]
    owner = member.get("/account").json()["owner"]
    assert shared.ada.call("DELETE", f"/projects/{shared.project}/members/{owner}").status_code == 204
    assert cited() == [(False, False)]


def test_a_viewer_changes_nothing_and_an_editor_only_what_is_in_the_project(shared: Shared) -> None:
    viewer, editor = shared.member("viewer"), shared.member("editor")
    upload: dict[str, Any] = {"files": {"file": ("new.txt", b"A new text.")}, "headers": shared.kept_to_it}
    assert viewer.call("POST", "/ingest", **upload).status_code == 403
    assert viewer.call("DELETE", f"/resources/{shared.recipe}").status_code == 403
    added = _added(editor, "new.txt", b"A new text.", shared.kept_to_it)
    assert shared.ada.get(f"/resources/{added}").json()["project_ids"] == [shared.project]
    elsewhere = editor.call("POST", "/ingest", data={"project": "My files"}, **upload)
    assert elsewhere.status_code == 404
    assert editor.call("DELETE", f"/resources/{shared.secret}").status_code == 404
    assert editor.call("PATCH", f"/resources/{added}", json={"metadata": {"by": "editor"}}).is_success
    assert editor.call("DELETE", f"/resources/{added}").is_success
    assert editor.call("DELETE", f"/projects/{shared.project}").status_code == 403


@pytest.mark.full
def test_earlier_versions_are_for_those_who_may_change_the_file(shared: Shared) -> None:
    file = _added(shared.ada, "guests.txt", b"The guest in room 9 is Agatha.", project=shared.project)
    redacted = {"file": ("guests.txt", b"The guest in room 9 is a writer.")}
    assert shared.ada.call("PUT", f"/resources/{file}/file", files=redacted).is_success
    path = f"/resources/{file}/file"
    for role, status in (("viewer", 404), ("editor", 200)):
        member = shared.member(role)
        for headers in (shared.kept_to_it, {}):
            earlier = member.get(path, params={"version": 1}, headers=headers)
            assert (role, earlier.status_code, b"Agatha" in earlier.content) == (role, status, status == 200)
            assert member.call("POST", f"/resources/{file}/link", params={"version": 1}).status_code in (status, 409)
            for current in ({}, {"version": 2}):
                assert member.get(path, params=current).content == redacted["file"][1]
    for scopes, status in ((["read"], 404), (["read", "write"], 200)):
        made = shared.ada.call("POST", "/tokens", json={"name": "k", "projects": ["Kitchen"], "scopes": scopes})
        bearer = {"Authorization": f"Bearer {made.json()['token']}"}
        for headers in (bearer, bearer | shared.kept_to_it):
            earlier = httpx.get(shared.url + path, params={"version": 1}, headers=headers, timeout=60)
            assert (scopes, earlier.status_code) == (scopes, status)
    assert shared.ada.get(path, params={"version": 1}, headers=shared.kept_to_it).is_success
    assert shared.ada.call("DELETE", f"/resources/{file}").is_success


def test_a_message_is_small_talk_by_the_words_of_the_project_alone(shared: Shared) -> None:
    viewer = shared.member("viewer")

    def intent(message: str) -> str:
        return viewer.call("POST", "/chat", json={"message": message}, headers=shared.kept_to_it).json()["intent"]

    assert intent("are you nineteen pelicans") == "general_conversation"
    assert intent("are you limes") == "document_query"


def test_who_is_no_member_any_more_is_out_with_the_next_request(shared: Shared) -> None:
    member = shared.member("editor")
    path = f"/projects/{shared.project}/members/{member.owner}"
    assert shared.ada.call("PUT", path, json={"role": "viewer"}).status_code == 204
    assert member.call("DELETE", f"/resources/{shared.recipe}").status_code == 403
    assert shared.ada.call("DELETE", path).status_code == 204
    assert member.get(f"/resources/{shared.recipe}").status_code == 404
    assert member.get("/resources", headers=shared.kept_to_it).status_code == 404


@pytest.mark.full
def test_what_concerns_all_files_is_closed_to_who_names_a_project(shared: Shared) -> None:
    member = shared.member("editor")
    # What admins do, and MCP, concerns whom the credential speaks for, whatever project is named.
    alike = [
        place for place, one in ACCESS.items() if one.reach is Reach.EVERYTHING and one.scope is not AccessScope.ADMIN
    ]
    closed = [(method, path) for method, path in alike if path != "/mcp"]
    assert len(closed) > 25
    for method, path in closed:
        address = re.sub(r"\{[^}]+\}", shared.recipe, path)
        answer = member.call(method, address, headers=shared.kept_to_it)
        assert (method, path, answer.status_code) == (method, path, 403)


def test_a_token_for_a_project_is_kept_to_it(shared: Shared) -> None:
    made = shared.ada.call("POST", "/tokens", json={"name": "k", "projects": ["Kitchen"], "scopes": ["read", "ask"]})
    bearer = {"Authorization": f"Bearer {made.json()['token']}"}

    def ask(method: str, path: str, **request: Any) -> httpx.Response:
        return httpx.request(method, shared.url + path, headers=bearer, timeout=60, **request)

    hits = ask("POST", "/search", json={"query": "limes"}).json()["hits"]
    assert {hit["resource_id"] for hit in hits} == {shared.recipe}
    assert [one["name"] for one in ask("GET", "/projects").json()["projects"]] == ["Kitchen"]
    answer = ask("POST", "/chat", json={"message": "What is the password of the safe?"})
    assert "pelicans" not in answer.text
    thread = answer.json()["thread_id"]
    assert ask("POST", "/chat", json={"message": "And now?", "thread_id": thread}).status_code == 403
    assert ask("POST", "/tokens", json={"name": "more"}).status_code == 403


def test_a_token_cannot_make_one_that_is_good_for_more(shared: Shared) -> None:
    made = shared.ada.call("POST", "/tokens", json={"name": "k", "scopes": ["admin", "read"]}).json()["token"]
    bearer = {"Authorization": f"Bearer {made}"}
    for scopes, status in ((["write"], 403), (["read"], 201)):
        body = {"name": "more", "scopes": scopes}
        assert httpx.post(f"{shared.url}/tokens", json=body, headers=bearer, timeout=60).status_code == status
    inherited = httpx.post(f"{shared.url}/tokens", json={"name": "same"}, headers=bearer, timeout=60).json()
    assert inherited["scopes"] == ["read", "admin"]


@pytest.mark.full
def test_errors_and_answers_tell_nothing_of_the_owners_other_projects(shared: Shared) -> None:
    """It comes last: the recipe is in a second project from here on."""
    ada = shared.ada
    ada.call("PATCH", f"/resources/{shared.recipe}", json={"metadata": {"course": "dessert"}})
    ada.call("PATCH", f"/resources/{shared.secret}", json={"metadata": {"merger_price": "high", "layoffs": 3}})
    ada.call("POST", "/ingest", files={"file": ("recipe.txt", RECIPE)}, data={"project": "Volta merger"})
    assert len(ada.get(f"/resources/{shared.recipe}").json()["project_ids"]) == 2
    made = ada.call("POST", "/tokens", json={"name": "k", "projects": ["Kitchen"], "scopes": ["read", "ask"]})
    bearer = {"Authorization": f"Bearer {made.json()['token']}"}
    member = shared.member("viewer")

    def by_token(method: str, path: str, **request: Any) -> httpx.Response:
        return httpx.request(method, shared.url + path, headers=bearer, timeout=60, **request)

    def by_member(method: str, path: str, **request: Any) -> httpx.Response:
        return member.call(method, path, headers=shared.kept_to_it, **request)

    for ask in (by_token, by_member):
        for field, allowed in (("nokey", ["course"]), ("merger_price", ["course"]), ("layoffs", ["course"])):
            filters = [{"field": f"metadata.{field}", "value": "x"}]
            for refused in (
                ask("POST", "/search", json={"query": "price", "filters": filters}),
                ask("POST", "/chat", json={"message": "What is the price?", "filters": filters}),
                ask("GET", "/resources", params={"filters": json.dumps(filters)}),
                ask("GET", "/resources", params={"filters": json.dumps(filters), "fields": "summary"}),
                ask("GET", "/resources/facets", params={"filters": json.dumps(filters)}),
                ask("POST", f"/resources/{shared.recipe}/picture", json={"filters": filters}),
            ):
                assert (refused.status_code, refused.json()["error"]["details"]) == (422, {"allowed": allowed})
                told = refused.json()["error"]["message"].replace(repr(field), "")
                assert not re.search("merger|layoffs", told)
        known = [{"field": "metadata.course", "value": "dessert"}]
        assert ask("POST", "/search", json={"query": "limes", "filters": known}).json()["hits"]
        (listed,) = ask("GET", "/resources").json()["resources"]
        for seen in (listed, ask("GET", f"/resources/{shared.recipe}").json()):
            assert seen["project_ids"] == [shared.project]
        assert "Volta" not in ask("GET", "/resources/facets").text
        for begins, found in (("Volt", False), ("volta merger", False), ("Kit", True)):
            named = [{"field": "project", "operator": "prefix", "value": begins}]
            assert bool(ask("POST", "/search", json={"query": "limes", "filters": named}).json()["hits"]) == found
            listed = ask("GET", "/resources", params={"filters": json.dumps(named)}).json()["resources"]
            assert bool(listed) == found
            elsewhere = [{"not": named[0]}]
            assert bool(ask("POST", "/search", json={"query": "limes", "filters": elsewhere}).json()["hits"]) != found
    # Whose files they are sees all of it, also where a project is named.
    everything = [{"field": "metadata.merger_price", "value": "high"}]
    for project in (None, "Kitchen"):
        body = {"query": "limes", "filters": everything, "project": project}
        hits = ada.call("POST", "/search", json=body).json()["hits"]
        assert {hit["resource_id"] for hit in hits} == (set() if project else {shared.secret})
    assert "Volta" in ada.get("/resources/facets").text
