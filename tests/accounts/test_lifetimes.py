"""No credential makes one that outlives it: over HTTP, for tokens, keys of service accounts, invitations, links and JWTs; and open streams end with it."""

from __future__ import annotations

import time
import uuid
from collections.abc import AsyncGenerator
from datetime import datetime
from types import SimpleNamespace
from typing import Any, cast

import httpx
import pytest
from fastapi import Request

from citewell.features import http
from citewell.features.http import while_admitted
from citewell.types.accounts import Principal
from tests.accounts.people import Browser, signed_up
from tests.server.running import RunningServer

pytestmark = pytest.mark.slow(10)
_DAY = 86_400.0
_PROMISED_SECONDS = 5.0


@pytest.fixture(scope="module")
def ada(accounts: RunningServer, administrator: Browser) -> Browser:
    """Somebody who is no administrator."""
    assert administrator.owner
    return signed_up(accounts.url, f"{uuid.uuid4().hex[:12]}@example.org")


def _made(response: httpx.Response) -> dict[str, Any]:
    assert response.status_code == 201, response.text
    return response.json()


def _short(ada: Browser) -> tuple[dict[str, Any], httpx.Client]:
    """A token of a day for everything, and what sends requests with it."""
    made = _made(ada.call("POST", "/tokens", json={"name": "short", "days": 1}))
    return made, httpx.Client(base_url=ada.url, headers={"Authorization": f"Bearer {made['token']}"}, timeout=60)


def _refused(url: str, token: str) -> bool:
    """Whether a token is refused within what is promised."""
    end = time.monotonic() + _PROMISED_SECONDS
    while time.monotonic() < end:
        if httpx.get(f"{url}/projects", headers={"Authorization": f"Bearer {token}"}).status_code == 401:
            return True
        time.sleep(0.1)
    return False


@pytest.mark.full
@pytest.mark.parametrize("days", [None, 30])
def test_what_a_token_makes_ends_with_it_and_is_revoked_with_it(ada: Browser, days: int | None) -> None:
    maker, client = _short(ada)
    robot = _made(ada.call("POST", "/service-accounts", json={"name": uuid.uuid4().hex}))
    project = _made(ada.call("POST", "/projects", json={"name": uuid.uuid4().hex}))["id"]
    lasting = {} if days is None else {"days": days}
    with client:
        token = _made(client.post("/tokens", json={"name": "child"} | lasting))
        key = _made(client.post(f"/service-accounts/{robot['id']}/keys", json={"name": "key"} | lasting))
        invitation = _made(client.post("/invitations", json={"project": project} | lasting))
        with httpx.Client(base_url=ada.url, headers={"Authorization": f"Bearer {token['token']}"}) as child:
            grandchild = _made(child.post("/tokens", json={"name": "grandchild"} | lasting))
    end = datetime.fromisoformat(maker["expires_at"]).timestamp()
    for made in (token, key, invitation, grandchild):
        assert datetime.fromisoformat(made["expires_at"]).timestamp() == pytest.approx(end, abs=1.0)
    assert (token["made_with"], grandchild["made_with"]) == (maker["id"], token["id"])
    assert ada.call("DELETE", f"/tokens/{maker['id']}").status_code == 204
    for made in (token, key, grandchild):
        assert _refused(ada.url, made["token"])
    ben = signed_up(ada.url, f"{uuid.uuid4().hex[:12]}@example.org")
    accepted = ben.call("POST", "/invitations/accept", json={"invitation": invitation["invitation"]})
    assert accepted.status_code == 403


def test_a_signed_in_person_makes_what_lasts_and_it_is_theirs(ada: Browser) -> None:
    made = _made(ada.call("POST", "/tokens", json={"name": "lasting"}))
    assert (made["expires_at"], made["made_with"]) == (None, None)


def test_only_the_owner_of_a_project_invites_to_it_and_nobody_else_becomes_its_owner(ada: Browser) -> None:
    project = _made(ada.call("POST", "/projects", json={"name": uuid.uuid4().hex}))["id"]
    body = {"project": project, "role": "editor"}
    invitation = _made(ada.call("POST", "/invitations", json=body))["invitation"]
    ben = signed_up(ada.url, f"{uuid.uuid4().hex[:12]}@example.org", invitation=invitation)
    assert [one["role"] for one in ben.get("/shared-projects").json()["projects"]] == ["editor"]
    assert ben.call("POST", "/invitations", json=body).status_code == 404
    assert ada.call("POST", "/invitations", json=body | {"role": "owner"}).status_code == 422
    member = f"/projects/{project}/members/{ben.owner}"
    assert ada.call("PUT", member, json={"role": "owner"}).status_code == 422


@pytest.mark.parametrize(
    ("days", "left", "wanted"),
    [(None, None, None), (3, None, 3.0), (None, 1.0, 1.0), (3, 1.0, 1.0), (1, 3.0, 1.0)],
)
def test_the_earlier_end_counts(days: int | None, left: float | None, wanted: float | None) -> None:
    now = time.time()
    principal = Principal(owner_id="ada", expires_at=left and now + left * _DAY)
    found = principal.end_of(days)
    assert found == (None if wanted is None else pytest.approx(now + wanted * _DAY, abs=5.0))
    if days is not None:
        assert wanted is not None
        assert principal.lifetime(days) == pytest.approx(wanted * _DAY, abs=5.0)


async def test_an_open_stream_ends_when_its_reader_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http, "_ASK_AGAIN_SECONDS", 0.0)
    answers, closed = [True, True, False], list[bool]()

    async def is_admitted(_: Principal) -> bool:
        return answers.pop(0)

    async def stream() -> AsyncGenerator[int]:
        try:
            for number in range(10):
                yield number
        finally:
            closed.append(True)

    services = SimpleNamespace(auth=SimpleNamespace(is_admitted=is_admitted))
    request = cast(Request, SimpleNamespace(app=SimpleNamespace(state=SimpleNamespace(services=services))))
    told = [piece async for piece in while_admitted(request, Principal(owner_id="ada"), stream())]
    assert (told, closed) == ([0, 1], [True])
