"""HTTP for triggers: create them, delete them, and call them with their own secret."""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends, Header, Request, Response
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer

from citewell.features.audited import change_begins, record_of
from citewell.features.declared import ADMIN, PUBLIC, changes, everything
from citewell.features.http import ERROR_RESPONSES, CurrentPrincipal, Owner
from citewell.features.json_bodies import SoundRoute
from citewell.features.routing import Router
from citewell.features.triggers.schemas import (
    ChunkFileOut,
    ChunkIn,
    FetchIn,
    FetchOut,
    NewTrigger,
    ResultIn,
    ResultOut,
    TriggerIn,
    TriggerList,
    TriggerOut,
)
from citewell.features.triggers.service import MAX_KEY_CHARACTERS, TriggerService
from citewell.types import Trigger, TriggerKind
from citewell.types.audit import AuditAction, AuditActor

_OPENED = "citewell.trigger"
_bearer = HTTPBearer(auto_error=False, scheme_name="TriggerSecret", description="The secret of the trigger: `trg_…`.")
Secret = Annotated[HTTPAuthorizationCredentials | None, Depends(_bearer)]
Key = Annotated[
    str | None,
    Header(
        alias="Idempotency-Key",
        max_length=MAX_KEY_CHARACTERS,
        description="a key for this call: repeated with the same key within two days, the call runs once and returns the same response",
    ),
]


def _service(request: Request) -> TriggerService:
    return request.app.state.services.triggers


class TriggerRoute(SoundRoute):
    """A trigger route: a call's secret is checked before its body is read."""

    async def admit(self, request: Request) -> bool:
        """Whether the caller is authenticated. Raises `Unauthorized` for a wrong secret."""
        if await super().admit(request):
            return True
        credentials = await _bearer(request)
        kind = TriggerKind(self.path.rpartition("/")[2])
        secret = credentials.credentials if credentials else None
        request.scope[_OPENED] = await _service(request).open(request.path_params["trigger_id"], kind, secret)
        return True


router = Router(tags=["triggers"], responses=ERROR_RESPONSES, route_class=TriggerRoute)


async def _opened(request: Request, trigger_id: str, _credentials: Secret) -> Trigger:
    """The called trigger."""
    return request.scope[_OPENED]


OpenTrigger = Annotated[Trigger, Depends(_opened)]


async def _begins(request: Request, trigger: Trigger) -> None:
    """Record the call before anything is done."""
    record_of(request).opened(AuditActor.TRIGGER, trigger.owner_id, trigger.id)
    await change_begins(request, trigger.owner_id)


@router.get("/webhooks/incoming", access=everything(ADMIN), operation_id="list_triggers", summary="List triggers")
async def list_triggers(request: Request, owner: Owner) -> TriggerList:
    """The triggers that other programs may call, oldest first."""
    return TriggerList(triggers=[TriggerOut.of(one) for one in await _service(request).repository.all(owner)])


@router.post(
    "/webhooks/incoming",
    access=everything(ADMIN),
    audit=changes(AuditAction.TRIGGER_CREATED, answer="id"),
    status_code=201,
    operation_id="create_trigger",
    summary="Create a trigger",
)
async def create_trigger(request: Request, body: TriggerIn, owner: Owner, principal: CurrentPrincipal) -> NewTrigger:
    """Create an address that another program may call. The response has its secret, shown only once. Revoking the token that creates it revokes it too."""
    trigger, secret = await _service(request).create(owner, body.kind, body.name, body.project, principal.token_id)
    return NewTrigger(**TriggerOut.of(trigger).model_dump(), secret=secret)


@router.delete(
    "/webhooks/incoming/{trigger_id}",
    access=everything(ADMIN),
    audit=changes(AuditAction.TRIGGER_DELETED, subject="trigger_id"),
    status_code=204,
    operation_id="delete_trigger",
    summary="Delete a trigger",
)
async def delete_trigger(request: Request, trigger_id: str, owner: Owner) -> Response:
    """Delete a trigger; its secret stops working."""
    await _service(request).repository.delete(owner, trigger_id)
    return Response(status_code=204)


@router.post(
    "/webhooks/incoming/{trigger_id}/fetch",
    access=PUBLIC,
    audit=changes(AuditAction.TRIGGER_CALLED, subject="trigger_id"),
    operation_id="trigger_fetch",
    summary="Store fetched records",
)
async def trigger_fetch(request: Request, body: FetchIn, trigger: OpenTrigger, key: Key = None) -> FetchOut:
    """Store records from elsewhere, such as an Airtable table. Each can be searched and cited; one with a known id replaces the earlier one."""
    await _begins(request, trigger)
    records = [record.model_dump() for record in body.records]
    return FetchOut.model_validate(await _service(request).fetch(trigger, records, key))


@router.post(
    "/webhooks/incoming/{trigger_id}/chunk",
    access=PUBLIC,
    audit=changes(AuditAction.TRIGGER_CALLED, subject="trigger_id"),
    operation_id="trigger_chunk",
    summary="Set metadata on a chunk's file",
)
async def trigger_chunk(request: Request, body: ChunkIn, trigger: OpenTrigger, key: Key = None) -> ChunkFileOut:
    """Store what another program made of a `chunk.stored` event, such as tags, as metadata to filter by."""
    await _begins(request, trigger)
    return ChunkFileOut.model_validate(await _service(request).chunk(trigger, body.resource_id, body.metadata, key))


@router.post(
    "/webhooks/incoming/{trigger_id}/result",
    access=PUBLIC,
    audit=changes(AuditAction.TRIGGER_CALLED, subject="trigger_id"),
    operation_id="trigger_result",
    summary="Ask a question",
)
async def trigger_result(request: Request, body: ResultIn, trigger: OpenTrigger, key: Key = None) -> ResultOut:
    """Ask a question from another program, such as a form or a messenger. The answer has checked citations."""
    await _begins(request, trigger)
    return ResultOut.model_validate(await _service(request).result(trigger, body.message, body.thread_id, key))
