"""Signing up, in and out over HTTP, as browsers do it; and what is refused."""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable
from typing import Any

import httpx
import pytest

from tests.accounts.people import PASSWORD, Browser, signed_up
from tests.contract_servers.jwks import claims_of, signed
from tests.server.running import Server

pytestmark = pytest.mark.slow(20)
WITHIN_SECONDS = 5.0


def address() -> str:
    return f"{uuid.uuid4().hex[:12]}@example.org"


@pytest.fixture
def ada(accounts: Server, administrator: Browser) -> Browser:
    return signed_up(accounts.url, address())


def refused(ask: Callable[[], httpx.Response]) -> bool:
    """Whether an answer becomes 401 within the time that is promised."""
    end = time.monotonic() + WITHIN_SECONDS
    while time.monotonic() < end:
        if ask().status_code == 401:
            return True
        time.sleep(0.1)
    return False


def test_the_first_person_administers_the_server_and_others_do_not(
    accounts: Server, administrator: Browser, ada: Browser
) -> None:
    assert administrator.get("/account").json()["administrator"] is True
    assert ada.get("/account").json()["administrator"] is False
    assert ada.get("/people").json()["error"]["code"] == "forbidden"
    assert len(administrator.get("/people").json()["people"]) > 1


def test_the_cookies_are_out_of_reach_of_scripts_and_of_other_sites(accounts: Server, ada: Browser) -> None:
    response = ada.refresh()
    cookies = response.headers.get_list("set-cookie")
    assert len(cookies) == 2
    assert all("httponly" in cookie.lower() and "samesite=strict" in cookie.lower() for cookie in cookies)
    assert [cookie for cookie in cookies if "_refresh=" in cookie and "Path=/session" in cookie]
    assert ada.access_token not in response.text
    assert ada.refresh_token not in response.text


def test_an_access_token_is_a_jwt_of_minutes_without_anything_to_read_but_ids(ada: Browser) -> None:
    claims = claims_of(ada.access_token)
    assert 600 <= claims["exp"] - claims["iat"] <= 900
    assert claims.keys() == {"iss", "aud", "sub", "sid", "iat", "exp"}


def test_what_changes_something_needs_the_pages_proof(accounts: Server, ada: Browser) -> None:
    unproven = {"X-CSRF-Token": ""}
    assert ada.get("/account", headers=unproven).status_code == 200
    made = ada.call("POST", "/projects", json={"name": "x"}, headers=unproven)
    assert made.json()["error"]["code"] == "foreign_request"
    assert ada.call("POST", "/projects", json={"name": "x"}).status_code == 201


@pytest.mark.full
@pytest.mark.parametrize("path", ["/session/password", "/session/refresh", "/account"])
@pytest.mark.parametrize("header", [{"Sec-Fetch-Site": "cross-site"}, {"Origin": "https://evil.example"}])
def test_another_sites_page_begins_and_renews_no_session(
    accounts: Server, ada: Browser, path: str, header: dict[str, str]
) -> None:
    body = {} if path.endswith("refresh") else {"email": address(), "password": PASSWORD}
    response = ada.call("POST", path, json=body, headers=header)
    assert response.json()["error"]["code"] == "foreign_request"


def test_the_proof_stays_the_same_while_tokens_change(ada: Browser) -> None:
    before, proof = ada.access_token, ada.get("/session").json()["csrf"]
    again = ada.refresh().json()
    assert again["csrf"] == proof
    assert ada.refresh_token
    assert before  # the earlier token is still valid: it ends with its time, or with its session
    assert ada.call("POST", "/projects", json={"name": "after"}).status_code == 201


def test_a_refresh_token_that_is_used_twice_ends_its_session_and_no_other(accounts: Server) -> None:
    email = address()
    ada, elsewhere = signed_up(accounts.url, email), Browser(accounts.url)
    elsewhere.sign_in(email)
    stolen = ada.refresh_token
    assert ada.refresh().status_code == 200
    fresh = ada.refresh_token
    ada.keep("_refresh", stolen)
    assert ada.refresh().status_code == 401
    ada.keep("_refresh", fresh)
    assert ada.refresh().status_code == 401
    assert refused(lambda: ada.get("/resources"))
    assert elsewhere.get("/resources").status_code == 200


