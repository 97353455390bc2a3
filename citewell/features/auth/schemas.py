"""Tokens and sessions as HTTP sees them."""

from __future__ import annotations

from collections.abc import Collection
from typing import Annotated

from pydantic import BeforeValidator, Field

from citewell.features.schemas import MAX_PROJECTS, RequestBody, Schema, Timestamp
from citewell.types.accounts import AccessScope


class TokenIn(RequestBody):
    """A name for the token, how many days it is valid (for good when absent), and what it is good for."""

    name: str = Field(min_length=1, max_length=200, pattern=r"^[^\x00]+$")
    days: Annotated[int, Field(ge=1, le=3_650)] | None = None
    scopes: list[AccessScope] | None = Field(
        default=None, min_length=1, max_length=len(AccessScope), description="all that you may do unless given"
    )
    projects: list[str] | None = Field(
        default=None, min_length=1, max_length=MAX_PROJECTS, description="ids or names; all files unless given"
    )


def _in_order(scopes: Collection[AccessScope]) -> list[AccessScope]:
    return [scope for scope in AccessScope if scope in scopes]


class TokenOut(Schema):
    """A token as listed. `prefix` is how it begins, `projects` are ids (null for all), `last_used_at` is exact to the minute.

    `made_with` is the id of the token that made it, and that it ends with.
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
    """A new token with its secret, which is never shown again."""

    token: str


class TokenList(Schema):
    """Valid tokens, newest first."""

    tokens: list[TokenOut]


class SessionIn(RequestBody):
    """The token to sign in with."""

    token: str = Field(min_length=1, max_length=8_192)


class SessionOut(Schema):
    """Whether the browser is signed in, as whom, and what it sends as `X-CSRF-Token` with requests that change something.

    `accounts` says whether people have accounts here, `sign_up` how they get one, and `provider` what the identity provider is called
    that they may sign in with; `sends_mail` whether a forgotten password can be reset by e-mail; `seconds` how long the access token of a session
    is valid after `POST /session/refresh`; `person` who is signed in with an account.
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
