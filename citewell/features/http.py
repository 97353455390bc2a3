"""Shared by all endpoints: authentication, and errors as JSON with the right status."""

from __future__ import annotations

import contextlib
import logging
import time
from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, TypeVar, get_args

from fastapi import Depends, FastAPI, Header, Query, Request
from fastapi.dependencies.models import Dependant
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from fastapi.routing import APIRoute
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer
from pydantic import BaseModel
from starlette.exceptions import HTTPException
from starlette.routing import BaseRoute

from citewell import errors
from citewell.features.audited import change_begins, record_of
from citewell.features.auth.cookies import check_csrf, session_token
from citewell.features.auth.service import AuthService, check_person
from citewell.features.declared import Access, Reach, declared_at
from citewell.features.requests import MAX_PROBLEMS, invalid_request, unknown_field, unknown_names
from citewell.features.schemas import ErrorResponse
from citewell.types.accounts import AccessScope, Grant, Principal

if TYPE_CHECKING:
    from citewell.features.turns import TurnRunner

log = logging.getLogger(__name__)

_STATUS: tuple[tuple[type[errors.CitewellError], int], ...] = (
    (errors.InvalidRequest, 422),
    (errors.InvalidFilter, 422),
    (errors.InvalidMetadata, 422),
    (errors.RangeNotSatisfiable, 416),
    (errors.InvalidInput, 400),
    (errors.Unauthorized, 401),
    (errors.ForeignRequest, 403),
    (errors.Forbidden, 403),
    (errors.NotFound, 404),
    (errors.RequestTimeout, 408),
    (errors.Conflict, 409),
    (errors.TooLarge, 413),
    (errors.HeadTooLarge, 431),
    (errors.UnsupportedType, 415),
    (errors.DamagedFile, 500),
    (errors.ExtractionError, 422),
    (errors.RateLimited, 429),
    (errors.ProviderRateLimited, 429),
    (errors.SpendQuotaReached, 402),
    (errors.ProviderError, 503),
    (errors.ConfigurationError, 503),
    (errors.Unavailable, 503),
    (errors.DiskFull, 507),
)


def error_responses(model: type[BaseModel]) -> dict[int | str, dict[str, Any]]:
    """A route's errors for the OpenAPI document, in the shape of a model.

    The model appears only once, because FastAPI builds a validator for each it meets: 12 for each of 130 routes took a tenth of the start.
    """
    content = {"application/json": {"schema": {"$ref": f"#/components/schemas/{model.__name__}"}}}
    statuses = (401, 402, 403, 404, 408, 409, 413, 415, 422, 429, 431, 503, 507)
    return {400: {"model": model}, **{status: {"content": content} for status in statuses}}


ERROR_RESPONSES = error_responses(ErrorResponse)

_EXPLAINED = {
    "Not Found": "There is nothing at this address. The API is described at /docs.",
    "Method Not Allowed": "This address does not support this method. The API is described at /docs.",
}
_ASK_AGAIN_SECONDS = 2.0
T = TypeVar("T")
_PRINCIPAL = "citewell.principal"
PROJECT_HEADER = "X-Citewell-Project"
_ELSEWHERE = "This file, or a file inside it, is also in other projects, so only its owner may change it."
_bearer = HTTPBearer(auto_error=False, description="A token: `citewell token` prints one.")
_Credentials = Annotated[HTTPAuthorizationCredentials | None, Depends(_bearer)]


async def authenticate(request: Request) -> Principal:
    """The caller, from a token in a header or (from browsers) a cookie; 403 if the token's scope excludes this route.

    Called once per request, before the body is read (`citewell.features.json_bodies`), and counts the request. Raises `Unauthorized`,
    `ForeignRequest` for a cookie without proof that Citewell's page sent it, and `Forbidden`.
    """
    if _PRINCIPAL in request.scope:
        return request.scope[_PRINCIPAL]
    auth: AuthService = request.app.state.services.auth
    credentials = await _bearer(request)
    token = credentials.credentials if credentials else None
    if token is None and (kept := session_token(request)):
        check_csrf(request, auth.csrf_of(kept))
        token = kept
    principal = await auth.authenticate(token)
    await auth.admit(principal.managed_by or principal.owner_id)
    record_of(request).sent_by(principal)
    if credentials is None:
        check_person(principal)
    check_access(access_of(request), principal)
    request.scope[_PRINCIPAL] = principal
    return principal


