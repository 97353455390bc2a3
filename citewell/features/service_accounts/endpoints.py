"""HTTP for service accounts and their keys."""

from __future__ import annotations

from fastapi import Request, Response

from citewell.features.auth.schemas import NewToken, TokenList, TokenOut
from citewell.features.declared import ADMIN, changes, everything
from citewell.features.http import ERROR_RESPONSES, CurrentPrincipal
from citewell.features.json_bodies import SoundRoute
from citewell.features.routing import Router
from citewell.features.service_accounts.schemas import (
    ServiceAccountChange,
    ServiceAccountIn,
    ServiceAccountList,
    ServiceAccountOut,
    ServiceKeyIn,
)
from citewell.features.service_accounts.service import ServiceAccountService
from citewell.types.audit import AuditAction

router = Router(tags=["service accounts"], responses=ERROR_RESPONSES, route_class=SoundRoute)


def _service(request: Request) -> ServiceAccountService:
    return request.app.state.services.service_accounts


@router.get("/service-accounts", access=everything(ADMIN))
async def list_service_accounts(request: Request, principal: CurrentPrincipal) -> ServiceAccountList:
    """Your service accounts, and the projects they may use."""
    found = await _service(request).all(principal)
    return ServiceAccountList(service_accounts=[ServiceAccountOut.model_validate(one) for one in found])


@router.post(
    "/service-accounts",
    access=everything(ADMIN),
    audit=changes(AuditAction.SERVICE_ACCOUNT_CREATED, answer="id"),
    status_code=201,
)
async def create_service_account(
    request: Request, body: ServiceAccountIn, principal: CurrentPrincipal
) -> ServiceAccountOut:
    """Create a service account. Then create keys for it, and add it to projects (`PUT /projects/{id}/members/{owner}`)."""
    return ServiceAccountOut.model_validate(await _service(request).create(principal, body.name))


@router.patch(
    "/service-accounts/{account_id}",
    access=everything(ADMIN),
    audit=changes(AuditAction.SERVICE_ACCOUNT_CHANGED, subject="account_id"),
)
async def change_service_account(
    request: Request, account_id: str, body: ServiceAccountChange, principal: CurrentPrincipal
) -> ServiceAccountOut:
    """Rename, suspend or reinstate a service account. Takes effect within two seconds."""
    return ServiceAccountOut.model_validate(
        await _service(request).change(principal, account_id, body.name, body.state)
    )


@router.delete(
    "/service-accounts/{account_id}",
    access=everything(ADMIN),
    audit=changes(AuditAction.SERVICE_ACCOUNT_DELETED, subject="account_id"),
    status_code=204,
)
async def delete_service_account(request: Request, account_id: str, principal: CurrentPrincipal) -> Response:
    """Delete a service account: its keys are revoked, and its own files and chats erased. Files it added to your projects stay."""
    await _service(request).delete(principal, account_id)
    return Response(status_code=204)


@router.get("/service-accounts/{account_id}/keys", access=everything(ADMIN))
async def list_service_keys(request: Request, account_id: str, principal: CurrentPrincipal) -> TokenList:
    """Valid keys of a service account."""
    return TokenList(
        tokens=[TokenOut.model_validate(one) for one in await _service(request).keys(principal, account_id)]
    )


@router.post(
    "/service-accounts/{account_id}/keys",
    access=everything(ADMIN),
    audit=changes(AuditAction.TOKEN_CREATED, answer="id"),
    status_code=201,
)
async def create_service_key(
    request: Request, account_id: str, body: ServiceKeyIn, principal: CurrentPrincipal
) -> NewToken:
    """Create a key for a service account. It is shown only once."""
    info, secret = await _service(request).create_key(
        principal, account_id, body.name, body.days, frozenset(body.scopes), body.projects
    )
    return NewToken(**TokenOut.model_validate(info).model_dump(), token=secret)


@router.post(
    "/service-accounts/{account_id}/keys/{key_id}/rotation",
    access=everything(ADMIN),
    audit=changes(AuditAction.TOKEN_ROTATED, subject="key_id"),
    status_code=201,
)
async def rotate_service_key(request: Request, account_id: str, key_id: str, principal: CurrentPrincipal) -> NewToken:
    """Replace a key by a new one with the same scopes, projects and lifetime."""
    info, secret = await _service(request).rotate_key(principal, account_id, key_id)
    return NewToken(**TokenOut.model_validate(info).model_dump(), token=secret)


@router.delete(
    "/service-accounts/{account_id}/keys/{key_id}",
    access=everything(ADMIN),
    audit=changes(AuditAction.TOKEN_REVOKED, subject="key_id"),
    status_code=204,
)
async def revoke_service_key(request: Request, account_id: str, key_id: str, principal: CurrentPrincipal) -> Response:
    """Revoke a key of a service account."""
    await _service(request).revoke_key(principal, account_id, key_id)
    return Response(status_code=204)
