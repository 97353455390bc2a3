"""JWTs (RFC 7519), signed and read with joserfc. The reader names the algorithm; the token has no say in it."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any

from joserfc import jws, jwt
from joserfc.errors import JoseError, UnsupportedAlgorithmError
from joserfc.jwk import Key, OctKey, import_key

# As much as the head of a request may hold (`citewell.features.connections`). joserfc's own limits are 512 bytes for a header, which one with
# a chain of certificates exceeds, and 1,024 for a signature, which one by an RSA key of 8,192 bits exceeds.
_MAX_PART = 64 * 1024
_MALFORMED = (JoseError, ValueError, TypeError, AttributeError, OverflowError, RecursionError)
"""What joserfc raises for a token or a key that is not in order."""


class InvalidTokenError(Exception):
    """The token is malformed, expired, for somebody else, or not signed with the key."""


class _Pinned(jws.JWSRegistry):
    """Accepts one algorithm, and header parameters that it does not know unless they are critical."""

    max_header_length = max_payload_length = max_signature_length = _MAX_PART

    def __init__(self, algorithm: str) -> None:
        super().__init__(algorithms=(algorithm,), strict_check_header=False)

    def get_alg(self, name: str) -> Any:
        """The algorithm. joserfc's own method warns of `EdDSA`, a name that providers use although RFC 9864 deprecates it."""
        if name not in (self.allowed or ()):
            raise UnsupportedAlgorithmError(f"Algorithm of '{name}' is not allowed")
        return self.algorithms[name]


class _EvenExpired(jwt.JWTClaimsRegistry):
    def validate_exp(self, value: object) -> None:
        """Any time will do."""


@lru_cache(maxsize=16)  # joserfc tries to read a secret as each kind of public key, in order to refuse those
def secret_key(secret: bytes) -> OctKey:
    """A shared secret as a key."""
    return OctKey.import_key(secret)


def public_key(published: Mapping[str, Any], algorithm: str) -> Key:
    """A published key (JWK, RFC 7517). Raises `ValueError` for one that cannot check signatures of the algorithm."""
    try:
        key = import_key(dict(published))
        _Pinned(algorithm).get_alg(algorithm).check_key(key)
    except _MALFORMED as error:
        raise ValueError(str(error)) from error
    return key


def sign(claims: Mapping[str, Any], key: Key, algorithm: str, **header: Any) -> str:
    """A token. header: parameters besides the algorithm, such as `typ`."""
    return jwt.encode({**header, "alg": algorithm}, dict(claims), key, registry=_Pinned(algorithm))


def header_of(token: str) -> dict[str, Any]:
    """What a token says of itself, unverified. Raises `InvalidTokenError`."""
    try:
        return jws.extract_compact(token.encode(), registry=_Pinned("")).headers()
    except _MALFORMED as error:
        raise InvalidTokenError from error


def read(
    token: str,
    key: Key,
    algorithm: str,
    required: Iterable[str],
    *,
    kind: str | None = None,
    issuer: str | None = None,
    audience: str | None = None,
    even_expired: bool = False,
) -> dict[str, Any]:
    """The claims of a token that is signed with the key and valid now. Raises `InvalidTokenError`.

    required: claims that it must have; kind: its `typ`; issuer: its `iss`; audience: one of its `aud`; None accepts any
    """
    wanted: dict[str, jwt.ClaimsOption] = {name: {"essential": True, "allow_blank": True} for name in required}
    wanted |= {
        name: {"essential": True, "value": value}
        for name, value in {"iss": issuer, "aud": audience}.items()
        if value is not None
    }
    now: Any = time.time  # with its fraction, as providers write `iat` with theirs
    registry = _EvenExpired if even_expired else jwt.JWTClaimsRegistry
    try:
        found = jwt.decode(token, key, registry=_Pinned(algorithm))
        registry(now, 0, **wanted).validate(found.claims)
    except _MALFORMED as error:
        raise InvalidTokenError from error
    if kind is not None and found.header.get("typ") != kind:
        raise InvalidTokenError
    return found.claims
