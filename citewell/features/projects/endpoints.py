"""HTTP for projects: named sets of resources."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from fastapi import APIRouter, Request, Response
from pydantic import BaseModel, Field

from citewell.chunk.config import ChunkConfig, Strategy
from citewell.errors import InvalidInput
from citewell.features.http import ERROR_RESPONSES, Owner
from citewell.features.json_bodies import SoundRoute
from citewell.features.requests import RequestBody, invalid_request
from citewell.ingest.chunking import server_chunking, with_settings
from citewell.storage.projects import ProjectRepository
from citewell.types import Project

router = APIRouter(tags=["projects"], responses=ERROR_RESPONSES, route_class=SoundRoute)


class ChunkingIn(RequestBody):
    """How the files of a project are cut: in place of the server's settings. Data files are cut by row whatever it says."""

    strategy: Strategy | None = None
    size: int | None = Field(default=None, ge=16, le=100_000)
    overlap: int | None = Field(default=None, ge=0, le=50_000)

    def settings(self, server: ChunkConfig) -> dict[str, Any]:
        """The form in which a project keeps it; `InvalidRequest` for what cannot work where the server's settings fill the gaps."""
        settings = {"chunking": self.model_dump(mode="json", exclude_none=True)}
        try:
            with_settings(server, settings)
        except InvalidInput as error:
            raise invalid_request([{"field": "body.chunking", "problem": error.message}]) from error
        return settings


class ProjectIn(RequestBody):
    """A new project."""

    name: str = Field(min_length=1, max_length=200, pattern=r"^[^\x00]+$")
    chunking: ChunkingIn | None = None


class ProjectChange(RequestBody):
    """What may be changed of a project; applies to files that are indexed from then on (`POST /resources/{id}/reindex`)."""

    chunking: ChunkingIn | None


class ProjectOut(BaseModel):
    """A named set of resources."""

    id: str
    name: str
    created_at: datetime
    resource_count: int
    settings: dict[str, Any]

    @staticmethod
    def of(project: Project) -> ProjectOut:
        """The public form of a project."""
        return ProjectOut(
            id=project.id,
            name=project.name,
            created_at=datetime.fromtimestamp(project.created_at, UTC),
            resource_count=project.resource_count,
            settings=project.settings,
        )


class ProjectList(BaseModel):
    """All projects, oldest first."""

    projects: list[ProjectOut]
    next_cursor: str | None = None


def _projects(request: Request) -> ProjectRepository:
    return request.app.state.services.projects


def _kept(request: Request, chunking: ChunkingIn | None) -> dict[str, Any]:
    return chunking.settings(server_chunking(request.app.state.services.settings.chunking)) if chunking else {}


@router.get("/projects")
async def list_projects(request: Request, owner: Owner) -> ProjectList:
    """All projects of the owner."""
    return ProjectList(projects=[ProjectOut.of(p) for p in await _projects(request).all(owner)])


@router.post("/projects", status_code=201)
async def create_project(request: Request, body: ProjectIn, owner: Owner) -> ProjectOut:
    """A new project; 409 when the name is taken."""
    settings = _kept(request, body.chunking)
    return ProjectOut.of(await _projects(request).create(owner, body.name, settings))


@router.get("/projects/{project_id}")
async def get_project(request: Request, project_id: str, owner: Owner) -> ProjectOut:
    """One project."""
    return ProjectOut.of(await _projects(request).get(owner, project_id))


@router.patch("/projects/{project_id}")
async def change_project(request: Request, project_id: str, body: ProjectChange, owner: Owner) -> ProjectOut:
    """Change how the files of a project are cut; `null` returns to the server's settings."""
    settings = _kept(request, body.chunking)
    await _projects(request).change(owner, project_id, settings)
    return ProjectOut.of(await _projects(request).get(owner, project_id))


@router.delete("/projects/{project_id}", status_code=204)
async def delete_project(request: Request, project_id: str, owner: Owner) -> Response:
    """Delete a project; its resources stay."""
    await _projects(request).delete(owner, project_id)
    return Response(status_code=204)
