"""Generated requests over the whole OpenAPI document as everybody who may ask: who gets a server error, an undocumented status, or in?

usage: .venv/bin/python scripts/fuzz_api.py [--examples 5] [--seed 1] [--role ROLE…] [--output FILE]

A server with accounts is started on an empty folder. For each role an owner is made who has a project with a file, a conversation with a
shared answer, a token, a webhook, a trigger and a service account with a key; who asks is that owner, somebody who has a part in it, or
nobody. Schemathesis (generation only) makes so many examples of each operation of three kinds: what the document allows, with ids of things
that exist and with made-up ones, and what it does not allow. What an example deletes is made again before the next operation.

An answer is a finding when it is a 5xx, has a status that the document does not name, is an error without our shape, or is a success that the
role's scopes do not allow. The exit code is 1 when there is one. `POST /samples` is left out: it has nothing to vary, and much to read.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import time
import uuid
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import requests
import schemathesis
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis.errors import Unsatisfiable
from schemathesis.core.errors import SchemathesisError
from schemathesis.generation import GenerationMode

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))
from citewell.features.declared import Access, Reach  # noqa: E402
from citewell.types.accounts import ALL_SCOPES, ROLE_SCOPES, AccessScope, Role  # noqa: E402
from tests.server.declared import ACCESS  # noqa: E402
from tests.server.running import RunningServer  # noqa: E402

SCOPES: Mapping[str, frozenset[AccessScope]] = {
    "nobody": frozenset(),
    **{f"{scope.value} key": frozenset({scope}) for scope in AccessScope},
    "viewer": ALL_SCOPES,
    "editor": ALL_SCOPES,
    "owner": ALL_SCOPES,
    "service account": ALL_SCOPES,
}
"""The roles, and what their credentials are good for: members' are good for everything that is their own."""
IN_PROJECT = {"viewer": Role.VIEWER, "editor": Role.EDITOR, "service account": Role.EDITOR}
LEFT_OUT = {("POST", "/samples")}
KINDS = (("known", GenerationMode.POSITIVE), ("made up", GenerationMode.POSITIVE), ("known", GenerationMode.NEGATIVE))
_TIMEOUT = 60.0
_NOT_READ = "Invalid HTTP request received."
"""Of the HTTP server, to a head that is too long to be a request of ours (64 KiB): nothing behind it was asked."""
_PASSWORD = "correct horse battery staple"
_TEXT = b"The recipe of the harbour inn needs seven limes and a spoon of smoked salt."
_OURS, _OPENAI = {"code", "message", "details"}, {"message", "type", "param", "code"}


@dataclass(frozen=True, slots=True)
class Route:
    """An operation of the document: its row in the table of access, and the statuses that the document names."""

    method: str
    path: str
    access: Access
    documented: frozenset[str]


@dataclass(slots=True)
class Count:
    """What one role was answered."""

    requests: int = 0
    operations: int = 0
    statuses: Counter[int] = field(default_factory=Counter[int])
    findings: dict[str, str] = field(default_factory=dict[str, str])


