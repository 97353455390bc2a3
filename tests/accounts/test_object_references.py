"""Every route that names a thing × the thing of another owner, in the path, the query, the body or a header: as if it did not exist, for every kind of thing.

The answer must be the one that a made-up id gets, word for word, and nothing of the other owner may have changed afterwards. Who asks has
everything that the other owner has, so that a route fails on the one foreign id alone.
"""

from __future__ import annotations

import itertools
import json
import re
import sqlite3
import time
import uuid
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import httpx
import pytest

from citewell.features.openai_ids import BATCH, FILE, RESPONSE, STORE
from tests.accounts.people import Browser, signed_up
from tests.contract_servers.jwks import claims_of, signed
from tests.server.declared import ACCESS
from tests.server.in_process import InProcessServer
from tests.server.running import Server

pytestmark = pytest.mark.slow(90)
TABLE = b"town,limes\nRiga,7\nOslo,9\nBern,4\n"
NOTE = b"# Recipe\n\nThe recipe of the harbour inn needs seven limes and a spoon of smoked salt.\n"
# Of the server.
NOBODYS = {"index_id", "model"}
# Parts of a file, which have the same name in everybody's.
PARTS = {"table_id", "blob"}
# Whose name it is says who asks: one makes a source of one's own.
LEFT_OUT = {("PUT", "/sources/{name}")}
IDENTIFIED = re.compile(r"\{(\w+)(?::path)?\}")
BODIES: Mapping[tuple[str, str], Any] = {
    ("PATCH", "/resources/{resource_id}"): {"identifier": "taken"},
    ("POST", "/resources/{resource_id}/reindex"): {},
    ("POST", "/resources/{resource_id}/picture"): {},
    ("PATCH", "/threads/{thread_id}"): {"title": "taken"},
    ("PUT", "/threads/{thread_id}/messages/{message_id}/feedback"): {"rating": "down", "comment": "taken"},
    ("POST", "/threads/{thread_id}/messages/{message_id}/share"): {"days": 365},
    ("PATCH", "/projects/{project_id}"): {"chunking": {"strategy": "tokens"}},
    ("PUT", "/people/{person_id}/quotas"): {"files": 0},
    ("PATCH", "/people/{person_id}"): {"state": "suspended"},
    ("PUT", "/projects/{project_id}/members/{member_id}"): {"role": "editor"},
    ("PATCH", "/service-accounts/{account_id}"): {"state": "suspended"},
    ("POST", "/service-accounts/{account_id}/keys"): {"name": "taken", "scopes": ["read"]},
    ("PATCH", "/webhooks/{webhook_id}"): {"enabled": False},
    ("POST", "/sources/{name}/problems"): {"key": "taken", "stamp": "1", "code": "taken", "message": "taken"},
    ("POST", "/sources/{name}/removals"): {"key": "taken"},
    ("POST", "/v1/vector_stores/{store_id}"): {"name": "taken"},
    ("POST", "/v1/vector_stores/{store_id}/search"): {"query": "limes"},
    ("POST", "/v1/vector_stores/{store_id}/files/{file_id}"): {"attributes": {"taken": True}},
}
OWN_BODIES: Mapping[tuple[str, str], Callable[[Mapping[str, str]], Any]] = {
    ("POST", "/v1/vector_stores/{store_id}/files"): lambda own: {"file_id": own["file_id"]},
    ("POST", "/v1/vector_stores/{store_id}/file_batches"): lambda own: {"file_ids": [own["file_id"]]},
}
"""By the ids of things of who asks, so that nothing but the path names what is another's."""
FILES = {("PUT", "/resources/{resource_id}/file"), ("POST", "/sources/{name}/items")}
QUERIES: Mapping[tuple[str, str], Mapping[str, str]] = {
    ("GET", "/resources/{resource_id}/tables/{table_id}/spread"): {"column": "limes"},
}
"""What a route needs to be asked properly: without it a refusal would be one of the request, and prove nothing."""


