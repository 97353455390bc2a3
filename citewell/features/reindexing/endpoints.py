"""HTTP for processing many files again."""

from __future__ import annotations

from fastapi import Request

from citewell.features.declared import READ, WRITE, changes, everything
from citewell.features.http import ERROR_RESPONSES, Owner
from citewell.features.json_bodies import SoundRoute
from citewell.features.reindexing.schemas import ReindexIn, ReindexList, ReindexOut
from citewell.features.reindexing.service import ReindexService
from citewell.features.routing import Router
from citewell.types.audit import AuditAction

_MAX_LISTED = 20
router = Router(tags=["reindexing"], responses=ERROR_RESPONSES, route_class=SoundRoute)


def _service(request: Request) -> ReindexService:
    return request.app.state.services.reindexing


@router.post(
    "/reindex", access=everything(WRITE), audit=changes(AuditAction.FILES_REINDEXED, answer="id"), status_code=202
)
async def begin_reindex(request: Request, body: ReindexIn, owner: Owner) -> ReindexOut:
    """Chunk and embed files again: all, a project's, or those that failed. Continues after a restart; unchanged texts are not embedded again."""
    begun = await _service(request).begin(owner, body.project, failed=body.failed, read_again=body.read_again)
    return ReindexOut.of(begun)


@router.get("/reindex", access=everything(READ))
async def list_reindexes(request: Request, owner: Owner) -> ReindexList:
    """All runs with their progress, newest first."""
    return ReindexList(
        runs=[ReindexOut.of(run) for run in await _service(request).repository.latest(owner, _MAX_LISTED)]
    )


@router.get("/reindex/{run_id}", access=everything(READ))
async def get_reindex(request: Request, run_id: str, owner: Owner) -> ReindexOut:
    """One run, and its progress."""
    return ReindexOut.of(await _service(request).repository.run(owner, run_id))
