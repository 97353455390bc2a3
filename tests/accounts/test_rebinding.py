"""A site whose name was rebound to this machine (DNS rebinding), or whom a proxy on it lets through, gets neither a session nor the server."""

from __future__ import annotations

from collections.abc import Iterator

import httpx
import pytest

from tests.accounts.people import PASSWORD, Browser
from tests.server.in_process import InProcessServer
from tests.server.running import Server

pytestmark = [pytest.mark.full, pytest.mark.slow(10)]
BODY = {"email": "first@example.org", "password": PASSWORD}
ELSEWHERE = (
    "evil.example", "127.0.0.1.evil.example", "localhost.evil.example", "evil-localhost", "0.0.0.0", "192.168.1.10", "[::ffff:8.8.8.8]", "2130706433",
    "localhost:1@evil.example", "127.0.0.1.",
)  # fmt: skip


@pytest.fixture(scope="module")
def empty(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server on this machine where nobody has an account yet, and everybody may make one."""
    folder = tmp_path_factory.mktemp("rebound")
    with InProcessServer(folder / "data", CITEWELL_ACCOUNTS="on", CITEWELL_SIGN_UP="open") as running:
        yield running


@pytest.mark.parametrize("host", ELSEWHERE)
def test_a_page_of_a_name_that_was_rebound_does_not_become_the_administrator(empty: Server, host: str) -> None:
    named = f"{host}:{empty.url.rpartition(':')[2]}"
    headers = {"Host": named, "Origin": f"http://{named}", "Sec-Fetch-Site": "same-origin"}
    assert httpx.post(f"{empty.url}/account", json=BODY, headers=headers, timeout=60).status_code in (400, 403)
    assert httpx.get(f"{empty.url}/session", headers=headers, timeout=60).json()["signed_in"] is False


@pytest.mark.parametrize("address", ["93.184.215.14", "2606:4700::1111", "10.0.0.7"])
def test_whom_a_proxy_on_this_machine_lets_through_does_not_become_the_administrator(
    empty: Server, address: str
) -> None:
    answer = httpx.post(f"{empty.url}/account", json=BODY, headers={"X-Forwarded-For": address}, timeout=60)
    assert answer.status_code == 403
    assert "create-admin" in answer.json()["error"]["message"]


def test_somebody_at_this_machine_does(empty: Server) -> None:
    browser = Browser(empty.url.replace("127.0.0.1", "localhost"))
    assert browser.sign_up("first@example.org").status_code == 201
    assert browser.get("/account").json()["administrator"] is True
    later = httpx.post(
        f"{empty.url}/account", json=BODY | {"email": "b@example.org"}, headers={"Host": "files.example"}, timeout=60
    )
    assert later.json()["administrator"] is False
