"""An OpenID Connect provider: Authlib's server, which checks clients, redirects, codes and PKCE, with what a hostile one would change.

Nobody is asked for a password: whoever is sent here is `person`, unless they were told to decline.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Thread
from typing import Any

import flask
from authlib.integrations.flask_oauth2 import AuthorizationServer
from authlib.oauth2.rfc6749 import AuthorizationCodeMixin, ClientMixin
from authlib.oauth2.rfc6749.errors import OAuth2Error
from authlib.oauth2.rfc6749.grants import AuthorizationCodeGrant
from authlib.oauth2.rfc7636 import CodeChallenge
from authlib.oauth2.rfc9207.parameter import IssuerParameter
from authlib.oidc.core import OpenIDCode
from authlib.oidc.core.util import create_half_hash
from joserfc import jwt
from joserfc.jwk import ECKey, Key, KeySet, RSAKey
from werkzeug.serving import make_server

SECRET = "the client's secret, which only the server has"
CLIENT = "citewell"


@dataclass
class _Client(ClientMixin):
    """The one application that is registered, or another one that somebody else runs."""

    client_id: str
    redirects: Callable[[str], bool]
    method: str

    def get_client_id(self) -> str:
        return self.client_id

    def get_allowed_scope(self, scope: Any) -> str:
        return " ".join(one for one in str(scope).split() if one in ("openid", "email", "profile"))

    def check_redirect_uri(self, redirect_uri: str) -> bool:
        return self.redirects(redirect_uri)

    def check_client_secret(self, client_secret: str) -> bool:
        return client_secret == SECRET

    def check_endpoint_auth_method(self, method: str, endpoint: str) -> bool:
        return method == self.method

    def check_response_type(self, response_type: str) -> bool:
        return response_type == "code"

    def check_grant_type(self, grant_type: str) -> bool:
        return grant_type == "authorization_code"


@dataclass
class _Code(AuthorizationCodeMixin):
    code: str
    client_id: str
    redirect_uri: str
    scope: str
    nonce: str | None
    code_challenge: str | None
    code_challenge_method: str | None

    def get_redirect_uri(self) -> str:
        return self.redirect_uri

    def get_scope(self) -> str:
        return self.scope

    def get_nonce(self) -> str | None:
        return self.nonce

    def get_auth_time(self) -> int:
        return int(time.time())

    def get_acr(self) -> None:
        return None

    def get_amr(self) -> None:
        return None


@dataclass
class OpenIdServer:
    """person: the claims about whoever signs in; changed: claims of the identity token that are other than they should be, None for none of it.

    sign: makes the token instead; metadata: other than it should be; answer: status and body of the token endpoint instead; issuer_said: the
    `iss` that people are sent back with; is_shy: claims are at the user information only.
    """

    person: dict[str, Any] = field(default_factory=dict[str, Any])
    changed: dict[str, Any] = field(default_factory=dict[str, Any])
    metadata: dict[str, Any] = field(default_factory=dict[str, Any])
    sign: Callable[[dict[str, Any]], str] | None = None
    answer: tuple[int, str] | None = None
    issuer_said: str | None = None
    declines: bool = False
    is_shy: bool = False
    is_down: bool = False
    user_info: dict[str, Any] | None = None
    algorithm: str = "RS256"
    method: str = "client_secret_basic"
    issuer: str = ""
    keys: list[Key] = field(default_factory=list[Key])
    codes: dict[str, _Code] = field(default_factory=dict[str, _Code])
    asked: list[str] = field(default_factory=list[str])

    def rotate(self) -> None:
        """Sign with a new key, and publish no other."""
        parameters: Any = {"kid": f"key {time.monotonic_ns()}", "use": "sig", "alg": self.algorithm}
        made = (
            RSAKey.generate_key(2048, parameters)
            if self.algorithm[0] in "RP"
            else ECKey.generate_key("P-256", parameters)
        )
        self.keys[:] = [made]

    def described(self) -> dict[str, Any]:
        """The document of discovery."""
        return {
            "issuer": self.issuer,
            "authorization_endpoint": f"{self.issuer}/authorize",
            "token_endpoint": f"{self.issuer}/token",
            "userinfo_endpoint": f"{self.issuer}/userinfo",
            "jwks_uri": f"{self.issuer}/jwks",
            "response_types_supported": ["code"],
            "subject_types_supported": ["public"],
            "id_token_signing_alg_values_supported": [self.algorithm],
            "token_endpoint_auth_methods_supported": [self.method],
            "code_challenge_methods_supported": ["S256"],
            "authorization_response_iss_parameter_supported": True,
        } | self.metadata

    def claims(self, code: _Code, access_token: str) -> dict[str, Any]:
        """What the identity token says."""
        now = int(time.time())
        said = {
            "iss": self.issuer,
            "aud": [CLIENT],
            "iat": now,
            "exp": now + 300,
            "nonce": code.nonce,
            "at_hash": (create_half_hash(access_token, self.algorithm) or b"").decode(),
        }
        person = {"sub": self.person["sub"]} if self.is_shy else self.person
        return {name: value for name, value in {**said, **person, **self.changed}.items() if value is not None}

    def signed(self, claims: dict[str, Any], key: Key | None = None, **header: Any) -> str:
        """An identity token signed with the newest key, or with another one."""
        key = key or self.keys[-1]
        return jwt.encode({"alg": self.algorithm, "kid": self.keys[-1].kid, **header}, claims, key, [self.algorithm])


def _grants(provider: OpenIdServer) -> tuple[type[AuthorizationCodeGrant], OpenIDCode, IssuerParameter]:
    class Grant(AuthorizationCodeGrant):
        def __init__(self, request: Any, server: Any) -> None:
            super().__init__(request, server)
            self.TOKEN_ENDPOINT_AUTH_METHODS = [provider.method]

        def save_authorization_code(self, code: str, request: Any) -> None:
            payload = request.payload
            made = _Code(
                code=code,
                client_id=payload.client_id,
                redirect_uri=payload.redirect_uri,
                scope=payload.scope,
                nonce=payload.data.get("nonce"),
                code_challenge=payload.data.get("code_challenge"),
                code_challenge_method=payload.data.get("code_challenge_method"),
            )
            provider.codes[code] = made

        def query_authorization_code(self, code: str, client: Any) -> _Code | None:
            found = provider.codes.get(code)
            return found if found is not None and found.client_id == client.client_id else None

        def delete_authorization_code(self, authorization_code: Any) -> None:
            del provider.codes[authorization_code.code]

        def authenticate_user(self, authorization_code: Any) -> dict[str, Any]:
            return provider.person

    class Code(OpenIDCode):
        def exists_nonce(self, nonce: str, request: Any) -> bool:
            return any(code.nonce == nonce for code in provider.codes.values())

        def encode_id_token(self, token: Any, request: Any) -> str:
            claims = provider.claims(request.authorization_code, token["access_token"])
            return provider.sign(claims) if provider.sign else provider.signed(claims)

    class Issuer(IssuerParameter):
        def get_issuer(self) -> str | None:
            return provider.issuer if provider.issuer_said is None else provider.issuer_said

    return Grant, Code(require_nonce=True), Issuer()


def _forget(_token: Any, _request: Any) -> None:
    """Access tokens are not looked at here."""


def _app(provider: OpenIdServer) -> flask.Flask:
    app = flask.Flask("provider")

    def client(client_id: str) -> _Client:
        return _Client(client_id, lambda url: url.endswith("/session/openid"), provider.method)

    server = AuthorizationServer(app, query_client=client, save_token=_forget)
    grant, code, issuer = _grants(provider)
    server.register_grant(grant, [code, CodeChallenge(required=True)])
    server.register_extension(issuer)

    @app.before_request
    def note() -> Any:  # pyright: ignore[reportUnusedFunction]
        provider.asked.append(flask.request.path)
        return ("out of order", 502) if provider.is_down else None

    @app.get("/.well-known/openid-configuration")
    def discovery() -> Any:  # pyright: ignore[reportUnusedFunction]
        return provider.described()

    @app.get("/jwks")
    def keys() -> Any:  # pyright: ignore[reportUnusedFunction]
        return KeySet(provider.keys).as_dict(private=False)

    @app.get("/authorize")
    def authorize() -> Any:  # pyright: ignore[reportUnusedFunction]
        try:
            asked = server.get_consent_grant(end_user=provider.person)
        except OAuth2Error as error:
            return server.handle_error_response(server.create_oauth2_request(flask.request), error)
        return server.create_authorization_response(
            grant_user=None if provider.declines else provider.person, grant=asked
        )

    @app.post("/token")
    def token() -> Any:  # pyright: ignore[reportUnusedFunction]
        if provider.answer is not None:
            return flask.Response(provider.answer[1], provider.answer[0], content_type="application/json")
        return server.create_token_response()

    @app.get("/userinfo")
    def user_info() -> Any:  # pyright: ignore[reportUnusedFunction]
        return provider.person if provider.user_info is None else provider.user_info

    return app


@contextmanager
def openid_server(provider: OpenIdServer) -> Generator[OpenIdServer]:
    """The provider at a free port of this machine, while the block runs."""
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    server = make_server("127.0.0.1", 0, _app(provider), threaded=True)
    provider.issuer = f"http://127.0.0.1:{server.server_port}"
    provider.rotate()
    thread = Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield provider
    finally:
        server.shutdown()
        thread.join(10)
        server.server_close()