async def current_principal(request: Request, _credentials: _Credentials) -> Principal:
    """The caller. Raises like `authenticate`."""
    principal = await authenticate(request)
    if access_of(request).reach in (
        Reach.NOTHING,
        Reach.EVERYTHING,
    ):  # for all others, `current_grant` finds the owner
        await change_begins(request, principal.owner_id)
    return principal


CurrentPrincipal = Annotated[Principal, Depends(current_principal)]


async def while_admitted(request: Request, principal: Principal, stream: AsyncGenerator[T]) -> AsyncGenerator[T]:
    """A stream that ends early, within two seconds, if its reader is suspended or signs out, or the token is revoked."""
    auth: AuthService = request.app.state.services.auth
    asked_at = time.monotonic()
    async with contextlib.aclosing(stream):
        async for piece in stream:
            if time.monotonic() >= asked_at + _ASK_AGAIN_SECONDS:
                if not await auth.is_admitted(principal):
                    return
                asked_at = time.monotonic()
            yield piece


async def answer_slot(request: Request, principal: CurrentPrincipal) -> AsyncGenerator[contextlib.AsyncExitStack]:
    """One of the answers that the caller may have written at once, until the response has ended or the client has left.

    Raises `RateLimited` beyond them. Whatever goes on afterwards takes the slot along with `pop_all`.
    """
    turns: TurnRunner = request.app.state.services.chat.turns
    async with contextlib.AsyncExitStack() as slot:
        await slot.enter_async_context(turns.shares.hold(principal.managed_by or principal.owner_id))
        yield slot


AnswerSlot = Annotated[contextlib.AsyncExitStack, Depends(answer_slot)]


async def current_grant(request: Request, principal: CurrentPrincipal) -> Grant:
    """The owner and projects whose files the request may use; `X-Citewell-Project` limits it to one, which may be another owner's."""
    grant = await _granted(request, principal)
    await change_begins(request, grant.owner_id)
    return grant


async def _granted(request: Request, principal: Principal) -> Grant:
    auth: AuthService = request.app.state.services.auth
    access, path = access_of(request), request.path_params
    if access.reach is Reach.NOTHING:
        return Grant(owner_id=principal.owner_id)
    grant = await auth.grant(
        principal,
        access.scope,
        project=request.headers.get(PROJECT_HEADER),
        project_id=path.get("project_id") if access.reach is Reach.PROJECT else None,
        resource_id=path.get("resource_id") if access.reach is Reach.RESOURCE else None,
    )
    if grant.projects is None:
        return grant
    if access.reach is Reach.EVERYTHING:
        raise errors.Forbidden(f"This address concerns all files. Leave out {PROJECT_HEADER}.")
    if access.reach is Reach.PROJECT and path["project_id"] not in grant.projects:
        raise errors.NotFound
    return grant


CurrentGrant = Annotated[Grant, Depends(current_grant)]
_ProjectAsked = Annotated[
    str | None,
    Header(alias=PROJECT_HEADER, description="a project, which may be another owner's; default: everything you own"),
]


async def narrowed_grant(grant: CurrentGrant, project: _ProjectAsked = None) -> Grant:
    """The grant of a request whose path names no file or project. The API's description gives these the header."""
    return grant


NarrowedGrant = Annotated[Grant, Depends(narrowed_grant)]


async def current_owner(grant: CurrentGrant) -> str:
    """The id of the owner whose data the request uses."""
    return grant.owner_id


Owner = Annotated[str, Depends(current_owner)]


