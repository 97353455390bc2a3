"""Tokens and sessions as HTTP sees them."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from pydantic import BaseModel, Field

from citewell.features.schemas import RequestBody, utc
from citewell.storage.owners import TokenInfo


class TokenIn(RequestBody):
    """A name for the token, and how many days it is valid (for good when absent)."""

    name: str = Field(min_length=1, max_length=200, pattern=r"^[^\x00]+$")
    days: Annotated[int, Field(ge=1, le=3_650)] | None = None


class TokenOut(BaseModel):
    """A token as listed."""

    id: str
    name: str
    created_at: datetime
    expires_at: datetime | None

    @staticmethod
    def of(info: TokenInfo) -> TokenOut:
        """The public form of a token, without its secret."""
        return TokenOut(id=info.id, name=info.name, created_at=utc(info.created_at), expires_at=utc(info.expires_at))


class NewToken(TokenOut):
    """A new token with its secret, which is never shown again."""

    token: str


class TokenList(BaseModel):
    """Valid tokens, newest first."""

    tokens: list[TokenOut]


class SessionIn(RequestBody):
    """The token to sign in with."""

    token: str = Field(min_length=1, max_length=8_192)


class SessionOut(BaseModel):
    """Whether the browser is signed in, as whom, and what it sends as `X-CSRF-Token` with requests that change something."""

    signed_in: bool
    owner: str | None = Field(default=None, description="The same for all tokens of an owner")
    csrf: str | None = None
    version: str
