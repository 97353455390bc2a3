"""The short-lived JWTs in people's browsers. Citewell signs and verifies them; the database decides whether their session is still valid."""

from __future__ import annotations

import hashlib
import hmac
import time
from dataclasses import dataclass

_KIND = "at+jwt"  # RFC 9068
_ISSUER = "citewell"
_ALGORITHM = "HS256"


@dataclass(frozen=True, slots=True, kw_only=True)
class AccessTokens:
    """Issues and reads access tokens. secret: at least 32 random bytes, the same for all servers of a database."""

    secret: bytes
    seconds: int

    def issue(self, person_id: str, session_id: str) -> str:
        """A token for this session of this person."""
        now = int(time.time())
        claims = {
            "iss": _ISSUER,
            "aud": _ISSUER,
            "sub": person_id,
            "sid": session_id,
            "iat": now,
            "exp": now + self.seconds,
        }
        from citewell.features.auth import (
            jose,  # only with accounts: this loads the libraries for keys and signatures
        )

        return jose.sign(claims, jose.secret_key(self.secret), _ALGORITHM, typ=_KIND)

    def session_of(self, token: str, *, even_expired: bool = False) -> str | None:
        """The session in a valid token; None for anything else, including other JWTs. even_expired: for signing out."""
        from citewell.features.auth import jose

        try:
            claims = jose.read(
                token,
                jose.secret_key(self.secret),
                _ALGORITHM,
                ("exp", "iat", "sub", "sid"),
                kind=_KIND,
                issuer=_ISSUER,
                audience=_ISSUER,
                even_expired=even_expired,
            )
        except jose.InvalidTokenError:
            return None
        return claims["sid"] if isinstance(claims["sid"], str) else None

    def csrf_of(self, session_id: str) -> str:
        """The CSRF token of a session, independent of its current access token."""
        return hmac.new(self.secret, b"citewell csrf " + session_id.encode(), hashlib.sha256).hexdigest()


def csrf_of(token: str) -> str:
    """The CSRF token of Citewell's page: derived from the token, so it is not stored; only same-origin scripts can request it."""
    return hmac.new(token.encode(), b"citewell csrf", hashlib.sha256).hexdigest()
