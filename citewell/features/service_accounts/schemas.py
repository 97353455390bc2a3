"""HTTP schemas for service accounts."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from citewell.features.schemas import MAX_PROJECTS, RequestBody, Schema, Timestamp
from citewell.types.accounts import AccessScope, PersonState, Role

_MAX_NAME = 200
_NO_NUL = r"^[^\x00]+$"


class ServiceAccountIn(RequestBody):
    """A new service account's name."""

    name: str = Field(min_length=1, max_length=_MAX_NAME, pattern=_NO_NUL)


class ServiceAccountChange(RequestBody):
    """A new name, or whether its keys are accepted."""

    name: str | None = Field(default=None, min_length=1, max_length=_MAX_NAME, pattern=_NO_NUL)
    state: PersonState | None = None


class ServiceKeyIn(RequestBody):
    """A new key's name, days of validity (default: unlimited), scopes, and projects of the service account."""

    name: str = Field(min_length=1, max_length=_MAX_NAME, pattern=_NO_NUL)
    days: Annotated[int, Field(ge=1, le=3_650)] | None = None
    scopes: list[AccessScope] = Field(
        default=[AccessScope.READ, AccessScope.ASK], min_length=1, max_length=len(AccessScope)
    )
    projects: list[str] | None = Field(
        default=None,
        min_length=1,
        max_length=MAX_PROJECTS,
        description="ids or names; default: all it may use",
    )


class ServiceProjectOut(Schema):
    """Your project that a service account may use, and its role."""

    id: str
    name: str
    role: Role


class ServiceAccountOut(Schema):
    """A service account. `owner` is the id that owns its files, chats and costs, and its id as a project member."""

    id: str
    owner: str = Field(validation_alias="acts_as")
    name: str
    state: PersonState
    created_at: Timestamp
    projects: list[ServiceProjectOut]


class ServiceAccountList(Schema):
    """Your service accounts, oldest first."""

    service_accounts: list[ServiceAccountOut]