@dataclass
class Owner:
    """Somebody with one thing of each kind."""

    browser: Browser
    ids: dict[str, str] = field(default_factory=dict[str, str])

    def snapshot(self) -> dict[str, Any]:
        """All that the owner sees, without what changes by looking."""
        paths = ["/resources", "/projects", "/threads", "/shares", "/tokens", "/webhooks", "/webhooks/incoming", "/invitations", "/service-accounts",
                 "/account", "/quotas", "/sources", "/reindex"]  # fmt: skip
        paths += [
            path.format(**self.ids)
            for path in (
                "/threads/{thread_id}", "/projects/{project_id}/members", "/service-accounts/{account_id}/keys",
                "/resources/{resource_id}/chunks",
            )
        ]  # fmt: skip
        seen = {path: self.browser.get(path).json() for path in paths}
        return json.loads(re.sub(r'"(last_used_at|used|indexed_at)": [^,}]+', '"-": 0', json.dumps(seen)))


def _owner(server: Server, email: str) -> Owner:
    """Make everything."""
    browser = signed_up(server.url, email)
    made = Owner(browser)

    def make(method: str, path: str, **request: Any) -> Any:
        answer = browser.call(method, path, **request)
        assert answer.is_success, f"{method} {path}: {answer.text}"
        return answer.json() if answer.content else None

    project = make("POST", "/projects", json={"name": "Kitchen"})["id"]
    table = make("POST", "/ingest", files={"file": ("towns.csv", TABLE)}, data={"project": project})["id"]
    browser.get(f"/resources/{table}/events")
    note = make("POST", "/ingest", files={"file": ("recipe.md", NOTE)})["id"]
    browser.get(f"/resources/{note}/events")
    robot = make("POST", "/service-accounts", json={"name": "robot"})
    make("PUT", f"/projects/{project}/members/{robot['owner']}", json={"role": "viewer"})
    key = make("POST", f"/service-accounts/{robot['id']}/keys", json={"name": "key"})
    webhook = make("POST", "/webhooks", json={"url": "https://hooks.example/x"})["id"]
    said = make("POST", "/chat", json={"message": "How many limes does the recipe of the harbour inn need?"})
    where = f"/threads/{said['thread_id']}/messages/{said['message_id']}"
    made.ids = {
        "project_id": project,
        "resource_id": table,
        "note": note,
        "chunk_id": make("GET", f"/resources/{table}/chunks")["chunks"][0]["id"],
        "table_id": "t0",
        "blob": "table-0.parquet",
        "source": make("PUT", f"/sources/{browser.owner}", json={"kind": "folder"})["name"],
        "account_id": robot["id"],
        "member_id": robot["owner"],
        "key_id": key["id"],
        "webhook_id": webhook,
        "delivery_id": make("POST", f"/webhooks/{webhook}/test")["id"],
        "trigger_id": make("POST", "/webhooks/incoming", json={"kind": "result", "name": "t"})["id"],
        "thread_id": said["thread_id"],
        "message_id": said["message_id"],
        "share_id": make("POST", f"{where}/share", json={"days": 1})["id"],
        "token_id": make("POST", "/tokens", json={"name": "spare"})["id"],
        "invitation_id": make("POST", "/invitations", json={"project": project, "role": "viewer"})["id"],
        "session_id": make("GET", "/account/sessions")["sessions"][0]["id"],
        "person_id": make("GET", "/account")["id"],
        "run_id": make("POST", "/reindex", json={"failed": True})["id"],
        "file_id": FILE + table,
        "store_id": STORE + project,
        "batch_id": make("POST", f"/v1/vector_stores/{STORE}{project}/file_batches", json={"file_ids": [FILE + table]})["id"],
        "response_id": RESPONSE + said["message_id"],
    }  # fmt: skip
    return made


@dataclass(frozen=True)
class World:
    """Two owners with the same things."""

    server: Server
    ada: Owner
    ben: Owner
    client: httpx.Client

    def ask(self, token: str | None, method: str, path: str, ids: Mapping[str, str], **more: Any) -> httpx.Response:
        """A request that is right but for whose things it names."""
        route = (method, path)
        request: dict[str, Any] = {"headers": {"Authorization": f"Bearer {token}"} if token else {}}
        if route in FILES:
            request["files"] = {"file": ("taken.txt", b"taken")}
            request["data"] = {"item": json.dumps({"key": "taken", "stamp": "1"})}
        elif method != "GET":
            own = OWN_BODIES.get(route)
            request["json"] = own(self.ben.ids) if own else BODIES.get(route, {})
        request["params"] = QUERIES.get(route)
        address = IDENTIFIED.sub(lambda found: ids[_thing(path, found[1])], path)
        return self.client.request(method, address, **(request | more))


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    folder = tmp_path_factory.mktemp("references")
    environment = {"CITEWELL_ACCOUNTS": "on", "CITEWELL_SIGN_UP": "open", "CITEWELL_REQUESTS_PER_MINUTE": "0"}
    with InProcessServer(folder / "data", **environment) as server:
        signed_up(server.url, "administrator@example.org")
        ada, ben = _owner(server, "ada@example.org"), _owner(server, "ben@example.org")
        with httpx.Client(base_url=server.url, timeout=60) as client:
            yield World(server, ada, ben, client)


