"""HTTP for connectors: sources, their progress, and their items."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Any

from fastapi import Path, Query, Request, Response

from citewell.features.declared import READ, WRITE, changes, everything
from citewell.features.forms import form_object, form_of, receive_upload
from citewell.features.http import ERROR_RESPONSES, Owner
from citewell.features.json_bodies import SoundRoute
from citewell.features.routing import Router
from citewell.features.sources.schemas import (
    ItemIn,
    ItemKeptOut,
    ItemProblemIn,
    ItemRemovalIn,
    ItemRemovedOut,
    SourceIn,
    SourceItemList,
    SourceItemOut,
    SourceList,
    SourceOut,
    SourceRunIn,
)
from citewell.features.sources.service import MAX_NAME, SourceService
from citewell.types.audit import AuditAction

router = Router(tags=["sources"], responses=ERROR_RESPONSES, route_class=SoundRoute)
Name = Annotated[
    str, Path(min_length=1, max_length=MAX_NAME, pattern=r"^[^\x00-\x1f\x7f/\\?#%]+$", description="the source's name")
]
_FIELDS: dict[str, Any] = {
    "file": {"type": "string", "format": "binary"},
    "item": {"type": "string", "description": "a JSON object: see `ItemIn`"},
}
_FORM = form_of(_FIELDS, ("file", "item"))


def _service(request: Request) -> SourceService:
    return request.app.state.services.sources


@router.get("/sources", access=everything(READ))
async def list_sources(request: Request, owner: Owner) -> SourceList:
    """Synced sources, and when each was last synced."""
    return SourceList(sources=[SourceOut.model_validate(one) for one in await _service(request).repository.all(owner)])


@router.put("/sources/{name}", access=everything(WRITE), audit=changes(AuditAction.SOURCE_CHANGED, subject="name"))
async def ensure_source(request: Request, name: Name, body: SourceIn, owner: Owner) -> SourceOut:
    """The source with this name, created if it does not exist."""
    return SourceOut.model_validate(await _service(request).ensure(owner, name, body.kind, body.project))


@router.get("/sources/{name}", access=everything(READ))
async def get_source(request: Request, name: Name, owner: Owner) -> SourceOut:
    """One source, and its progress."""
    return SourceOut.model_validate(await _service(request).repository.get(owner, name))


@router.delete(
    "/sources/{name}",
    access=everything(WRITE),
    audit=changes(AuditAction.SOURCE_DELETED, subject="name"),
    status_code=204,
)
async def delete_source(request: Request, name: Name, owner: Owner) -> Response:
    """Forget a source. Its imported files stay."""
    await _service(request).repository.delete(owner, name)
    return Response(status_code=204)


@router.post("/sources/{name}/runs", access=everything(WRITE), audit=changes(AuditAction.SOURCE_SYNCED, subject="name"))
async def finish_source_run(request: Request, name: Name, body: SourceRunIn, owner: Owner) -> SourceOut:
    """Record the end of a run: where the next one continues, and what this one did."""
    done = await _service(request).repository.finish(owner, name, body.cursor, body.report, announced=body.announce)
    return SourceOut.model_validate(done)


@router.get("/sources/{name}/items", access=everything(READ))
async def list_source_items(
    request: Request,
    name: Name,
    owner: Owner,
    limit: Annotated[int, Query(ge=1, le=1_000)] = 200,
    cursor: Annotated[str | None, Query(max_length=8_192)] = None,
) -> SourceItemList:
    """A source's imported items, and those that could not be imported."""
    found, next_cursor = await _service(request).items(owner, name, limit, cursor)
    return SourceItemList(items=[SourceItemOut.model_validate(item) for item in found], next_cursor=next_cursor)


@router.post(
    "/sources/{name}/items",
    access=everything(WRITE),
    audit=changes(AuditAction.SOURCE_SYNCED, subject="name"),
    openapi_extra=_FORM,
)
async def put_source_item(request: Request, name: Name, owner: Owner) -> ItemKeptOut:
    """Import an item's file with its record, as a new file or the next version of the item's. Sending it twice is harmless."""
    service = _service(request)
    await service.repository.get(owner, name)
    upload = await receive_upload(request, partial(service.receiving, owner), service.max_bytes, _FIELDS)
    try:
        item = form_object(upload, "item", ItemIn)
    except BaseException:
        upload.file.path.unlink(missing_ok=True)
        raise
    return ItemKeptOut.model_validate(await service.put(owner, name, upload.file, upload.filename, item.sent()))


@router.post(
    "/sources/{name}/problems",
    access=everything(WRITE),
    audit=changes(AuditAction.SOURCE_SYNCED, subject="name"),
    status_code=204,
)
async def report_source_item(request: Request, name: Name, body: ItemProblemIn, owner: Owner) -> Response:
    """Record why an item could not be imported. An earlier import of it stays."""
    await _service(request).report(owner, name, body.item())
    return Response(status_code=204)


@router.post(
    "/sources/{name}/removals", access=everything(WRITE), audit=changes(AuditAction.SOURCE_SYNCED, subject="name")
)
async def remove_source_item(request: Request, name: Name, body: ItemRemovalIn, owner: Owner) -> ItemRemovedOut:
    """Delete an item's file because its source no longer has the item."""
    return ItemRemovedOut(removed=await _service(request).remove(owner, name, body.key))
