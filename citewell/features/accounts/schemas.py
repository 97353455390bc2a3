"""Accounts as HTTP sees them."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from pydantic import Field

from citewell.features.accounts.passwords import MAX_PASSWORD_LENGTH
from citewell.features.schemas import RequestBody, Schema, Timestamp, utc
from citewell.types.accounts import PersonState, Role, SignedIn

_MAX_EMAIL = 300
_MAX_NAME = 200
_NO_NUL = r"^[^\x00]*$"


class SignUpIn(RequestBody):
    """A new account."""

    email: str = Field(min_length=3, max_length=_MAX_EMAIL, pattern=_NO_NUL)
    name: str = Field(default="", max_length=_MAX_NAME, pattern=_NO_NUL)
    password: str = Field(min_length=1, max_length=MAX_PASSWORD_LENGTH)
    invitation: str | None = Field(default=None, max_length=200, description="needed unless sign-up is open")


class SignInIn(RequestBody):
    """An e-mail address and its password."""

    email: str = Field(min_length=3, max_length=_MAX_EMAIL, pattern=_NO_NUL)
    password: str = Field(min_length=1, max_length=MAX_PASSWORD_LENGTH)


class ResetAskedIn(RequestBody):
    """The address of the account whose password is forgotten."""

    email: str = Field(min_length=3, max_length=_MAX_EMAIL, pattern=_NO_NUL)


class ResetIn(RequestBody):
    """The secret of a link that resets a password, and the new password."""

    reset: str = Field(min_length=1, max_length=200, pattern=_NO_NUL)
    password: str = Field(min_length=1, max_length=MAX_PASSWORD_LENGTH)


class AccountChange(RequestBody):
    """What is to change of an account."""

    name: str | None = Field(default=None, max_length=_MAX_NAME, pattern=_NO_NUL)
    current_password: str | None = Field(default=None, max_length=MAX_PASSWORD_LENGTH)
    password: str | None = Field(default=None, min_length=1, max_length=MAX_PASSWORD_LENGTH)


class PersonOut(Schema):
    """Somebody with an account. `owner` is whose files are theirs; `issuer` the identity provider they sign in with, if they do."""

    id: str
    owner: str = Field(validation_alias="owner_id")
    email: str
    name: str
    administrator: bool = Field(validation_alias="is_administrator")
    state: PersonState
    created_at: Timestamp
    has_password: bool
    issuer: str | None


class PeopleList(Schema):
    """Everybody, in the order in which they came."""

    people: list[PersonOut]


class PersonChange(RequestBody):
    """Whether somebody may use the server."""

    state: PersonState


class SignedInOut(Schema):
    """A place where you are signed in."""

    id: str
    created_at: datetime
    last_used_at: datetime
    expires_at: datetime
    agent: str
    address: str
    current: bool

    @staticmethod
    def of(one: SignedIn, current: str | None) -> SignedInOut:
        """The public form of a session."""
        return SignedInOut(
            id=one.id,
            created_at=utc(one.created_at),
            last_used_at=utc(one.last_used_at),
            expires_at=utc(one.expires_at),
            agent=one.agent,
            address=one.address,
            current=one.id == current,
        )


class SignedInList(Schema):
    """Where you are signed in, the latest first."""

    sessions: list[SignedInOut]


class InvitationIn(RequestBody):
    """Whom to invite: to the server, or with `project` (an id) to a project of yours."""

    email: str | None = Field(
        default=None, max_length=_MAX_EMAIL, pattern=_NO_NUL, description="the only address it is for"
    )
    project: str | None = Field(default=None, max_length=36, pattern=_NO_NUL)
    role: Literal[Role.EDITOR, Role.VIEWER] | None = Field(
        default=None, description="in the project; viewer unless given"
    )
    days: int = Field(default=7, ge=1, le=90)


class InvitationOut(Schema):
    """An invitation that can still be used."""

    id: str
    email: str | None
    project: str | None = Field(validation_alias="project_id")
    role: Role | None
    created_at: Timestamp
    expires_at: Timestamp


class NewInvitation(InvitationOut):
    """A new invitation with its secret, which is never shown again."""

    invitation: str


class InvitationList(Schema):
    """Your invitations, newest first."""

    invitations: list[InvitationOut]


class AcceptIn(RequestBody):
    """The secret of an invitation."""

    invitation: str = Field(min_length=1, max_length=200, pattern=_NO_NUL)


class MemberOut(Schema):
    """Somebody who may use a project. `service` says that it is a service account."""

    id: str = Field(validation_alias="owner_id")
    name: str
    role: Role
    since: Timestamp = Field(validation_alias="created_at")
    service: bool = Field(validation_alias="is_service")


class MemberList(Schema):
    """The members of a project besides its owner, oldest first."""

    members: list[MemberOut]


class MemberChange(RequestBody):
    """What a member may do from now on."""

    role: Literal[Role.EDITOR, Role.VIEWER]


class SharedProjectOut(Schema):
    """A project of another owner that you may use. `owner` is whose files these are, `owner_name` what they are called."""

    id: str
    name: str
    owner: str = Field(validation_alias="owner_id")
    owner_name: str | None
    role: Role


class SharedProjectList(Schema):
    """The projects of others that you may use; send one's id as `X-Citewell-Project`."""

    projects: list[SharedProjectOut]