def address_of(request: Request) -> str:
    """The address a request comes from; empty if unknown."""
    return request.client.host if request.client else ""


def access_of(request: Request) -> Access:
    """The access that the request's route requires. Every API route declares it: routers are checked before they are included."""
    declared = declared_at(request)
    assert declared is not None
    return declared.access


def check_access(access: Access, principal: Principal) -> None:
    """Raise `Forbidden` if a credential does not suffice."""
    if access.scope is not None and access.scope not in principal.scopes:
        raise errors.Forbidden(f"This token lacks the scope {access.scope.value!r}. Use one that has it.")
    if principal.project_ids is not None and access.reach is Reach.EVERYTHING:
        raise errors.Forbidden("This token is limited to some projects, and this address concerns all files.")


def check_asks(route: BaseRoute, access: Access) -> None:
    """Raise `LookupError` for an API route that does not declare the access it requires, or does not check it."""
    assert isinstance(route, APIRoute)
    if (access.reach is Reach.PUBLIC) == _asks_who(route.dependant):
        raise LookupError(f"{route.path} does not ask who sends it, as it declares")
    if access.reach is Reach.NARROWED and not any(d.call is narrowed_grant for d in route.dependant.dependencies):
        raise LookupError(f"{route.path} does not ask for the projects of the request, as it declares")


def _asks_who(dependant: Dependant) -> bool:
    return dependant.call is current_principal or any(map(_asks_who, dependant.dependencies))


async def named_resource(
    request: Request,
    resource_id: str,
    grant: CurrentGrant,
    in_project: Annotated[str | None, Query(description="where to look up an identifier; default: everywhere")] = None,
) -> str:
    """The id of the resource in the path, given by id or identifier. Raises `NotFound` outside the request's projects."""
    found = await _resource_in(request, resource_id, grant, in_project)
    record_of(request).subject = found
    return found


async def _resource_in(request: Request, resource_id: str, grant: Grant, in_project: str | None) -> str:
    service = request.app.state.services.resources
    if grant.projects is None:
        return await service.resolve(grant.owner_id, resource_id, in_project)
    for project_id in grant.narrowed(None if in_project is None else [in_project]) or ():
        with contextlib.suppress(errors.NotFound):
            found = await service.resolve(grant.owner_id, resource_id, project_id)
            inside = set((await service.repository.get(grant.owner_id, found)).project_ids)
            if not inside & grant.projects.keys():
                continue
            if access_of(request).scope is AccessScope.WRITE:
                if request.method != "PATCH":  # it does not change the files inside it
                    inside = await service.repository.projects_within(grant.owner_id, found)
                if not inside <= grant.projects.keys():
                    raise errors.Forbidden(_ELSEWHERE)
            return found
    raise errors.NotFound


ResourceId = Annotated[str, Depends(named_resource)]


def status_of(error: errors.CitewellError) -> int:
    """The HTTP status of an error."""
    return next((status for kind, status in _STATUS if isinstance(error, kind)), 500)


def error_headers(error: errors.CitewellError) -> dict[str, str]:
    """An error's headers: when to retry, how to authenticate, or the file's size."""
    headers: dict[str, str] = {}
    if isinstance(error, errors.RateLimited | errors.ProviderRateLimited) and error.retry_after is not None:
        headers["Retry-After"] = str(max(1, round(error.retry_after)))
    if isinstance(error, errors.RangeNotSatisfiable):
        headers["Content-Range"] = f"bytes */{error.details.get('size', '*')}"
    if isinstance(error, errors.Unauthorized):
        headers["WWW-Authenticate"] = "Bearer"
    return headers


def error_response(error: errors.CitewellError, headers: Mapping[str, str] | None = None) -> JSONResponse:
    """The response to a failed request, with additional headers."""
    return JSONResponse({"error": error_body(error)}, status_of(error), {**error_headers(error), **(headers or {})})


def error_body(error: errors.CitewellError) -> dict[str, Any]:
    """The error as clients see it."""
    return {"code": error.code, "message": error.message, "details": error.details}