UNKNOWN_USER = "4711"


def _thing(path: str, name: str) -> str:
    """What a parameter of a path is the id of."""
    return name if name != "name" else "source" if path.startswith("/sources") else "blob"


def _things(path: str) -> tuple[str, ...]:
    return tuple(_thing(path, name) for name in IDENTIFIED.findall(path))


ROUTES = [
    (method, path, things)
    for (method, path), access in ACCESS.items()
    if access.scope is not None and (things := _things(path)) and not NOBODYS & set(things)
]
FOREIGN = [
    (method, path, foreign)
    for method, path, things in ROUTES
    for count in range(1, len(things) + 1)
    for foreign in itertools.combinations(things, count)
    if not set(foreign) <= PARTS and (method, path) not in LEFT_OUT
]


def _made_up(name: str) -> str:
    prefixes = {"file_id": FILE, "store_id": STORE, "batch_id": BATCH, "response_id": RESPONSE}
    return UNKNOWN_USER if name == "user_id" else prefixes.get(name, "") + str(uuid.uuid4())


def _same(answer: httpx.Response, ids: Mapping[str, str]) -> tuple[int, str]:
    """An answer without the ids that were asked for, and without what is of the request alone."""
    text = answer.text
    for value in ids.values():
        text = text.replace(value, "ID")
    return answer.status_code, re.sub(r'"request_id":"[^"]+"', "", text)


@pytest.mark.parametrize(("method", "path", "foreign"), FOREIGN, ids=lambda one: str(one))
def test_what_is_anothers_is_as_if_it_did_not_exist(
    world: World, method: str, path: str, foreign: tuple[str, ...]
) -> None:
    names = _things(path)
    token = world.ben.browser.access_token
    named = {
        name: world.ada.ids.get(name, UNKNOWN_USER) if name in foreign else world.ben.ids.get(name, UNKNOWN_USER)
        for name in names
    }
    unknown = {name: _made_up(name) if name in foreign and name not in PARTS else named[name] for name in names}
    answer = world.ask(token, method, path, named)
    assert answer.status_code != 422, answer.text
    assert _same(answer, named) == _same(world.ask(token, method, path, unknown), unknown)
    known = {"/projects/{project_id}/members": 200, "/people/{person_id}": 403, "/people/{person_id}/quotas": 403}
    allowed = {404, 204} if method == "DELETE" else {known.get(path, 404)}
    assert answer.status_code in allowed | ({403} if path.startswith("/people") else set()), answer.text


