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
        import jwt  # only with accounts: this loads the libraries for keys and signatures

        return jwt.encode(claims, self.secret, algorithm=_ALGORITHM, headers={"typ": _KIND})

    def session_of(self, token: str, *, even_expired: bool = False) -> str | None:
        """The session in a valid token; None for anything else, including other JWTs. even_expired: for signing out."""
        import jwt

        try:
            read = jwt.decode_complete(
                token,
                self.secret,
                algorithms=[_ALGORITHM],
                issuer=_ISSUER,
                audience=_ISSUER,
                options={"require": ["exp", "iat", "sub", "sid"], "verify_exp": not even_expired},
            )
        except (jwt.PyJWTError, RecursionError, ValueError):
            return None
        session_id = read["payload"]["sid"]
        return session_id if read["header"].get("typ") == _KIND and isinstance(session_id, str) else None

    def csrf_of(self, session_id: str) -> str:
        """The CSRF token of a session, independent of its current access token."""
        return hmac.new(self.secret, b"citewell csrf " + session_id.encode(), hashlib.sha256).hexdigest()


def csrf_of(token: str) -> str:
    """The CSRF token of Citewell's page: derived from the token, so it is not stored; only same-origin scripts can request it."""
    return hmac.new(token.encode(), b"citewell csrf", hashlib.sha256).hexdigest()
