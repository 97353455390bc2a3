"""Secrets, and settings for JWTs, sessions and mail, with which the server refuses to start."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

from pydantic import SecretStr

from citewell.settings.accounts import SHARED_SECRET_ALGORITHMS
from citewell.settings.groups import Settings
from citewell.settings.values import is_loopback, is_postgres

# RFC 7518, section 3.2: a key as long as the hash. Fewer different bytes than this are a placeholder or a keyboard row.
_SECRET_BYTES = {"HS256": 32, "HS384": 48, "HS512": 64}
_SESSION_BYTES = 32
OPENID_PATH = "/session/openid"
_MIN_DIFFERENT = 8
# Placeholders in examples and templates. Random bytes contain none of them.
_PLACEHOLDER = re.compile(
    r"change[ _-]?(?:me|this|it)|your[ _-]?(?:\d+[ _-]?bits?[ _-]?|jwt[ _-]?|super[ _-]?)?secret|super[ _-]?secret|jwt[ _-]?secret|"
    r"secret[ _-]?key|my[ _-]?secret|secret[ _-]?secret|default[ _-]?secret|placeholder|replace[ _-]?(?:me|this)|insecure|passw[o0]rd|"
    r"keyboard[ _-]?cat|shhhh|0123456789abcdef0123456789abcdef|abcdefghijklmnopqrstuvwxyz",
    re.IGNORECASE,
)


def secret_problems(settings: Settings) -> list[str]:
    """Problems with the settings of authentication, one or two sentences each."""
    auth, accounts = settings.auth, settings.accounts
    least = _SECRET_BYTES.get(auth.algorithm, _SECRET_BYTES["HS256"])
    problems = [
        _guessable(auth.secret, auth.name_of("secret"), least, f" for {auth.algorithm}"),
        _guessable(accounts.session_secret, accounts.name_of("session_secret"), _SESSION_BYTES, ""),
        *(_jwks_problems(settings) if auth.jwks_url is not None else _shared_secret_problems(settings)),
        _session_problem(settings),
        *_openid_problems(settings),
        *_mail_problems(settings),
    ]
    return [problem for problem in problems if problem is not None]


def _guessable(secret: SecretStr | None, name: str, least: int, purpose: str) -> str | None:
    if secret is None:
        return None
    value = secret.get_secret_value()
    advice = f"Create one with: openssl rand -hex {least}"
    if len(value.encode()) < least:
        return f"{name} must have at least {least} bytes{purpose}. {advice}"
    if len(set(value.encode())) < _MIN_DIFFERENT or value in (value + value)[1:-1]:
        return f"{name} must be random. {advice}"
    if _PLACEHOLDER.search(value):
        return f"{name} must be random, but it is a known placeholder. {advice}"
    return None


def _shared_secret_problems(settings: Settings) -> list[str]:
    auth = settings.auth
    if auth.algorithm in SHARED_SECRET_ALGORITHMS:
        return []
    name, url = auth.name_of("algorithm"), auth.name_of("jwks_url")
    return [f"{name} is {auth.algorithm!r}, which needs the provider's public keys. Set {url} to their address."]


def _jwks_problems(settings: Settings) -> list[str]:
    auth = settings.auth
    name, url = auth.name_of("algorithm"), auth.name_of("jwks_url")
    problems: list[str] = []
    if auth.algorithm in SHARED_SECRET_ALGORITHMS:
        problems.append(
            f"{url} is set, so {name} must be an algorithm with public keys, such as RS256, ES256 or EdDSA."
        )
    elif auth.secret is not None:
        problems.append(
            f"{auth.name_of('secret')} and {url} cannot both be set, because either decides whose JWTs are accepted."
        )
    parts = urlsplit(auth.jwks_url or "")
    if parts.scheme != "https" and not is_loopback(parts.hostname or ""):
        problems.append(
            f"{url} must begin with https://, or anybody who can change the keys in transit could sign in as anyone."
        )
    # A provider has keys for all of its customers: without these, a token for another application would be accepted.
    missing = [auth.name_of(field) for field in ("issuer", "audience") if getattr(auth, field) is None]
    if missing:
        problems.append(f"{url} is set, so {' and '.join(missing)} must be set too.")
    return problems


def _session_problem(settings: Settings) -> str | None:
    accounts, auth = settings.accounts, settings.auth
    name = accounts.name_of("session_secret")
    if not accounts.is_on:
        return None
    if accounts.session_secret is None:
        if settings.database_url is None or not is_postgres(settings.database_url):
            return None
        advice = f"Create one with: openssl rand -hex {_SESSION_BYTES}"
        return f"With accounts on Postgres, {name} must be set to the same value on all servers. {advice}"
    if auth.secret is not None and accounts.session_secret.get_secret_value() == auth.secret.get_secret_value():
        return f"{name} must differ from {auth.name_of('secret')}, which others also have."
    return None


def _openid_problems(settings: Settings) -> list[str]:
    openid, accounts = settings.openid, settings.accounts
    name = openid.name_of("issuer")
    if openid.issuer is None:
        given = [field for field in ("client_id", "client_secret", "domains") if getattr(openid, field)]
        return [f"{openid.name_of(given[0])} is set, so {name} must be set too."] if given else []
    problems: list[str] = []
    if not accounts.is_on:
        problems.append(
            f"{name} is set, so {accounts.name_of('is_on')} must be on: only people with accounts can sign in."
        )
    if openid.client_id is None:
        problems.append(f"{name} is set, so {openid.name_of('client_id')} must be set too.")
    parts = urlsplit(openid.issuer)
    if parts.scheme != "https" and not is_loopback(parts.hostname or ""):
        problems.append(
            f"{name} must begin with https://, or anybody who can change its responses in transit could sign in as anyone."
        )
    if parts.query or parts.fragment or parts.username:
        problems.append(f"{name} must be the issuer as the provider writes it, without a query or a user.")
    if openid.redirect_url is not None and not openid.redirect_url.endswith(OPENID_PATH):
        problems.append(
            f"{openid.name_of('redirect_url')} must end with {OPENID_PATH}, the path the provider redirects to."
        )
    return problems


def _mail_problems(settings: Settings) -> list[str]:
    mail, accounts = settings.mail, settings.accounts
    name, url = mail.name_of("smtp_url"), mail.name_of("public_url")
    if mail.smtp_url is None:
        given = [field for field in ("user", "password", "sender") if getattr(mail, field)]
        return [f"{mail.name_of(given[0])} is set, so {name} must be set too."] if given else []
    problems: list[str] = []
    if not accounts.is_on:
        problems.append(
            f"{name} is set, so {accounts.name_of('is_on')} must be on: only people with accounts get e-mail."
        )
    missing = [mail.name_of(field) for field in ("sender", "public_url") if getattr(mail, field) is None]
    if missing:
        problems.append(f"{name} is set, so {' and '.join(missing)} must be set too.")
    if (mail.user is None) != (mail.password is None):
        problems.append(f"{mail.name_of('user')} and {mail.name_of('password')} must be set together.")
    parts = urlsplit(mail.public_url or "")
    if parts.scheme == "http" and not is_loopback(parts.hostname or ""):
        problems.append(f"{url} must begin with https://, because its links contain secrets that set a new password.")
    if parts.path not in ("", "/") or parts.query or parts.fragment:
        problems.append(f"{url} must end with the host or its port.")
    return problems
