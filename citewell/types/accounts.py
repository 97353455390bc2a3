"""People, their permissions, and their sessions."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from citewell.errors import InvalidInput, NotFound, UnnamedProject, named
from citewell.types.names import composed_name


class AccessScope(StrEnum):
    """The scopes of a credential: reading, writing, asking questions, and managing keys, members and the server."""

    READ = "read"
    WRITE = "write"
    ASK = "ask"
    ADMIN = "admin"


ALL_SCOPES = frozenset(AccessScope)
_DAY = 86_400.0
ERASURE_CONFIRMATION = "erase everything"
"""The text that confirms erasing everything an owner has."""


class Role(StrEnum):
    """A member's role in a project: everything, everything except managing it, or reading and asking."""

    OWNER = "owner"
    EDITOR = "editor"
    VIEWER = "viewer"


ROLE_SCOPES = {
    Role.OWNER: ALL_SCOPES,
    Role.EDITOR: frozenset({AccessScope.READ, AccessScope.WRITE, AccessScope.ASK}),
    Role.VIEWER: frozenset({AccessScope.READ, AccessScope.ASK}),
}


class PersonState(StrEnum):
    """Whether a person may use the server."""

    ACTIVE = "active"
    SUSPENDED = "suspended"


class SignInProblem(StrEnum):
    """Why a sign-in with an identity provider failed; shown by the page."""

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
    """A person with an account. Their data belongs to `owner_id`; administrators manage the server's accounts.

    issuer: of the identity provider they sign in with, if any
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
    """A program's account, with keys instead of a password. `owner_id` manages it; its data belongs to `acts_as`.

    projects: the manager's projects that it may use
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
    """A session: a family of refresh tokens, one of which is valid at a time."""

    id: str
    person_id: str
    created_at: float
    last_used_at: float
    expires_at: float
    agent: str
    address: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Principal:
    """The caller of a request, and the scopes of the credential.

    project_ids: limited to these projects; None for everything the owner has
    managed_by:  the owner who manages the service account, if the caller is one
    expires_at:  when the token or JWT expires; None if it does not. None for sessions too: what they create belongs to the person
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
        """The expiry of something the caller creates for `days` (None: no limit), capped by the credential's own."""
        asked = None if days is None else time.time() + days * _DAY
        return min((end for end in (asked, self.expires_at) if end is not None), default=None)

    def lifetime(self, days: int) -> float:
        """The lifetime in seconds of a link the caller creates for `days`, capped by the credential's expiry."""
        seconds = days * _DAY
        return seconds if self.expires_at is None else min(seconds, self.expires_at - time.time())


@dataclass(frozen=True, slots=True, kw_only=True)
class ProjectMember:
    """A member of another owner's project. is_service: whether it is a service account."""

    project_id: str
    owner_id: str
    role: Role
    name: str
    created_at: float
    is_service: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Invitation:
    """An invitation to create an account and, if it names a project, to join it. email: the only address that may accept it; None for anyone with the link."""

    id: str
    invited_by: str
    email: str | None
    project_id: str | None
    role: Role | None
    created_at: float
    expires_at: float


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedProject:
    """Another owner's project that a person may use, and their role. owner_name: None for an owner without an account."""

    id: str
    name: str
    owner_id: str
    role: Role
    owner_name: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Grant:
    """The owner's files that a request may use: those in some projects (names by id), or all if `projects` is None.

    sees_history: whether it includes earlier versions; not for read-only access to some projects
    """

    owner_id: str
    projects: Mapping[str, str] | None = None
    sees_history: bool = True

    @property
    def kept_to(self) -> tuple[str, ...] | None:
        """The ids of the projects the grant is limited to; None for everything the owner has."""
        return None if self.projects is None else tuple(self.projects)

    def narrowed(self, asked: Sequence[str] | None) -> tuple[str, ...] | None:
        """The ids of the projects a request names, by id or name. Raises `NotFound` for one without access, or `UnnamedProject`."""
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
        """Like `narrowed`, for requests about one project. Raises `InvalidInput` if the request must name it."""
        ids = self.narrowed(None if asked is None else [asked])
        if ids is None or len(ids) == 1:
            return ids and ids[0]
        raise InvalidInput("This token gives access to several projects. Name one.")
