"""A file's content: elements, passages, pictures, and the uploaded bytes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from citewell.errors import Conflict, DamagedFile, InvalidInput, NotFound
from citewell.features.resources.handed_out import StoredBytes
from citewell.ports import BlobStore
from citewell.storage.files.content import ContentRepository
from citewell.storage.files.resources import Original, ResourceRepository
from citewell.types import PREVIEW, BlobLink, Category, Chunk, StoredBlob

_CURRENT_ONLY = "You may read only the current version of this file. Ask the project's owner for another one."


@dataclass(frozen=True, slots=True, kw_only=True)
class ResourceContents:
    """Reads the content of resources. Every method takes the owner first and sees only that owner's data."""

    resources: ResourceRepository
    content: ContentRepository
    blobs: BlobStore

    async def elements(
        self, owner_id: str, resource_id: str, limit: int, cursor: str | None, page: int | None, type: str | None
    ) -> tuple[list[dict[str, Any]], str | None]:
        """A page of elements of the current version."""
        resource = await self.resources.get(owner_id, resource_id)
        return await self.content.elements_page(resource_id, resource.version, limit, cursor, page, type)

    async def chunks(
        self, owner_id: str, resource_id: str, limit: int, cursor: str | None
    ) -> tuple[list[Chunk], str | None]:
        """A page of chunks."""
        await self.resources.get(owner_id, resource_id)
        return await self.content.chunks_page(resource_id, limit, cursor)

    async def chunk(self, owner_id: str, resource_id: str, chunk_id: str) -> Chunk:
        """One chunk of a resource. Raises `NotFound` for a chunk of another resource."""
        found = await self.content.load_chunks(owner_id, [chunk_id])
        chunk = found[chunk_id].chunk if chunk_id in found else None
        if chunk is None or chunk.resource_id != resource_id:
            raise NotFound
        return chunk

    async def original(
        self, owner_id: str, resource_id: str, version: int | None, *, sees_history: bool = True
    ) -> StoredBytes:
        """The uploaded bytes of a version (None: the current one). Raises `NotFound` for an earlier one without `sees_history`."""
        found = await self._version(owner_id, resource_id, version, sees_history)
        return StoredBytes(
            found.filename, found.mime_type, found.size, partial(self.blobs.get, found.key), found.content_hash
        )

    async def link(
        self, owner_id: str, resource_id: str, version: int | None, *, sees_history: bool = True
    ) -> tuple[BlobLink, Original]:
        """A link to a version, chosen as in `original`, in its object store. Raises `Conflict` if this server provides no links.

        The store does not compare the bytes with their hash; the client can.
        """
        found = await self._version(owner_id, resource_id, version, sees_history)
        try:
            link = await self.blobs.link(found.key, found.size)
        except NotFound as error:
            raise DamagedFile from error
        if link is None:
            raise Conflict("This server provides no link to this file. Get it from /resources/{id}/file.")
        return link, found

    async def _version(self, owner_id: str, resource_id: str, version: int | None, sees_history: bool) -> Original:
        if version is not None and not sees_history:
            if version != (await self.resources.get(owner_id, resource_id)).version:
                raise NotFound(_CURRENT_ONLY)
            version = None  # the version that is current when it is read
        return await self.resources.original(owner_id, resource_id, version)

    async def extracted(self, owner_id: str, resource_id: str) -> list[StoredBlob]:
        """The files that extraction produced."""
        resource = await self.resources.get(owner_id, resource_id)
        return await self.content.blobs(resource_id, resource.version)

    async def extracted_bytes(self, owner_id: str, resource_id: str, name: str) -> StoredBytes:
        """The bytes of one file that extraction produced."""
        resource = await self.resources.get(owner_id, resource_id)
        found = await self.content.blob(resource_id, resource.version, name)
        return StoredBytes(found.name, found.mime_type, found.size, partial(self.blobs.get, found.key))

    async def picture(self, owner_id: str, resource_id: str, chunk_id: str | None = None) -> StoredBytes:
        """The picture that a file is, or that one of its chunks describes: the small copy, if there is one.

        Raises `InvalidInput` if there is no picture, and `NotFound` if the owner has no such file or chunk.
        """
        resource = await self.resources.get(owner_id, resource_id)
        blob = None
        if chunk_id is not None:
            found = (await self.content.load_chunks(owner_id, [chunk_id])).get(chunk_id)
            if found is None or found.chunk.resource_id != resource_id:
                raise NotFound
            if found.picture is None:
                raise InvalidInput(f"This passage of {resource.filename} describes no picture.")
            blob = found.picture.blob
        elif resource.detected_category != Category.IMAGE.value:
            raise InvalidInput(f"{resource.filename} is not a picture. Search its text instead.")
        previews = await self.content.blobs(resource_id, resource.version, PREVIEW)
        small = next((one.name for one in previews if blob is None or one.metadata.get("of") == blob), None)
        if small or blob:
            kept = await self.extracted_bytes(owner_id, resource_id, small or blob or "")
            return replace(kept, filename=resource.filename)
        return await self.original(owner_id, resource_id, None)