class World:
    """An owner's things, and who asks for them."""

    def __init__(self, url: str, role: str) -> None:
        self._url, self._role = url, role
        self.headers: dict[str, str] = {}
        self.ids: dict[str, str] = {}
        self._owner = httpx.Client()
        self.begin()

    def begin(self) -> None:
        """Make everything anew."""
        self._owner = self._person()
        project = self._made("POST", "/projects", json={"name": "Kitchen"})["id"]
        file = self._made("POST", "/ingest", files={"file": ("recipe.txt", _TEXT)}, data={"project": project})["id"]
        self._owner.get(f"/resources/{file}/events")
        robot = self._made("POST", "/service-accounts", json={"name": "robot"})
        key = self._made("POST", f"/service-accounts/{robot['id']}/keys", json={"name": "key"})
        webhook = self._made("POST", "/webhooks", json={"url": "https://hooks.example.org/x"})
        trigger = self._made("POST", "/webhooks/incoming", json={"kind": "result", "name": "t"})
        self._authorize(project, robot)
        with httpx.Client(base_url=self._url, headers=self._asker, timeout=_TIMEOUT) as client:
            asked = client.post("/chat", json={"message": "How many limes?"}, headers=self._kept_to(project))
        if not asked.is_success:
            asked = self._owner.post("/chat", json={"message": "How many limes?"})
        said = asked.json()
        self.ids = {
            "project_id": project,
            "resource_id": file,
            "account_id": robot["id"],
            "key_id": key["id"],
            "member_id": robot["owner"],
            "token_id": self._made("POST", "/tokens", json={"name": "spare"})["id"],
            "webhook_id": webhook["id"],
            "trigger_id": trigger["id"],
            "thread_id": said["thread_id"],
            "message_id": said["message_id"],
            "person_id": self._made("GET", "/account")["id"],
        }

    def prepare(self) -> None:
        """Make everything anew where who asks, or what is asked for, is gone."""
        with httpx.Client(base_url=self._url, headers=self._asker, timeout=_TIMEOUT) as client:
            is_out = self._role != "nobody" and client.get("/projects").status_code == 401
        known = ("/account", "/resources/{resource_id}", "/service-accounts/{account_id}/keys")
        if is_out or not all(self._owner.get(path.format(**self.ids)).is_success for path in known):
            self.begin()

    def headers_for(self, route: Route) -> dict[str, str]:
        """What goes with a request besides the credential: an address to count it by, and the project of who has only that."""
        keep = self._kept_to(self.ids["project_id"]) if route.access.reach is Reach.NARROWED else {}
        return _somewhere() | keep

    def __call__(self, request: requests.PreparedRequest) -> requests.PreparedRequest:
        """Put the credential on a request when it is sent: Schemathesis takes it out where it makes what is not allowed."""
        request.headers.update(self._asker)
        return request

    def _authorize(self, project: str, robot: Mapping[str, str]) -> None:
        """Give the role its credential."""
        token = ""
        if self._role in ("viewer", "editor"):
            body = {"project": project, "role": self._role}
            token = _token_of(self._person(self._made("POST", "/invitations", json=body)["invitation"]))
        elif self._role == "service account":
            path = f"/projects/{project}/members/{robot['owner']}"
            self._owner.put(path, json={"role": IN_PROJECT[self._role].value}).raise_for_status()
            body = {"name": "all", "scopes": [scope.value for scope in AccessScope]}
            token = self._made("POST", f"/service-accounts/{robot['id']}/keys", json=body)["token"]
        elif self._role == "owner":
            token = _token_of(self._owner)
        elif self._role != "nobody":
            scopes = [scope.value for scope in SCOPES[self._role]]
            token = self._made("POST", "/tokens", json={"name": "key", "scopes": scopes})["token"]
        self._asker = {"Authorization": f"Bearer {token}"} if token else {}

    def _kept_to(self, project: str) -> dict[str, str]:
        return {"X-Citewell-Project": project} if self._role in IN_PROJECT else {}

    def _person(self, invitation: str | None = None) -> httpx.Client:
        """Somebody who has just signed up."""
        client = httpx.Client(base_url=self._url, headers=_somewhere(), timeout=_TIMEOUT)
        body = {"email": f"{uuid.uuid4().hex}@example.org", "password": _PASSWORD, "invitation": invitation}
        signed_up = client.post("/account", json=body).raise_for_status().json()
        client.headers["X-CSRF-Token"] = signed_up["csrf"]
        return client

    def _made(self, method: str, path: str, **request: Any) -> dict[str, Any]:
        return self._owner.request(method, path, **request).raise_for_status().json()


def _token_of(client: httpx.Client) -> str:
    """The access token in a browser's cookies."""
    return next(one.value or "" for one in client.cookies.jar if not one.name.endswith("_refresh"))


def _somewhere() -> dict[str, str]:
    """An address of its own, so that limits by address are not what is tried."""
    return {"X-Forwarded-For": f"10.{random.randrange(256)}.{random.randrange(256)}.{random.randrange(1, 255)}"}


def routes_of(document: Mapping[str, Any]) -> dict[tuple[str, str], Route]:
    """The routes of an OpenAPI document, by method and the document's path."""
    rows = {(method, path.replace(":path", "")): access for (method, path), access in ACCESS.items()}
    found: dict[tuple[str, str], Route] = {}
    for path, methods in document["paths"].items():
        for name, described in methods.items():
            key = (name.upper(), path)
            found[key] = Route(*key, rows[key], frozenset(described["responses"]))
    return found


def finding_of(route: Route, role: str, status: int, body: Any, *, is_shared: bool = True) -> str | None:
    """What is wrong with an answer; None where nothing is. body: the JSON of an error, None for what is none; is_shared: as of `may`."""
    if status >= 500:
        return f"server error {status}"
    if str(status) not in route.documented and "default" not in route.documented:
        return f"undocumented status {status}"
    shapes = (_OPENAI, _OURS) if route.path.startswith("/v1/") else (_OURS,)
    if status >= 400 and (not isinstance(body, dict) or set(body.get("error", ())) not in shapes):
        return f"status {status} without our shape of an error"
    scope = route.access.scope
    if status < 400 and scope is not None and not may(role, route, is_shared=is_shared):
        return f"let in with {status}, though it takes {scope.value!r}"
    return None


def may(role: str, route: Route, *, is_shared: bool = True) -> bool:
    """Whether a role's credential is good for a route. is_shared: whether what is asked for is in the project that a member is a member of."""
    scope, good = route.access.scope, SCOPES[role]
    if role in IN_PROJECT and is_shared and route.access.reach in (Reach.NARROWED, Reach.RESOURCE, Reach.PROJECT):
        good = ROLE_SCOPES[IN_PROJECT[role]]
    return scope is None or scope in good