def test_signing_out_ends_the_session_and_not_only_the_cookie(accounts: Server, ada: Browser) -> None:
    access, refresh = ada.access_token, ada.refresh_token
    assert ada.call("DELETE", "/session").status_code == 204
    assert ada.get("/session").json()["signed_in"] is False
    assert refused(lambda: httpx.get(f"{accounts.url}/resources", headers={"Authorization": f"Bearer {access}"}))
    name = f"citewell_{accounts.url.rpartition(':')[2]}_refresh"
    assert httpx.post(f"{accounts.url}/session/refresh", cookies={name: refresh}).status_code == 401


def test_signing_out_everywhere_ends_all_sessions_and_nobody_elses(accounts: Server, administrator: Browser) -> None:
    email = address()
    browsers = [signed_up(accounts.url, email)]
    for _ in range(2):
        browsers.append(Browser(accounts.url))
        browsers[-1].sign_in(email)
    assert len(browsers[0].get("/account/sessions").json()["sessions"]) == 3
    assert browsers[0].call("DELETE", "/account/sessions").status_code == 204
    assert all(refused(lambda one=one: one.get("/resources")) for one in browsers)
    assert all(one.refresh().status_code == 401 for one in browsers)
    assert administrator.get("/account").status_code == 200
    assert Browser(accounts.url).sign_in(email).status_code == 200


def test_one_session_is_ended_from_another_and_never_somebody_elses(accounts: Server, ada: Browser) -> None:
    other = signed_up(accounts.url, address())
    theirs = other.get("/account/sessions").json()["sessions"][0]["id"]
    assert ada.call("DELETE", f"/account/sessions/{theirs}").status_code == 404
    assert other.get("/account").status_code == 200
    mine = ada.get("/account/sessions").json()["sessions"]
    assert [one["current"] for one in mine] == [True]
    assert ada.call("DELETE", f"/account/sessions/{mine[0]['id']}").status_code == 204
    assert refused(lambda: ada.get("/account"))


@pytest.mark.full
def test_another_password_signs_out_elsewhere_and_needs_the_current_one(accounts: Server) -> None:
    email, fresh = address(), "a different set of words"
    ada, elsewhere = signed_up(accounts.url, email), Browser(accounts.url)
    elsewhere.sign_in(email)
    body = {"password": fresh, "current_password": "not this one at all"}
    assert ada.call("PATCH", "/account", json=body).json()["error"]["code"] == "wrong_credentials"
    assert ada.call("PATCH", "/account", json=body | {"current_password": PASSWORD}).status_code == 200
    assert refused(lambda: elsewhere.get("/account"))
    assert ada.get("/account").status_code == 200
    assert Browser(accounts.url).sign_in(email).status_code == 401
    assert Browser(accounts.url).sign_in(email, fresh).status_code == 200


def test_who_is_suspended_is_out_at_once_with_sessions_and_tokens_and_comes_back(
    accounts: Server, administrator: Browser
) -> None:
    email = address()
    ada = signed_up(accounts.url, email)
    person = ada.get("/account").json()["id"]
    token = ada.call("POST", "/tokens", json={"name": "script"}).json()["token"]
    bearer = {"Authorization": f"Bearer {token}"}
    assert httpx.get(f"{accounts.url}/resources", headers=bearer).status_code == 200
    change = administrator.call("PATCH", f"/people/{person}", json={"state": "suspended"})
    assert change.json()["state"] == "suspended"
    assert refused(lambda: ada.get("/resources"))
    assert refused(lambda: httpx.get(f"{accounts.url}/resources", headers=bearer))
    assert ada.refresh().status_code == 401
    assert Browser(accounts.url).sign_in(email).json()["error"]["code"] == "wrong_credentials"
    administrator.call("PATCH", f"/people/{person}", json={"state": "active"})
    assert Browser(accounts.url).sign_in(email).status_code == 200
    assert httpx.get(f"{accounts.url}/resources", headers=bearer).status_code == 200


