"""HTTP for projects: named sets of resources."""

from __future__ import annotations

from fastapi import Request, Response

from citewell.features.declared import ADMIN, READ, WRITE, changes, everything, narrowed, project
from citewell.features.http import ERROR_RESPONSES, NarrowedGrant, Owner
from citewell.features.json_bodies import SoundRoute
from citewell.features.projects.schemas import ProjectChange, ProjectIn, ProjectList, ProjectOut
from citewell.features.projects.service import ProjectService
from citewell.features.routing import Router
from citewell.types.audit import AuditAction

router = Router(tags=["projects"], responses=ERROR_RESPONSES, route_class=SoundRoute)


def _service(request: Request) -> ProjectService:
    return request.app.state.services.projects


@router.get("/projects", access=narrowed(READ))
async def list_projects(request: Request, grant: NarrowedGrant) -> ProjectList:
    """All the owner's projects that the token may use. `GET /shared-projects` lists those shared by others."""
    found = await _service(request).repository.all(grant.owner_id)
    return ProjectList(
        projects=[ProjectOut.model_validate(one) for one in found if grant.projects is None or one.id in grant.projects]
    )


@router.post(
    "/projects", access=everything(WRITE), audit=changes(AuditAction.PROJECT_CREATED, answer="id"), status_code=201
)
async def create_project(request: Request, body: ProjectIn, owner: Owner) -> ProjectOut:
    """Create a project; 409 if the name is taken."""
    chunking = body.chunking.given() if body.chunking else None
    return ProjectOut.model_validate(
        await _service(request).create(owner, body.name, chunking, body.index, body.expires_in_hours)
    )


@router.get("/projects/{project_id}", access=project(READ))
async def get_project(request: Request, project_id: str, owner: Owner) -> ProjectOut:
    """One project."""
    return ProjectOut.model_validate(await _service(request).repository.get(owner, project_id))


@router.patch(
    "/projects/{project_id}", access=project(ADMIN), audit=changes(AuditAction.PROJECT_CHANGED, subject="project_id")
)
async def change_project(request: Request, project_id: str, body: ProjectChange, owner: Owner) -> ProjectOut:
    """Change a project's chunking, index or lifetime of files; `null` returns to the server's settings."""
    return ProjectOut.model_validate(await _service(request).change(owner, project_id, body.given()))


@router.delete(
    "/projects/{project_id}",
    access=project(ADMIN),
    audit=changes(AuditAction.PROJECT_DELETED, subject="project_id"),
    status_code=204,
)
async def delete_project(request: Request, project_id: str, owner: Owner) -> Response:
    """Delete a project; its resources stay."""
    await _service(request).repository.delete(owner, project_id)
    return Response(status_code=204)
