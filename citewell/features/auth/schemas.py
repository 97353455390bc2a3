"""Tokens and sessions as HTTP sees them."""

from __future__ import annotations

from collections.abc import Collection
from typing import Annotated

from pydantic import BeforeValidator, Field

from citewell.features.schemas import MAX_PROJECTS, RequestBody, Schema, Timestamp
from citewell.types.accounts import AccessScope


class TokenIn(RequestBody):
    """A new token's name, days of validity (default: unlimited), scopes and projects."""

    name: str = Field(min_length=1, max_length=200, pattern=r"^[^\x00]+$")
    days: Annotated[int, Field(ge=1, le=3_650)] | None = None
    scopes: list[AccessScope] | None = Field(
        default=None, min_length=1, max_length=len(AccessScope), description="default: everything you may do"
    )
    projects: list[str] | None = Field(
        default=None, min_length=1, max_length=MAX_PROJECTS, description="ids or names; default: all files"
    )


def _in_order(scopes: Collection[AccessScope]) -> list[AccessScope]:
    return [scope for scope in AccessScope if scope in scopes]


class TokenOut(Schema):
    """A token in a list. `prefix` has its first characters, `projects` are ids (null for all), `last_used_at` is exact to the minute.

    `made_with` is the id of the token that created it; revoking that one revokes this one.
    """

    id: str
    name: str
    created_at: Timestamp
    expires_at: Timestamp | None
    prefix: str | None = None
    scopes: Annotated[list[AccessScope], BeforeValidator(_in_order)] = Field(default=[])
    projects: list[str] | None = Field(default=None, validation_alias="project_ids")
    last_used_at: Timestamp | None = None
    made_with: str | None = None


class NewToken(TokenOut):
    """A new token with its secret, which is shown only once."""

    token: str


class TokenList(Schema):
    """Valid tokens, newest first."""

    tokens: list[TokenOut]


class SessionIn(RequestBody):
    """The token to sign in with."""

    token: str = Field(min_length=1, max_length=8_192)


class SessionOut(Schema):
    """Whether the browser is signed in, as whom, and the `X-CSRF-Token` for requests that change something.

    `accounts`: whether this server has accounts; `sign_up`: how people get one; `provider`: the name of the identity provider, if any;
    `sends_mail`: whether forgotten passwords can be reset by e-mail; `seconds`: how long the access token is valid after
    `POST /session/refresh`; `person`: the person signed in with an account.
    """

    signed_in: bool
    owner: str | None = Field(default=None, description="The same for all tokens of an owner")
    csrf: str | None = None
    version: str
    accounts: bool = False
    sign_up: str | None = None
    provider: str | None = None
    sends_mail: bool = False
    seconds: int | None = None
    person: str | None = None
    administrator: bool = False
