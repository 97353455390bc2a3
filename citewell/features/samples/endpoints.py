"""HTTP for trying things out: adds the sample files that ship with Citewell."""

from __future__ import annotations

from pathlib import Path

from fastapi import APIRouter, Request
from pydantic import BaseModel

from citewell.errors import NotFound
from citewell.features.http import ERROR_RESPONSES, Owner
from citewell.features.json_bodies import SoundRoute
from citewell.features.resources.service import ResourceService

router = APIRouter(tags=["samples"], responses=ERROR_RESPONSES, route_class=SoundRoute)

_PACKAGE = Path(__file__).parent.parent.parent
# In the wheel the samples stand inside the package, in a clone beside it.
_FOLDERS = (_PACKAGE / "samples", _PACKAGE.parent / "samples")
_PIECE = 1024 * 1024


class SamplesOut(BaseModel):
    """Ids of the sample files' resources."""

    resource_ids: list[str]


def sample_files() -> list[Path]:
    """The files that ship with Citewell, by name."""
    folder = next((folder for folder in _FOLDERS if folder.is_dir()), None)
    if folder is None:
        raise NotFound("This installation has no sample files.")
    return sorted(path for path in folder.iterdir() if path.is_file())


@router.post("/samples", status_code=202)
async def add_samples(request: Request, owner: Owner) -> SamplesOut:
    """Add the sample files to the owner's default project."""
    service: ResourceService = request.app.state.services.resources
    ids: list[str] = []
    for path in sample_files():
        with service.capture.open_spool() as spool, path.open("rb") as file:
            while piece := file.read(_PIECE):
                spool.write(piece)
            spooled = spool.finish()
        resource, _ = await service.upload(owner, spooled, path.name, source="sample")
        ids.append(resource.id)
    return SamplesOut(resource_ids=ids)
