"""OpenID Connect (Core 1.0, Discovery 1.0): the code flow with PKCE for one provider, and verification of its identity tokens."""

from __future__ import annotations

import asyncio
import json
import logging
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias
from urllib.parse import urlencode, urlsplit

from authlib.common.security import is_secure_transport
from authlib.oauth2.auth import ClientAuth
from authlib.oauth2.rfc6749.parameters import prepare_grant_uri
from authlib.oauth2.rfc7636 import create_s256_code_challenge
from authlib.oidc.core import CodeIDToken
from authlib.oidc.discovery import OpenIDProviderMetadata, get_well_known_url
from joserfc import jwt
from joserfc.errors import JoseError
from joserfc.jwk import Key, import_key

from citewell.errors import CitewellError, Unauthorized, Unavailable

_log = logging.getLogger(__name__)
_SCOPE = "openid email profile"
# Public keys only: anybody who reads a client's secret could sign HS256, and `none` is not a signature.
_ALGORITHMS = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA", "Ed25519")
# Metadata and keys are fetched again after this time; an unknown key id triggers a fetch at once.
_FRESH_SECONDS = 600.0
_LEEWAY_SECONDS = 30
_MAX_KEYS = 100
_MAX_SUBJECT = 255  # OpenID Connect Core, section 2
_JSON = {"Accept": "application/json"}
_FORM = {**_JSON, "Content-Type": "application/x-www-form-urlencoded"}


Exchange: TypeAlias = Callable[[str, str, Mapping[str, str], bytes], Awaitable[tuple[int, bytes]]]
"""Sends a request and returns the response's status and body. Raises `CitewellError` if there is no response, or the address is not allowed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """A person's identity according to the provider. email: as the provider has it; is_verified: whether it has verified the address."""

    issuer: str
    subject: str
    email: str | None
    is_verified: bool
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenIdFlow:
    """One sign-in in progress, known only to the browser that started it. redirect: where the provider sends the browser back to."""

    state: str
    nonce: str
    verifier: str
    redirect: str


