"""HTTP for files and vector stores, as OpenAI's clients call it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Literal, TypeVar

from fastapi import Query, Request, Response
from fastapi.responses import StreamingResponse
from pydantic import BaseModel

from citewell.errors import InvalidInput
from citewell.features.audited import record_of
from citewell.features.declared import ADMIN, READ, WRITE, changes, everything, not_audited, views
from citewell.features.forms import receive_upload
from citewell.features.http import Owner
from citewell.features.openai_files.schemas import (
    DeletedOut,
    FileOut,
    FilePage,
    StoreBatchIn,
    StoreBatchOut,
    StoreChange,
    StoreFileChange,
    StoreFileIn,
    StoreFileOut,
    StoreFilePage,
    StoreHitOut,
    StoreHits,
    StoreIn,
    StoreOut,
    StorePage,
    StoreSearchIn,
    state_of,
)
from citewell.features.openai_files.service import OpenAIFiles
from citewell.features.openai_format import OPENAI_ERRORS, OpenAIRoute
from citewell.features.openai_ids import FILE, STORE, attribute_filters, own_id
from citewell.features.routing import Router
from citewell.types.audit import AuditAction

router = Router(prefix="/v1", tags=["openai"], responses=OPENAI_ERRORS, route_class=OpenAIRoute, is_lenient=True)

Limit = Annotated[int, Query(ge=1, le=10_000)]
After = Annotated[str | None, Query(max_length=200, description="continue after this id")]
Order = Annotated[Literal["desc"], Query(description="newest first")]
State = Annotated[Literal["in_progress", "completed", "failed", "cancelled"] | None, Query()]
P = TypeVar("P", bound=BaseModel)
_MAX_PAGE = 1_000
_FILE_FIELDS = ("file", "purpose")
_FORM: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "content": {
            "multipart/form-data": {
                "schema": {
                    "type": "object",
                    "required": ["file"],
                    "properties": {"file": {"type": "string", "format": "binary"}, "purpose": {"type": "string"}},
                    "additionalProperties": False,
                }
            }
        },
    }
}


def _service(request: Request) -> OpenAIFiles:
    return request.app.state.services.openai_files


def _paged(page: type[P], data: Sequence[Any], *, has_more: bool) -> P:
    ends = {"first_id": data[0].id if data else None, "last_id": data[-1].id if data else None}
    return page.model_validate({"data": data, **ends, "has_more": has_more})


@router.post("/files", access=everything(WRITE), audit=changes(AuditAction.FILE_UPLOADED), openapi_extra=_FORM)
async def create_openai_file(request: Request, owner: Owner) -> FileOut:
    """Upload a file. The same bytes are stored once, so that uploading them again returns the known file."""
    service = _service(request)
    upload = await receive_upload(
        request, lambda least: service.actions.receiving(owner, least), service.max_bytes, _FILE_FIELDS
    )
    resource = await service.actions.keep(owner, upload.file, upload.filename)
    record_of(request).subject = resource.id
    purpose = upload.fields.get("purpose")
    return FileOut.of(resource).model_copy(update={"purpose": purpose} if purpose else {})


@router.get("/files", access=everything(READ))
async def list_openai_files(
    request: Request, owner: Owner, limit: Limit = _MAX_PAGE, after: After = None, order: Order = "desc"
) -> FilePage:
    """Your files, newest first."""
    found, more = await _service(request).page(owner, min(limit, _MAX_PAGE), after)
    return _paged(FilePage, [FileOut.of(one) for one in found], has_more=more)


@router.get("/files/{file_id}", access=everything(READ))
async def get_openai_file(request: Request, file_id: str, owner: Owner) -> FileOut:
    """One file."""
    return FileOut.of(await _service(request).file(owner, file_id))


@router.delete("/files/{file_id}", access=everything(WRITE), audit=changes(AuditAction.FILE_DELETED))
async def delete_openai_file(request: Request, file_id: str, owner: Owner) -> DeletedOut:
    """Delete a file from everywhere."""
    found = await _service(request).file(owner, file_id)
    record_of(request).subject = found.id
    await _service(request).actions.delete(owner, found.id)
    return DeletedOut(id=file_id, object="file")


@router.get(
    "/files/{file_id}/content",
    access=everything(READ),
    audit=views(AuditAction.FILE_DOWNLOADED),
    response_class=Response,
    responses={200: {"content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}}}},
)
async def get_openai_file_content(request: Request, file_id: str, owner: Owner) -> Response:
    """The original bytes."""
    found = await _service(request).file(owner, file_id)
    record_of(request).subject = found.id
    stored = await _service(request).actions.original(owner, found.id)
    headers = {
        "Content-Length": str(stored.size),
        "Content-Disposition": "attachment",
        "X-Content-Type-Options": "nosniff",
        "Content-Security-Policy": "sandbox; default-src 'none'",
    }
    return StreamingResponse(stored.read(0, stored.size), headers=headers, media_type="application/octet-stream")


@router.post("/vector_stores", access=everything(WRITE), audit=changes(AuditAction.PROJECT_CREATED))
async def create_vector_store(request: Request, body: StoreIn, owner: Owner) -> StoreOut:
    """Create a vector store, which is a project."""
    service, asked = _service(request), body.checked()
    made = await service.create(owner, asked.name, asked.metadata, asked.file_ids)
    record_of(request).subject = made
    return StoreOut.of(*await service.store(owner, made))


@router.get("/vector_stores", access=everything(READ))
async def list_vector_stores(
    request: Request, owner: Owner, limit: Limit = 20, after: After = None, order: Order = "desc"
) -> StorePage:
    """Your vector stores, newest first: all projects."""
    found = [StoreOut.of(*one) for one in await _service(request).stores(owner)]
    if after is not None:
        places = [place for place, one in enumerate(found) if one.id == after]
        found = found[places[0] + 1 :] if places else []
    return _paged(StorePage, found[:limit], has_more=len(found) > limit)


@router.get("/vector_stores/{store_id}", access=everything(READ))
async def get_vector_store(request: Request, store_id: str, owner: Owner) -> StoreOut:
    """One vector store."""
    return StoreOut.of(*await _service(request).store(owner, own_id(STORE, store_id)))


@router.post("/vector_stores/{store_id}", access=everything(ADMIN), audit=changes(AuditAction.PROJECT_CHANGED))
async def change_vector_store(request: Request, store_id: str, body: StoreChange, owner: Owner) -> StoreOut:
    """Change a vector store's name and metadata."""
    service, project, asked = _service(request), own_id(STORE, store_id), body.checked()
    record_of(request).subject = project
    await service.change(owner, project, asked.name, asked.metadata)
    return StoreOut.of(*await service.store(owner, project))


