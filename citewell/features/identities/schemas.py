"""HTTP schemas for signing in with an identity provider."""

from __future__ import annotations

from pydantic import Field

from citewell.features.accounts.passwords import MAX_PASSWORD_LENGTH
from citewell.features.schemas import RequestBody, Schema


class OpenIdIn(RequestBody):
    """Where to go after signing in (a path on this server), and an invitation for people without an account."""

    return_to: str = Field(default="/", max_length=1_000)
    invitation: str | None = Field(default=None, max_length=200)


class LinkIn(RequestBody):
    """The account's password."""

    current_password: str = Field(min_length=1, max_length=MAX_PASSWORD_LENGTH)


class OpenIdOut(Schema):
    """The address at which to sign in."""

    address: str
