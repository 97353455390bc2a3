"""HTTP for resources: upload, list, read, follow, re-index, delete."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Generator
from contextlib import aclosing, contextmanager
from functools import partial
from typing import Annotated, Any, Literal

from fastapi import Body, Query, Request, Response
from fastapi.responses import StreamingResponse

from citewell.agent.turn.pictures import require_showable
from citewell.errors import (
    BytesQuotaReached,
    FilesQuotaReached,
    InvalidFilter,
    InvalidInput,
    named,
)
from citewell.features.declared import READ, WRITE, changes, everything, narrowed, resource, views
from citewell.features.forms import form_of, receive_upload
from citewell.features.http import (
    ERROR_RESPONSES,
    CurrentGrant,
    CurrentPrincipal,
    NarrowedGrant,
    Owner,
    ResourceId,
    while_admitted,
)
from citewell.features.json_bodies import SoundRoute, dumped, loaded
from citewell.features.resources.contents import ResourceContents
from citewell.features.resources.schemas import (
    BlobList,
    BlobOut,
    ChunkList,
    ChunkOut,
    ElementList,
    ExpiredList,
    ExpiredOut,
    FacetsOut,
    IngestedOut,
    LinkOut,
    OptionsIn,
    PictureIn,
    ReceiptOut,
    RecordsIn,
    RecordsOut,
    ResourceChange,
    ResourceList,
    ResourceOut,
)
from citewell.features.resources.service import ResourceService
from citewell.features.resources.stored_bytes import stored_bytes
from citewell.features.resources.upload_fields import (
    UPLOAD_FIELDS,
    VERSION_FIELDS,
    metadata_in,
    options_of,
    project_of,
    said_in,
)
from citewell.features.routing import Router
from citewell.features.schemas import ErrorResponse
from citewell.features.waiting import begun
from citewell.filters.language import parse_filters
from citewell.retrieve.project_filters import seen_by
from citewell.types import (
    Category,
    ElementType,
    Expression,
    ResourceFilter,
    Status,
    UploadOptions,
    UploadOutcome,
)
from citewell.types.accounts import Grant
from citewell.types.audit import AuditAction

router = Router(tags=["resources"], responses=ERROR_RESPONSES, route_class=SoundRoute)

Limit = Annotated[int, Query(ge=1, le=1_000)]
Cursor = Annotated[str | None, Query(max_length=512)]
_MAX_IDS = 200
_MAX_FILTERS_LENGTH = 16_000
Filters = Annotated[
    str | None,
    Query(
        max_length=_MAX_FILTERS_LENGTH,
        description='filters as JSON, such as `[{"field": "metadata.camera", "value": "Leica"}]`: see docs/filters.md',
    ),
]
_BYTES: dict[str, Any] = {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}}
_TAG: dict[str, Any] = {"ETag": {"description": "the SHA-256 of the bytes, quoted", "schema": {"type": "string"}}}
_RANGE: dict[str, Any] = {
    "Content-Range": {"description": "the range of bytes, and the total", "schema": {"type": "string"}}
}
_FILE_RESPONSES: dict[int | str, dict[str, Any]] = {
    200: {"description": "the whole file", "content": _BYTES, "headers": _TAG},
    206: {"description": "the requested `Range`", "content": _BYTES, "headers": _TAG | _RANGE},
    304: {"description": "`If-None-Match` has the ETag of these bytes", "headers": _TAG},
    416: {"model": ErrorResponse, "description": "the file has no bytes in this range", "headers": _RANGE},
}


def _service(request: Request) -> ResourceService:
    return request.app.state.services.resources


def _contents(request: Request) -> ResourceContents:
    return request.app.state.services.contents


@router.post(
    "/ingest",
    access=narrowed(WRITE),
    audit=changes(AuditAction.FILE_UPLOADED, answer="id"),
    status_code=201,
    openapi_extra=form_of(UPLOAD_FIELDS),
    responses={200: {"model": IngestedOut}},
)
async def ingest(request: Request, response: Response, grant: NarrowedGrant) -> IngestedOut:
    """Upload a file. Returns 201 with the new resource, or 200 with the existing one of the same content and the `outcome`.

    For an existing file, newly requested options are applied and failed steps retried; omitted options stay unchanged. A request limited to
    projects sees only the files in them, and cannot change a file that is also in others (403).
    """
    service = _service(request)
    spool = partial(service.receiving, grant.owner_id)
    with _quota_without_figures(grant):
        upload = await receive_upload(request, spool, service.max_bytes, UPLOAD_FIELDS)
        options, strict = options_of(upload)
        resource, outcome = await service.upload(
            grant.owner_id,
            upload.file,
            upload.filename,
            project=project_of(upload, grant),
            said=said_in(upload),
            options=options,
            strict=strict,
            within=grant.projects,
        )
    response.status_code = 201 if outcome is UploadOutcome.CREATED else 200
    [seen] = await _seen(request, grant, ResourceOut.model_validate(resource))
    return IngestedOut(**seen.model_dump(), outcome=outcome)


@router.post("/records", access=everything(WRITE), audit=changes(AuditAction.RECORDS_ADDED))
async def add_records(request: Request, body: RecordsIn, owner: Owner) -> RecordsOut:
    """Index texts without files; hits carry their `record_id`. 400 for an empty text."""
    records = [record.model_dump() for record in body.records]
    return RecordsOut.model_validate(await _service(request).add_records(owner, records, body.project))


@router.get("/resources", access=narrowed(READ))
async def list_resources(
    request: Request,
    grant: NarrowedGrant,
    limit: Limit = 50,
    cursor: Cursor = None,
    project: str | None = None,
    status: str | None = None,
    type: str | None = None,
    category: str | None = None,
    parent_id: str | None = None,
    q: str | None = None,
    id: Annotated[list[str] | None, Query(max_length=_MAX_IDS)] = None,
    filters: Filters = None,
    fields: Literal["all", "summary"] = "all",
) -> ResourceList:
    """A page of resources, newest first. `status=ready` means any fully processed state; `q` searches file names.

    `fields=summary` omits fields that grow with a file's content: metadata, and the coverage except `unit` and `unit_count`.
    """
    _check_status(status)
    _check_category(category)
    service, owner, project = _service(request), grant.owner_id, grant.project(project)
    narrowed = ResourceFilter(
        status=status,
        type=type,
        category=category,
        parent_id=parent_id,
        query=q,
        ids=None if id is None else tuple(id),
        conditions=seen_by(grant, _filters(filters)),
    )
    if fields == "summary":
        brief, next_cursor = await service.summaries(owner, narrowed, limit, cursor, project, grant.kept_to)
        shown = [ResourceOut.brief(one) for one in brief]
    else:
        found, next_cursor = await service.page(owner, narrowed, limit, cursor, project, grant.kept_to)
        shown = [ResourceOut.model_validate(one) for one in found]
    return ResourceList(resources=await _seen(request, grant, *shown), next_cursor=next_cursor)


@router.get("/resources/facets", access=narrowed(READ))
async def list_facets(
    request: Request,
    grant: NarrowedGrant,
    project: str | None = None,
    status: str | None = None,
    filters: Filters = None,
    values: Annotated[int, Query(description="1 to 200 values per field")] = 20,
    dates: Literal["month", "year"] = "month",
) -> FacetsOut:
    """What a list of files can be filtered by: each field, its values, and how many files have each value."""
    _check_status(status)
    narrowed = ResourceFilter(status=status, conditions=seen_by(grant, _filters(filters)))
    found = await _service(request).facets(
        grant.owner_id,
        narrowed,
        grant.project(project),
        values=values,
        by_year=dates == "year",
        kept_to=grant.kept_to,
    )
    return FacetsOut.model_validate(found)


@router.get("/resources/expired", access=everything(READ))
async def list_expired(request: Request, owner: Owner, limit: Limit = 50, cursor: Cursor = None) -> ExpiredList:
    """Receipts of files deleted at the end of their lifetime, newest first."""
    found, next_cursor = await _service(request).expired(owner, limit, cursor)
    return ExpiredList(expired=[ExpiredOut.of_file(one) for one in found], next_cursor=next_cursor)


@router.get("/resources/{resource_id}", access=resource(READ))
async def get_resource(request: Request, resource_id: ResourceId, grant: CurrentGrant) -> ResourceOut:
    """One resource with its stages and coverage."""
    service, owner = _service(request), grant.owner_id
    found, events = await service.repository.get(owner, resource_id), await service.timeline(owner, resource_id)
    [seen] = await _seen(request, grant, ResourceOut.whole(found, events))
    return seen


@router.delete(
    "/resources/{resource_id}", access=resource(WRITE), audit=changes(AuditAction.FILE_DELETED, subject="resource_id")
)
async def delete_resource(request: Request, resource_id: ResourceId, owner: Owner) -> ReceiptOut:
    """Delete a resource and everything derived from it. Returns a receipt."""
    return ReceiptOut.of(await _service(request).delete(owner, resource_id))


@router.put(
    "/resources/{resource_id}/file",
    access=resource(WRITE),
    audit=changes(AuditAction.FILE_REPLACED, subject="resource_id"),
    openapi_extra=form_of(VERSION_FIELDS),
)
async def replace_file(request: Request, resource_id: ResourceId, grant: CurrentGrant) -> ResourceOut:
    """Upload a new version of a resource."""
    service, owner = _service(request), grant.owner_id
    await service.repository.get(owner, resource_id)
    with _quota_without_figures(grant):
        upload = await receive_upload(request, partial(service.receiving, owner), service.max_bytes, VERSION_FIELDS)
        asked, _ = options_of(upload)
        options = asked.over(UploadOptions())
        metadata = metadata_in(upload)
        replaced = await service.replace(
            owner, resource_id, upload.file, upload.filename, options, metadata, within=grant.projects
        )
    [seen] = await _seen(request, grant, ResourceOut.model_validate(replaced))
    return seen


@router.patch(
    "/resources/{resource_id}", access=resource(WRITE), audit=changes(AuditAction.FILE_CHANGED, subject="resource_id")
)
async def change_resource(
    request: Request, resource_id: ResourceId, body: ResourceChange, grant: CurrentGrant
) -> ResourceOut:
    """Change a file's metadata, identifier, thread or lifetime. Nothing is read or embedded again."""
    changed = await _service(request).describe(grant.owner_id, resource_id, body.said())
    [seen] = await _seen(request, grant, ResourceOut.model_validate(changed))
    return seen


