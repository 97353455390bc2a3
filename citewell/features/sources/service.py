"""What is synchronised from elsewhere, for a connector that brings it: sources, their items, and the files made of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager, suppress
from dataclasses import dataclass, replace
from typing import Protocol

from citewell.errors import NotFound
from citewell.ingest.capture import Spool, Spooled
from citewell.ingest.frame_model import tidied
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
    """What is said of an item's file, however it is kept."""

    identity: str
    identifier: str | None
    project_id: str
    options: AskedOptions
    metadata: Mapping[str, JsonValue]


class KeepFile(Protocol):
    """Keeps an item's file: as the next version of a resource, or as a new one where None is given."""

    async def __call__(
        self, owner_id: str, file: Spooled, filename: str, said: FileOfItem, resource_id: str | None
    ) -> tuple[str, UploadOutcome]:
        """The resource's id, and what was done; `UNCHANGED` where nothing was to do."""
        ...


class DeleteFile(Protocol):
    """Removes a resource and everything made of it."""

    async def __call__(self, owner_id: str, resource_id: str) -> object:
        """`NotFound` when it is gone already."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemSent:
    """An item as a connector sends it.

    stamp: of what the source has; another stamp is a change. frame: the record that the file is the frame of.
    by_model: whether the chat model, where there is one, tidies the record
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
    """What became of an item: its resource, what was done, and what of its record was left out."""

    resource_id: str
    outcome: UploadOutcome
    notes: tuple[str, ...]


# How the text of a record is cut: where its meaning changes, in pieces that overlap, of the strategy's own sizes.
CHUNKING: JsonObject = {"strategy": "semantic"}


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceService:
    """Every method takes the owner first. Sending an item again is harmless, whenever a connector was interrupted."""

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
        """A place for the bytes of one file, at least so many; `RateLimited` while too many are under way, `BytesQuotaReached` without room."""
        return self.spools(owner_id, least)

    @property
    def max_bytes(self) -> int:
        """How large a file may be."""
        return self.size_limit

    async def items(
        self, owner_id: str, name: str, limit: int, cursor: str | None
    ) -> tuple[list[SyncItem], str | None]:
        """A page of what a source has brought, and of what it could not bring."""
        source = await self.repository.get(owner_id, name)
        return await self.repository.items(owner_id, source.id, limit, cursor)

    async def ensure(self, owner_id: str, name: str, kind: str, project: str | None) -> SyncSource:
        """The source of that name, made where there is none."""
        project_id = await self.projects.resolve(owner_id, name if project is None else project, create=True)
        return await self.repository.ensure(owner_id, name, kind, project_id)

    async def put(self, owner_id: str, name: str, file: Spooled, filename: str, item: ItemSent) -> ItemKept:
        """Make an item's file a resource, or the next version of the one that the item has.

        The item is remembered last: where this is interrupted, the connector sends it again, and the file is found to be known.
        """
        try:
            source = await self.repository.get(owner_id, name)
            said, notes = await self._said(source, item)
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

    async def _said(self, source: SyncSource, item: ItemSent) -> tuple[FileOfItem, list[str]]:
        metadata: dict[str, JsonValue] = dict(item.metadata or {})
        options, notes = AskedOptions(multimodal=item.multimodal), list[str]()
        if item.frame is not None:
            model = self.chat() if item.by_model else None
            async with reported(source.owner_id, self.on_spent):
                record, notes = cleaned(item.frame) if model is None else await tidied(model, item.frame)
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
        """Remember why an item could not be brought; what it had brought before stays."""
        source = await self.repository.get(owner_id, name)
        known = await self.repository.item(owner_id, source.id, item.key)
        if known is not None:
            item = replace(item, resource_id=known.resource_id, keys=known.keys)
        await self.repository.keep(owner_id, source.id, item)

    async def remove(self, owner_id: str, name: str, key: str) -> bool:
        """Delete what an item has brought, and forget it; whether there was such an item."""
        source = await self.repository.get(owner_id, name)
        known = await self.repository.item(owner_id, source.id, key)
        if known is None:
            return False
        if known.resource_id is not None:
            with suppress(NotFound):  # somebody deleted it in the meantime
                await self.delete_file(owner_id, known.resource_id)
        await self.repository.forget(owner_id, source.id, key)
        return True


def item_key(source: SyncSource, key: str) -> str:
    """By what an item is told from every other of all sources."""
    return f"{source.id}/{key}"
