"""Turns files inside a file into separate resources, about a hundred per transaction."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from citewell.errors import CitewellError
from citewell.ingest.capture import Capture, Spooled, UploadRequest, item_identity, own_copy
from citewell.ingest.journal import BlobJournal
from citewell.ingest.names import clean_path
from citewell.ports import BlobStore
from citewell.storage.files.new_resources import NewResource, insert_children
from citewell.storage.files.resources import ResourceRepository
from citewell.storage.spending.quotas import QuotaRepository
from citewell.storage.work.jobs import JobRepository
from citewell.types import ChildFile, Job, MetadataValue, Resource

_PER_TRANSACTION = 200
_BLOBS_AT_ONCE = 8
ARCHIVE_PATH = "archive_path"
"""The metadata key with an archive member's folders and name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Adoption:
    """Adopts children in batches. Children that a dead attempt already adopted are recognized by content, so none is duplicated."""

    resources: ResourceRepository
    jobs: JobRepository
    blobs: BlobStore
    journal: BlobJournal
    capture: Capture
    quotas: QuotaRepository

    async def run(self, job: Job, resource: Resource, children: Sequence[ChildFile], folder: Path) -> list[str]:
        """Make the files in `folder` children of `resource`. Returns a note for each that could not be adopted.

        Children can be processed as soon as their batch is committed. Raises `LeaseLost`.
        """
        notes: list[str] = []
        for start in range(0, len(children), _PER_TRANSACTION):
            batch = children[start : start + _PER_TRANSACTION]
            found, failed = await asyncio.to_thread(self._describe, job, resource, batch, folder)
            notes += failed
            if found:
                notes += await self._adopt(job, found, resource.project_ids[0] if resource.project_ids else "", start)
        return notes

    def _describe(
        self, job: Job, resource: Resource, batch: Sequence[ChildFile], folder: Path
    ) -> tuple[list[tuple[NewResource, Spooled]], list[str]]:
        """Hash a batch: a draft for each file that can be adopted, and notes on the others."""
        found: list[tuple[NewResource, Spooled]] = []
        notes: list[str] = []
        for child in batch:
            request = UploadRequest(
                owner_id=job.owner_id,
                filename=child.filename,
                project_id=resource.project_ids[0] if resource.project_ids else "",
                source="attachment",
                parent_id=job.resource_id,
                options=replace(resource.options, password=None),
                metadata=_place(resource, child),
            )
            try:
                spooled = self.capture.measure(folder / child.path)
                found.append((self.capture.describe(spooled, request), spooled))
            except CitewellError as error:
                notes.append(f"{child.filename}: {error.message}")
        return found, notes

    async def _adopt(
        self, job: Job, found: Sequence[tuple[NewResource, Spooled]], project_id: str, before: int
    ) -> list[str]:
        """Store the bytes that the owner does not have yet, then commit the rows. Returns a note for each file that exceeds a quota.

        A member who put the archive into its project may not know the owner's other files: bytes they have in common are copied.
        """
        hashes = [new.content_hash for new, _ in found]
        outside = await self.resources.outside(job.owner_id, hashes, [project_id]) if project_id else set[str]()
        found = [
            (replace(new, content_hash=item_identity(own_copy(project_id), new.content_hash)), spooled)
            if new.content_hash in outside
            else (new, spooled)
            for new, spooled in found
        ]
        known = await self.resources.known_contents(job.owner_id, [new.content_hash for new, _ in found])
        kept: dict[str, tuple[NewResource, Spooled]] = {}
        for new, spooled in found:
            if new.content_hash not in known:
                kept.setdefault(new.content_hash, (new, spooled))
        # A file whose bytes were not stored has the same content as another in the batch or as one of the owner's resources.
        listed = [kept[new.content_hash][0] if new.content_hash in kept else new for new, _ in found]
        made = frozenset[str]()
        with self.journal.begun([new.blob_key for new, _ in found]):
            await self._keep_bytes(list(kept.values()))
            try:
                async with self.jobs.fenced(job) as connection:
                    room = await connection.run_sync(self.quotas.file_room, job.owner_id)
                    inserted = await connection.run_sync(insert_children, listed, project_id, room, before)
                    made = inserted.made
                    # The owner's matching resource may have been deleted since the lookup.
                    late = [(n, s) for n, s in found if n.id in made and n.content_hash not in kept]
                    await self._keep_bytes(late)
            finally:
                for new, _ in kept.values():
                    if new.id not in made:
                        await self.blobs.delete(new.blob_key)
        refused = ((new.filename, inserted.refused.get(new.content_hash)) for new, _ in found)
        return [f"{filename}: {reason}" for filename, reason in refused if reason is not None]

    async def _keep_bytes(self, files: Sequence[tuple[NewResource, Spooled]]) -> None:
        for start in range(0, len(files), _BLOBS_AT_ONCE):
            batch = files[start : start + _BLOBS_AT_ONCE]
            puts = [self.blobs.put_file(new.blob_key, spooled.path, new.filename) for new, spooled in batch]
            for outcome in await asyncio.gather(*puts, return_exceptions=True):
                if outcome is not None:
                    raise outcome


def _place(archive: Resource, child: ChildFile) -> dict[str, MetadataValue]:
    """The metadata with a member's folders in its archive; for nested archives, the whole path. Empty for a file without an archive."""
    if child.inside is None:
        return {}
    path = clean_path(child.inside)
    if archive.parent_id is not None:
        path = clean_path(f"{archive.metadata.get(ARCHIVE_PATH, archive.filename)}/{path}") or path
    return {ARCHIVE_PATH: path} if "/" in path else {}
