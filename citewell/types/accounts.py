"""People, what they may do, and where they are signed in."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from citewell.errors import InvalidInput, NotFound, UnnamedProject, named
from citewell.types.names import composed_name


class AccessScope(StrEnum):
    """What a credential is good for: seeing, changing, asking questions, and managing keys, members and the server."""

    READ = "read"
    WRITE = "write"
    ASK = "ask"
    ADMIN = "admin"


ALL_SCOPES = frozenset(AccessScope)
_DAY = 86_400.0
ERASURE_CONFIRMATION = "erase everything"
"""What says that erasing all that an owner has is meant."""


class Role(StrEnum):
    """What somebody may do in a project: everything, all but managing it, or see and ask."""

    OWNER = "owner"
    EDITOR = "editor"
    VIEWER = "viewer"


ROLE_SCOPES = {
    Role.OWNER: ALL_SCOPES,
    Role.EDITOR: frozenset({AccessScope.READ, AccessScope.WRITE, AccessScope.ASK}),
    Role.VIEWER: frozenset({AccessScope.READ, AccessScope.ASK}),
}


class PersonState(StrEnum):
    """Whether somebody may use the server."""

    ACTIVE = "active"
    SUSPENDED = "suspended"


class SignInProblem(StrEnum):
    """Why a sign-in with an identity provider did not succeed, as the page is told."""

    EXPIRED = "expired"
    DECLINED = "declined"
    REFUSED = "refused"
    UNAVAILABLE = "unavailable"
    UNVERIFIED = "unverified"
    DOMAIN = "domain"
    NOT_INVITED = "not_invited"
    NO_ADMINISTRATOR = "no_administrator"
    TAKEN = "taken"
    OTHER_PERSON = "other_person"
    SUSPENDED = "suspended"
    TOO_MANY = "too_many"


@dataclass(frozen=True, slots=True, kw_only=True)
class Person:
    """Somebody with an account. What belongs to them has `owner_id`; administrators manage the server's accounts.

    issuer: of the provider that they sign in with, if they do.
    """

    id: str
    owner_id: str
    email: str
    name: str
    is_administrator: bool
    state: PersonState
    created_at: float
    has_password: bool = True
    issuer: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceAccount:
    """An account of a program, which has keys and no password. `owner_id` manages it; what belongs to it has `acts_as`.

    projects: those of its manager that it may use.
    """

    id: str
    owner_id: str
    acts_as: str
    name: str
    state: PersonState
    created_at: float
    projects: tuple[SharedProject, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class SignedIn:
    """A place where somebody is signed in: a family of refresh tokens, of which one is valid at a time."""

    id: str
    person_id: str
    created_at: float
    last_used_at: float
    expires_at: float
    agent: str
    address: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Principal:
    """Who sends a request, and what the credential is good for.

    project_ids: only these; None for all that the owner has. managed_by: the owner who manages the service account that asks, if one does.
    expires_at: when a token or JWT ends, None where it does not; a person's session makes what is the person's, so it has none.
    """

    owner_id: str
    scopes: frozenset[AccessScope] = ALL_SCOPES
    project_ids: tuple[str, ...] | None = None
    token_id: str | None = None
    person_id: str | None = None
    session_id: str | None = None
    is_administrator: bool = False
    name: str | None = None
    managed_by: str | None = None
    expires_at: float | None = None

    def end_of(self, days: int | None) -> float | None:
        """When what it makes for so many days (None: without an end) expires: no later than itself."""
        asked = None if days is None else time.time() + days * _DAY
        return min((end for end in (asked, self.expires_at) if end is not None), default=None)

    def lifetime(self, days: int) -> float:
        """The seconds for which a link that it makes for so many days works."""
        seconds = days * _DAY
        return seconds if self.expires_at is None else min(seconds, self.expires_at - time.time())


@dataclass(frozen=True, slots=True, kw_only=True)
class ProjectMember:
    """Somebody who may use a project of another owner. is_service: whether that is a service account."""

    project_id: str
    owner_id: str
    role: Role
    name: str
    created_at: float
    is_service: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Invitation:
    """Leave to make an account, and to use a project where one is named. email: the only address it is for; None for anybody who has it."""

    id: str
    invited_by: str
    email: str | None
    project_id: str | None
    role: Role | None
    created_at: float
    expires_at: float


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedProject:
    """A project of another owner that somebody may use, and as what. owner_name: None for an owner without an account."""

    id: str
    name: str
    owner_id: str
    role: Role
    owner_name: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Grant:
    """Whose files a request is about, and which: those of some projects (their names by id), or all where `projects` is None.

    sees_history: whether earlier versions of them are open to it; not where it is for some projects and may only read.
    """

    owner_id: str
    projects: Mapping[str, str] | None = None
    sees_history: bool = True

    @property
    def kept_to(self) -> tuple[str, ...] | None:
        """The ids of the projects that it is kept to; None where it is good for all that the owner has."""
        return None if self.projects is None else tuple(self.projects)

    def narrowed(self, asked: Sequence[str] | None) -> tuple[str, ...] | None:
        """The projects that a request is about, of which it names some by id or name; `NotFound` for one that is not open to it, `UnnamedProject`."""
        if asked is None:
            return self.kept_to
        for one in asked:
            UnnamedProject.check(one)
        if self.projects is None:
            return tuple(asked)
        by_name = {composed_name(name): known for known, name in self.projects.items()}
        found = [one if one in self.projects else by_name.get(composed_name(one)) for one in asked]
        if None in found:
            raise NotFound(f"There is no project called {named(asked[found.index(None)])}.")
        return tuple(one for one in found if one is not None)

    def project(self, asked: str | None) -> str | None:
        """As `narrowed`, for requests about one project; `InvalidInput` where they must say which."""
        ids = self.narrowed(None if asked is None else [asked])
        if ids is None or len(ids) == 1:
            return ids and ids[0]
        raise InvalidInput("Name the project: this token is good for several.")