@router.post(
    "/resources/{resource_id}/reindex",
    access=resource(WRITE),
    audit=changes(AuditAction.FILE_REINDEXED, subject="resource_id"),
    status_code=202,
)
async def reindex(
    request: Request,
    resource_id: ResourceId,
    grant: CurrentGrant,
    body: Annotated[OptionsIn, Body(default_factory=OptionsIn)],
) -> ResourceOut:
    """Index a file again; new options are applied first."""
    asked = body.asked() if body.model_fields_set else None
    begun = await _service(request).reindex(grant.owner_id, resource_id, asked)
    [seen] = await _seen(request, grant, ResourceOut.model_validate(begun))
    return seen


@router.get(
    "/resources/{resource_id}/elements",
    access=resource(READ),
    audit=views(AuditAction.FILE_READ, subject="resource_id"),
)
async def list_elements(
    request: Request,
    resource_id: ResourceId,
    owner: Owner,
    limit: Limit = 200,
    cursor: Cursor = None,
    page: Annotated[int | None, Query(ge=1, le=2**31 - 1)] = None,
    type: ElementType | None = None,
) -> ElementList:
    """What was extracted, in reading order, each with its locator."""
    found, next_cursor = await _contents(request).elements(owner, resource_id, limit, cursor, page, type)
    return ElementList(elements=found, next_cursor=next_cursor)