@dataclass(slots=True)
class _Known:
    """The provider's published documents, and when they were fetched."""

    metadata: dict[str, Any] = field(default_factory=dict[str, Any])
    keys: list[Key] = field(default_factory=list[Key])
    fetched_at: float = -_FRESH_SECONDS


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenIdProvider:
    """An identity provider. dial: sends requests to the issuer's host; guarded: to hosts named in its documents."""

    issuer: str
    client_id: str
    secret: str | None
    name: str
    dial: Exchange
    guarded: Exchange
    _known: _Known = field(default_factory=_Known)
    _turn: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def address(self, flow: OpenIdFlow) -> str:
        """The address at which to sign in. Raises `Unavailable` if the provider does not respond."""
        metadata = (await self._published()).metadata
        return prepare_grant_uri(
            metadata["authorization_endpoint"],
            self.client_id,
            "code",
            redirect_uri=flow.redirect,
            scope=_SCOPE,
            state=flow.state,
            nonce=flow.nonce,
            code_challenge=create_s256_code_challenge(flow.verifier),
            code_challenge_method="S256",
        )

    async def identity(self, flow: OpenIdFlow, code: str, issuer: str | None) -> Identity:
        """The identity for a returned code. issuer: as named in the response (RFC 9207). Raises `Unauthorized` if anything is invalid."""
        metadata = (await self._published()).metadata
        says_issuer = metadata.get("authorization_response_iss_parameter_supported") is True
        if issuer != self.issuer and (issuer is not None or says_issuer):
            raise _refused("the response is from another issuer")
        tokens = await self._redeem(metadata, flow, code)
        claims = await self._claims(tokens, flow.nonce)
        said: dict[str, Any] = dict(claims)
        access_token, endpoint = tokens.get("access_token"), metadata.get("userinfo_endpoint")
        # In the code flow, the address may only be at the user information endpoint (OpenID Connect Core, section 5.4).
        if "email" not in said and isinstance(access_token, str) and isinstance(endpoint, str):
            more = await self._fetch(endpoint, {**_JSON, "Authorization": f"Bearer {access_token}"})
            if more.get("sub") != claims["sub"]:  # OpenID Connect Core, section 5.3.2
                raise _refused("the user information belongs to somebody else")
            given = {name: more.get(name) for name in ("email", "email_verified")}
            said = {**more, **said, **given}
        return _identity(self.issuer, said)

    async def _redeem(self, metadata: Mapping[str, Any], flow: OpenIdFlow, code: str) -> dict[str, Any]:
        form = {"grant_type": "authorization_code", "code": code, "redirect_uri": flow.redirect}
        text = urlencode({**form, "code_verifier": flow.verifier})
        auth = ClientAuth(self.client_id, self.secret, self._auth_method(metadata))
        url, headers, text = auth.prepare("POST", metadata["token_endpoint"], dict(_FORM), text)
        status, body = await self._send("POST", url, headers, text.encode())
        answer = _object(body)
        if status >= 500 or answer is None:
            raise _unavailable(f"the token endpoint answers HTTP {status}")
        if status != 200:
            raise _refused(f"the provider refused the code: {str(answer.get('error'))[:100]}")
        return answer

    async def _claims(self, tokens: Mapping[str, Any], nonce: str) -> CodeIDToken:
        token = tokens.get("id_token")
        if not isinstance(token, str):
            raise _refused("there is no identity token")
        for known in (await self._published(), None):
            known = known or await self._published(again=True)
            allowed = known.metadata.get("id_token_signing_alg_values_supported", ["RS256"])
            try:
                read = jwt.decode(token, lambda sent, known=known: _key(known, sent.headers()), _usable(allowed))
                break
            except _UnknownKeyError:
                continue
            except (JoseError, ValueError, TypeError, KeyError, RecursionError) as error:
                raise _refused(f"the identity token cannot be read: {error}") from error
        else:
            raise _refused("the identity token is signed with an unknown key")
        options: Any = {
            "iss": {"essential": True, "value": self.issuer},
            "aud": {"essential": True, "value": self.client_id},
        }
        params = {"nonce": nonce, "client_id": self.client_id, "access_token": tokens.get("access_token")}
        claims = CodeIDToken(read.claims, read.header, options, params)
        try:
            claims.validate(leeway=_LEEWAY_SECONDS)
        except (JoseError, ValueError, TypeError, AttributeError) as error:
            raise _refused(f"the identity token is not valid: {error}") from error
        return claims

    async def _published(self, *, again: bool = False) -> _Known:
        """Metadata and keys, fetched when needed and cached for ten minutes."""
        asked_at, known = time.monotonic(), self._known
        if not again and asked_at - known.fetched_at < _FRESH_SECONDS:
            return known
        async with self._turn:
            if known.fetched_at < asked_at and (again or asked_at - known.fetched_at >= _FRESH_SECONDS):
                metadata = self._checked(await self._fetch(get_well_known_url(self.issuer, external=True), _JSON))
                keys = _keys(await self._fetch(metadata["jwks_uri"], _JSON))
                known.metadata, known.keys, known.fetched_at = metadata, keys, time.monotonic()
        return known

    def _checked(self, metadata: dict[str, Any]) -> dict[str, Any]:
        """The document, if it is complete and names this issuer; one that names another mixes up two issuers."""
        if metadata.get("issuer") != self.issuer:
            raise _unavailable(f"its document names the issuer {str(metadata.get('issuer'))[:200]!r}")
        try:
            checked = OpenIDProviderMetadata(metadata)
            checked.validate_issuer()
            for endpoint in ("authorization_endpoint", "token_endpoint", "jwks_uri"):
                if not isinstance(metadata.get(endpoint), str):
                    raise ValueError(f"{endpoint!r} is missing")
                getattr(checked, f"validate_{endpoint}")()
            if not is_secure_transport(metadata.get("userinfo_endpoint", self.issuer)):
                raise ValueError("'userinfo_endpoint' must use https")
        except (ValueError, TypeError, AttributeError) as error:
            raise _unavailable(f"its document is not valid: {error}") from error
        return metadata

    async def _fetch(self, url: str, headers: Mapping[str, str]) -> dict[str, Any]:
        status, body = await self._send("GET", url, headers, b"")
        found = _object(body) if status == 200 else None
        if found is None:
            raise _unavailable(f"{url} answers HTTP {status} without an object")
        return found

    async def _send(self, method: str, url: str, headers: Mapping[str, str], body: bytes) -> tuple[int, bytes]:
        """The operator chose the issuer's host, so any address is allowed there; other hosts come from the provider and must be public."""
        send = self.dial if _origin(url) == _origin(self.issuer) else self.guarded
        try:
            return await send(method, url, headers, body)
        except CitewellError as error:
            raise _unavailable(error.message) from error

    def _auth_method(self, metadata: Mapping[str, Any]) -> str:
        if self.secret is None:
            return "none"
        offered = metadata.get("token_endpoint_auth_methods_supported") or ["client_secret_basic"]
        return "client_secret_post" if "client_secret_basic" not in offered else "client_secret_basic"


