"""HTTP for index migration."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated, Any

from fastapi import APIRouter, Request, Response
from pydantic import BaseModel, Field

from citewell.features.http import ERROR_RESPONSES, Owner
from citewell.features.indexes.service import IndexService
from citewell.features.json_bodies import SoundRoute
from citewell.features.requests import RequestBody
from citewell.settings import EmbeddingProvider
from citewell.storage.indexes import IndexRecord

router = APIRouter(tags=["indexes"], responses=ERROR_RESPONSES, route_class=SoundRoute)


class IndexIn(RequestBody):
    """The model whose index is to be built beside the active one. `pause_seconds` between batches makes it gradual."""

    provider: EmbeddingProvider
    model: str | None = Field(default=None, max_length=200)
    dimensions: Annotated[int, Field(ge=1, le=65_536)] | None = None
    pause_seconds: float = Field(default=0.0, ge=0, le=60)


class IndexOut(BaseModel):
    """An index: which model's vectors, what state, how far it is built (in chunks)."""

    id: str
    fingerprint: str
    store: str
    state: str = Field(description="building, ready, active or retired")
    progress: int
    total: int
    created_at: datetime
    activated_at: datetime | None
    settings: dict[str, Any]

    @staticmethod
    def of(record: IndexRecord) -> IndexOut:
        """The public form of an index."""
        activated = datetime.fromtimestamp(record.activated_at, UTC) if record.activated_at else None
        return IndexOut(
            id=record.id,
            fingerprint=record.fingerprint,
            store=record.store,
            state=record.state.value,
            progress=record.progress,
            total=record.total,
            created_at=datetime.fromtimestamp(record.created_at, UTC),
            activated_at=activated,
            settings=record.settings,
        )


class IndexList(BaseModel):
    """All indexes, oldest first."""

    indexes: list[IndexOut]


class CompareIn(RequestBody):
    """Queries to run in the active index and in this one."""

    queries: list[str] = Field(min_length=1, max_length=100)
    top_k: int = Field(default=10, ge=1, le=100)


class QueryComparisonOut(BaseModel):
    """Chunk ids of both, best first, and the share of the active index's hits that the other has too."""

    query: str
    active: list[str]
    candidate: list[str]
    overlap: float


class CompareOut(BaseModel):
    """Per query and on average."""

    queries: list[QueryComparisonOut]
    mean_overlap: float


def _service(request: Request) -> IndexService:
    return request.app.state.services.indexes


@router.get("/indexes")
async def list_indexes(request: Request, owner: Owner) -> IndexList:
    """All indexes."""
    return IndexList(indexes=[IndexOut.of(record) for record in await _service(request).list(owner)])


@router.post("/indexes", status_code=202)
async def build_index(request: Request, body: IndexIn, owner: Owner) -> IndexOut:
    """Build the index of another model beside the active one, which goes on answering."""
    settings = body.model_dump(include={"provider", "model", "dimensions"})
    return IndexOut.of(await _service(request).build(owner, settings, body.pause_seconds))


@router.get("/indexes/{index_id}")
async def get_index(request: Request, index_id: str, owner: Owner) -> IndexOut:
    """One index, and how far it is built."""
    return IndexOut.of(await _service(request).get(owner, index_id))


@router.post("/indexes/{index_id}/compare")
async def compare_index(request: Request, index_id: str, body: CompareIn, owner: Owner) -> CompareOut:
    """Run queries in the active index and in this one."""
    found = await _service(request).compare(owner, index_id, body.queries, body.top_k)
    queries = [
        QueryComparisonOut(query=c.query, active=list(c.ours), candidate=list(c.theirs), overlap=c.overlap)
        for c in found
    ]
    return CompareOut(queries=queries, mean_overlap=round(sum(c.overlap for c in found) / len(found), 4))


@router.post("/indexes/{index_id}/switch")
async def switch_index(request: Request, index_id: str, owner: Owner) -> IndexOut:
    """Let this index answer from now on; switching to the former one rolls back."""
    return IndexOut.of(await _service(request).switch(owner, index_id))


@router.delete("/indexes/{index_id}", status_code=204)
async def delete_index(request: Request, index_id: str, owner: Owner) -> Response:
    """Delete an index that does not answer."""
    await _service(request).delete(owner, index_id)
    return Response(status_code=204)