def test_the_only_administrator_cannot_be_suspended(administrator: Browser) -> None:
    me = administrator.get("/account").json()["id"]
    assert administrator.call("PATCH", f"/people/{me}", json={"state": "suspended"}).status_code == 409


def test_two_people_have_nothing_of_each_other(accounts: Server, ada: Browser) -> None:
    ben = signed_up(accounts.url, address())
    uploaded = ada.call("POST", "/ingest", files={"file": ("secret.txt", b"Seven limes.")})
    assert uploaded.status_code == 201, uploaded.text
    assert ben.get(f"/resources/{uploaded.json()['id']}").status_code == 404
    assert ben.get("/resources").json()["resources"] == []


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"email": "no address", "password": PASSWORD}, "body.email"),
        ({"email": "a@b\n", "password": "short"}, "body.password"),
        ({"email": "somebody@example.org", "password": "Somebody@example.org"}, "body.password"),
        ({"email": "x@example.org", "password": "aaaaaaaaaaaaaaaa"}, "body.password"),
        ({"email": "x@example.org", "password": "é" * 257}, "body.password"),
    ],
)
def test_what_makes_no_account_says_which_field(accounts: Server, body: dict[str, Any], field: str) -> None:
    response = httpx.post(f"{accounts.url}/account", json=body)
    assert response.status_code == 422
    assert [one["field"] for one in response.json()["error"]["details"]["fields"]] == [field]
    assert body["password"] not in response.text


def test_an_address_has_one_account_however_it_is_written(accounts: Server, administrator: Browser) -> None:
    email = address()
    signed_up(accounts.url, email)
    assert Browser(accounts.url).sign_up(f" {email.upper()} ").status_code == 409
    assert Browser(accounts.url).sign_in(f" {email.upper()} ").status_code == 200


def test_the_same_password_from_another_keyboard_is_the_same(accounts: Server, administrator: Browser) -> None:
    email = address()
    signed_up(accounts.url, email, password="zwölf Boxkämpfer jagen")
    assert Browser(accounts.url).sign_in(email, "zwo\u0308lf Boxka\u0308mpfer jagen").status_code == 200


@pytest.mark.filterwarnings("ignore:The HMAC key")
def test_an_access_token_of_another_key_kind_or_time_is_refused(accounts: Server, ada: Browser) -> None:
    claims: dict[str, Any] = claims_of(ada.access_token)
    key = (accounts.data / "session_secret").read_bytes()
    good = signed(claims, key, "HS256", typ="at+jwt")
    forged = {
        "another key": signed(claims, key[::-1], "HS256", typ="at+jwt"),
        "another kind": signed(claims, key, "HS256"),
        "another hash": signed(claims, key, "HS384", typ="at+jwt"),
        "no signature": signed(claims, "", "none", typ="at+jwt"),
        "expired": signed(claims | {"exp": 1}, key, "HS256", typ="at+jwt"),
        "another issuer": signed(claims | {"iss": "x"}, key, "HS256", typ="at+jwt"),
        "another audience": signed(claims | {"aud": "x"}, key, "HS256", typ="at+jwt"),
        "no such session": signed(claims | {"sid": str(uuid.uuid4())}, key, "HS256", typ="at+jwt"),
        "odd session": signed(claims | {"sid": [1]}, key, "HS256", typ="at+jwt"),
    }
    statuses = {
        name: httpx.get(f"{accounts.url}/resources", headers={"Authorization": f"Bearer {token}"}).status_code
        for name, token in ({"good": good} | forged).items()
    }
    assert statuses == {"good": 200} | dict.fromkeys(forged, 401)


def test_without_accounts_there_is_no_way_to_make_one(server: Server) -> None:
    for path, body in (("/account", {"email": "a@example.org", "password": PASSWORD}), ("/session/refresh", {})):
        assert httpx.post(f"{server.url}{path}", json=body).status_code == 404
    assert httpx.get(f"{server.url}/session").json() | {"version": ""} == {
        "signed_in": False,
        "owner": None,
        "csrf": None,
        "version": "",
        "accounts": False,
        "sign_up": None,
        "provider": None,
        "sends_mail": False,
        "seconds": None,
        "person": None,
        "administrator": False,
    }
