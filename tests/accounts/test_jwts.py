"""JWTs of identity providers: whose signature counts, with which algorithm, for whom; and keys that change."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from typing import Any

import pytest
from starlette.responses import RedirectResponse, Response

from citewell.errors import ConfigurationError, Unauthorized, Unavailable
from citewell.features.auth import jwts
from citewell.features.auth.jwts import JwksKeys, JwtRules
from citewell.settings import load_settings
from tests.contract_servers.jwks import Provider, signed
from tests.contract_servers.serving import serving

SECRET = "7f3a9c41d2e85b60718293a4b5c6d7e8f9012a3b4c5d6e7f8091a2b3c4d5e6f7"
ISSUER, AUDIENCE = "https://id.example.org", "citewell"


def claims(**changed: Any) -> dict[str, Any]:
    given = {"sub": "ada", "iss": ISSUER, "aud": AUDIENCE, "exp": time.time() + 60} | changed
    return {name: value for name, value in given.items() if value is not None}


@pytest.fixture(params=["RS256", "ES256", "EdDSA"])
def provider(request: pytest.FixtureRequest) -> Provider:
    made = Provider(request.param)
    made.rotate()
    return made


@pytest.fixture
def rules(provider: Provider) -> Iterator[JwtRules]:
    with serving(provider.app()) as address:
        yield _rules(provider, address)


def _rules(provider: Provider, address: str) -> JwtRules:
    keys = JwksKeys(url=f"{address}/jwks", algorithm=provider.algorithm)
    return JwtRules(algorithm=provider.algorithm, keys=keys, issuer=ISSUER, audience=AUDIENCE)


async def _subject(rules: JwtRules, token: str) -> str:
    return (await rules.holder(token))[0]


async def test_a_token_signed_with_a_published_key_says_who_it_is(provider: Provider, rules: JwtRules) -> None:
    assert [await _subject(rules, provider.sign(claims())) for _ in range(3)] == ["ada"] * 3
    assert provider.fetched == 1
    assert await _subject(rules, provider.sign(claims(), kid=None)) == "ada"  # there is one key only


@pytest.mark.parametrize(
    "changed",
    [
        {"iss": "https://evil.example"},
        {"iss": None},
        {"aud": "another application"},
        {"aud": None},
        {"exp": 1},
        {"exp": None},
        {"nbf": time.time() + 3_600},
        {"sub": None},
        {"sub": " "},
        {"sub": "a\0b"},
    ],
)
async def test_a_token_for_somebody_else_or_another_time_is_refused(changed: dict[str, Any]) -> None:
    provider = Provider("ES256")
    provider.rotate()
    with serving(provider.app()) as address, pytest.raises(Unauthorized):
        await _subject(_rules(provider, address), provider.sign(claims(**changed)))


async def test_the_token_has_no_say_in_how_it_is_checked(provider: Provider, rules: JwtRules) -> None:
    (name,) = provider.keys
    stranger = Provider(provider.algorithm)
    stranger.rotate()
    public = json.dumps(provider.document()["keys"][0])
    forged = [
        signed(claims(), "", "none", kid=name),
        signed(claims(), public, kid=name),
        signed(claims(), "", kid=name),
        stranger.sign(claims(), kid=name),
        stranger.sign(claims(), kid=name, jwk=stranger.document()["keys"][0], jku="https://evil.example/jwks"),
        provider.sign(claims())[:-8] + "AAAAAAAA",
        provider.sign(claims(), kid="../../dev/null"),
    ]
    for token in forged:
        with pytest.raises(Unauthorized):
            await _subject(rules, token)
    assert await _subject(rules, provider.sign(claims(), kid=name)) == "ada"


async def test_a_header_may_be_as_long_as_the_head_of_a_request_and_say_what_nobody_knows(
    provider: Provider, rules: JwtRules
) -> None:
    chain = ["MIID" * 1_000] * 3
    assert await _subject(rules, provider.sign(claims(), x5c=chain, nonce="known to the provider alone")) == "ada"
    with pytest.raises(Unauthorized):
        await _subject(rules, provider.sign(claims(), x5c=chain * 6))


async def test_a_header_parameter_that_must_be_understood_and_is_not_refuses_the_token() -> None:
    rules = JwtRules(algorithm="HS256", secret=SECRET)
    assert await _subject(rules, signed(claims(), SECRET, nonce="x")) == "ada"
    with pytest.raises(Unauthorized):
        await _subject(rules, signed(claims(), SECRET, nonce="x", crit=["nonce"]))


async def test_a_token_that_was_issued_a_moment_ago_is_valid() -> None:
    token = signed(claims(iat=time.time()), SECRET)
    assert await _subject(JwtRules(algorithm="HS256", secret=SECRET), token) == "ada"
    with pytest.raises(Unauthorized):
        await _subject(JwtRules(algorithm="HS256", secret=SECRET), signed(claims(iat=time.time() + 600), SECRET))


@pytest.mark.parametrize("token", ["", "a.b.c", "…", "a" * 10_000, ".".join(["e30"] * 3), "[].{}.x", "\0.\0.\0"])
async def test_what_is_no_token_is_refused(token: str) -> None:
    with pytest.raises(Unauthorized):
        await _subject(JwtRules(algorithm="HS256", secret=SECRET), token)


async def test_a_new_key_counts_at_once_and_made_up_key_ids_fetch_nothing(
    provider: Provider, rules: JwtRules, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = provider.sign(claims())
    assert await _subject(rules, old) == "ada"
    for number in range(20):
        with pytest.raises(Unauthorized):
            await _subject(rules, provider.sign(claims(), kid=f"made up {number}"))
    assert provider.fetched == 1
    provider.rotate()
    monkeypatch.setattr(jwts, "_RETRY_SECONDS", 0.0)
    assert await _subject(rules, provider.sign(claims(sub="ben"))) == "ben"
    with pytest.raises(Unauthorized):
        await _subject(rules, old)


async def test_a_key_that_is_withdrawn_counts_until_the_keys_are_fetched_again(monkeypatch: pytest.MonkeyPatch) -> None:
    provider = Provider("EdDSA")
    provider.rotate()
    with serving(provider.app()) as address:
        rules, old = _rules(provider, address), provider.sign(claims())
        await _subject(rules, old)
        provider.rotate()
        assert await _subject(rules, old) == "ada"
        monkeypatch.setattr(jwts, "_FRESH_SECONDS", 0.0)
        monkeypatch.setattr(jwts, "_RETRY_SECONDS", 0.0)
        with pytest.raises(Unauthorized):
            await _subject(rules, old)


_ODD = {
    "an error": Response("no", 500),
    "no JSON": Response("<html>"),
    "no set": Response("[]"),
    "keys that are none": Response('{"keys": 3}'),
    "too much": Response(b" " * 300_000 + b'{"keys": []}'),
    "elsewhere": RedirectResponse("http://127.0.0.1:1/"),
}


@pytest.mark.parametrize("answer", _ODD)
async def test_while_the_provider_is_out_of_order_known_keys_count_and_unknown_ones_wait(
    answer: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    provider = Provider("ES256")
    provider.rotate()
    provider.answer = _ODD[answer]
    with serving(provider.app()) as address:
        rules, token = _rules(provider, address), provider.sign(claims())
        with pytest.raises(Unavailable):
            await _subject(rules, token)
        monkeypatch.setattr(jwts, "_RETRY_SECONDS", 0.0)
        provider.answer = None
        assert await _subject(rules, token) == "ada"
        provider.answer = _ODD[answer]
        monkeypatch.setattr(jwts, "_FRESH_SECONDS", 0.0)
        assert await _subject(rules, token) == "ada"


async def test_keys_of_other_kinds_are_left_out() -> None:
    provider = Provider("RS256")
    provider.rotate()
    document = provider.document()
    (name,) = provider.keys
    others = [{"kty": "oct", "k": "c2VjcmV0", "kid": name}, {"kty": "EC", "kid": "x"}, 7, {"kty": "RSA", "kid": "bad"}]
    document["keys"] = [*others, document["keys"][0] | {"use": "enc", "kid": "for encryption"}]
    provider.answer = Response(json.dumps(document))
    with serving(provider.app()) as address:
        for kid in (name, "for encryption", "bad"):
            with pytest.raises(Unauthorized):
                await _subject(_rules(provider, address), provider.sign(claims(), kid=kid))


_JWKS = {"jwt_jwks_url": "https://id.example.org/jwks", "jwt_algorithm": "RS256"}
_WHOSE = {"jwt_issuer": ISSUER, "jwt_audience": AUDIENCE}


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"auth_secret": "changeme-changeme-changeme-12345"}, "placeholder"),
        ({"auth_secret": "your-256-bit-secret-your-256-bit!"}, "placeholder"),
        ({"auth_secret": "a5Xk" * 12}, "random"),
        ({"auth_secret": SECRET[:30]}, "at least 32 bytes"),
        ({"accounts": "on", "session_secret": "secret_key_secret_key_0987654321"}, "placeholder"),
        ({"accounts": "on", "auth_secret": SECRET, "session_secret": SECRET}, "must differ from"),
        ({"accounts": "on", "database_url": "postgresql://u:p@localhost/c"}, "CITEWELL_SESSION_SECRET"),
        ({"jwt_algorithm": "RS256"}, "CITEWELL_JWT_JWKS_URL"),
        (_JWKS, "CITEWELL_JWT_ISSUER"),
        (_JWKS | _WHOSE | {"jwt_algorithm": "HS256"}, "public keys"),
        (_JWKS | _WHOSE | {"auth_secret": SECRET}, "cannot both be set"),
        (_JWKS | _WHOSE | {"jwt_jwks_url": "http://id.example.org/jwks"}, "https://"),
        ({"jwt_algorithm": "none"}, "must be"),
    ],
)
def test_settings_that_would_let_the_wrong_people_in_are_refused(given: dict[str, str], said: str) -> None:
    with pytest.raises(ConfigurationError, match=said) as raised:
        load_settings(**given)
    assert SECRET not in str(raised.value)


@pytest.mark.parametrize(
    "given",
    [
        {"auth_secret": SECRET},
        _JWKS | _WHOSE,
        _JWKS | _WHOSE | {"jwt_jwks_url": "http://127.0.0.1:1/jwks"},
        {"accounts": "on"},
        {"accounts": "on", "session_secret": SECRET, "database_url": "postgresql://u:p@localhost/c"},
    ],
)
def test_sound_settings_are_taken(given: dict[str, str]) -> None:
    assert load_settings(**given)


async def test_a_jwt_says_until_when_it_is_valid() -> None:
    ends_at = int(time.time()) + 300
    token = signed({"sub": "ada", "exp": ends_at}, SECRET)
    assert await JwtRules(algorithm="HS256", secret=SECRET).holder(token) == ("ada", float(ends_at))
