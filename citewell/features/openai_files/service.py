"""Files and vector stores for OpenAI's clients: a vector store is a project, an attribute a metadata value."""

from __future__ import annotations

import time
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, replace
from typing import Any, Protocol

from citewell.errors import Conflict, InvalidInput, NotFound
from citewell.features.openai_ids import BATCH, FILE, own_id
from citewell.ingest.capture import Spool, Spooled
from citewell.storage.cursors import encode_cursor
from citewell.storage.files.projects import MAX_NAME, ProjectCount, ProjectRepository
from citewell.storage.files.resources import ResourceRepository
from citewell.types import (
    Expression,
    Hit,
    JsonObject,
    JsonValue,
    Project,
    Resource,
    ResourceFilter,
    SearchRequest,
    SearchResult,
)

MAX_BATCH = 500
"""Files in one batch: OpenAI's own limit."""
_MAX_BATCHES = 5
_MAX_QUERIES = 10
_SETTINGS = "vector_store"
"""The part of a project's settings that only this API knows: name, metadata and latest batches."""
_UNNAMED = "Vector store"
_MAX_NUMBER = 10_000


class StoredFile(Protocol):
    """The bytes of a file. read: (start, end) → pieces of that range."""

    @property
    def size(self) -> int:
        """In bytes."""
        ...

    @property
    def read(self) -> Callable[[int, int], AsyncIterator[bytes]]:
        """Reads a part."""
        ...


class FileActions(Protocol):
    """What changes files; `composition` has the resource service do it."""

    def receiving(self, owner_id: str, least: int = 0) -> AbstractAsyncContextManager[Spool]:
        """A spool for an upload."""
        ...

    async def keep(self, owner_id: str, file: Spooled, filename: str) -> Resource:
        """Make an upload a resource, or find the one with the same bytes."""
        ...

    async def delete(self, owner_id: str, resource_id: str) -> None:
        """Delete a resource."""
        ...

    async def set_metadata(self, owner_id: str, resource_id: str, metadata: Mapping[str, JsonValue]) -> None:
        """Set metadata values."""
        ...

    async def original(self, owner_id: str, resource_id: str) -> StoredFile:
        """The uploaded bytes."""
        ...

    def wake(self) -> None:
        """Have the indexes learn of changed projects."""
        ...


