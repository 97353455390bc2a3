"""The browser's session: a token becomes a cookie that admits requests of our own page only."""

from __future__ import annotations

from collections.abc import Iterator

import httpx
import pytest

from tests.server.running import Server


@pytest.fixture
def browser(server: Server) -> Iterator[httpx.Client]:
    """A client without a bearer token, as a browser is."""
    with httpx.Client(base_url=server.url, timeout=60) as client:
        yield client


def _token(server: Server) -> str:
    return server.client.headers["authorization"].removeprefix("Bearer ")


def _sign_in(browser: httpx.Client, server: Server) -> str:
    answer = browser.post("/session", json={"token": _token(server)})
    assert answer.status_code == 200, answer.text
    return answer.json()["csrf"]


def test_a_token_is_exchanged_for_a_cookie_that_scripts_and_other_sites_cannot_use(
    browser: httpx.Client, server: Server
) -> None:
    answer = browser.post("/session", json={"token": _token(server)})
    cookie = answer.headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=strict" in cookie
    assert answer.json()["csrf"] not in cookie
    assert browser.get("/resources").status_code == 200


def test_a_session_tells_its_owner_the_same_for_all_of_their_tokens(browser: httpx.Client, server: Server) -> None:
    _sign_in(browser, server)
    first = browser.get("/session").json()["owner"]
    made = server.client.post("/tokens", json={"name": "a second browser"}).json()
    assert first
    assert browser.post("/session", json={"token": made["token"]}).json()["owner"] == first
    browser.cookies.clear()
    assert browser.get("/session").json()["owner"] is None


def test_a_wrong_token_opens_nothing(browser: httpx.Client) -> None:
    answer = browser.post("/session", json={"token": "cw_wrong"})
    assert answer.status_code == 401
    assert "set-cookie" not in answer.headers
    assert browser.get("/session").json()["signed_in"] is False


def test_a_cookie_alone_changes_nothing(browser: httpx.Client, server: Server) -> None:
    proof = _sign_in(browser, server)
    for headers in map(httpx.Headers, ({}, {"X-CSRF-Token": "0" * 64}, {b"X-CSRF-Token": b"\xfc"})):
        refused = browser.post("/threads", json={"title": "forged"}, headers=headers)
        assert (refused.status_code, refused.json()["error"]["code"]) == (403, "foreign_request")
    assert browser.post("/threads", json={"title": "ours"}, headers={"X-CSRF-Token": proof}).status_code == 201


def test_a_bearer_token_needs_no_proof(server: Server) -> None:
    assert server.client.post("/threads", json={"title": "by a program"}).status_code == 201


def test_another_site_cannot_sign_a_browser_in(browser: httpx.Client, server: Server) -> None:
    body = {"token": _token(server)}
    assert browser.post("/session", json=body, headers={"Sec-Fetch-Site": "cross-site"}).status_code == 403
    assert browser.post("/session", json=body, headers={"Sec-Fetch-Site": "same-site"}).status_code == 403


def test_signing_out_ends_the_session(browser: httpx.Client, server: Server) -> None:
    proof = _sign_in(browser, server)
    assert browser.delete("/session").status_code == 403
    assert browser.delete("/session", headers={"X-CSRF-Token": proof}).status_code == 204
    assert browser.get("/resources").status_code == 401


def test_revoking_the_token_ends_the_session(browser: httpx.Client, server: Server) -> None:
    made = server.client.post("/tokens", json={"name": "to be revoked"}).json()
    browser.post("/session", json={"token": made["token"]})
    server.client.delete(f"/tokens/{made['id']}")
    assert browser.get("/resources").status_code == 401
