"""Service accounts as HTTP sees them."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from citewell.features.schemas import MAX_PROJECTS, RequestBody, Schema, Timestamp
from citewell.types.accounts import AccessScope, PersonState, Role

_MAX_NAME = 200
_NO_NUL = r"^[^\x00]+$"


class ServiceAccountIn(RequestBody):
    """What a new service account is called."""

    name: str = Field(min_length=1, max_length=_MAX_NAME, pattern=_NO_NUL)


class ServiceAccountChange(RequestBody):
    """Another name, or whether its keys are let in."""

    name: str | None = Field(default=None, min_length=1, max_length=_MAX_NAME, pattern=_NO_NUL)
    state: PersonState | None = None


class ServiceKeyIn(RequestBody):
    """A key: its name, how many days it is valid (for good when absent), what it is good for, and in which projects of the service account."""

    name: str = Field(min_length=1, max_length=_MAX_NAME, pattern=_NO_NUL)
    days: Annotated[int, Field(ge=1, le=3_650)] | None = None
    scopes: list[AccessScope] = Field(
        default=[AccessScope.READ, AccessScope.ASK], min_length=1, max_length=len(AccessScope)
    )
    projects: list[str] | None = Field(
        default=None,
        min_length=1,
        max_length=MAX_PROJECTS,
        description="ids or names; all that it may use unless given",
    )


class ServiceProjectOut(Schema):
    """A project of yours that a service account may use, and as what."""

    id: str
    name: str
    role: Role


class ServiceAccountOut(Schema):
    """A service account. `owner` is whose files, chats and costs are its own, and its id as a member of projects."""

    id: str
    owner: str = Field(validation_alias="acts_as")
    name: str
    state: PersonState
    created_at: Timestamp
    projects: list[ServiceProjectOut]


class ServiceAccountList(Schema):
    """Your service accounts, oldest first."""

    service_accounts: list[ServiceAccountOut]
