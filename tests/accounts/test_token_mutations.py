"""JWTs that were changed, cut, signed with what is public, or that say how they are to be checked: each by itself, for every way that tokens are signed."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import time
from collections.abc import Iterator
from typing import Any

import pytest
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from citewell.errors import Unauthorized
from citewell.features.auth import jwts
from citewell.features.auth.access_tokens import AccessTokens
from citewell.features.auth.jwts import JwksKeys, JwtRules
from tests.contract_servers.jwks import Provider, signed
from tests.contract_servers.serving import serving

SECRET = "7f3a9c41d2e85b60718293a4b5c6d7e8f9012a3b4c5d6e7f8091a2b3c4d5e6f7"
ISSUER, AUDIENCE = "https://id.example.org", "citewell"
P256_ORDER = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551
ALGORITHMS = ("none", "None", "NONE", "nOnE", "", None, 0, [], {}, True, "HS256", "HS384", "HS512", "RS256", "RS384", "PS256", "ES256", "ES384",
              "ES256K", "EdDSA", "A128KW", "dir", "hs256", "HS256 ", "HS256\x00", "../HS256")  # fmt: skip
KEY_IDS = ("../../../../dev/null", "/dev/null", "file:///dev/null", "' UNION SELECT 'x' --", "x\x00", "", None, 7, [], ["x"], {}, {"kid": "x"}, True,
           "https://evil.example/key", "| cat /etc/passwd", "\ud800", "x" * 5_000)  # fmt: skip
SAID = {
    "jku": "https://evil.example/jwks", "x5u": "https://evil.example/cert", "x5c": ["MIIB"], "jwk": {"kty": "oct", "k": "c2VjcmV0"}, "b64": False,
    "crit": ["exp"], "zip": "DEF", "cty": "JWT", "enc": "A256GCM", "typ": "at+jwt", "iss": ISSUER, "p2c": 2**40,
}  # fmt: skip


def _encoded(data: bytes | dict[str, Any]) -> str:
    raw = data if isinstance(data, bytes) else json.dumps(data).encode()
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()


def _decoded(part: str) -> bytes:
    return base64.urlsafe_b64decode(part + "=" * (-len(part) % 4))


def _hmac(key: bytes, header: dict[str, Any], claims: str) -> str:
    signed = f"{_encoded(header)}.{claims}"
    return f"{signed}.{_encoded(hmac.new(key, signed.encode(), hashlib.sha256).digest())}"


def mutations(token: str, public: dict[str, bytes]) -> Iterator[tuple[str, str]]:
    """Tokens that nobody signed who may, by what was done. public: what an attacker knows of the key, in several forms."""
    head, body, signature = token.split(".")
    header, claims = json.loads(_decoded(head)), json.loads(_decoded(body))
    for share in range(40):
        yield f"cut at {share}/40", token[: len(token) * share // 40]
    for part, encoded in enumerate((head, body, signature)):
        data = _decoded(encoded)
        for step in range(20):
            changed = bytearray(data)
            changed[len(data) * step // 20] ^= 1 << step % 8
            parts = [head, body, signature]
            parts[part] = _encoded(bytes(changed))
            yield f"bit {step} of part {part}", ".".join(parts)
    for name, parts in {
        "no signature": [head, body, ""], "no claims": [head, "", signature], "no header": ["", body, signature], "two parts": [head, body],
        "four parts": [head, body, signature, signature], "five parts": [head, "", body, signature, signature], "swapped": [body, head, signature],
        "signed twice": [head, body, signature + signature], "dots": ["", "", ""], "claims twice": [head, body + body, signature],
    }.items():  # fmt: skip
        yield name, ".".join(parts)
    for algorithm in ALGORITHMS:
        if algorithm != header["alg"]:
            yield f"alg {algorithm!r}", f"{_encoded(header | {'alg': algorithm})}.{body}.{signature}"
        yield f"alg {algorithm!r}, unsigned", f"{_encoded(header | {'alg': algorithm})}.{body}."
    for key_id in KEY_IDS:
        yield f"kid {str(key_id)[:20]!r}", f"{_encoded(header | {'kid': key_id})}.{body}.{signature}"
        yield f"kid {str(key_id)[:20]!r}, empty key", _hmac(b"", header | {"kid": key_id, "alg": "HS256"}, body)
    for name, value in SAID.items():
        if header.get(name) != value:
            yield f"says {name}", f"{_encoded(header | {name: value})}.{body}.{signature}"
    for form, key in public.items():
        yield f"{form} as a secret", _hmac(key, header | {"alg": "HS256"}, body)
        yield f"{form} as a secret, own algorithm", _hmac(key, header, body)
    for name, value in {
        "sub": "ben",
        "exp": time.time() + 9_999_999,
        "aud": "another",
        "iss": "another",
        "admin": True,
        "sid": "another",
    }.items():
        yield f"claims {name}", f"{head}.{_encoded(claims | {name: value})}.{signature}"
    half = len(_decoded(signature)) // 2
    for name, (r, s) in {
        "zero": (0, 0),
        "one": (1, 1),
        "the order": (P256_ORDER, P256_ORDER),
        "zero and one": (0, 1),
    }.items():
        yield (
            f"signature of {name}",
            f"{head}.{body}.{_encoded(r.to_bytes(max(half, 32), 'big') + s.to_bytes(max(half, 32), 'big'))}",
        )


def _claims() -> dict[str, Any]:
    return {"sub": "ada", "iss": ISSUER, "aud": AUDIENCE, "exp": int(time.time()) + 600}


async def _accepted(rules: JwtRules, token: str, public: dict[str, bytes]) -> tuple[int, list[str]]:
    """How many were tried, and what was let in."""
    assert (await rules.holder(token))[0] == "ada"
    found = [(name, forged) for name, forged in mutations(token, public) if forged != token]
    let_in: list[str] = []
    for name, forged in found:
        try:
            await rules.holder(forged)
        except Unauthorized:
            continue
        let_in.append(name)
    return len(found), let_in


async def test_no_mutation_of_a_token_with_a_shared_secret_is_accepted() -> None:
    token = signed(_claims(), SECRET, kid="key")
    known = {"nothing": b"", "a guess": b"secret", "the issuer": ISSUER.encode(), "the name": b"key"}
    rules = JwtRules(algorithm="HS256", secret=SECRET, issuer=ISSUER, audience=AUDIENCE)
    count, let_in = await _accepted(rules, token, known)
    assert let_in == []
    assert count > 200


@pytest.mark.parametrize("algorithm", ["RS256", "ES256", "EdDSA"])
async def test_no_mutation_of_a_token_with_a_published_key_is_accepted(
    algorithm: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jwts, "_FETCH_SECONDS", 60.0)  # a busy machine is not what is tried
    provider = Provider(algorithm)
    provider.rotate()
    key: Any = next(iter(provider.keys.values())).get_op_key("verify")
    published = provider.document()["keys"][0]
    public = {
        "PEM": key.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo),
        "PEM without its last line": key.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo).rstrip(),
        "DER": key.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo),
        "JWK": json.dumps(published).encode(),
        "the set": json.dumps(provider.document()).encode(),
        "n or x": str(published.get("n", published.get("x"))).encode(),
        "nothing": b"",
    }
    with serving(provider.app()) as address:
        keys = JwksKeys(url=f"{address}/jwks", algorithm=algorithm)
        rules = JwtRules(algorithm=algorithm, keys=keys, issuer=ISSUER, audience=AUDIENCE)
        count, let_in = await _accepted(rules, provider.sign(_claims()), public)
        assert let_in == []
        assert count > 200
        assert provider.fetched == 1


def test_no_mutation_of_an_access_token_names_a_session() -> None:
    tokens = AccessTokens(secret=SECRET.encode(), seconds=600)
    token = tokens.issue("ada", "session")
    assert tokens.session_of(token) == "session"
    found = [
        (name, forged) for name, forged in mutations(token, {"nothing": b"", "a guess": b"secret"}) if forged != token
    ]
    assert [name for name, forged in found if tokens.session_of(forged) is not None] == []
    # Even where an expired one will do, to sign out with.
    assert [name for name, forged in found if tokens.session_of(forged, even_expired=True) is not None] == []
    assert len(found) > 200
    foreign = signed(_claims() | {"sid": "session", "iat": 1, "iss": "citewell", "aud": "citewell"}, SECRET)
    assert tokens.session_of(foreign) is None  # of another kind (RFC 9068)