def install_error_handlers(app: FastAPI) -> None:
    """Return every error in the same shape."""
    app.add_exception_handler(errors.CitewellError, _on_error)
    app.add_exception_handler(RequestValidationError, _on_invalid)
    app.add_exception_handler(HTTPException, _on_http)
    app.add_exception_handler(Exception, _on_unexpected)


async def _on_error(request: Request, error: Exception) -> JSONResponse:
    if not isinstance(error, errors.CitewellError):
        return await _on_unexpected(request, error)
    if isinstance(error, errors.DiskFull | errors.DamagedFile):
        log.error("%s %s: %s", request.method, request.url.path, error.message)
    return error_response(error)


async def _on_invalid(request: Request, error: Exception) -> JSONResponse:
    problems = error.errors() if isinstance(error, RequestValidationError) else []
    fields = [_problem(request, problem) for problem in problems[:MAX_PROBLEMS]]
    said = [f"{f['field']}: {f['problem']}" for f in fields]
    if len(problems) > len(fields):
        said.append(f"and {len(problems) - len(fields)} more problems")
    message = "; ".join(said) or "The request is not valid."
    body = {"code": "invalid_request", "message": message, "details": {"fields": fields}}
    return JSONResponse({"error": body}, 422)


def _problem(request: Request, problem: Any) -> dict[str, str]:
    location: Sequence[str | int] = problem["loc"]
    field = ".".join(errors.cut(str(part)) for part in location)
    route = request.scope.get("route")
    if problem["type"] != "extra_forbidden" or not isinstance(route, APIRoute) or route.body_field is None:
        return {"field": field, "problem": problem["msg"]}
    known = _fields(route.body_field.field_info.annotation, location[1:-1])
    return unknown_field(field, str(location[-1]), known)


async def known_parameters(request: Request) -> None:
    """Refuse unknown query parameters: a misspelt one would be silently ignored."""
    route = request.scope["route"]
    known = list(_query_names(route.dependant)) if isinstance(route, APIRoute) else []
    if wrong := unknown_names("query", request.query_params, known):
        raise invalid_request(wrong)


def _query_names(dependant: Dependant) -> Iterator[str]:
    """The query parameters of an endpoint and its dependencies."""
    yield from (parameter.alias for parameter in dependant.query_params)
    for inner in dependant.dependencies:
        yield from _query_names(inner)


def _fields(kind: Any, path: Sequence[str | int]) -> set[str]:
    """The names of the fields at a place inside a body of this type, ignoring positions in lists."""
    models = list(_models(kind))
    names = [part for part in path if isinstance(part, str)]
    if not names:
        return {name for model in models for name in model.model_fields}
    inner = [model.model_fields[names[0]].annotation for model in models if names[0] in model.model_fields]
    return {name for kind in inner for name in _fields(kind, names[1:])}


def _models(kind: Any) -> Iterator[type[BaseModel]]:
    """The models in a type: `list[Model] | None` contains one."""
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        yield kind
    for part in get_args(kind):
        yield from _models(part)


async def _on_http(_request: Request, error: Exception) -> JSONResponse:
    status = error.status_code if isinstance(error, HTTPException) else 500
    detail = str(error.detail) if isinstance(error, HTTPException) else "Internal error"
    detail = _EXPLAINED.get(detail, detail)
    headers = dict(error.headers or {}) if isinstance(error, HTTPException) else {}
    code = {404: "not_found", 405: "method_not_allowed", 400: "invalid_input"}.get(status, "http_error")
    return JSONResponse({"error": {"code": code, "message": detail, "details": {}}}, status, headers)


async def _on_unexpected(request: Request, error: Exception) -> JSONResponse:
    log.error("unexpected error in %s %s", request.method, request.url.path, exc_info=error)
    body = {"code": "internal", "message": "An unexpected error. The server's log has the details.", "details": {}}
    return JSONResponse({"error": body}, 500)
