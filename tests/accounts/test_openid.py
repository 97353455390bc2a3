"""Signing in with an identity provider: who is let in, whose account it becomes, and every answer that is not in order."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import time
import uuid
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest
from joserfc import jwt
from joserfc.jwk import Key, RSAKey, import_key

from citewell.errors import ConfigurationError
from citewell.features.identities.service import local_path
from citewell.settings import load_settings
from tests.accounts.people import Browser, signed_up
from tests.contract_servers.openid import CLIENT, SECRET, OpenIdServer, openid_server
from tests.server.in_process import InProcessServer
from tests.server.running import Server

pytestmark = pytest.mark.slow(60)
PATH = "/session/openid"


class Visitor(Browser):
    """A browser that follows the way to the provider and back."""

    def begin(self, path: str = PATH, **body: Any) -> str:
        """Where the page is sent."""
        response = self.call("POST", path, json=body)
        assert response.status_code == 200, response.text
        return response.json()["address"]

    def at_provider(self, address: str) -> str:
        """Where the provider sends the browser back to."""
        response = httpx.get(address)
        assert response.status_code == 302, response.text
        return response.headers["location"]

    def come_back(self, address: str, **changed: str) -> httpx.Response:
        """What Citewell says to the browser that comes back, with other parameters than the provider gave it if wanted."""
        given = {name: values[0] for name, values in parse_qs(urlsplit(address).query).items()} | changed
        return self.get(PATH, params=given)

    def through(self, **body: Any) -> httpx.Response:
        """Sign in with the provider."""
        return self.come_back(self.at_provider(self.begin(**body)))

    def whole_session(self) -> dict[str, Any]:
        """Take the page's proof, as the page does when it is loaded."""
        session = self.get("/session").json()
        self._proof, self.owner = session["csrf"] or "", session["owner"] or ""
        return session


def somebody(**more: Any) -> dict[str, Any]:
    name = uuid.uuid4().hex[:12]
    return {"sub": name, "email": f"{name}@example.org", "email_verified": True, "name": f"Person {name}"} | more


def problem(response: httpx.Response) -> str | None:
    """Why somebody was not let in; None for who was."""
    assert response.status_code == 303, response.text
    return parse_qs(urlsplit(response.headers["location"]).query).get("sign_in", [None])[0]


@pytest.fixture(scope="module")
def provider() -> Iterator[OpenIdServer]:
    with openid_server(OpenIdServer()) as running:
        yield running


def _settings(provider: OpenIdServer, **more: str) -> dict[str, str]:
    given = {"ISSUER": provider.issuer, "CLIENT_ID": CLIENT, "CLIENT_SECRET": SECRET, "NAME": "Example ID"}
    openid = {f"CITEWELL_OIDC_{name}": value for name, value in (given | more).items()}
    return {"CITEWELL_ACCOUNTS": "on"} | openid


