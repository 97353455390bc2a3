"""HTTP for tokens: create (shown once), list, revoke."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated

from fastapi import APIRouter, Request, Response
from pydantic import BaseModel, Field

from citewell.features.auth.service import AuthService
from citewell.features.http import ERROR_RESPONSES, Owner
from citewell.features.json_bodies import SoundRoute
from citewell.features.requests import RequestBody
from citewell.storage.owners import TokenInfo

router = APIRouter(tags=["tokens"], responses=ERROR_RESPONSES, route_class=SoundRoute)


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
        expires = datetime.fromtimestamp(info.expires_at, UTC) if info.expires_at else None
        return TokenOut(
            id=info.id, name=info.name, created_at=datetime.fromtimestamp(info.created_at, UTC), expires_at=expires
        )


class NewToken(TokenOut):
    """A new token with its secret, which is never shown again."""

    token: str


class TokenList(BaseModel):
    """Valid tokens, newest first."""

    tokens: list[TokenOut]


def _auth(request: Request) -> AuthService:
    return request.app.state.services.auth


@router.post("/tokens", status_code=201)
async def create_token(request: Request, body: TokenIn, owner: Owner) -> NewToken:
    """A new token for this owner."""
    info, secret = await _auth(request).create_token(owner, body.name, body.days)
    return NewToken(**TokenOut.of(info).model_dump(), token=secret)


@router.get("/tokens")
async def list_tokens(request: Request, owner: Owner) -> TokenList:
    """Valid tokens of this owner."""
    return TokenList(tokens=[TokenOut.of(info) for info in await _auth(request).owners.list_tokens(owner)])


@router.delete("/tokens/{token_id}", status_code=204)
async def revoke_token(request: Request, token_id: str, owner: Owner) -> Response:
    """End a token's validity."""
    await _auth(request).revoke_token(owner, token_id)
    return Response(status_code=204)