@dataclass(frozen=True, slots=True)
class Batch:
    """Files added to a vector store together."""

    id: str
    created_at: float
    resource_ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FoundPassage:
    """A passage, and the attributes of its file."""

    hit: Hit
    attributes: Mapping[str, str | int | float | bool]


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenAIFiles:
    """Every method takes the owner first and sees only that owner's data."""

    resources: ResourceRepository
    projects: ProjectRepository
    actions: FileActions
    search_for: Callable[[str, SearchRequest], Awaitable[SearchResult]]
    max_bytes: int

    # ---- files

    async def page(
        self, owner_id: str, limit: int, after: str | None, store: str | None = None
    ) -> tuple[list[Resource], bool]:
        """Files, of a vector store or all, newest first after a file's id; and whether there are more."""
        cursor = None
        if after is not None:
            last = await self.resources.get(owner_id, own_id(FILE, after))
            cursor = encode_cursor(last.created_at, last.id)
        inside = ResourceFilter(project_ids=None if store is None else (store,))
        found, more = await self.resources.page(owner_id, inside, limit, cursor)
        return found, more is not None

    # ---- vector stores

    async def stores(self, owner_id: str) -> list[tuple[Project, list[ProjectCount]]]:
        """All projects, newest first, with the counts of their files."""
        counts = await self.projects.counts(owner_id)
        found = await self.projects.all(owner_id)
        return [(one, [count for count in counts if count.project_id == one.id]) for one in reversed(found)]

    async def store(self, owner_id: str, project_id: str) -> tuple[Project, list[ProjectCount]]:
        """One project with the counts of its files."""
        project = await self.projects.get(owner_id, project_id)
        return project, await self.projects.counts(owner_id, project_id)

    async def create(
        self, owner_id: str, name: str | None, metadata: Mapping[str, str] | None, file_ids: Sequence[str]
    ) -> str:
        """Create a project and add files; returns its id. Raises `NotFound` for an unknown file.

        Names of vector stores may repeat, names of projects may not: the project gets a number.
        """
        files = [await self.file(owner_id, one) for one in file_ids]
        settings: JsonObject = {_SETTINGS: {"name": name or "", "metadata": dict(metadata or {})}}
        project = await self._created(owner_id, (name or "").strip()[: MAX_NAME - 8] or _UNNAMED, settings)
        for one in files:
            await self.projects.add(owner_id, project.id, one.id)
        self.actions.wake()
        return project.id

    async def _created(self, owner_id: str, name: str, settings: JsonObject) -> Project:
        for number in range(1, _MAX_NUMBER):
            try:
                numbered = name if number == 1 else f"{name} ({number})"
                return await self.projects.create(owner_id, numbered, dict(settings))
            except Conflict:
                continue
        raise Conflict(f"There are {_MAX_NUMBER:,} projects with this name. Choose another.")

    async def change(
        self, owner_id: str, project_id: str, name: str | None, metadata: Mapping[str, str] | None
    ) -> None:
        """Change what a vector store is called here, and its metadata. The project keeps its name."""
        settings = await self.projects.settings(owner_id, project_id)
        own = dict(settings.get(_SETTINGS) or {})
        own |= {} if name is None else {"name": name}
        own |= {} if metadata is None else {"metadata": dict(metadata)}
        await self.projects.change(owner_id, project_id, {**settings, _SETTINGS: own})

    async def file(self, owner_id: str, file_id: str) -> Resource:
        """A file by OpenAI's id. Raises `NotFound`."""
        return await self.resources.get(owner_id, own_id(FILE, file_id))

    async def file_in(self, owner_id: str, project_id: str, file_id: str) -> Resource:
        """A file of a vector store. Raises `NotFound` for one outside it."""
        found = await self.file(owner_id, file_id)
        if project_id not in found.project_ids:
            raise NotFound
        return found

    async def add(
        self, owner_id: str, project_id: str, file_id: str, attributes: Mapping[str, JsonValue] | None
    ) -> Resource:
        """Add a file to a vector store, and set attributes."""
        found = await self.file(owner_id, file_id)
        await self.projects.add(owner_id, project_id, found.id)
        if attributes:
            await self.actions.set_metadata(owner_id, found.id, attributes)
        self.actions.wake()
        return await self.resources.get(owner_id, found.id)

    async def remove(self, owner_id: str, project_id: str, file_id: str) -> None:
        """Remove a file from a vector store. Raises `NotFound` if it is not there."""
        if not await self.projects.remove(owner_id, project_id, own_id(FILE, file_id)):
            raise NotFound
        self.actions.wake()

    # ---- batches

    async def add_batch(
        self, owner_id: str, project_id: str, files: Sequence[tuple[str, Mapping[str, JsonValue] | None]]
    ) -> Batch:
        """Add several files, all or, if one does not exist, none. The latest five batches of a vector store are remembered."""
        if not 1 <= len(files) <= MAX_BATCH:
            raise InvalidInput(f"A batch has from 1 to {MAX_BATCH} files.")
        settings = await self.projects.settings(owner_id, project_id)
        ids = [(await self.file(owner_id, file_id)).id for file_id, _ in files]
        for file_id, attributes in files:
            await self.add(owner_id, project_id, file_id, attributes)
        batch = Batch(BATCH + uuid.uuid4().hex, time.time(), tuple(dict.fromkeys(ids)))
        own = dict(settings.get(_SETTINGS) or {})
        known = [
            *(own.get("batches") or ()),
            {"id": batch.id, "at": batch.created_at, "files": list(batch.resource_ids)},
        ]
        await self.projects.change(
            owner_id, project_id, {**settings, _SETTINGS: {**own, "batches": known[-_MAX_BATCHES:]}}
        )
        return batch

    async def batch(self, owner_id: str, project_id: str, batch_id: str) -> tuple[Batch, list[Resource]]:
        """A batch with those of its files that are still in the vector store."""
        settings = await self.projects.settings(owner_id, project_id)
        for one in (settings.get(_SETTINGS) or {}).get("batches") or ():
            if one["id"] == batch_id:
                batch = Batch(one["id"], one["at"], tuple(one["files"]))
                inside = ResourceFilter(ids=batch.resource_ids, project_ids=(project_id,))
                found, _ = await self.resources.page(owner_id, inside, MAX_BATCH, None)
                return batch, found
        raise NotFound

    # ---- search

    async def search(
        self, owner_id: str, project_id: str, queries: Sequence[str], most: int, conditions: tuple[Expression, ...]
    ) -> list[FoundPassage]:
        """The best passages of a vector store for any of the queries."""
        if not 1 <= len(queries) <= _MAX_QUERIES:
            raise InvalidInput(f"`query` is a text, or a list of 1 to {_MAX_QUERIES} texts.")
        await self.projects.settings(owner_id, project_id)
        best: dict[str, Hit] = {}
        request = SearchRequest(owner_id=owner_id, query="", top_k=most, projects=(project_id,), conditions=conditions)
        for query in queries:
            for hit in (await self.search_for(owner_id, replace(request, query=query))).hits:
                if hit.chunk.id not in best or best[hit.chunk.id].score < hit.score:
                    best[hit.chunk.id] = hit
        found = sorted(best.values(), key=lambda hit: -hit.score)[:most]
        return [FoundPassage(hit, attributes_of(hit.provenance.metadata)) for hit in found]


def name_and_metadata(project: Project) -> tuple[str, dict[str, str]]:
    """A vector store's name and metadata, as they were given."""
    own: dict[str, Any] = project.settings.get(_SETTINGS) or {}
    return own.get("name", project.name), dict(own.get("metadata") or {})


def attributes_of(metadata: Mapping[str, Any]) -> dict[str, str | int | float | bool]:
    """The metadata values that attributes can have: texts, numbers and booleans."""
    return {key: value for key, value in metadata.items() if isinstance(value, str | int | float | bool)}
