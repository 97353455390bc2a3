"""JWTs of identity providers: signed with a shared secret, or with a key that the provider publishes (JWKS, RFC 7517)."""

from __future__ import annotations

import asyncio
import json
import logging
import time
from dataclasses import dataclass, field
from typing import Any

import httpx
from joserfc.jwk import Key

from citewell.errors import Unauthorized, Unavailable
from citewell.features.auth import jose
from citewell.types.json import well_formed

_log = logging.getLogger(__name__)
# Keys are fetched again after this long; then a key that the provider has withdrawn is refused.
_FRESH_SECONDS = 600.0
# A key id that is not known makes Citewell look for a new key, but not more often than this: anybody can make up key ids.
_RETRY_SECONDS = 30.0
# While the provider does not answer, keys that were fetched this long ago are still trusted.
_STALE_SECONDS = 86_400.0
_FETCH_SECONDS = 5.0
_MAX_BYTES = 256 * 1024
_MAX_KEYS = 100
_KEY_TYPE = {"RS": "RSA", "PS": "RSA", "ES": "EC", "Ed": "OKP"}


@dataclass(slots=True)
class _Fetched:
    """The keys that a provider published, by id. tried_at: also of a fetch that failed."""

    keys: dict[str | None, Key] = field(default_factory=dict[str | None, Key])
    fetched_at: float = -_STALE_SECONDS
    tried_at: float = -_STALE_SECONDS


@dataclass(frozen=True, slots=True, kw_only=True)
class JwksKeys:
    """The public keys at an address, fetched when they are needed and kept for ten minutes."""

    url: str
    algorithm: str
    _fetched: _Fetched = field(default_factory=_Fetched)
    _turn: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def key(self, key_id: str | None) -> Key | None:
        """The key with this id (the only key there is, for None); None for an unknown one. Raises `Unavailable` when no keys can be had."""
        now = time.monotonic()
        found = self._find(key_id)
        if found is not None and now - self._fetched.fetched_at < _FRESH_SECONDS:
            return found
        async with self._turn:  # those who waited find what the first has fetched
            now = time.monotonic()
            if now - self._fetched.tried_at >= _RETRY_SECONDS:
                await self._fetch(now)
        if now - self._fetched.fetched_at >= _STALE_SECONDS:
            raise Unavailable("The identity provider's keys cannot be fetched. Try again shortly.")
        return self._find(key_id)

    def _find(self, key_id: str | None) -> Key | None:
        keys = self._fetched.keys
        if key_id is None:
            return next(iter(keys.values())) if len(keys) == 1 else None
        return keys.get(key_id)

    async def _fetch(self, now: float) -> None:
        self._fetched.tried_at = now
        try:
            self._fetched.keys = self._usable(await _document(self.url))
            self._fetched.fetched_at = now
        except (httpx.HTTPError, TimeoutError, ValueError, RecursionError) as error:
            _log.warning("The keys at %s cannot be fetched: %s", self.url, error)

    def _usable(self, document: Any) -> dict[str | None, Key]:
        """The keys that can check the configured algorithm; secrets and keys for encryption are left out."""
        listed = document.get("keys") if isinstance(document, dict) else None
        if not isinstance(listed, list):
            raise ValueError("it is no set of keys")
        kind, found = _KEY_TYPE[self.algorithm[:2]], {}
        for one in listed[:_MAX_KEYS]:
            if not isinstance(one, dict) or one.get("kty") != kind or one.get("use", "sig") != "sig":
                continue
            if one.get("alg", self.algorithm) != self.algorithm:
                continue
            try:
                found[one.get("kid")] = jose.public_key(one, self.algorithm)
            except ValueError as error:
                _log.warning("A key at %s cannot be used: %s", self.url, error)
        return found


@dataclass(frozen=True, slots=True, kw_only=True)
class JwtRules:
    """How a JWT is checked: with a secret or with published keys. `sub` names the owner."""

    algorithm: str
    secret: str | None = None
    keys: JwksKeys | None = None
    issuer: str | None = None
    audience: str | None = None

    async def holder(self, token: str) -> tuple[str, float]:
        """Whom a JWT speaks for, and until when (seconds since 1970). Raises `Unauthorized` unless it is signed as configured, by whom and for whom it should be, and valid now."""
        try:
            header = jose.header_of(token)
            # Before any key is looked up: the token has no say in how it is checked.
            if header.get("alg") != self.algorithm:
                raise Unauthorized
            key = await self._key(header.get("kid"))
            claims = jose.read(token, key, self.algorithm, ("exp", "sub"), issuer=self.issuer, audience=self.audience)
        except jose.InvalidTokenError as error:
            raise Unauthorized from error
        subject = claims["sub"]
        if not isinstance(subject, str) or not subject.strip() or not _is_text(subject):
            raise Unauthorized
        return subject, float(claims["exp"])

    async def _key(self, key_id: object) -> Key:
        if self.secret is not None:
            return jose.secret_key(self.secret.encode())
        found = await self.keys.key(key_id if isinstance(key_id, str) else None) if self.keys else None
        if found is None:
            raise Unauthorized
        return found


async def _document(url: str) -> Any:
    """The JSON at an address, which must be small and arrive soon; redirects are not followed."""
    body = b""
    async with (
        asyncio.timeout(_FETCH_SECONDS),
        httpx.AsyncClient(timeout=_FETCH_SECONDS) as client,
        client.stream("GET", url, headers={"Accept": "application/json"}) as response,
    ):
        if not response.is_success:
            raise ValueError(f"the answer is HTTP {response.status_code}")
        async for part in response.aiter_bytes():
            body += part
            if len(body) > _MAX_BYTES:
                raise ValueError("the answer is too large")
    return json.loads(body)


def _is_text(subject: str) -> bool:
    """Whether a database can hold it: UTF-8, without null characters."""
    return "\x00" not in subject and well_formed(subject) == subject