class Run:
    """The requests of one role."""

    def __init__(self, server: RunningServer, role: str, examples: int, number: int) -> None:
        self.server, self.role, self.examples, self.number = server, role, examples, number
        self.world, self.count = World(server.url, role), Count()
        self._session = requests.Session()

    def operation(self, operation: Any, route: Route) -> None:
        """Examples of one operation, of every kind."""
        self.count.operations += 1
        for ids, mode in KINDS:
            self.world.prepare()
            named = {name: value for name, value in self.world.ids.items() if f"{{{name}}}" in route.path}
            if ids == "known" and route.path.count("{") != len(named) and mode is GenerationMode.POSITIVE:
                continue
            self._examples(operation, route, mode, named if ids == "known" else {})

    def _examples(self, operation: Any, route: Route, mode: GenerationMode, ids: dict[str, str]) -> None:
        strategy = operation.as_strategy(generation_mode=mode, path_parameters=dict(ids) or None)
        is_shared = bool(ids) or route.access.reach is Reach.NARROWED

        @seed(self.number)
        @given(case=strategy)
        @settings(
            max_examples=self.examples,
            deadline=None,
            database=None,
            phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        )
        def attack(case: Any) -> None:
            self._send(case, route, is_shared=is_shared)

        try:
            attack()
        except (Unsatisfiable, SchemathesisError):  # nothing can be made that the document does not allow
            return

    def _send(self, case: Any, route: Route, *, is_shared: bool) -> None:
        self._session.cookies.clear()
        self._session.auth = self.world
        try:
            response = case.call(session=self._session, headers=self.world.headers_for(route), timeout=_TIMEOUT)
        except (requests.ConnectionError, requests.Timeout) as error:
            self._found(route, f"no answer: {type(error).__name__}", case.as_curl_command())
            return
        except (requests.RequestException, ValueError):  # what no client can send
            return
        if response.text == _NOT_READ:
            return
        self.count.requests += 1
        self.count.statuses[response.status_code] += 1
        error = _json(response) if response.status_code >= 400 else None
        wrong = finding_of(route, self.role, response.status_code, error, is_shared=is_shared)
        if wrong is not None:
            self._found(route, wrong, f"{case.as_curl_command()}\n  {response.text[:400]}")

    def _found(self, route: Route, wrong: str, how: str) -> None:
        self.count.findings.setdefault(f"{route.method} {route.path}: {wrong}", how)


def _json(response: Any) -> Any:
    try:
        return response.json()
    except ValueError:
        return None


def fuzz(roles: list[str], examples: int, number: int) -> Iterator[tuple[str, Count]]:
    """What each role was answered, one after the other."""
    random.seed(number)
    environment = {"CITEWELL_ACCOUNTS": "on", "CITEWELL_SIGN_UP": "open", "CITEWELL_REQUESTS_PER_MINUTE": "0"}
    with tempfile.TemporaryDirectory() as folder, RunningServer(Path(folder) / "data", **environment) as server:
        first = {"email": "first@example.org", "password": _PASSWORD}  # who administers the server
        httpx.post(f"{server.url}/account", json=first, timeout=_TIMEOUT).raise_for_status()
        schema = schemathesis.openapi.from_url(f"{server.url}/openapi.json")
        routes = routes_of(httpx.get(f"{server.url}/openapi.json").json())
        operations: Any = [found.ok() for found in schema.get_all_operations()]
        for role in roles:
            run = Run(server, role, examples, number)
            for operation in operations:
                key = (operation.method.upper(), operation.path)
                if key not in LEFT_OUT:
                    run.operation(operation, routes[key])
            yield role, run.count
        if "Traceback" in server.log():
            print(server.log(), file=sys.stderr)


def table(counts: Mapping[str, Count]) -> str:
    """The counts as Markdown."""
    lines = ["| role | operations | requests | 2xx, 3xx | 401 | 403 | 404 | 422 | other 4xx | 5xx | findings |"]
    lines.append("|---|" + "---:|" * 10)
    for role, one in counts.items():
        named = (401, 403, 404, 422)
        good = sum(count for status, count in one.statuses.items() if status < 400)
        other = sum(count for status, count in one.statuses.items() if 400 <= status < 500 and status not in named)
        bad = sum(count for status, count in one.statuses.items() if status >= 500)
        figures = [one.operations, one.requests, good, *(one.statuses[status] for status in named), other, bad]
        lines.append(f"| {role} | " + " | ".join(f"{figure:,}" for figure in [*figures, len(one.findings)]) + " |")
    return "\n".join(lines)


def main() -> int:
    """Run all, and print what was found and the counts."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--examples", type=int, default=5, help="of each kind and operation")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--role", action="append", choices=list(SCOPES), help="all unless given")
    parser.add_argument("--output", type=Path, help="a file for the table")
    options = parser.parse_args()
    counts: dict[str, Count] = {}
    for role, count in fuzz(options.role or list(SCOPES), options.examples, options.seed):
        counts[role] = count
        print(
            f"{time.strftime('%H:%M:%S')} {role}: {count.requests} requests, {len(count.findings)} findings", flush=True
        )
        for finding, how in count.findings.items():
            print(f"- {finding}\n  {how}", flush=True)
    print(table(counts))
    if options.output is not None:
        options.output.write_text(table(counts) + "\n", encoding="utf-8")
    return 1 if any(count.findings for count in counts.values()) else 0


if __name__ == "__main__":
    raise SystemExit(main())
