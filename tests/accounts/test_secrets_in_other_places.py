"""Each kind of secret opens its own door only: put in the place of every other kind, it is refused, and its own still opens afterwards."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import httpx
import pytest

from citewell.composition.accounts import open_password_resets
from citewell.settings import load_settings
from tests.accounts.people import Browser, signed_up
from tests.accounts.test_shared_answers import asked
from tests.server.running import Server

pytestmark = [pytest.mark.full, pytest.mark.slow(20)]
_REFUSED = {401, 403, 404, 422}


# What a browser keeps is a token too: it may be sent as one. A key of a service account is good for programs alone.
_OPENS = {
    "bearer": {"session", "token", "key"},
    "session cookie": {"session", "token"},
    "sign-in link": {"session", "token"},
    "refresh cookie": {"refresh"},
    "invitation": {"invitation"},
    "share link": {"share"},
    "trigger": {"trigger"},
    "password reset": {"reset"},
}


@dataclass(frozen=True)
class Doors:
    """Secrets by their kind, and by its name what tries a secret at each door."""

    secrets: Mapping[str, str]
    tries: Mapping[str, Callable[[str], httpx.Response]]


@pytest.fixture(scope="module")
def doors(accounts: Server, administrator: Browser) -> Iterator[Doors]:
    """Ada's secrets, and Ben's browser where a door needs somebody who is signed in."""
    assert administrator.owner
    shared = asked(accounts, "ada.doors@example.org")
    ada = shared.browser
    ben = signed_up(accounts.url, "ben.doors@example.org")
    project = ada.call("POST", "/projects", json={"name": "Doors"}).json()["id"]
    invited = {"project": project, "role": "viewer", "email": "ben.doors@example.org"}
    robot = ada.call("POST", "/service-accounts", json={"name": "doors"}).json()
    key = ada.call("POST", f"/service-accounts/{robot['id']}/keys", json={"name": "k", "scopes": ["read"]}).json()
    trigger = ada.call("POST", "/webhooks/incoming", json={"kind": "fetch", "name": "doors"}).json()
    hook = ada.call("POST", "/webhooks", json={"url": "https://hooks.example.org/x", "events": ["resource.indexed"]})
    assert hook.status_code == 201, hook.text
    secrets = {
        "session": ada.access_token,
        "refresh": ada.refresh_token,
        "token": ada.call("POST", "/tokens", json={"name": "doors"}).json()["token"],
        "key": key["token"],
        "invitation": ada.call("POST", "/invitations", json=invited).json()["invitation"],
        "share": shared.share().json()["path"].rpartition("/")[2],
        "trigger": trigger["secret"],
        "webhook": hook.json()["secret"],
        "resource": shared.file,
        "reset": reset_secret(accounts, "cleo.doors@example.org"),
    }
    with httpx.Client(base_url=accounts.url, timeout=60) as client:

        def bearer(secret: str) -> httpx.Response:
            return client.get("/resources", headers={"Authorization": f"Bearer {secret}"})

        def session_cookie(secret: str) -> httpx.Response:
            name = next(c.name for c in ada.cookies.jar if c.name.endswith(accounts.url.rpartition(":")[2]))
            return httpx.get(f"{accounts.url}/resources", cookies={name: secret}, timeout=60)

        def refresh_cookie(secret: str) -> httpx.Response:
            name = next(c.name for c in ada.cookies.jar if c.name.endswith("_refresh"))
            return httpx.post(f"{accounts.url}/session/refresh", json={}, cookies={name: secret}, timeout=60)

        def link(secret: str) -> httpx.Response:
            return client.post("/session", json={"token": secret})

        def invitation(secret: str) -> httpx.Response:
            return ben.call("POST", "/invitations/accept", json={"invitation": secret})

        def share(secret: str) -> httpx.Response:
            return client.get(f"/shared-answers/{secret}")

        def incoming(secret: str) -> httpx.Response:
            headers = {"Authorization": f"Bearer {secret}"}
            return client.post(trigger["path"], json={"records": []}, headers=headers)

        def reset(secret: str) -> httpx.Response:
            return client.post("/account/password", json={"reset": secret, "password": "another set of words"})

        yield Doors(
            secrets,
            {
                "bearer": bearer,
                "session cookie": session_cookie,
                "refresh cookie": refresh_cookie,
                "sign-in link": link,
                "invitation": invitation,
                "share link": share,
                "trigger": incoming,
                "password reset": reset,
            },
        )


def reset_secret(server: Server, email: str) -> str:
    """What sets the password of somebody who has just signed up."""
    signed_up(server.url, email)

    async def link() -> str:
        async with open_password_resets(load_settings(data=server.data, accounts=True)) as resets:
            return await resets.link(email)

    return asyncio.run(link()).partition("#reset=")[2]


def test_a_secret_opens_its_own_door_and_no_other(doors: Doors) -> None:
    assert doors.tries.keys() == _OPENS.keys()
    opened: dict[str, set[str]] = {door: set() for door in _OPENS}
    # Those that open come last: a refresh token and an invitation are good once.
    for door, attempt in doors.tries.items():
        for kind, secret in sorted(doors.secrets.items(), key=lambda one: one[0] in _OPENS[door]):
            answer = attempt(secret)
            if answer.is_success:
                opened[door].add(kind)
            else:
                assert answer.status_code in _REFUSED, (door, kind, answer.text)
    assert opened == _OPENS
