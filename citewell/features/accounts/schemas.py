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
    invitation: str | None = Field(default=None, max_length=200, description="required unless sign-up is open")


class SignInIn(RequestBody):
    """An e-mail address and its password."""

    email: str = Field(min_length=3, max_length=_MAX_EMAIL, pattern=_NO_NUL)
    password: str = Field(min_length=1, max_length=MAX_PASSWORD_LENGTH)


class ResetAskedIn(RequestBody):
    """The address of an account with a forgotten password."""

    email: str = Field(min_length=3, max_length=_MAX_EMAIL, pattern=_NO_NUL)


class ResetIn(RequestBody):
    """The secret of a link that resets a password, and the new password."""

    reset: str = Field(min_length=1, max_length=200, pattern=_NO_NUL)
    password: str = Field(min_length=1, max_length=MAX_PASSWORD_LENGTH)


class AccountChange(RequestBody):
    """Changes to an account."""

    name: str | None = Field(default=None, max_length=_MAX_NAME, pattern=_NO_NUL)
    current_password: str | None = Field(default=None, max_length=MAX_PASSWORD_LENGTH)
    password: str | None = Field(default=None, min_length=1, max_length=MAX_PASSWORD_LENGTH)


class PersonOut(Schema):
    """A person with an account. `owner` is the id that owns their files; `issuer` the identity provider they sign in with, if any."""

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
    """All people, in order of sign-up."""

    people: list[PersonOut]


class PersonChange(RequestBody):
    """Whether a person may use the server."""

    state: PersonState


class SignedInOut(Schema):
    """One of your sessions."""

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
    """Your sessions, latest first."""

    sessions: list[SignedInOut]


class InvitationIn(RequestBody):
    """An invitation to the server or, with `project` (an id), to your project."""

    email: str | None = Field(
        default=None, max_length=_MAX_EMAIL, pattern=_NO_NUL, description="the only address it is for"
    )
    project: str | None = Field(default=None, max_length=36, pattern=_NO_NUL)
    role: Literal[Role.EDITOR, Role.VIEWER] | None = Field(default=None, description="in the project; default: viewer")
    days: int = Field(default=7, ge=1, le=90)


class InvitationOut(Schema):
    """A valid invitation."""

    id: str
    email: str | None
    project: str | None = Field(validation_alias="project_id")
    role: Role | None
    created_at: Timestamp
    expires_at: Timestamp


class NewInvitation(InvitationOut):
    """A new invitation with its secret, which is shown only once."""

    invitation: str


class InvitationList(Schema):
    """Your invitations, newest first."""

    invitations: list[InvitationOut]


class AcceptIn(RequestBody):
    """The secret of an invitation."""

    invitation: str = Field(min_length=1, max_length=200, pattern=_NO_NUL)


class MemberOut(Schema):
    """A member of a project. `service` is true for a service account."""

    id: str = Field(validation_alias="owner_id")
    name: str
    role: Role
    since: Timestamp = Field(validation_alias="created_at")
    service: bool = Field(validation_alias="is_service")


class MemberList(Schema):
    """The members of a project except its owner, oldest first."""

    members: list[MemberOut]


class MemberChange(RequestBody):
    """A member's new role."""

    role: Literal[Role.EDITOR, Role.VIEWER]


class SharedProjectOut(Schema):
    """A project that another owner shares with you. `owner` owns its files; `owner_name` is that owner's name."""

    id: str
    name: str
    owner: str = Field(validation_alias="owner_id")
    owner_name: str | None
    role: Role


class SharedProjectList(Schema):
    """Projects that others share with you; send an id as `X-Citewell-Project`."""

    projects: list[SharedProjectOut]
