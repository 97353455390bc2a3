"""Authentication and accounts: accepted JWTs, sign-up, the identity provider, and how long sessions last."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import Field, SecretStr

from citewell.settings.base import SettingsGroup
from citewell.settings.names import named
from citewell.settings.values import MAX_BYTES, MAX_NUMBER, DomainList, HttpAddress, Natural

SHARED_SECRET_ALGORITHMS = ("HS256", "HS384", "HS512")
Algorithm = Literal["HS256", "HS384", "HS512", "RS256", "RS384", "RS512", "PS256", "ES256", "ES384", "EdDSA"]


@dataclass(frozen=True, kw_only=True)
class AuthSettings(SettingsGroup):
    """How requests are authenticated, and how many each owner may send."""

    secret: Annotated[SecretStr | None, named("auth_secret", "JWT_SECRET")] = None
    algorithm: Annotated[Algorithm, named("jwt_algorithm", "JWT_ALGORITHM")] = "HS256"
    jwks_url: Annotated[HttpAddress | None, named("jwt_jwks_url", "JWT_JWKS_URL", "JWKS_URL")] = None
    issuer: Annotated[str | None, named("jwt_issuer", "JWT_ISSUER")] = None
    audience: Annotated[str | None, named("jwt_audience", "JWT_AUDIENCE")] = None
    requests_per_minute: Annotated[Natural, named("requests_per_minute")] = 0
    answers_at_once: Annotated[int, Field(ge=1, le=4_096), named("answers_at_once")] = 64


@dataclass(frozen=True, kw_only=True)
class AccountSettings(SettingsGroup):
    """Whether people have accounts, who may create one, and how long they stay signed in."""

    is_on: Annotated[bool, named("accounts")] = False
    sign_up: Annotated[Literal["invitation", "open"], named("sign_up")] = "invitation"
    session_secret: Annotated[SecretStr | None, named("session_secret")] = None
    access_minutes: Annotated[int, Field(ge=1, le=60), named("access_minutes")] = 12
    session_days: Annotated[int, Field(ge=1, le=365), named("session_days")] = 30


@dataclass(frozen=True, kw_only=True)
class AuditSettings(SettingsGroup):
    """How long audit log entries are kept."""

    days: Annotated[int, Field(ge=1, le=36_500), named("audit_days")] = 365


@dataclass(frozen=True, kw_only=True)
class QuotaSettings(SettingsGroup):
    """Default limits per owner: files and their bytes, and questions and US dollars per calendar month (UTC)."""

    files: Annotated[int | None, Field(ge=0, le=MAX_NUMBER), named("quota_files")] = None
    bytes: Annotated[int | None, Field(ge=0, le=MAX_BYTES), named("quota_bytes")] = None
    questions: Annotated[int | None, Field(ge=0, le=MAX_NUMBER), named("quota_questions")] = None
    spend: Annotated[float | None, Field(ge=0, le=MAX_NUMBER), named("quota_spend")] = None


@dataclass(frozen=True, kw_only=True)
class OpenIdSettings(SettingsGroup):
    """The identity provider that people can sign in with, the address it redirects them to, and the domains it may vouch for."""

    issuer: Annotated[HttpAddress | None, named("oidc_issuer")] = None
    client_id: Annotated[str | None, named("oidc_client_id")] = None
    client_secret: Annotated[SecretStr | None, named("oidc_client_secret")] = None
    name: Annotated[str | None, named("oidc_name")] = None
    redirect_url: Annotated[HttpAddress | None, named("oidc_redirect_url")] = None
    domains: Annotated[DomainList, named("oidc_domains")] = ()
