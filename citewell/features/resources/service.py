"""What one can do with resources, whoever asks: the web, the command line, or a channel."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from citewell.disk import DiskReserve
from citewell.errors import Conflict
from citewell.indexes.index_set import IndexSet
from citewell.ingest.capture import Capture, Spooled, UploadRequest
from citewell.ingest.records import RecordIngest, RecordsAdded
from citewell.ports import BlobStore
from citewell.storage.content import ContentRepository
from citewell.storage.events import EventRepository
from citewell.storage.jobs import JobRepository
from citewell.storage.projects import ProjectRepository
from citewell.storage.resources import Receipt, ResourceFilter, ResourceRepository, ResourceSummary
from citewell.types import TERMINAL, Chunk, Filter, JsonValue, Resource, Status, StoredBlob, UploadOptions

_EVENT_POLL_SECONDS = 0.2


@dataclass(frozen=True, slots=True)
class Deleted:
    """A receipt, and how many vectors were still found afterwards."""

    receipt: Receipt
    vectors_left: int


@dataclass(frozen=True, slots=True)
class ResourceService:
    """Uploads, lists, reads and deletes. Every method takes the owner first and sees only what is theirs."""

    resources: ResourceRepository
    content: ContentRepository
    events: EventRepository
    projects: ProjectRepository
    jobs: JobRepository
    blobs: BlobStore
    capture: Capture
    records: RecordIngest
    indexes: IndexSet
    wake: Callable[[], None]
    space: DiskReserve

    async def upload(
        self,
        owner_id: str,
        file: Spooled,
        filename: str,
        *,
        project: str | None = None,
        identifier: str | None = None,
        options: UploadOptions | None = None,
        strict: bool = False,
        source: str = "upload",
    ) -> tuple[Resource, bool]:
        """Make a resource of a spooled file; (resource, True), or the known one of the same bytes and False.

        The same bytes again restart a resource that had FAILED, now with these options (a password, for instance).
        """
        options = options or UploadOptions()
        try:
            project_id = await self.projects.resolve(owner_id, project, create=True)
        except BaseException:
            file.path.unlink(missing_ok=True)
            raise
        request = UploadRequest(
            owner_id=owner_id,
            filename=filename,
            project_id=project_id,
            identifier=identifier,
            strict=strict,
            options=options,
            source=source,
        )
        resource, created = await self.capture.commit(file, request)
        if not created and resource.status is Status.FAILED and await self.jobs.restart(owner_id, resource.id, options):
            resource = await self.resources.get(owner_id, resource.id)
        self.wake()
        return resource, created

    async def replace(
        self, owner_id: str, resource_id: str, file: Spooled, filename: str, options: UploadOptions
    ) -> Resource:
        """Make a spooled file the next version of a resource."""
        request = UploadRequest(owner_id=owner_id, filename=filename, project_id="", options=options)
        resource = await self.capture.replace(file, resource_id, request)
        self.wake()
        return resource

    async def add_records(
        self, owner_id: str, records: Iterable[Mapping[str, Any]], project: str | None = None
    ) -> RecordsAdded:
        """Index texts as they are."""
        project_id = await self.projects.resolve(owner_id, project, create=True)
        return await self.records.add(owner_id, project_id, records)

    async def get(self, owner_id: str, resource_id: str) -> Resource:
        """One resource."""
        return await self.resources.get(owner_id, resource_id)

    async def page(
        self, owner_id: str, filter: ResourceFilter, limit: int, cursor: str | None
    ) -> tuple[list[Resource], str | None]:
        """A page of resources, newest first."""
        return await self.resources.page(owner_id, filter, limit, cursor)

    async def summaries(
        self, owner_id: str, filter: ResourceFilter, limit: int, cursor: str | None
    ) -> tuple[list[ResourceSummary], str | None]:
        """A page of resources without what grows with their content."""
        return await self.resources.summaries(owner_id, filter, limit, cursor)

    async def timeline(self, owner_id: str, resource_id: str) -> list[dict[str, JsonValue]]:
        """All changes of state so far."""
        await self.resources.get(owner_id, resource_id)
        return await self.events.since(resource_id)

    async def follow(self, owner_id: str, resource_id: str) -> AsyncGenerator[dict[str, JsonValue]]:
        """Changes of state as they come, until a terminal one."""
        last = 0
        while True:
            resource = await self.resources.get(owner_id, resource_id)
            for event in await self.events.since(resource_id, last):
                last = int(str(event["id"]))
                yield event
            if resource.status in TERMINAL:
                return
            await asyncio.sleep(_EVENT_POLL_SECONDS)

    async def wait(self, owner_id: str, resource_id: str) -> Resource:
        """The resource once it is in a terminal state."""
        async for _ in self.follow(owner_id, resource_id):
            pass
        return await self.resources.get(owner_id, resource_id)

    async def elements(
        self, owner_id: str, resource_id: str, limit: int, cursor: str | None, page: int | None, type: str | None
    ) -> tuple[list[dict[str, Any]], str | None]:
        """A page of elements of the present version."""
        resource = await self.resources.get(owner_id, resource_id)
        return await self.content.elements_page(resource_id, resource.version, limit, cursor, page, type)

    async def chunks(
        self, owner_id: str, resource_id: str, limit: int, cursor: str | None
    ) -> tuple[list[Chunk], str | None]:
        """A page of chunks."""
        await self.resources.get(owner_id, resource_id)
        return await self.content.chunks_page(resource_id, limit, cursor)

    async def extracted(self, owner_id: str, resource_id: str) -> list[StoredBlob]:
        """The files that extraction made."""
        resource = await self.resources.get(owner_id, resource_id)
        return await self.content.blobs(resource_id, resource.version)

    async def extracted_blob(self, owner_id: str, resource_id: str, name: str) -> StoredBlob:
        """One file that extraction made."""
        resource = await self.resources.get(owner_id, resource_id)
        return await self.content.blob(resource_id, resource.version, name)

    async def reindex(self, owner_id: str, resource_id: str) -> Resource:
        """Run stage 3 again; a FAILED resource is read again from the start."""
        resource = await self.resources.get(owner_id, resource_id)
        restarted = await self.jobs.requeue(owner_id, resource_id) or await self.jobs.restart(
            owner_id, resource_id, resource.options
        )
        if not restarted:
            raise Conflict("There is nothing to index in this resource.", status=resource.status.value)
        self.wake()
        return await self.resources.get(owner_id, resource_id)

    async def delete(self, owner_id: str, resource_id: str) -> Deleted:
        """Remove a resource, the files inside it, and everything made of them; the vectors are counted afterwards."""
        self.space.require()  # what is deleted in SQL has to be deleted in the index too, which takes some space
        receipt = await self.resources.delete(owner_id, resource_id)
        return Deleted(receipt, await self._finish(receipt))

    async def finish_deletions(self) -> None:
        """Remove what was deleted before the process ended, and was not yet gone everywhere."""
        for receipt in await self.resources.unfinished_deletions():
            await self._finish(receipt)

    async def _finish(self, receipt: Receipt) -> int:
        """Remove vectors and blobs; returns how many vectors are still found."""
        gone = Filter(owner_id=receipt.owner_id, resource_ids=receipt.resource_ids)
        left = 0
        for index in self.indexes.all:
            await index.store.delete(gone)
            left += await index.store.count(gone)
        for key in receipt.blob_keys:
            await self.blobs.delete(key)
        if not left:
            await self.resources.finish_deletion(receipt)
        return left
