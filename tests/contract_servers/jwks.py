"""A provider's published keys (JWKS, RFC 7517): they can be rotated, withheld, and replaced by anything."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

import jwt
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

_MAKERS: dict[str, Any] = {
    "RS256": lambda: rsa.generate_private_key(public_exponent=65537, key_size=2048),
    "ES256": lambda: ec.generate_private_key(ec.SECP256R1()),
    "EdDSA": ed25519.Ed25519PrivateKey.generate,
}


@dataclass
class Provider:
    """Signs tokens with its newest key, and publishes all of its keys."""

    algorithm: str
    keys: dict[str, Any] = field(default_factory=dict[str, Any])
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
        given = {"kid": name} | headers
        return jwt.encode(claims, key, self.algorithm, {k: v for k, v in given.items() if v is not None})

    def document(self) -> dict[str, Any]:
        """The keys as they are published."""
        algorithm = jwt.get_algorithm_by_name(self.algorithm)
        public = {
            name: json.loads(str(algorithm.to_jwk(key.public_key(), as_dict=False))) for name, key in self.keys.items()
        }
        return {"keys": [one | {"kid": name, "use": "sig", "alg": self.algorithm} for name, one in public.items()]}

    def app(self) -> Starlette:
        """The server."""

        async def keys(request: Request) -> Response:
            self.fetched += 1
            return self.answer or Response(json.dumps(self.document()), media_type="application/json")

        return Starlette(routes=[Route("/jwks", keys)])