Ask = tuple[str, str, Callable[[Mapping[str, str]], dict[str, Any]]]
BY_VALUE: Mapping[str, Ask] = {
    "search, files": ("POST", "/search", lambda ids: {"json": {"query": "limes", "resource_ids": [ids["resource_id"]]}}),
    "search, project": ("POST", "/search", lambda ids: {"json": {"query": "limes", "project": ids["project_id"]}}),
    "search, projects": ("POST", "/search", lambda ids: {"json": {"query": "limes", "projects": [ids["project_id"]]}}),
    "search, filters": ("POST", "/search", lambda ids: {"json": {"query": "limes", "filters": [{"field": "project", "operator": "eq", "value": ids["project_id"]}]}}),
    "chat, conversation": ("POST", "/chat", lambda ids: {"json": {"message": "limes?", "thread_id": ids["thread_id"]}}),
    "chat, files": ("POST", "/chat", lambda ids: {"json": {"message": "limes?", "resource_ids": [ids["resource_id"]]}}),
    "chat, project": ("POST", "/chat", lambda ids: {"json": {"message": "limes?", "project": ids["project_id"]}}),
    "v1, files": ("POST", "/v1/chat/completions", lambda ids: {"json": {"model": "citewell", "messages": [{"role": "user", "content": "limes?"}], "resource_ids": [ids["resource_id"]]}}),
    "v1, files of a new store": ("POST", "/v1/vector_stores", lambda ids: {"json": {"file_ids": [FILE + ids["resource_id"]]}}),
    "v1, file of a store": ("POST", "/v1/vector_stores/{store}/files", lambda ids: {"json": {"file_id": FILE + ids["resource_id"]}}),
    "v1, batch of a store": ("POST", "/v1/vector_stores/{store}/file_batches", lambda ids: {"json": {"file_ids": [FILE + ids["resource_id"]]}}),
    "v1, list after": ("GET", "/v1/files", lambda ids: {"params": {"after": FILE + ids["resource_id"]}}),
    "v1, response after": ("POST", "/v1/responses", lambda ids: {"json": {"model": "m", "input": "limes?", "previous_response_id": RESPONSE + ids["message_id"]}}),
    "v1, response from a store": ("POST", "/v1/responses", lambda ids: {"json": {"model": "m", "input": "limes?", "tools": [{"type": "file_search", "vector_store_ids": [STORE + ids["project_id"]]}]}}),
    "list, project": ("GET", "/resources", lambda ids: {"params": {"project": ids["project_id"]}}),
    "list, parent": ("GET", "/resources", lambda ids: {"params": {"parent_id": ids["resource_id"]}}),
    "list, id": ("GET", "/resources", lambda ids: {"params": {"id": ids["resource_id"]}}),
    "facets, project": ("GET", "/resources/facets", lambda ids: {"params": {"project": ids["project_id"]}}),
    "picture, passage": ("POST", "/resources/{own}/picture", lambda ids: {"json": {"chunk_id": ids["chunk_id"]}}),
    "usage, conversation": ("GET", "/usage", lambda ids: {"params": {"thread_id": ids["thread_id"]}}),
    "usage, message": ("GET", "/usage", lambda ids: {"params": {"message_id": ids["message_id"]}}),
    "audit, owner": ("GET", "/audit", lambda ids: {"params": {"owner": ids["owner"]}}),
    "audit export, owner": ("GET", "/audit/export", lambda ids: {"params": {"owner": ids["owner"]}}),
    "audit, subject": ("GET", "/audit", lambda ids: {"params": {"subject": ids["note"]}}),
    "deliveries": ("GET", "/webhooks/deliveries", lambda ids: {"params": {"webhook_id": ids["webhook_id"]}}),
    "invite, project": ("POST", "/invitations", lambda ids: {"json": {"project": ids["project_id"], "role": "editor"}}),
    "token, project": ("POST", "/tokens", lambda ids: {"json": {"name": "x", "projects": [ids["project_id"]]}}),
    "key, project": ("POST", "/service-accounts/{robot}/keys", lambda ids: {"json": {"name": "x", "projects": [ids["project_id"]]}}),
    "reindex, project": ("POST", "/reindex", lambda ids: {"json": {"project": ids["project_id"], "failed": True}}),
    "citations, files": ("POST", "/citations/check", lambda ids: {"json": {"pieces": [{"text": "Seven limes.", "chunk_ids": [ids["chunk_id"]]}], "seen": [ids["chunk_id"]]}}),
    "header, list": ("GET", "/resources", lambda ids: {"headers": {"X-Citewell-Project": ids["project_id"]}}),
    "header, search": ("POST", "/search", lambda ids: {"json": {"query": "limes"}, "headers": {"X-Citewell-Project": ids["project_id"]}}),
    "header, upload": ("POST", "/ingest", lambda ids: {"files": {"file": ("z.txt", b"z")}, "headers": {"X-Citewell-Project": ids["project_id"]}}),
    "query, project of a file": ("GET", "/resources/{own}", lambda ids: {"params": {"in_project": ids["project_id"]}}),
    # These take the name of a project and make it where there is none: an id of another's is the name of a project of one's own. They come last.
    "upload, conversation": ("POST", "/ingest", lambda ids: {"files": {"file": ("y.txt", ids["new"])}, "data": {"thread": ids["thread_id"]}}),
    "trigger, project": ("POST", "/webhooks/incoming", lambda ids: {"json": {"kind": "fetch", "name": "x", "project": ids["project_id"]}}),
    "source, project": ("PUT", "/sources/{new}", lambda ids: {"json": {"kind": "folder", "project": ids["project_id"]}}),
    "records, project": ("POST", "/records", lambda ids: {"json": {"records": [{"id": ids["new"], "text": "x"}], "project": ids["project_id"]}}),
    "upload, project": ("POST", "/ingest", lambda ids: {"files": {"file": ("x.txt", ids["new"])}, "data": {"project": ids["project_id"]}}),
}  # fmt: skip
_UUID = r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
_CHANGING = rf'{_UUID}|cw_\w+|whsec_\S+?(?=")|"\w+_ms":[\d.]+|\d{{4}}-\d\d-\d\dT[\d:.]+Z|"(?:prefix|secret|content_hash)":"[^"]*"'