@router.get(
    "/resources/{resource_id}/chunks", access=resource(READ), audit=views(AuditAction.FILE_READ, subject="resource_id")
)
async def list_chunks(
    request: Request, resource_id: ResourceId, owner: Owner, limit: Limit = 200, cursor: Cursor = None
) -> ChunkList:
    """What is indexed, in order."""
    found, next_cursor = await _contents(request).chunks(owner, resource_id, limit, cursor)
    return ChunkList(chunks=[ChunkOut.of(chunk) for chunk in found], next_cursor=next_cursor)


@router.get(
    "/resources/{resource_id}/chunks/{chunk_id}",
    access=resource(READ),
    audit=views(AuditAction.FILE_READ, subject="resource_id"),
)
async def get_chunk(request: Request, resource_id: ResourceId, chunk_id: str, owner: Owner) -> ChunkOut:
    """One chunk: the passage behind a citation."""
    return ChunkOut.of(await _contents(request).chunk(owner, resource_id, chunk_id))


@router.get("/resources/{resource_id}/events", access=resource(READ))
async def follow_events(
    request: Request, resource_id: ResourceId, owner: Owner, principal: CurrentPrincipal
) -> StreamingResponse:
    """Changes of state as NDJSON lines, until a terminal one."""
    service = _service(request)

    async def lines() -> AsyncGenerator[bytes]:
        number = 0
        pieces = service.stream(principal.owner_id, owner, resource_id)
        async with aclosing(while_admitted(request, principal, pieces)) as events:
            async for event in events:
                number += 1  # not the event's id, which counts the events of all files on the server
                yield dumped(event | {"id": number}) + b"\n"

    return StreamingResponse(await begun(lines()), media_type="application/x-ndjson")