@router.delete("/vector_stores/{store_id}", access=everything(ADMIN), audit=changes(AuditAction.PROJECT_DELETED))
async def delete_vector_store(request: Request, store_id: str, owner: Owner) -> DeletedOut:
    """Delete a vector store; its files stay."""
    project = own_id(STORE, store_id)
    record_of(request).subject = project
    await _service(request).projects.delete(owner, project)
    return DeletedOut(id=store_id, object="vector_store.deleted")


@router.post("/vector_stores/{store_id}/search", access=everything(READ), audit=changes(AuditAction.SEARCHED))
async def search_vector_store(request: Request, store_id: str, body: StoreSearchIn, owner: Owner) -> StoreHits:
    """Passages of a vector store, best first."""
    queries = [body.query] if isinstance(body.query, str) else body.query
    found = await _service(request).search(
        owner, own_id(STORE, store_id), queries, body.max_num_results, attribute_filters(body.filters)
    )
    least = body.ranking_options.score_threshold if body.ranking_options is not None else 0.0
    base = str(request.base_url)
    return StoreHits(search_query=queries, data=[StoreHitOut.of(one, base) for one in found if one.hit.score >= least])


@router.post("/vector_stores/{store_id}/files", access=everything(WRITE), audit=changes(AuditAction.FILE_CHANGED))
async def add_vector_store_file(request: Request, store_id: str, body: StoreFileIn, owner: Owner) -> StoreFileOut:
    """Add a file to a vector store."""
    project = own_id(STORE, store_id)
    found = await _service(request).add(owner, project, body.file_id, body.attributes)
    record_of(request).subject = found.id
    return StoreFileOut.of(project, found)


