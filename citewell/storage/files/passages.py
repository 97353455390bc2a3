"""Loads the text of search results from SQL. Chunks changed or deleted since are omitted."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from citewell.storage.files.content import ContentRepository
from citewell.storage.files.metadata import MetadataRepository, MetadataRevision
from citewell.storage.files.projects import ProjectRepository
from citewell.types import ChunkPlace, ChunkType, Filter, MetadataKey, SearchRequest, StoredChunk
from citewell.types.metadata_values import is_resource_id

_MAX_KEPT = 256
# Reading the keys of 1,000 files takes about 40 ms. With more files than this, changes trigger a new reading less
# often.
_FEW_FILES = 500
_SECONDS_PER_FILE = 0.002


class _Files(NamedTuple):
    """An owner's files: with these ids, or in these projects; None for all."""

    owner_id: str
    resource_ids: tuple[str, ...] | None
    project_ids: tuple[str, ...] | None = None

    def count(self, all_files: int) -> int:
        """Returns how many files the keys are read from, of `all_files`; 0 for projects, which are not counted."""
        if self.resource_ids is not None:
            return len(self.resource_ids)
        return all_files if self.project_ids is None else 0


@dataclass(frozen=True, slots=True)
class _KnownKeys:
    """Cached metadata keys, and the revision at which they were read."""

    read_at: float
    revision: MetadataRevision
    keys: Sequence[MetadataKey]


@dataclass(frozen=True, slots=True)
class SqlChunks:
    """Implements `ChunkSource` and `NeighbourSource` of `citewell.retrieve` over SQL."""

    content: ContentRepository
    projects: ProjectRepository
    metadata: MetadataRepository
    _keys: dict[_Files, _KnownKeys] = field(default_factory=dict["_Files", "_KnownKeys"], repr=False)

    async def load(self, owner_id: str, ids: Sequence[str]) -> Mapping[str, StoredChunk]:
        """Returns the chunks that exist and belong to the owner."""
        return await self.content.load_chunks(owner_id, ids)

    async def at(self, owner_id: str, places: Sequence[ChunkPlace]) -> Mapping[ChunkPlace, StoredChunk]:
        """Returns the owner's chunks at these places."""
        found = await self.content.chunks_at(owner_id, places)
        return {ChunkPlace(one.chunk.resource_id, one.chunk.version, one.chunk.ordinal): one for one in found}

    async def passages(
        self, owner_id: str, resource_id: str, types: Sequence[ChunkType], most: int
    ) -> Sequence[StoredChunk]:
        """Returns the owner's chunks of these types in order: all, or `most` of them, evenly spaced."""
        found = await self.content.passages(resource_id, types, most)
        mine = await self.content.load_chunks(owner_id, [chunk.id for chunk in found])
        return [mine[chunk.id] for chunk in found if chunk.id in mine]

    async def resolve_scope(self, request: SearchRequest) -> Filter:
        """Resolves a request's scope to a filter on resources, including files inside the named ones.

        The corpus is all files of its projects. Raises `NotFound` for an unknown project or identifier; an unknown id
        matches nothing.
        """
        projects = request.scope.project_ids
        if request.projects is not None:
            named = await self.projects.resolve_all(request.owner_id, request.projects)
            projects = named if projects is None else tuple(one for one in named if one in projects)
        owner, scope = request.owner_id, request.scope
        bounds = [scope.resource_ids if scope.filters else await self._with_contained(owner, scope.resource_ids)]
        bounds.append(await self._with_contained(owner, await self._ids(request, projects)))
        corpus = None if projects is None else await self.projects.resource_ids(owner, projects)
        bounds.append(corpus)
        first, *others = [bound for bound in bounds if bound is not None] or [None]
        sets = [set(other) for other in others if other is not None]
        admitted = None if first is None else tuple(one for one in first if all(one in other for other in sets))
        return Filter(owner_id=owner, resource_ids=admitted, corpus=corpus)

    async def _with_contained(self, owner_id: str, ids: tuple[str, ...] | None) -> tuple[str, ...] | None:
        return None if ids is None else await self.metadata.with_contained(owner_id, ids)

    async def metadata_keys(
        self, owner_id: str, resource_ids: Sequence[str] | None, seconds: float
    ) -> Sequence[MetadataKey]:
        """Returns the metadata keys of all or these files of the owner, as of at most `seconds` ago.

        Changes by this process and added or deleted files count at once; with thousands of files, after 2 s per
        thousand.
        """

        async def read(revision: MetadataRevision) -> Sequence[MetadataKey]:
            if resource_ids is None and seconds:
                return await self.metadata.recent_keys(owner_id, revision, seconds)
            return await self.metadata.keys(owner_id, resource_ids)

        return await self._kept(_Files(owner_id, None if resource_ids is None else tuple(resource_ids)), seconds, read)

    async def keys_within(
        self, owner_id: str, project_ids: Sequence[str] | None, seconds: float
    ) -> Sequence[MetadataKey]:
        """Like `metadata_keys`, for the owner's files in these projects; None for all."""
        if project_ids is None:
            return await self.metadata_keys(owner_id, None, seconds)
        inside = tuple(sorted(project_ids))
        return await self._kept(
            _Files(owner_id, None, inside), seconds, lambda _: self.metadata.keys_within(owner_id, inside)
        )

    async def _kept(
        self, files: _Files, seconds: float, read: Callable[[MetadataRevision], Awaitable[Sequence[MetadataKey]]]
    ) -> Sequence[MetadataKey]:
        """Returns the cached keys of these files, or reads them."""
        now, revision = time.monotonic(), await self.metadata.revision(files.owner_id)
        known = self._keys.get(files)
        if known is not None and now - known.read_at < seconds:
            age, count = now - known.read_at, files.count(revision.files)
            if known.revision == revision or (count > _FEW_FILES and age < count * _SECONDS_PER_FILE):
                return known.keys
        found = await read(revision)
        if len(self._keys) >= _MAX_KEPT:
            self._keys.clear()
        self._keys[files] = _KnownKeys(now, revision, found)
        return found

    async def _ids(self, request: SearchRequest, project_ids: Sequence[str] | None) -> tuple[str, ...] | None:
        """Returns the ids of the files that the request names by id or identifier."""
        names = request.resource_ids
        if names is None or all(is_resource_id(name) for name in names):
            return names
        called = [name for name in names if not is_resource_id(name)]
        found = dict(zip(called, await self.metadata.resolve(request.owner_id, called, project_ids), strict=True))
        return tuple(found.get(name, name) for name in names)