@router.get(
    "/resources/{resource_id}/file",
    access=resource(READ),
    audit=views(AuditAction.FILE_DOWNLOADED, subject="resource_id"),
    response_class=Response,
    responses=_FILE_RESPONSES,
)
async def get_file(
    request: Request,
    resource_id: ResourceId,
    grant: CurrentGrant,
    version: Annotated[int | None, Query(ge=1, le=2**31 - 1)] = None,
) -> Response:
    """The original bytes, always as an attachment. Callers who may change the file can also request earlier versions.

    Supports a byte range, `If-None-Match` and `If-Range`. The ETag is the SHA-256 of the bytes.
    """
    contents = _contents(request)
    stored = await contents.original(grant.owner_id, resource_id, version, sees_history=grant.sees_history)
    return await stored_bytes(stored, request.headers)


@router.post(
    "/resources/{resource_id}/link",
    access=resource(READ),
    audit=views(AuditAction.FILE_DOWNLOADED, subject="resource_id"),
)
async def make_link(
    request: Request,
    response: Response,
    resource_id: ResourceId,
    grant: CurrentGrant,
    version: Annotated[int | None, Query(ge=1, le=2**31 - 1)] = None,
) -> LinkOut:
    """A short-lived link to the original in the object store, which downloads it as an attachment without a token.

    409 if there is none: without an object store or `CITEWELL_BLOB_LINK_SECONDS`, and for files stored before links existed.
    """
    response.headers["Cache-Control"] = "no-store"
    contents = _contents(request)
    made = await contents.link(grant.owner_id, resource_id, version, sees_history=grant.sees_history)
    return LinkOut.of(*made)


@router.get("/resources/{resource_id}/blobs", access=resource(READ))
async def list_blobs(request: Request, resource_id: ResourceId, owner: Owner) -> BlobList:
    """The files that extraction produced: images, and exact copies of tables."""
    found = await _contents(request).extracted(owner, resource_id)
    return BlobList(blobs=[BlobOut.model_validate(blob) for blob in found])


@router.get(
    "/resources/{resource_id}/blobs/{name:path}",
    access=resource(READ),
    audit=views(AuditAction.FILE_READ, subject="resource_id"),
    response_class=Response,
)
async def get_blob(request: Request, resource_id: ResourceId, name: str, owner: Owner) -> Response:
    """One file that extraction produced."""
    stored = await _contents(request).extracted_bytes(owner, resource_id, name)
    return await stored_bytes(stored, request.headers)


@router.post(
    "/resources/{resource_id}/picture",
    access=resource(READ),
    audit=views(AuditAction.FILE_READ, subject="resource_id"),
    response_class=Response,
)
async def get_picture(request: Request, resource_id: ResourceId, body: PictureIn, grant: CurrentGrant) -> Response:
    """A picture for a model: the small copy, if there is one. 400 for pictures that models do not accept: other than JPEG, PNG, GIF and WebP, or larger than 3.75 MB."""
    service, owner = _service(request), grant.owner_id
    projects, filters = grant.narrowed(body.projects), seen_by(grant, parse_filters(body.filters))
    await service.require_within(owner, resource_id, projects, body.resource_ids, filters, kept_to=grant.kept_to)
    stored = await _contents(request).picture(owner, resource_id, body.chunk_id)
    require_showable(stored)
    return await stored_bytes(stored, {})


@contextmanager
def _quota_without_figures(grant: Grant) -> Generator[None]:
    """Refuse an upload beyond the owner's quota without revealing the owner's total to a caller limited to projects."""
    try:
        yield
    except (FilesQuotaReached, BytesQuotaReached) as error:
        if grant.projects is None:
            raise
        raise type(error)() from None


async def _seen(request: Request, grant: Grant, *found: ResourceOut) -> list[ResourceOut]:
    """Resources as the holder of a grant may see them."""
    if grant.projects is None:
        return list(found)
    parents = {one.parent_id for one in found if one.parent_id is not None}
    hidden = await _service(request).repository.outside(grant.owner_id, parents, grant.projects)
    return [one.within(grant, hidden) for one in found]


def _check_status(status: str | None) -> None:
    if status is not None and status != "ready" and status not in set(Status):
        raise InvalidInput(
            f"{named(status)} is not a status. See the list at /docs.", allowed=["ready", *(s.value for s in Status)]
        )


def _check_category(category: str | None) -> None:
    if category is not None and category not in set(Category):
        raise InvalidInput(f"{named(category)} is not a category.", allowed=[one.value for one in Category])


def _filters(text: str | None) -> tuple[Expression, ...]:
    try:
        return parse_filters(loaded(text)) if text else ()
    except ValueError as error:
        raise InvalidFilter("`filters` must be JSON.") from error
