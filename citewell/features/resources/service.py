"""Operations on resources for every caller: the web, the command line, or a channel. `contents` reads their content."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import os
import uuid
from collections.abc import AsyncGenerator, Callable, Collection, Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, aclosing
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from citewell.chunk.config import ChunkConfig
from citewell.errors import Conflict, DiskFull, InvalidInput, NotFound
from citewell.features.resources.handed_out import Deleted
from citewell.features.resources.joining import may_change, require_as_it_is
from citewell.features.resources.said import Said, checked_thread, end_of
from citewell.indexes.index_set import IndexSet
from citewell.ingest.blob_keys import prefixes_of
from citewell.ingest.capture import Capture, Spool, Spooled, UploadRequest, item_identity, own_copy
from citewell.ingest.chunking import with_settings
from citewell.ingest.payloads import PayloadWriter
from citewell.ingest.records import RecordIngest, RecordsAdded
from citewell.ports import BlobStore
from citewell.storage.files.events import EventRepository
from citewell.storage.files.expiry import ExpiryRepository
from citewell.storage.files.facets import MAX_FACET_VALUES, FacetRepository
from citewell.storage.files.metadata import FileChange, MetadataRepository
from citewell.storage.files.projects import ProjectRepository
from citewell.storage.files.records import Placing
from citewell.storage.files.resources import Receipt, ResourceRepository
from citewell.storage.work.jobs import JobRepository
from citewell.storage.work.reprocessing import ReprocessingRepository
from citewell.system.lost_found import LostAndFound
from citewell.system.shares import Shares
from citewell.types import (
    TERMINAL,
    AskedOptions,
    ExpiredFile,
    Expression,
    Facets,
    Filter,
    JsonValue,
    Resource,
    ResourceFilter,
    ResourceSummary,
    Scope,
    Stage,
    Status,
    UploadOptions,
    UploadOutcome,
)
from citewell.types.metadata_values import MetadataLimits, checked_identifier, is_resource_id, merged

_EVENT_POLL_SECONDS = 0.2
_POLLS_PER_LOOK = 5
_STREAMS = 100  # event streams per owner at the same time: the browser opens one for each file it has just uploaded
_PIECE = 1024 * 1024
# How long a metadata change waits for the indexes; after that it continues in the background.
_APPLIED_SECONDS = 10.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ResourceService:
    """Uploads, lists, annotates and deletes. Every method takes the owner first and sees only that owner's data.

    hours_of: the lifetime of files from a source ("upload", a channel), unless their upload or project says otherwise; 0 for no end
    """

    repository: ResourceRepository
    events: EventRepository
    projects: ProjectRepository
    jobs: JobRepository
    reprocessing: ReprocessingRepository
    blobs: BlobStore
    capture: Capture
    records: RecordIngest
    indexes: IndexSet
    metadata: MetadataRepository
    facets_of: FacetRepository
    payloads: PayloadWriter
    limits: MetadataLimits
    chunking: ChunkConfig
    wake: Callable[..., None]
    lost: LostAndFound
    expiry: ExpiryRepository
    hours_of: Callable[[str], float]
    streams: Shares = field(default_factory=lambda: Shares("streams of events", each=_STREAMS))
    _looks: dict[str, asyncio.Task[int]] = field(default_factory=dict[str, "asyncio.Task[int]"])

    def open_spool(self, owner_id: str, least: int = 0) -> AbstractAsyncContextManager[Spool]:
        """A spool for one file of at least `least` bytes. Leaving its block without `finish` removes everything.

        Raises `BytesQuotaReached` as soon as the owner's quota would be exceeded.
        """
        return self.capture.spool_of(owner_id, least)

    def receiving(self, owner_id: str, least: int = 0) -> AbstractAsyncContextManager[Spool]:
        """The same for an upload request. Raises `RateLimited` while too many are in progress."""
        return self.capture.receiving(owner_id, least)

    @property
    def max_bytes(self) -> int:
        """The size limit of a file."""
        return self.capture.max_bytes

    async def add_file(
        self,
        owner_id: str,
        path: Path,
        *,
        filename: str | None = None,
        project: str | None = None,
        said: Said | None = None,
        options: AskedOptions | None = None,
        source: str = "upload",
    ) -> Resource:
        """Upload a local file, under its own name unless another is given. Returns its new resource, or the one with the same bytes."""
        with path.open("rb") as file:
            async with self.open_spool(owner_id, os.fstat(file.fileno()).st_size) as spool:
                while piece := await asyncio.to_thread(file.read, _PIECE):
                    spool.write(piece)
                spooled = spool.finish()
        resource, _ = await self.upload(
            owner_id, spooled, filename or path.name, project=project, said=said, options=options, source=source
        )
        return resource

    async def upload(
        self,
        owner_id: str,
        file: Spooled,
        filename: str,
        *,
        project: str | None = None,
        said: Said | None = None,
        options: AskedOptions | None = None,
        strict: bool = False,
        source: str = "upload",
        item: str | None = None,
        within: Collection[str] | None = None,
    ) -> tuple[Resource, UploadOutcome]:
        """Make a resource from a spooled file, or find the existing one with the same bytes. Returns it with the outcome.

        For an existing one, newly requested options are applied, FAILED or PARTIAL is retried, and annotations are added to the earlier
        ones. Raises `InvalidMetadata`, `InvalidInput` for invalid chunking, `Conflict` for an identifier of another file in the project,
        and `FilesQuotaReached` or `BytesQuotaReached` for a new file beyond a quota.

        within: the projects the caller is limited to, if any. Files outside them do not count as existing. One that is also in others joins
        the project unchanged: `Forbidden` if the upload would change it.
        """
        options, said = options or AskedOptions(), said or Said()
        try:
            self._check_chunking(options)
            request = UploadRequest(
                owner_id=owner_id,
                filename=filename,
                project_id="",
                identifier=checked_identifier(said.identifier) if said.identifier else None,
                strict=strict,
                options=options.over(UploadOptions()),
                source=source,
                metadata=merged({}, said.metadata or {}, self.limits),
                thread=checked_thread(said.thread) or None,
                item=item,
            )
            project_id = await self.projects.resolve(owner_id, project, create=True)
            expires_at = None if item else await self._end(owner_id, project_id, source, said.expires_in_hours)
            item = item or await self._copy_for(owner_id, file.content_hash, project and project_id, within)
            request = replace(request, project_id=project_id, item=item, expires_at=expires_at)
            known = None if within is None else await self.known(owner_id, request.identity(file.content_hash))
            inside = None if known is None else await self.repository.projects_within(owner_id, known.id)
            if known is not None and not may_change(inside or (), within):
                await require_as_it_is(known, said, options, self.limits, self.reprocessing)
        except BaseException:
            file.path.unlink(missing_ok=True)
            raise
        resource, created = await self.capture.commit(file, request)
        if created:
            self.wake(Stage.EXTRACT)
            return resource, UploadOutcome.CREATED
        if not may_change(resource.project_ids if inside is None else inside, within):
            # Once more, for a file added since.
            await require_as_it_is(resource, said, options, self.limits, self.reprocessing)
            return resource, UploadOutcome.UNCHANGED
        await self.expiry.prolong(owner_id, resource.id, expires_at)
        await self.describe(owner_id, resource.id, replace(said, expires_in_hours=None))
        return await self.reprocess(owner_id, resource.id, options)

    async def _end(self, owner_id: str, project_id: str, source: str, hours: float | None) -> float | None:
        """When an upload expires: as it says itself, or else its project, its channel, or the server."""
        if hours is None:
            hours = (await self.projects.settings(owner_id, project_id)).get("expires_in_hours")
        return end_of(self.hours_of(source) if hours is None else hours)

    async def reprocess(self, owner_id: str, resource_id: str, options: AskedOptions) -> tuple[Resource, UploadOutcome]:
        """Apply newly requested options to a file, and retry failed steps. Raises `NotFound` and `InvalidInput`."""
        self._check_chunking(options)
        outcome = await self.reprocessing.ask(owner_id, resource_id, options)
        self.wake()
        return await self.repository.get(owner_id, resource_id), outcome or UploadOutcome.UNCHANGED

    async def replace(
        self,
        owner_id: str,
        resource_id: str,
        file: Spooled,
        filename: str,
        options: UploadOptions,
        metadata: Mapping[str, JsonValue] | None = None,
        item: str | None = None,
        within: Collection[str] | None = None,
    ) -> Resource:
        """Make a spooled file the next version of a resource; `metadata` is merged as in `describe`. item: as in `UploadRequest`; within: as in `upload`.

        Raises `Conflict` if another of the owner's resources has the same bytes.
        """
        try:
            checked = merged({}, metadata or {}, self.limits)
            if within is not None:
                item = await self._apart(owner_id, file.content_hash, resource_id, within)
        except BaseException:
            file.path.unlink(missing_ok=True)
            raise
        request = UploadRequest(
            owner_id=owner_id, filename=filename, project_id="", options=options, metadata=checked, item=item
        )
        resource = await self.capture.replace(file, resource_id, request)
        if metadata:
            resource = await self.describe(owner_id, resource_id, Said(metadata=metadata))
        self.wake()
        return resource

    async def describe(self, owner_id: str, resource_id: str, said: Said) -> Resource:
        """Change a file's annotations. Metadata keys are set, or removed by None; an empty identifier or thread removes it.

        When this returns, every index has the change, unless an index cannot be written now or the file is being read: then soon after.
        Raises `InvalidMetadata`, `InvalidInput` for an impossible lifetime, `NotFound`, and `Conflict` if the identifier is taken.
        """
        changes = said.metadata
        change = FileChange(
            metadata=None if not changes else lambda known: merged(known, changes, self.limits),
            identifier=checked_identifier(said.identifier) if said.identifier else said.identifier,
            thread=None if said.thread is None else checked_thread(said.thread),
        )
        if said.expires_in_hours is not None:
            await self.expiry.set(owner_id, resource_id, end_of(said.expires_in_hours))
        stamp = await self.metadata.change(owner_id, resource_id, change)
        resource = await self.repository.get(owner_id, resource_id)
        if stamp is not None and resource.status in (*TERMINAL, Status.EMBEDDING):
            await self.payloads.applied(stamp, _APPLIED_SECONDS)
        return resource

    async def resolve(self, owner_id: str, name: str, project: str | None = None) -> str:
        """The id of a file given by id or identifier. Raises `NotFound`, and `Conflict` if several projects use the identifier."""
        if is_resource_id(name):
            return name
        project_ids = [await self.projects.resolve(owner_id, project)] if project is not None else None
        return (await self.metadata.resolve(owner_id, [name], project_ids))[0]

    async def add_records(
        self,
        owner_id: str,
        records: Iterable[Mapping[str, Any]],
        project: str | None = None,
        *,
        is_kept_to_it: bool = False,
    ) -> RecordsAdded:
        """Index texts, in a project if given. Texts with a known id are added to it too.

        is_kept_to_it: whether the caller is limited to it; changing a record that is also in other projects then raises `Forbidden`.
        """
        project_id = await self.projects.resolve(owner_id, project, create=True)
        placing = Placing(project_id, joins=project is not None, is_bound=is_kept_to_it)
        done = await self.records.add(owner_id, placing, records)
        self.payloads.wake()
        return done

    async def _apart(self, owner_id: str, content_hash: str, place_id: str, within: Collection[str]) -> str | None:
        """The item key under which to store these bytes separately, so that an existing file outside the projects `within` neither joins nor blocks the upload; None if there is no such file."""
        for item in (None, own_copy(place_id)):
            identity = content_hash if item is None else item_identity(item, content_hash)
            if not await self.repository.outside(owner_id, [identity], within):
                return item
        return own_copy(str(uuid.uuid4()))

    async def _copy_for(
        self, owner_id: str, content_hash: str, project_id: str | None, within: Collection[str] | None
    ) -> str | None:
        """Like `_apart`, for an upload to a project. Without `within`, the project must be named, and a file inside another file stays there,
        because its place must not be revealed to the project's members."""
        if within is not None:
            return await self._apart(owner_id, content_hash, project_id or "", within)
        known = None if project_id is None else await self.known(owner_id, content_hash)
        if project_id is None or known is None or known.parent_id is None or project_id in known.project_ids:
            return None
        return await self._apart(owner_id, content_hash, project_id, [project_id])

    async def known(self, owner_id: str, content_hash: str) -> Resource | None:
        """The owner's file with this content hash, which is the SHA-256 of its bytes unless it is an item; None if there is none."""
        found = await self.repository.find_by_content(owner_id, content_hash)
        return None if found is None else await self.repository.get(owner_id, found)

    async def page(
        self,
        owner_id: str,
        filter: ResourceFilter,
        limit: int,
        cursor: str | None,
        project: str | None = None,
        kept_to: Sequence[str] | None = None,
    ) -> tuple[list[Resource], str | None]:
        """A page of resources, newest first; of one project (by id or name) if given.

        kept_to: ids of the projects the caller is limited to, so that errors reveal only their files; None for all of the owner's.
        """
        narrowed = await self._within(owner_id, filter, project, kept_to)
        return await self.repository.page(owner_id, narrowed, limit, cursor)

    async def summaries(
        self,
        owner_id: str,
        filter: ResourceFilter,
        limit: int,
        cursor: str | None,
        project: str | None = None,
        kept_to: Sequence[str] | None = None,
    ) -> tuple[list[ResourceSummary], str | None]:
        """Like `page`, without fields that grow with the resources' content."""
        narrowed = await self._within(owner_id, filter, project, kept_to)
        return await self.repository.summaries(owner_id, narrowed, limit, cursor)

    async def facets(
        self,
        owner_id: str,
        filter: ResourceFilter,
        project: str | None = None,
        *,
        values: int = 20,
        by_year: bool = False,
        kept_to: Sequence[str] | None = None,
    ) -> Facets:
        """What a list of files can be filtered by: see `FacetRepository.facets`. Raises `InvalidInput` for too many values. kept_to: as in `page`."""
        if not 1 <= values <= MAX_FACET_VALUES:
            raise InvalidInput(f"A facet lists 1 to {MAX_FACET_VALUES} values.")
        narrowed = await self._within(owner_id, filter, project, kept_to)
        return await self.facets_of.facets(owner_id, narrowed, values, by_year=by_year, kept_to=kept_to)

    async def timeline(self, owner_id: str, resource_id: str) -> list[dict[str, JsonValue]]:
        """All state changes so far."""
        await self.repository.get(owner_id, resource_id)
        return await self.events.since(resource_id)

    async def stream(self, asker: str, owner_id: str, resource_id: str) -> AsyncGenerator[dict[str, JsonValue]]:
        """Like `follow`. Raises `RateLimited` if the caller already follows too many files."""
        async with self.streams.hold(asker), aclosing(self.follow(owner_id, resource_id)) as events:
            async for event in events:
                yield event

    async def follow(self, owner_id: str, resource_id: str) -> AsyncGenerator[dict[str, JsonValue]]:
        """State changes as they happen, until a terminal one."""
        last = 0
        for poll in itertools.count():
            # Most polls find nothing: the resource itself is read only after an event, and from time to time.
            if poll % _POLLS_PER_LOOK == 0 or await self._newest_event(resource_id) > last:
                resource = await self.repository.get(owner_id, resource_id)
                for event in await self.events.since(resource_id, last):
                    last = int(str(event["id"]))
                    yield event
                if resource.status in TERMINAL:
                    return
            await asyncio.sleep(_EVENT_POLL_SECONDS)

    async def _newest_event(self, resource_id: str) -> int:
        """The id of a file's last event. All followers of the file within one polling interval share a query."""
        look = self._looks.get(resource_id)
        if look is None:
            look = self._looks[resource_id] = asyncio.create_task(self.events.newest(resource_id))
            asyncio.get_running_loop().call_later(_EVENT_POLL_SECONDS, self._looks.pop, resource_id, None)
        return await asyncio.shield(look)

    async def wait(self, owner_id: str, resource_id: str) -> Resource:
        """Wait for the resource's terminal state."""
        async for _ in self.follow(owner_id, resource_id):
            pass
        return await self.repository.get(owner_id, resource_id)

    async def require_within(
        self,
        owner_id: str,
        resource_id: str,
        projects: Sequence[str] | None,
        resource_ids: Iterable[str] | None = None,
        filters: tuple[Expression, ...] = (),
        *,
        kept_to: Sequence[str] | None = None,
    ) -> None:
        """Raise `NotFound` for a file outside these projects, files and filters; None means everywhere.

        projects: by id or name; resource_ids: ids or identifiers; kept_to: as in `page`. Raises `InvalidFilter` for a filter that does not apply to files.
        """
        project_ids = None if projects is None else await self.projects.resolve_all(owner_id, projects)
        wanted = None if resource_ids is None else tuple(resource_ids)
        named = None if wanted is None else await self.metadata.resolve(owner_id, wanted, project_ids)
        named = named and await self.metadata.with_contained(owner_id, named)
        scope = Scope(project_ids, (resource_id,) if named is None or resource_id in named else ())
        if filters:
            scope = await self.metadata.narrowed(owner_id, scope, filters, kept_to)
        if resource_id not in (await self.projects.named_within(owner_id, scope) or ()):
            raise NotFound

    async def reindex(self, owner_id: str, resource_id: str, options: AskedOptions | None = None) -> Resource:
        """Run stage 3 again; a FAILED resource, or one with new `options`, is read again from the start."""
        if options is not None:
            resource, outcome = await self.reprocess(owner_id, resource_id, options)
            if outcome is not UploadOutcome.UNCHANGED:
                return resource
        resource = await self.repository.get(owner_id, resource_id)
        restarted = await self.jobs.requeue(owner_id, resource_id) or await self.jobs.restart(
            owner_id, resource_id, resource.options
        )
        if not restarted:
            raise Conflict("This resource has nothing to index.", status=resource.status.value)
        self.wake()
        return await self.repository.get(owner_id, resource_id)

    async def delete(self, owner_id: str, resource_id: str) -> Deleted:
        """Delete a resource, the files inside it, and everything derived from them, then count remaining vectors."""
        receipt = await self.repository.delete(owner_id, resource_id)
        return Deleted(receipt, await self._finish(receipt))

    async def expire(self, owner_id: str, resource_id: str) -> None:
        """Delete a resource whose lifetime is over, like `delete`, and keep the receipt."""
        receipt = await self.repository.delete(owner_id, resource_id, has_expired=True)
        await self.expiry.complete(resource_id, await self._finish(receipt))

    async def expired(self, owner_id: str, limit: int, cursor: str | None) -> tuple[list[ExpiredFile], str | None]:
        """A page of the receipts of files whose lifetime was over, newest first."""
        return await self.expiry.receipts(owner_id, limit, cursor)

    async def finish_deletions(self) -> None:
        """Finish deletions that a previous process did not complete everywhere."""
        for receipt in await self.repository.unfinished_deletions():
            await self._finish(receipt)

    def _check_chunking(self, options: AskedOptions) -> None:
        with_settings(self.chunking, {"chunking": options.chunking or {}})

    async def _within(
        self, owner_id: str, filter: ResourceFilter, project: str | None, kept_to: Sequence[str] | None
    ) -> ResourceFilter:
        await self.metadata.require_keys(owner_id, filter.conditions, kept_to)
        if project is None:
            return filter
        return replace(filter, project_ids=(await self.projects.resolve(owner_id, project),))

    async def _finish(self, receipt: Receipt) -> int:
        """Remove vectors and blobs. Returns how many vectors are left.

        Resources that a worker was processing are removed again at the next start, because the worker may write until it notices, and die before
        cleaning up.
        """
        gone = Filter(owner_id=receipt.owner_id, resource_ids=receipt.resource_ids)
        for key in receipt.blob_keys:
            await self.blobs.delete(key)
        prefixes = [prefix for one in receipt.resource_ids for prefix in prefixes_of(receipt.owner_id, one)]
        await asyncio.to_thread(self.lost.remove_below, prefixes)
        left = 0
        for index in self.indexes.all:
            with contextlib.suppress(DiskFull):  # removed at the next start; without their rows nothing finds them
                await index.store.delete(gone)
            left += await index.store.count(gone)
        if not left and not receipt.is_busy:
            await self.repository.finish_deletion(receipt)
        return left
