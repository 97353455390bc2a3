"""Signs JWTs with secrets, and as a provider with published keys (JWKS, RFC 7517): they can be rotated, withheld, and replaced by anything."""

from __future__ import annotations

import base64
import hmac
import json
import warnings
from dataclasses import dataclass, field
from typing import Any

from joserfc import jwt
from joserfc.errors import SecurityWarning
from joserfc.jwk import ECKey, Key, OKPKey, RSAKey
from joserfc.jws import JWSRegistry
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

_MAKERS: dict[str, Any] = {
    "RS256": lambda: RSAKey.generate_key(2048),
    "ES256": lambda: ECKey.generate_key("P-256"),
    "EdDSA": lambda: OKPKey.generate_key("Ed25519"),
}


def signed(claims: dict[str, Any], secret: str | bytes, algorithm: str = "HS256", **header: Any) -> str:
    """A token that is signed with a secret, or with nothing for `none`; by hand, as libraries refuse to make some that must be refused."""
    parts = ({"typ": "JWT", "alg": algorithm} | header, claims)
    text = ".".join(_encoded(json.dumps(part).encode()) for part in parts)
    if algorithm == "none":
        return f"{text}."
    key = secret.encode() if isinstance(secret, str) else secret
    return f"{text}.{_encoded(hmac.new(key, text.encode(), f'sha{algorithm[2:]}').digest())}"


def claims_of(token: str) -> dict[str, Any]:
    """What a token claims, whoever signed it."""
    body = token.split(".")[1]
    return json.loads(base64.urlsafe_b64decode(body + "=" * (-len(body) % 4)))


def _encoded(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


@dataclass
class Provider:
    """Signs tokens with its newest key, and publishes all of its keys."""

    algorithm: str
    keys: dict[str, Key] = field(default_factory=dict[str, Key])
    fetched: int = 0
    answer: Response | None = None

    def rotate(self, *, keep: bool = False) -> None:
        """Sign with a new key; the earlier ones are published no longer, unless kept."""
        if not keep:
            self.keys.clear()
        self.keys[f"key {len(self.keys)} {id(object())}"] = _MAKERS[self.algorithm]()

    def sign(self, claims: dict[str, Any], **headers: Any) -> str:
        """A token signed with the newest key."""
        name, key = list(self.keys.items())[-1]
        given = {"alg": self.algorithm, "kid": name} | headers
        registry = JWSRegistry(algorithms=[self.algorithm], strict_check_header=False)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SecurityWarning)  # EdDSA's name is deprecated, and in use
            return jwt.encode({k: v for k, v in given.items() if v is not None}, claims, key, registry=registry)

    def document(self) -> dict[str, Any]:
        """The keys as they are published."""
        public = {name: key.as_dict(private=False) for name, key in self.keys.items()}
        return {"keys": [one | {"kid": name, "use": "sig", "alg": self.algorithm} for name, one in public.items()]}

    def app(self) -> Starlette:
        """The server."""

        async def keys(request: Request) -> Response:
            self.fetched += 1
            return self.answer or Response(json.dumps(self.document()), media_type="application/json")

        return Starlette(routes=[Route("/jwks", keys)])
