"""Rows as uploads leave them, without the uploads."""

from __future__ import annotations

import uuid

from citewell.storage.accounts.owners import OwnerRepository
from citewell.storage.database import Database
from citewell.storage.files.new_resources import NewResource
from citewell.storage.files.projects import ProjectRepository
from citewell.storage.files.resources import ResourceRepository
from citewell.types import UploadOptions


async def add_resource(database: Database, owner: str, size: int = 1) -> tuple[str, str]:
    """Ids of the owner, made where it is new, and of a resource of `size` bytes that waits for stage 2."""
    owner_id = await OwnerRepository(database).ensure(owner)
    project_id = await ProjectRepository(database).resolve(owner_id, None)
    resource, created = await ResourceRepository(database).create(new_resource(owner_id, size), project_id)
    assert created
    return owner_id, resource.id


def new_resource(owner_id: str, size: int = 1, parent_id: str | None = None) -> NewResource:
    """A file of `size` bytes like no other."""
    return NewResource(
        id=str(uuid.uuid4()),
        owner_id=owner_id,
        filename="a.txt",
        identifier=None,
        file_size_bytes=size,
        mime_type="text/plain",
        content_hash=uuid.uuid4().hex,
        detected_category="rag",
        type="txt",
        source="upload",
        storage_backend="local",
        blob_key="k",
        options=UploadOptions(),
        parent_id=parent_id,
    )


async def owner_of(owners: OwnerRepository, token: str) -> str | None:
    """The owner that a token speaks for."""
    principal = await owners.principal_of(token)
    return principal and principal.owner_id
