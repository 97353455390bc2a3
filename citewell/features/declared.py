"""What a route declares where it is defined: what it requires of a credential, and what it leaves in the audit log."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import Enum
from typing import Any, NamedTuple

from starlette.requests import Request
from starlette.routing import BaseRoute

from citewell.types.accounts import AccessScope
from citewell.types.audit import AuditAction

DECLARED = "__citewell_declared__"
"""The attribute of an endpoint that holds what its routes declare, by method and path."""


class Reach(Enum):
    """What of an owner's files a route may touch, which decides how credentials for some projects are kept to those."""

    PUBLIC = "needs no credential, or looks for one itself"
    NOTHING = "touches no files"
    RESOURCE = "touches the file in its path, which must be in one of the projects"
    PROJECT = "touches the project in its path, which must be one of them"
    NARROWED = "touches what the request names, which the endpoint narrows to the projects"
    EVERYTHING = "touches all that the owner has: closed to credentials for some projects"


@dataclass(frozen=True, slots=True)
class Access:
    """What a credential must be good for to use a route. scope: None for public routes."""

    scope: AccessScope | None
    reach: Reach


READ, WRITE, ASK, ADMIN = AccessScope.READ, AccessScope.WRITE, AccessScope.ASK, AccessScope.ADMIN
PUBLIC = Access(None, Reach.PUBLIC)


def nothing(scope: AccessScope) -> Access:
    """For a route that touches no files."""
    return Access(scope, Reach.NOTHING)


def resource(scope: AccessScope) -> Access:
    """For a route about the file in its path."""
    return Access(scope, Reach.RESOURCE)


def project(scope: AccessScope) -> Access:
    """For a route about the project in its path."""
    return Access(scope, Reach.PROJECT)


def narrowed(scope: AccessScope) -> Access:
    """For a route about what the request names."""
    return Access(scope, Reach.NARROWED)


def everything(scope: AccessScope) -> Access:
    """For a route about all that the owner has."""
    return Access(scope, Reach.EVERYTHING)


class AuditKind(Enum):
    """How an action is entered."""

    CHANGE = "noted before it begins, and entered before it is answered"
    VIEW = "entered before it is answered, once a minute for the same thing and the same asker"


@dataclass(frozen=True, slots=True)
class Audited:
    """What a route does. subject: the parameter of its path that says to what; answer: the field of its answer that does."""

    action: AuditAction
    kind: AuditKind = AuditKind.CHANGE
    subject: str | None = None
    answer: str | None = None


@dataclass(frozen=True, slots=True)
class NotAudited:
    """Why a route that is not read-only leaves nothing in the audit log."""

    reason: str


def changes(action: AuditAction, *, subject: str | None = None, answer: str | None = None) -> Audited:
    """For a route that changes something."""
    return Audited(action, AuditKind.CHANGE, subject, answer)


def views(action: AuditAction, *, subject: str | None = None) -> Audited:
    """For a route that shows content."""
    return Audited(action, AuditKind.VIEW, subject)


def not_audited(reason: str) -> NotAudited:
    """For a route that is not read-only, but leaves nothing worth an entry."""
    return NotAudited(reason)


class Declared(NamedTuple):
    """All that a route declares. audit: None for a route that changes nothing and shows no content."""

    access: Access
    audit: Audited | NotAudited | None


def declared_at(request: Request) -> Declared | None:
    """What the route of a request declares; None where there is no route."""
    path = getattr(request.scope.get("route"), "path", request.scope["path"])
    return _of(request.scope.get("endpoint")).get((request.method, path))


def declarations(routes: Iterable[BaseRoute]) -> Iterator[tuple[tuple[str, str], Declared]]:
    """Method and path of each route that declares something, with what it declares."""
    for route in routes:
        for key, declared in _of(getattr(route, "endpoint", None)).items():
            if key[1] == getattr(route, "path", None):
                yield key, declared


def _of(endpoint: Any) -> dict[tuple[str, str], Declared]:
    return getattr(endpoint, DECLARED, {})