@router.get("/vector_stores/{store_id}/files", access=everything(READ))
async def list_vector_store_files(
    request: Request,
    store_id: str,
    owner: Owner,
    limit: Limit = 20,
    after: After = None,
    order: Order = "desc",
    filter: State = None,
) -> StoreFilePage:
    """The files of a vector store, newest first. `filter` applies within a page."""
    project = own_id(STORE, store_id)
    await _service(request).projects.settings(owner, project)
    found, more = await _service(request).page(owner, min(limit, _MAX_PAGE), after, project)
    kept = [StoreFileOut.of(project, one) for one in found if filter in (None, state_of(one.status))]
    page = _paged(StoreFilePage, kept, has_more=more)
    return page.model_copy(update={"last_id": FILE + found[-1].id if found else None})


@router.get("/vector_stores/{store_id}/files/{file_id}", access=everything(READ))
async def get_vector_store_file(request: Request, store_id: str, file_id: str, owner: Owner) -> StoreFileOut:
    """One file of a vector store."""
    project = own_id(STORE, store_id)
    return StoreFileOut.of(project, await _service(request).file_in(owner, project, file_id))


@router.post(
    "/vector_stores/{store_id}/files/{file_id}", access=everything(WRITE), audit=changes(AuditAction.FILE_CHANGED)
)
async def change_vector_store_file(
    request: Request, store_id: str, file_id: str, body: StoreFileChange, owner: Owner
) -> StoreFileOut:
    """Set attributes of a file, which are its metadata: in every vector store it is in."""
    service, project = _service(request), own_id(STORE, store_id)
    found = await service.file_in(owner, project, file_id)
    record_of(request).subject = found.id
    await service.actions.set_metadata(owner, found.id, body.attributes or {})
    return StoreFileOut.of(project, await service.file(owner, file_id))


@router.delete(
    "/vector_stores/{store_id}/files/{file_id}", access=everything(WRITE), audit=changes(AuditAction.FILE_CHANGED)
)
async def remove_vector_store_file(request: Request, store_id: str, file_id: str, owner: Owner) -> DeletedOut:
    """Remove a file from a vector store; the file stays."""
    record_of(request).subject = own_id(FILE, file_id)
    await _service(request).remove(owner, own_id(STORE, store_id), file_id)
    return DeletedOut(id=file_id, object="vector_store.file.deleted")


@router.post(
    "/vector_stores/{store_id}/file_batches", access=everything(WRITE), audit=changes(AuditAction.FILE_CHANGED)
)
async def create_vector_store_batch(request: Request, store_id: str, body: StoreBatchIn, owner: Owner) -> StoreBatchOut:
    """Add several files to a vector store."""
    if body.files and body.file_ids:
        raise InvalidInput("Give `file_ids` or `files`, not both.")
    files = [(one.file_id, one.attributes) for one in body.files] or [(one, body.attributes) for one in body.file_ids]
    service, project = _service(request), own_id(STORE, store_id)
    record_of(request).subject = project
    batch = await service.add_batch(owner, project, files)
    return StoreBatchOut.of(project, *await service.batch(owner, project, batch.id))


@router.get("/vector_stores/{store_id}/file_batches/{batch_id}", access=everything(READ))
async def get_vector_store_batch(request: Request, store_id: str, batch_id: str, owner: Owner) -> StoreBatchOut:
    """One of the latest five batches of a vector store."""
    project = own_id(STORE, store_id)
    return StoreBatchOut.of(project, *await _service(request).batch(owner, project, batch_id))


@router.post(
    "/vector_stores/{store_id}/file_batches/{batch_id}/cancel",
    access=everything(WRITE),
    audit=not_audited("adding files is never cancelled, so that this only shows the batch"),
)
async def cancel_vector_store_batch(request: Request, store_id: str, batch_id: str, owner: Owner) -> StoreBatchOut:
    """The batch as it is: files that were added are read to the end."""
    return await get_vector_store_batch(request, store_id, batch_id, owner)


@router.get("/vector_stores/{store_id}/file_batches/{batch_id}/files", access=everything(READ))
async def list_vector_store_batch_files(
    request: Request, store_id: str, batch_id: str, owner: Owner, filter: State = None
) -> StoreFilePage:
    """The files of a batch."""
    project = own_id(STORE, store_id)
    _, found = await _service(request).batch(owner, project, batch_id)
    kept = [StoreFileOut.of(project, one) for one in found if filter in (None, state_of(one.status))]
    return _paged(StoreFilePage, kept, has_more=False)