@pytest.mark.parametrize("name", BY_VALUE)
def test_what_a_request_names_besides_its_path_is_as_if_it_did_not_exist(world: World, name: str) -> None:
    method, path, request = BY_VALUE[name]

    def ask(ids: dict[str, str]) -> tuple[int, str]:
        ids["new"] = str(uuid.uuid4())
        address = path.format(
            own=world.ben.ids["resource_id"],
            robot=world.ben.ids["account_id"],
            store=world.ben.ids["store_id"],
            new=ids["new"],
        )
        more = request(ids)
        more["headers"] = {"Authorization": f"Bearer {world.ben.browser.access_token}"} | more.get("headers", {})
        answer = world.client.request(method, address, **more)
        assert answer.status_code != 422, answer.text
        assert answer.status_code == 404 or not path.startswith("/v1/"), answer.text
        return answer.status_code, re.sub(_CHANGING, "…", answer.text)

    found = ask({**world.ada.ids, "owner": world.ada.browser.owner})
    assert found == ask({key: str(uuid.uuid4()) for key in [*world.ada.ids, "owner"]})


def test_nothing_of_the_other_owner_was_changed_by_it(world: World) -> None:
    before = world.ada.snapshot()
    token = world.ben.browser.access_token
    for method, path, names in ROUTES:
        world.ask(token, method, path, {name: world.ada.ids.get(name, UNKNOWN_USER) for name in names})
    assert world.ada.snapshot() == before


def _token(who: Browser, **body: Any) -> dict[str, Any]:
    return who.call("POST", "/tokens", json={"name": "x"} | body).json()


def test_a_credential_of_no_state_but_active_reaches_anything_that_exists(world: World) -> None:
    """No, wrong, expired (of a session, a token), revoked (a token, a session), suspended (a person's session and token, a service account's key)."""
    browser = world.ada.browser
    claims = claims_of(browser.access_token)
    secret = (world.server.data / "session_secret").read_bytes()
    expired, revoked = _token(browser, days=1), _token(browser)
    browser.call("DELETE", f"/tokens/{revoked['id']}")
    carl = signed_up(world.server.url, "carl@example.org")
    robot = carl.call("POST", "/service-accounts", json={"name": "robot"}).json()
    key = carl.call("POST", f"/service-accounts/{robot['id']}/keys", json={"name": "key"}).json()["token"]
    dora = signed_up(world.server.url, "dora@example.org")
    ended = dora.access_token
    dora.call("DELETE", "/account/sessions")
    suspended = {
        "suspended session": carl.access_token,
        "suspended key": _token(carl)["token"],
        "suspended service account": key,
    }
    invite = {"project": world.ada.ids["project_id"], "role": "editor"}
    secret_link = browser.call("POST", "/invitations", json=invite).json()["invitation"]
    carl.call("POST", "/invitations/accept", json={"invitation": secret_link})
    administrator = Browser(world.server.url)
    administrator.sign_in("administrator@example.org")
    administrator.call("PATCH", f"/people/{carl.get('/account').json()['id']}", json={"state": "suspended"})
    with sqlite3.connect(world.server.data / "citewell.db") as database:
        assert database.execute("UPDATE tokens SET expires_at = 1 WHERE id = ?", (expired["id"],)).rowcount == 1
    time.sleep(2.1)  # what is revoked may pass for two seconds, which is promised
    credentials = {
        "none": None,
        "wrong": "cw_wrong",
        "expired session": signed(claims | {"exp": int(time.time()) - 5}, secret, "HS256", typ="at+jwt"),
        "expired token": expired["token"],
        "revoked token": revoked["token"],
        "ended session": ended,
        **suspended,
    }
    let_in = [
        (name, method, path, answer.status_code)
        for name, credential in credentials.items()
        for method, path, names in ROUTES
        if (
            answer := world.ask(credential, method, path, {one: world.ada.ids.get(one, UNKNOWN_USER) for one in names})
        ).status_code
        != 401
    ]
    assert let_in == []
