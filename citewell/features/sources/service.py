"""Syncing for connectors: sources, their items, and the files made from them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager, suppress
from dataclasses import dataclass, replace
from typing import Protocol

from citewell.errors import NotFound
from citewell.ingest.capture import Spool, Spooled
from citewell.ingest.frame_model import picture_of, tidied
from citewell.ingest.frames import RawFrame, cleaned
from citewell.ports import ChatModel
from citewell.ports.metering import OnSpent, reported
from citewell.storage.channels.sources import SourceRepository
from citewell.storage.files.projects import ProjectRepository
from citewell.types import AskedOptions, JsonObject, JsonValue, SyncItem, SyncSource, UploadOutcome
from citewell.types.metadata_values import MetadataLimits

MAX_NAME = 128
MAX_KEY = 1_024


@dataclass(frozen=True, slots=True, kw_only=True)
class FileOfItem:
    """The annotations of an item's file."""

    identity: str
    identifier: str | None
    project_id: str
    options: AskedOptions
    metadata: Mapping[str, JsonValue]


class KeepFile(Protocol):
    """Stores an item's file: as the next version of a resource or, for None, as a new one."""

    async def __call__(
        self, owner_id: str, file: Spooled, filename: str, said: FileOfItem, resource_id: str | None
    ) -> tuple[str, UploadOutcome]:
        """The resource's id, and the outcome; `UNCHANGED` if there was nothing to do."""
        ...


class DeleteFile(Protocol):
    """Deletes a resource and everything derived from it."""

    async def __call__(self, owner_id: str, resource_id: str) -> object:
        """Delete it. Raises `NotFound` if it no longer exists."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemSent:
    """An item from a connector.

    stamp:    the source's version stamp; a different one means a change
    frame:    the record to which the frame belongs
    by_model: whether the chat model, if configured, tidies the record
    """

    key: str
    stamp: str
    identifier: str | None = None
    metadata: Mapping[str, JsonValue] | None = None
    frame: RawFrame | None = None
    by_model: bool = True
    multimodal: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemKept:
    """The outcome for an item: its resource, what was done, and which values of its record were left out."""

    resource_id: str
    outcome: UploadOutcome
    notes: tuple[str, ...]


# A record's text is cut where its meaning changes, in overlapping pieces of the strategy's default sizes.
CHUNKING: JsonObject = {"strategy": "semantic"}


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceService:
    """Sources and items. Every method takes the owner first. Sending an item again after an interruption is harmless."""

    repository: SourceRepository
    projects: ProjectRepository
    spools: Callable[[str, int], AbstractAsyncContextManager[Spool]]
    size_limit: int
    keep_file: KeepFile
    delete_file: DeleteFile
    limits: MetadataLimits
    chat: Callable[[], ChatModel | None]
    on_spent: OnSpent

    def receiving(self, owner_id: str, least: int) -> AbstractAsyncContextManager[Spool]:
        """A spool for one file of at least `least` bytes. Raises `RateLimited` while too many are in progress, and `BytesQuotaReached`."""
        return self.spools(owner_id, least)

    @property
    def max_bytes(self) -> int:
        """The size limit of a file."""
        return self.size_limit

    async def items(
        self, owner_id: str, name: str, limit: int, cursor: str | None
    ) -> tuple[list[SyncItem], str | None]:
        """A page of a source's items, including those that could not be imported."""
        source = await self.repository.get(owner_id, name)
        return await self.repository.items(owner_id, source.id, limit, cursor)

    async def ensure(self, owner_id: str, name: str, kind: str, project: str | None) -> SyncSource:
        """The source with this name, created if it does not exist."""
        project_id = await self.projects.resolve(owner_id, name if project is None else project, create=True)
        return await self.repository.ensure(owner_id, name, kind, project_id)

    async def put(self, owner_id: str, name: str, file: Spooled, filename: str, item: ItemSent) -> ItemKept:
        """Make an item's file a resource, or the next version of the item's resource.

        The item is recorded last: after an interruption the connector sends it again, and the file is recognised.
        """
        try:
            source = await self.repository.get(owner_id, name)
            said, notes = await self._said(source, item, file, filename)
            known = await self.repository.item(owner_id, source.id, item.key)
        except BaseException:
            file.path.unlink(missing_ok=True)
            raise
        gone = {key: None for key in (known.keys if known is not None else ()) if key not in said.metadata}
        complete = replace(said, metadata={**said.metadata, **gone})
        resource_id, outcome = await self.keep_file(
            owner_id, file, filename, complete, None if known is None else known.resource_id
        )
        kept = SyncItem(key=item.key, stamp=item.stamp, resource_id=resource_id, keys=tuple(said.metadata))
        await self.repository.keep(owner_id, source.id, kept)
        return ItemKept(resource_id=resource_id, outcome=outcome, notes=tuple(notes))

    async def _said(
        self, source: SyncSource, item: ItemSent, file: Spooled, filename: str
    ) -> tuple[FileOfItem, list[str]]:
        metadata: dict[str, JsonValue] = dict(item.metadata or {})
        options, notes = AskedOptions(multimodal=item.multimodal), list[str]()
        if item.frame is not None:
            model = self.chat() if item.by_model else None
            async with reported(source.owner_id, self.on_spent):
                picture = None if model is None else await asyncio.to_thread(picture_of, file.path, filename)
                record, notes = cleaned(item.frame) if model is None else await tidied(model, item.frame, picture)
            metadata |= record.metadata(self.limits)
            options = replace(options, caption=record.text(), chunking=CHUNKING)
        said = FileOfItem(
            identity=item_key(source, item.key),
            identifier=item.identifier,
            project_id=source.project_id,
            options=options,
            metadata={key: value for key, value in metadata.items() if value is not None},
        )
        return said, notes

    async def report(self, owner_id: str, name: str, item: SyncItem) -> None:
        """Record why an item could not be imported. An earlier import of it stays."""
        source = await self.repository.get(owner_id, name)
        known = await self.repository.item(owner_id, source.id, item.key)
        if known is not None:
            item = replace(item, resource_id=known.resource_id, keys=known.keys)
        await self.repository.keep(owner_id, source.id, item)

    async def remove(self, owner_id: str, name: str, key: str) -> bool:
        """Delete an item's file and forget the item. Returns whether the item existed."""
        source = await self.repository.get(owner_id, name)
        known = await self.repository.item(owner_id, source.id, key)
        if known is None:
            return False
        if known.resource_id is not None:
            with suppress(NotFound):  # deleted by somebody else meanwhile
                await self.delete_file(owner_id, known.resource_id)
        await self.repository.forget(owner_id, source.id, key)
        return True


def item_key(source: SyncSource, key: str) -> str:
    """The key that identifies an item across all sources."""
    return f"{source.id}/{key}"
