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
# Keys are fetched again after this time, so that keys the provider has withdrawn are refused.
_FRESH_SECONDS = 600.0
# An unknown key id triggers a fetch, but not more often than this: anybody can make up key ids.
_RETRY_SECONDS = 30.0
# While the provider does not respond, keys fetched up to this long ago stay trusted.
_STALE_SECONDS = 86_400.0
_FETCH_SECONDS = 5.0
_MAX_BYTES = 256 * 1024
_MAX_KEYS = 100
_KEY_TYPE = {"RS": "RSA", "PS": "RSA", "ES": "EC", "Ed": "OKP"}


@dataclass(slots=True)
class _Fetched:
    """A provider's published keys, by id. tried_at: of the last fetch, even if it failed."""

    keys: dict[str | None, Key] = field(default_factory=dict[str | None, Key])
    fetched_at: float = -_STALE_SECONDS
    tried_at: float = -_STALE_SECONDS


@dataclass(frozen=True, slots=True, kw_only=True)
class JwksKeys:
    """The public keys at an address, fetched when needed and cached for ten minutes."""

    url: str
    algorithm: str
    _fetched: _Fetched = field(default_factory=_Fetched)
    _turn: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def key(self, key_id: str | None) -> Key | None:
        """The key with this id (for None, the only key); None if unknown. Raises `Unavailable` if no keys can be fetched."""
        now = time.monotonic()
        found = self._find(key_id)
        if found is not None and now - self._fetched.fetched_at < _FRESH_SECONDS:
            return found
        async with self._turn:  # waiting tasks find what the first one fetched
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
        """The keys that can verify the configured algorithm, without secrets and encryption keys."""
        listed = document.get("keys") if isinstance(document, dict) else None
        if not isinstance(listed, list):
            raise ValueError("it is not a key set")
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
    """Verifies JWTs with a secret or with published keys. `sub` names the owner."""

    algorithm: str
    secret: str | None = None
    keys: JwksKeys | None = None
    issuer: str | None = None
    audience: str | None = None

    async def holder(self, token: str) -> tuple[str, float]:
        """A JWT's owner and expiry (seconds since 1970). Raises `Unauthorized` unless its signature, issuer, audience and times are valid."""
        try:
            header = jose.header_of(token)
            # Checked before any key is looked up: the token does not choose its own algorithm.
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
    """The JSON at an address, limited in size and time; redirects are not followed."""
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
    """Whether a database can store it: UTF-8, without null characters."""
    return "\x00" not in subject and well_formed(subject) == subject
