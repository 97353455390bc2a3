"""A route's declarations: the access it requires, and what it writes to the audit log."""

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
"""The attribute of an endpoint with its routes' declarations, by method and path."""


class Reach(Enum):
    """Which of an owner's files a route may touch. Decides how credentials limited to projects are restricted."""

    PUBLIC = "needs no credential, or checks one itself"
    NOTHING = "touches no files"
    RESOURCE = "touches the file in its path, which must be in one of the projects"
    PROJECT = "touches the project in its path, which must be one of them"
    NARROWED = "touches what the request names, which the endpoint restricts to the projects"
    EVERYTHING = "touches everything the owner has: closed to credentials limited to projects"


@dataclass(frozen=True, slots=True)
class Access:
    """The access a route requires. scope: None for public routes."""

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
    """For a route about files named in the request."""
    return Access(scope, Reach.NARROWED)


def everything(scope: AccessScope) -> Access:
    """For a route about everything the owner has."""
    return Access(scope, Reach.EVERYTHING)


class AuditKind(Enum):
    """When an action is logged."""

    CHANGE = "recorded before it begins, and logged before the response"
    VIEW = "logged before the response, once a minute for the same subject and caller"


@dataclass(frozen=True, slots=True)
class Audited:
    """What a route does. subject: the path parameter with the id acted on; answer: the field of the response with it."""

    action: AuditAction
    kind: AuditKind = AuditKind.CHANGE
    subject: str | None = None
    answer: str | None = None


@dataclass(frozen=True, slots=True)
class NotAudited:
    """Why a route that is not read-only is not logged."""

    reason: str


def changes(action: AuditAction, *, subject: str | None = None, answer: str | None = None) -> Audited:
    """For a route that changes something."""
    return Audited(action, AuditKind.CHANGE, subject, answer)


def views(action: AuditAction, *, subject: str | None = None) -> Audited:
    """For a route that shows content."""
    return Audited(action, AuditKind.VIEW, subject)


def not_audited(reason: str) -> NotAudited:
    """For a route that is not read-only but not worth an entry."""
    return NotAudited(reason)


class Declared(NamedTuple):
    """A route's declarations. audit: None for a route that changes nothing and shows no content."""

    access: Access
    audit: Audited | NotAudited | None


def declared_at(request: Request) -> Declared | None:
    """The declaration of a request's route; None for a page or an unknown route."""
    path = getattr(request.scope.get("route"), "path", request.scope["path"])
    return _of(request.scope.get("endpoint")).get((request.method, path))


def declarations(routes: Iterable[BaseRoute]) -> Iterator[tuple[tuple[str, str], Declared]]:
    """Method, path and declaration of every route that has one."""
    for route in routes:
        for key, declared in _of(getattr(route, "endpoint", None)).items():
            if key[1] == getattr(route, "path", None):
                yield key, declared


def _of(endpoint: Any) -> dict[tuple[str, str], Declared]:
    return getattr(endpoint, DECLARED, {})