class _UnknownKeyError(Exception):
    """The key is not among the provider's fetched keys."""


def _key(known: _Known, header: Mapping[str, Any]) -> Key:
    """The key a token names, or the only one of the right kind. Forbidden algorithms were refused before."""
    name, algorithm = header.get("kid"), header.get("alg")
    fitting = [key for key in known.keys if name is None or key.kid == name]
    fitting = [key for key in fitting if key.alg in (None, algorithm) and _fits(key, str(algorithm))]
    if len(fitting) != 1:
        raise _UnknownKeyError
    return fitting[0]


def _fits(key: Key, algorithm: str) -> bool:
    kinds = {"R": "RSA", "P": "RSA"} | ({"E": "EC"} if algorithm.startswith("ES") else {"E": "OKP"})
    return key.key_type == kinds.get(algorithm[:1])


def _keys(document: Mapping[str, Any]) -> list[Key]:
    """The public signature keys in a published set, without any others."""
    listed, found = document.get("keys"), list[Key]()
    for one in listed[:_MAX_KEYS] if isinstance(listed, list) else ():
        if not isinstance(one, dict) or one.get("kty") not in ("RSA", "EC", "OKP") or one.get("use", "sig") != "sig":
            continue
        try:
            found.append(import_key(one))
        except (JoseError, ValueError, TypeError) as error:
            _log.warning("A key of the identity provider cannot be used: %s", error)
    return found


def _usable(offered: object) -> list[str]:
    return [one for one in _ALGORITHMS if isinstance(offered, list) and one in offered]


def _identity(issuer: str, claims: Mapping[str, Any]) -> Identity:
    subject, email, name = claims.get("sub"), claims.get("email"), claims.get("name")
    if not isinstance(subject, str) or not 0 < len(subject) <= _MAX_SUBJECT or not _is_text(subject):
        raise _refused("it names nobody")
    return Identity(
        issuer=issuer,
        subject=subject,
        email=email if isinstance(email, str) and _is_text(email) else None,
        # Some providers write it as a string.
        is_verified=claims.get("email_verified") in (True, "true"),
        name=name[:200] if isinstance(name, str) and _is_text(name) else "",
    )


def _is_text(value: str) -> bool:
    """Whether a database can hold it: UTF-8, without null characters."""
    return "\x00" not in value and not any("\ud800" <= character <= "\udfff" for character in value)


def _object(body: bytes) -> dict[str, Any] | None:
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _origin(url: str) -> tuple[str, str]:
    try:
        parts = urlsplit(url)
    except ValueError:
        return ("", "")
    return (parts.scheme, parts.netloc.lower())


def _refused(why: str) -> Unauthorized:
    _log.warning("refused a sign-in with the identity provider: %s", why)
    return Unauthorized("The identity provider's response is not valid. Sign in again.")


def _unavailable(why: str) -> Unavailable:
    _log.warning("cannot use the identity provider: %s", why)
    return Unavailable("The identity provider cannot be reached. Try again shortly.")
