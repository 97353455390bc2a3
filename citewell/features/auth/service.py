"""Who is asking: tokens that Citewell issued, and JWTs of an identity provider when a secret is configured."""

from __future__ import annotations

import time
from collections import OrderedDict
from dataclasses import dataclass, field

import jwt

from citewell.errors import InvalidInput, RateLimited, Unauthorized
from citewell.storage.owners import OwnerRepository, TokenInfo
from citewell.types.json import well_formed

_REMEMBERED = 4_096
_REMEMBER_SECONDS = 2.0


@dataclass(frozen=True, slots=True, kw_only=True)
class JwtRules:
    """How a JWT is checked. `sub` names the owner."""

    secret: str
    algorithm: str
    issuer: str | None = None
    audience: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AuthService:
    """Turns a token into an owner, and keeps count of how often an owner asks."""

    owners: OwnerRepository
    jwt_rules: JwtRules | None = None
    requests_per_minute: int = 0
    _known: OrderedDict[str, tuple[str, float]] = field(default_factory=OrderedDict[str, tuple[str, float]])
    _refused_until: dict[str, float] = field(default_factory=dict[str, float])

    async def authenticate(self, token: str | None) -> str:
        """The owner's id; raises `Unauthorized`. A revoked token may pass for two more seconds."""
        if not token:
            raise Unauthorized
        known = self._known.get(token)
        if known is not None and known[1] > time.monotonic():
            return known[0]
        owner_id = await self.owners.owner_of(token) or await self._owner_of_jwt(token)
        if owner_id is None:
            raise Unauthorized
        self._known[token] = (owner_id, time.monotonic() + _REMEMBER_SECONDS)
        while len(self._known) > _REMEMBERED:
            self._known.popitem(last=False)
        return owner_id

    async def admit(self, owner_id: str) -> None:
        """Count a request; raises `RateLimited` when the owner's share of this minute is used up, on all servers of the database together."""
        if not self.requests_per_minute:
            return
        until = self._refused_until.get(owner_id, 0.0)  # whoever goes on asking then costs no writing
        if (left := until - time.monotonic()) > 0:
            raise RateLimited(retry_after=left)
        count, left = await self.owners.count_request(owner_id)
        if count > self.requests_per_minute:
            self._refused_until[owner_id] = time.monotonic() + left
            raise RateLimited(retry_after=left)

    async def create_token(self, owner_id: str, name: str, days: int | None) -> tuple[TokenInfo, str]:
        """A new token and its secret, shown this once."""
        if not name.strip():
            raise InvalidInput("The token has no name. Give it one.")
        expires_at = time.time() + days * 86_400 if days else None
        return await self.owners.create_token(owner_id, name.strip(), expires_at)

    async def list_tokens(self, owner_id: str) -> list[TokenInfo]:
        """The owner's valid tokens, newest first."""
        return await self.owners.list_tokens(owner_id)

    async def revoke_token(self, owner_id: str, token_id: str) -> None:
        """End a token's validity."""
        await self.owners.revoke_token(owner_id, token_id)
        self._known.clear()

    async def _owner_of_jwt(self, token: str) -> str | None:
        rules = self.jwt_rules
        if rules is None:
            return None
        try:
            claims = jwt.decode(
                token,
                rules.secret,
                algorithms=[rules.algorithm],
                issuer=rules.issuer,
                audience=rules.audience,
                options={"require": ["exp", "sub"], "verify_aud": rules.audience is not None},
            )
        except (jwt.PyJWTError, RecursionError, ValueError) as error:
            raise Unauthorized from error
        subject = claims["sub"]
        if not isinstance(subject, str) or not subject.strip() or not _is_text(subject):
            raise Unauthorized
        return await self.owners.ensure(f"jwt:{subject}")


def _is_text(subject: str) -> bool:
    """Whether a database can hold it: UTF-8, without null characters."""
    return "\x00" not in subject and well_formed(subject) == subject