@pytest.fixture(scope="module")
def server(provider: OpenIdServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("openid")
    with InProcessServer(folder / "data", CITEWELL_SIGN_UP="open", **_settings(provider)) as running:
        signed_up(running.url, "first@example.org")
        yield running


@pytest.fixture
def visitor(server: Server, provider: OpenIdServer) -> Iterator[Visitor]:
    """Somebody whom only the provider knows; what a test changes of the provider is put back."""
    provider.person = somebody()
    provider.keys[:] = provider.keys[-1:]
    yield Visitor(server.url)
    provider.changed, provider.metadata, provider.sign, provider.answer = {}, {}, None, None
    provider.issuer_said, provider.user_info = None, None
    provider.declines = provider.is_shy = provider.is_down = False


def test_somebody_signs_in_with_the_provider_and_comes_again(visitor: Visitor, provider: OpenIdServer) -> None:
    assert visitor.get("/session").json()["provider"] == "Example ID"
    response = visitor.through(return_to="/library?sort=name#top")
    assert (problem(response), response.headers["location"]) == (None, "/library?sort=name#top")
    session = visitor.whole_session()
    assert session["signed_in"]
    assert session["person"] == provider.person["name"]
    account = visitor.get("/account").json()
    assert account["email"] == provider.person["email"]
    assert account["issuer"] == provider.issuer
    assert (account["administrator"], account["has_password"]) == (False, False)
    assert visitor.refresh().status_code == 200
    again = Visitor(visitor.url)
    provider.person["email"] = "another@example.org"  # who they are is the subject, not the address
    assert problem(again.through()) is None
    assert again.whole_session()["owner"] == session["owner"]
    assert len(again.get("/account/sessions").json()["sessions"]) == 2


@pytest.mark.full
def test_the_way_there_has_state_nonce_and_the_hash_of_a_verifier(visitor: Visitor) -> None:
    sent = [parse_qs(urlsplit(visitor.begin()).query) for _ in range(2)]
    one, other = sent
    assert one["response_type"] == ["code"]
    assert one["code_challenge_method"] == ["S256"]
    assert one["redirect_uri"] == [f"{visitor.url}{PATH}"]
    assert all(one[name] != other[name] and len(one[name][0]) >= 43 for name in ("state", "nonce", "code_challenge"))


@pytest.mark.full
def test_the_cookie_of_the_way_there_is_no_session_and_is_gone_afterwards(visitor: Visitor) -> None:
    response = visitor.call("POST", PATH, json={})
    cookie = response.headers["set-cookie"].lower()
    assert all(part in cookie for part in ("httponly", "samesite=lax", f"path={PATH}", "max-age=600"))
    token = visitor.cookie("_openid")
    assert httpx.get(f"{visitor.url}/account", headers={"Authorization": f"Bearer {token}"}).status_code == 401
    back = visitor.come_back(visitor.at_provider(response.json()["address"]))
    assert [one for one in back.headers.get_list("set-cookie") if "_openid=" in one and "Max-Age=0" in one]
    kept = [one for one in back.headers.get_list("set-cookie") if "_openid=" not in one]
    assert len(kept) == 2
    assert all("samesite=strict" in one.lower() and "httponly" in one.lower() for one in kept)
    assert "code=" not in back.headers["location"]


@pytest.mark.full
@pytest.mark.parametrize("header", [{"Sec-Fetch-Site": "cross-site"}, {"Origin": "https://evil.example"}])
def test_another_sites_page_begins_nothing(visitor: Visitor, header: dict[str, str]) -> None:
    response = visitor.call("POST", PATH, json={}, headers=header)
    assert response.json()["error"]["code"] == "foreign_request"


# ---- the way back ----


@pytest.mark.full
def test_a_state_of_nobody_of_another_browser_and_of_an_earlier_sign_in_is_refused(visitor: Visitor) -> None:
    back = visitor.at_provider(visitor.begin())
    assert problem(Visitor(visitor.url).come_back(back)) == "expired"  # a link that an attacker sends
    other = Visitor(visitor.url)
    other.begin()
    assert problem(other.come_back(back)) == "expired"
    assert problem(visitor.come_back(back, state="made up")) == "expired"
    assert problem(visitor.come_back(back, state="")) == "expired"
    assert visitor.get("/account").status_code == 401


@pytest.mark.full
def test_a_code_counts_once_and_so_does_its_state(visitor: Visitor, provider: OpenIdServer) -> None:
    back = visitor.at_provider(visitor.begin())
    kept = visitor.cookie("_openid")
    assert problem(visitor.come_back(back)) is None
    redeemed = provider.asked.count("/token")
    thief = Visitor(visitor.url)
    thief.begin()
    thief.keep("_openid", kept)
    assert problem(thief.come_back(back)) == "expired"
    assert provider.asked.count("/token") == redeemed
    # The code with a state of the thief's own: the provider knows it no longer.
    fresh = Visitor(visitor.url)
    state = parse_qs(urlsplit(fresh.begin()).query)["state"][0]
    assert problem(fresh.come_back(back, state=state)) == "refused"


@pytest.mark.full
def test_a_code_that_was_stolen_on_its_way_is_worth_nothing_without_the_verifier(visitor: Visitor) -> None:
    stolen = parse_qs(urlsplit(visitor.at_provider(visitor.begin())).query)["code"][0]
    thief = Visitor(visitor.url)
    assert problem(thief.come_back(thief.at_provider(thief.begin()), code=stolen)) == "refused"
    assert thief.get("/account").status_code == 401


@pytest.mark.full
def test_a_cookie_that_was_changed_or_made_elsewhere_is_refused(visitor: Visitor) -> None:
    back = visitor.at_provider(visitor.begin())
    head, body, mark = visitor.cookie("_openid").split(".")
    flow = json.loads(base64.urlsafe_b64decode(body + "=="))
    flow["purpose"]["return_to"] = "https://evil.example"
    changed = base64.urlsafe_b64encode(json.dumps(flow).encode()).rstrip(b"=").decode()
    none = base64.urlsafe_b64encode(b'{"alg":"none","typ":"flow+jwt"}').rstrip(b"=").decode()
    for token in (f"{head}.{changed}.{mark}", f"{none}.{changed}.", "", "x", f"{head}.{body}.{mark[:-4]}AAAA"):
        visitor.begin()
        visitor.keep("_openid", token)
        assert problem(visitor.come_back(back)) == "expired"


@pytest.mark.full
def test_who_declines_at_the_provider_is_told_so(visitor: Visitor, provider: OpenIdServer) -> None:
    provider.declines = True
    assert problem(visitor.through(return_to="/library")) == "declined"
    assert problem(visitor.come_back("/?", state="x", error="access_denied")) == "expired"


# ---- tokens ----

_WRONG: dict[str, dict[str, Any]] = {
    "no nonce": {"nonce": None},
    "another nonce": {"nonce": "of another sign-in"},
    "another audience": {"aud": "another application"},
    "another party": {"aud": [CLIENT, "another application"], "azp": "another application"},
    "several audiences and no party": {"aud": [CLIENT, "another application"], "azp": None},
    "no audience": {"aud": None},
    "another issuer": {"iss": "https://evil.example"},
    "no issuer": {"iss": None},
    "expired": {"exp": 1},
    "no expiry": {"exp": None},
    "from the future": {"iat": 4_102_444_800},
    "not valid yet": {"nbf": 4_102_444_800},
    "another access token": {"at_hash": "AAAAAAAAAAAAAAAAAAAAAA"},
    "nobody": {"sub": None},
    "nobody by name": {"sub": ""},
    "a number": {"sub": 7},
    "too long": {"sub": "a" * 300},
    "a null character": {"sub": "a\0b"},
    "odd types": {"aud": {"citewell": 1}, "exp": "soon", "nonce": ["a"]},
}


@pytest.mark.full
@pytest.mark.parametrize("changed", _WRONG.values(), ids=_WRONG.keys())
def test_an_identity_token_for_somebody_or_something_else_is_refused(
    visitor: Visitor, provider: OpenIdServer, changed: dict[str, Any]
) -> None:
    provider.changed = changed
    assert problem(visitor.through()) == "refused"
    assert visitor.get("/account").status_code == 401


def _unsigned(provider: OpenIdServer, claims: dict[str, Any], algorithm: str = "none", key: bytes | None = None) -> str:
    head = {"alg": algorithm, "typ": "JWT", "kid": provider.keys[-1].kid}
    parts = [base64.urlsafe_b64encode(json.dumps(one).encode()).rstrip(b"=") for one in (head, claims)]
    mark = b"" if key is None else hmac.new(key, b".".join(parts), hashlib.sha256).digest()
    return b".".join([*parts, base64.urlsafe_b64encode(mark).rstrip(b"=")]).decode()


def _for_any(key: Key) -> Key:
    """The same key, to be used with other algorithms too."""
    return import_key({name: value for name, value in key.as_dict(private=True).items() if name != "alg"})


_STRANGER = RSAKey.generate_key(2048)
_FORGED: dict[str, Callable[[OpenIdServer, dict[str, Any]], str]] = {
    "unsigned": _unsigned,
    "unsigned in capitals": lambda server, claims: _unsigned(server, claims, "NONE"),
    "signed with the client's secret": lambda server, claims: _unsigned(server, claims, "HS256", SECRET.encode()),
    "signed with the public key as a secret": lambda server, claims: _unsigned(
        server, claims, "HS256", json.dumps(server.keys[-1].as_dict(private=False)).encode()
    ),
    "a stranger's key under the provider's name": lambda server, claims: server.signed(claims, _STRANGER),
    "a stranger's key in the token": lambda server, claims: server.signed(
        claims, _STRANGER, jwk=_STRANGER.as_dict(private=False)
    ),
    "an algorithm that the provider does not use": lambda server, claims: jwt.encode(
        {"alg": "RS512", "kid": server.keys[-1].kid}, claims, _for_any(server.keys[-1]), ["RS512"]
    ),
    "an unknown key": lambda server, claims: server.signed(claims, _STRANGER, kid="unknown"),
    "a cut signature": lambda server, claims: server.signed(claims)[:-20],
    "no token": lambda server, claims: "x",
    "too many parts": lambda server, claims: f"{server.signed(claims)}.x.y",
}


@pytest.mark.full
@pytest.mark.parametrize("forge", _FORGED.values(), ids=_FORGED.keys())
def test_an_identity_token_that_the_provider_did_not_sign_is_refused(
    visitor: Visitor, provider: OpenIdServer, forge: Callable[[OpenIdServer, dict[str, Any]], str]
) -> None:
    provider.sign = lambda claims: forge(provider, claims)
    assert problem(visitor.through()) == "refused"
    assert visitor.get("/account").status_code == 401


@pytest.mark.full
def test_a_new_key_of_the_provider_counts_at_once(visitor: Visitor, provider: OpenIdServer) -> None:
    assert problem(visitor.through()) is None
    provider.rotate()
    assert problem(visitor.through()) is None


_ODD = {
    "an error": ((500, "no"), "unavailable"),
    "no JSON": ((200, "<html>"), "unavailable"),
    "a list": ((200, "[]"), "unavailable"),
    "a deep one": ((200, "[" * 100_000), "unavailable"),
    "too much": ((200, " " * 400_000 + "{}"), "unavailable"),
    "no token": ((200, '{"access_token": "x"}'), "refused"),
    "an odd token": ((200, '{"id_token": {"a": 1}}'), "refused"),
    "a refusal": ((400, '{"error": "invalid_grant"}'), "refused"),
    "a redirect": ((302, "{}"), "refused"),
}


@pytest.mark.full
@pytest.mark.parametrize(("answer", "expected"), _ODD.values(), ids=_ODD.keys())
def test_an_answer_without_a_token_lets_nobody_in(
    visitor: Visitor, provider: OpenIdServer, answer: tuple[int, str], expected: str
) -> None:
    provider.answer = answer
    assert problem(visitor.through()) == expected


@pytest.mark.full
@pytest.mark.parametrize("said", ["https://evil.example", ""])
def test_an_answer_that_another_issuer_gave_is_refused_before_its_code_is_sent_anywhere(
    visitor: Visitor, provider: OpenIdServer, said: str
) -> None:
    provider.issuer_said = said
    redeemed = provider.asked.count("/token")
    assert problem(visitor.through()) == "refused"
    assert provider.asked.count("/token") == redeemed


# ---- e-mail addresses ----


@pytest.mark.full
@pytest.mark.parametrize(
    "claims",
    [{"email_verified": False}, {"email_verified": None}, {"email_verified": "false"}, {"email": None}, {"email": 7}],
)
def test_without_a_verified_address_there_is_no_account(
    visitor: Visitor, provider: OpenIdServer, claims: dict[str, Any]
) -> None:
    provider.person |= claims
    assert problem(visitor.through()) == "unverified"


@pytest.mark.full
def test_an_account_with_a_password_is_never_taken_over_by_its_address(
    visitor: Visitor, provider: OpenIdServer
) -> None:
    owner = signed_up(visitor.url, provider.person["email"])
    assert problem(visitor.through()) == "taken"
    assert owner.get("/account").json()["issuer"] is None
    assert owner.get("/account").status_code == 200


@pytest.mark.full
def test_an_address_that_the_provider_has_given_to_somebody_else_opens_nothing(
    visitor: Visitor, provider: OpenIdServer
) -> None:
    assert problem(visitor.through()) is None
    provider.person = {**provider.person, "sub": "a successor"}
    assert problem(Visitor(visitor.url).through()) == "taken"


@pytest.mark.full
def test_what_the_token_leaves_out_is_asked_for_and_must_be_about_the_same_person(
    visitor: Visitor, provider: OpenIdServer
) -> None:
    provider.is_shy = True
    provider.user_info = {**provider.person, "sub": "somebody else"}
    assert problem(visitor.through()) == "refused"
    provider.user_info = None
    assert problem(visitor.through()) is None
    assert visitor.get("/account").json()["email"] == provider.person["email"]


# ---- an account of both kinds ----


def _with_password(visitor: Visitor, email: str) -> Visitor:
    assert visitor.sign_up(email).status_code == 201
    return visitor


@pytest.mark.full
def test_who_is_signed_in_and_knows_the_password_puts_an_identity_to_the_account(
    visitor: Visitor, provider: OpenIdServer
) -> None:
    ada = _with_password(visitor, f"{uuid.uuid4().hex}@example.org")
    wrong = ada.call("POST", "/account/identity", json={"current_password": "a wrong password, surely"})
    assert wrong.json()["error"]["code"] == "wrong_credentials"
    linked = ada.come_back(
        ada.at_provider(ada.begin("/account/identity", current_password="correct horse battery staple"))
    )
    assert (problem(linked), linked.headers["location"]) == (None, "/settings")
    assert ada.get("/account").json()["issuer"] == provider.issuer
    elsewhere = Visitor(ada.url)
    assert problem(elsewhere.through()) is None
    assert elsewhere.whole_session()["owner"] == ada.owner
    assert elsewhere.call("DELETE", "/account/identity").status_code == 204
    assert problem(Visitor(ada.url).through()) is None  # an account of its own now
    assert ada.get("/account").json()["issuer"] is None


@pytest.mark.full
def test_an_identity_belongs_to_one_account_and_is_not_put_to_one_after_signing_out(
    visitor: Visitor, provider: OpenIdServer
) -> None:
    assert problem(Visitor(visitor.url).through()) is None
    ada = _with_password(visitor, f"{uuid.uuid4().hex}@example.org")
    password = {"current_password": "correct horse battery staple"}
    assert problem(ada.come_back(ada.at_provider(ada.begin("/account/identity", **password)))) == "other_person"
    provider.person = somebody()
    back = ada.at_provider(ada.begin("/account/identity", **password))
    assert ada.call("DELETE", "/account/sessions").status_code == 204
    assert problem(ada.come_back(back)) == "expired"


@pytest.mark.full
def test_who_has_no_password_keeps_the_identity(visitor: Visitor) -> None:
    assert problem(visitor.through()) is None
    visitor.whole_session()
    assert visitor.call("DELETE", "/account/identity").status_code == 409
    assert visitor.sign_in(visitor.get("/account").json()["email"]).status_code == 401


# ---- where it goes on ----

_ELSEWHERE = [
    "https://evil.example",
    "//evil.example",
    "/\\evil.example",
    "\\/evil.example",
    "/\t/evil.example",
    "/ /evil.example",
    "javascript:alert(1)",
    "library",
    "",
    "/a\r\nSet-Cookie: x=y",
    "/\u2044evil",
]


@pytest.mark.full
@pytest.mark.parametrize("path", _ELSEWHERE)
def test_after_signing_in_nobody_is_sent_to_another_site(visitor: Visitor, path: str) -> None:
    assert local_path(path) == "/"
    assert visitor.through(return_to=path).headers["location"] == "/"


@pytest.mark.full
def test_a_session_of_the_browser_is_replaced_by_another_one(visitor: Visitor, provider: OpenIdServer) -> None:
    planted = signed_up(visitor.url, f"{uuid.uuid4().hex}@example.org")
    visitor.cookies = planted.cookies
    before = planted.access_token
    assert problem(visitor.through()) is None
    assert visitor.access_token != before
    assert visitor.whole_session()["person"] == provider.person["name"]


# ---- the provider's documents ----


@pytest.mark.full
def test_a_provider_that_does_not_answer_is_said_to_be_unavailable(
    provider: OpenIdServer, server: Server, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("down")
    provider.is_down = True
    try:
        with InProcessServer(folder / "data", **_settings(provider)) as running:
            response = Visitor(running.url).call("POST", PATH, json={})
            assert (response.status_code, response.json()["error"]["code"]) == (503, "unavailable")
            provider.is_down = False
            assert Visitor(running.url).call("POST", PATH, json={}).status_code == 200
    finally:
        provider.is_down = False


_DOCUMENTS: dict[str, dict[str, Any]] = {
    "another issuer": {"issuer": "https://evil.example"},
    "the issuer with a slash": {"issuer": "http://127.0.0.1/"},
    "no keys": {"jwks_uri": None},
    "keys inside the network": {"jwks_uri": "https://169.254.169.254/latest/meta-data"},
    "keys on this machine at another port": {"jwks_uri": "http://127.0.0.1:9/jwks"},
    "a token endpoint without TLS": {"token_endpoint": "http://evil.example/token"},
    "an authorization endpoint that is a script": {"authorization_endpoint": "javascript:alert(1)"},
    "user information without TLS": {"userinfo_endpoint": "http://evil.example/userinfo"},
    "odd types": {"token_endpoint": ["x"]},
}


@pytest.mark.full
@pytest.mark.parametrize("metadata", _DOCUMENTS.values(), ids=_DOCUMENTS.keys())
async def test_a_document_that_is_not_in_order_is_not_used(metadata: dict[str, Any]) -> None:
    from citewell.adapters.webhook.guarded import GuardedSender
    from citewell.errors import Unavailable
    from citewell.features.identities.openid import OpenIdFlow, OpenIdProvider

    with openid_server(OpenIdServer(metadata=metadata)) as running:
        relying = OpenIdProvider(
            issuer=running.issuer,
            client_id=CLIENT,
            secret=SECRET,
            name="x",
            dial=GuardedSender(private=True).exchange,
            guarded=GuardedSender(private=False).exchange,
        )
        with pytest.raises(Unavailable):
            await relying.address(OpenIdFlow(state="s", nonce="n", verifier="v", redirect="http://127.0.0.1/"))


# ---- who may make an account ----


@pytest.fixture(scope="module")
def invited(provider: OpenIdServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Server, Browser]]:
    folder = tmp_path_factory.mktemp("invited")
    with InProcessServer(folder / "data", **_settings(provider)) as running:
        yield running, signed_up(running.url, "first@example.org")


@pytest.mark.full
def test_by_invitation_only_who_is_invited_gets_an_account(
    visitor: Visitor, provider: OpenIdServer, invited: tuple[Server, Browser]
) -> None:
    running, administrator = invited
    guest = Visitor(running.url)
    assert problem(guest.through()) == "not_invited"
    assert problem(guest.through(invitation="made up")) == "not_invited"
    for email, expected in (("another@example.org", "not_invited"), (provider.person["email"], None)):
        made = administrator.call("POST", "/invitations", json={"email": email}).json()
        assert problem(guest.through(invitation=made["invitation"])) == expected
    guest.whole_session()
    project = administrator.get("/projects").json()["projects"][0]["id"]
    made = administrator.call("POST", "/invitations", json={"project": project, "role": "editor"}).json()
    assert problem(guest.through(invitation=made["invitation"])) is None
    assert guest.get("/shared-projects").json()["projects"][0]["role"] == "editor"


@pytest.mark.full
def test_who_is_suspended_is_not_let_in(
    visitor: Visitor, provider: OpenIdServer, invited: tuple[Server, Browser]
) -> None:
    running, administrator = invited
    guest = Visitor(running.url)
    made = administrator.call("POST", "/invitations", json={}).json()
    assert problem(guest.through(invitation=made["invitation"])) is None
    person = guest.get("/account").json()["id"]
    assert administrator.call("PATCH", f"/people/{person}", json={"state": "suspended"}).status_code == 200
    assert problem(guest.through()) == "suspended"


@pytest.mark.full
def test_only_addresses_of_the_domains_are_let_in_and_need_no_invitation(
    visitor: Visitor, provider: OpenIdServer, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("domains")
    settings = _settings(provider, DOMAINS="example.org, example.net")
    with InProcessServer(folder / "data", **settings) as running:
        signed_up(running.url, "first@example.org")
        for domain in ("example.com", "sub.example.org", "example.org.evil.example", "evilexample.org"):
            provider.person = somebody(email=f"{uuid.uuid4().hex}@{domain}")
            assert problem(Visitor(running.url).through()) == "domain"
        provider.person = somebody(email=f"Ada.{time.time_ns()}@EXAMPLE.NET")
        assert problem(Visitor(running.url).through()) is None


@pytest.mark.full
async def test_a_public_client_and_other_algorithms_and_methods_work(tmp_path_factory: pytest.TempPathFactory) -> None:
    for algorithm, method, secret in (("ES256", "none", None), ("PS256", "client_secret_post", SECRET)):
        folder = tmp_path_factory.mktemp("client")
        with openid_server(OpenIdServer(person=somebody(), algorithm=algorithm, method=method)) as running:
            settings = _settings(running)
            if secret is None:
                del settings["CITEWELL_OIDC_CLIENT_SECRET"]
            with InProcessServer(folder / "data", CITEWELL_SIGN_UP="open", **settings) as citewell:
                assert problem(Visitor(citewell.url).through()) is None


# ---- settings ----


@pytest.mark.full
@pytest.mark.parametrize(
    ("changed", "named"),
    [
        ({"accounts": False}, "CITEWELL_ACCOUNTS"),
        ({"oidc_client_id": None}, "CITEWELL_OIDC_CLIENT_ID"),
        ({"oidc_issuer": "http://id.example.org"}, "https://"),
        ({"oidc_issuer": "https://id.example.org?x=y"}, "query"),
        ({"oidc_issuer": None}, "CITEWELL_OIDC_ISSUER"),
        ({"oidc_redirect_url": "https://citewell.example.org/"}, "/session/openid"),
        ({"oidc_domains": "example"}, "CITEWELL_OIDC_DOMAINS"),
    ],
)
def test_settings_that_would_let_others_in_keep_the_server_from_starting(changed: dict[str, Any], named: str) -> None:
    sound = {"accounts": True, "oidc_issuer": "https://id.example.org", "oidc_client_id": CLIENT}
    assert load_settings(**sound).openid.client_id == CLIENT
    with pytest.raises(ConfigurationError, match=named):
        load_settings(**sound | changed)
