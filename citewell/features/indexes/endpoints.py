"""HTTP for index migration."""

from __future__ import annotations

from fastapi import Request, Response

from citewell.features.declared import ADMIN, READ, changes, everything, not_audited
from citewell.features.http import ERROR_RESPONSES, Owner
from citewell.features.indexes.schemas import (
    BuildChange,
    CompareIn,
    CompareOut,
    EstimateOut,
    IndexIn,
    IndexList,
    IndexOut,
)
from citewell.features.indexes.service import IndexService
from citewell.features.json_bodies import SoundRoute
from citewell.features.routing import Router
from citewell.types.audit import AuditAction

router = Router(tags=["indexes"], responses=ERROR_RESPONSES, route_class=SoundRoute)


def _service(request: Request) -> IndexService:
    return request.app.state.services.indexes


@router.get("/indexes", access=everything(READ))
async def list_indexes(request: Request, owner: Owner) -> IndexList:
    """All indexes."""
    return IndexList(indexes=[IndexOut.model_validate(record) for record in await _service(request).list(owner)])


@router.post(
    "/indexes", access=everything(ADMIN), audit=changes(AuditAction.INDEX_CREATED, answer="id"), status_code=202
)
async def build_index(request: Request, body: IndexIn, owner: Owner) -> IndexOut:
    """Build an index for another model or store beside the active one, which keeps answering or, in mode `fresh`, in its place."""
    return IndexOut.model_validate(await _service(request).build(owner, body.asked, body.options, confirm=body.confirm))


@router.post("/indexes/estimate", access=everything(ADMIN), audit=not_audited("keeps nothing"))
async def estimate_index(request: Request, body: IndexIn, owner: Owner) -> EstimateOut:
    """Estimate the cost of building this index. Nothing is built, and no provider is called."""
    return EstimateOut.of(await _service(request).estimate(owner, body.asked))


@router.patch(
    "/indexes/{index_id}", access=everything(ADMIN), audit=changes(AuditAction.INDEX_CHANGED, subject="index_id")
)
async def change_build(request: Request, index_id: str, body: BuildChange, owner: Owner) -> IndexOut:
    """Pause or resume a build, start an offered one, or change its pace and cost limit."""
    changes = body.model_dump(exclude_unset=True, exclude={"paused"})
    return IndexOut.model_validate(await _service(request).change(owner, index_id, changes, body.paused))


@router.get("/indexes/{index_id}", access=everything(READ))
async def get_index(request: Request, index_id: str, owner: Owner) -> IndexOut:
    """One index, and its progress."""
    return IndexOut.model_validate(await _service(request).get(owner, index_id))


@router.post("/indexes/{index_id}/compare", access=everything(ADMIN), audit=not_audited("keeps nothing"))
async def compare_index(request: Request, index_id: str, body: CompareIn, owner: Owner) -> CompareOut:
    """Run queries in the active index and in this one."""
    return CompareOut.of(await _service(request).compare(owner, index_id, body.queries, body.top_k))


@router.post(
    "/indexes/{index_id}/switch", access=everything(ADMIN), audit=changes(AuditAction.INDEX_CHANGED, subject="index_id")
)
async def switch_index(request: Request, index_id: str, owner: Owner) -> IndexOut:
    """Use this index from now on. Switch to the previous one to roll back."""
    return IndexOut.model_validate(await _service(request).switch(owner, index_id))


@router.delete(
    "/indexes/{index_id}",
    access=everything(ADMIN),
    audit=changes(AuditAction.INDEX_DELETED, subject="index_id"),
    status_code=204,
)
async def delete_index(request: Request, index_id: str, owner: Owner) -> Response:
    """Delete an index that is not active."""
    await _service(request).delete(owner, index_id)
    return Response(status_code=204)
