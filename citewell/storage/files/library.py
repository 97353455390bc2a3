"""The agent's access to files, over SQL and the blob store. Every method checks the owner first."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from citewell.storage.files.content import ContentRepository
from citewell.storage.files.metadata import MetadataRepository
from citewell.storage.files.projects import ProjectRepository
from citewell.storage.files.resources import ResourceRepository
from citewell.types import Element, ElementType, Expression, Resource, ResourceFilter, ResourceInfo, Scope

_MAX_LISTED = 500
_MAX_COUNTED = 1_000
_MAX_NAMED = 20_000  # ids per query: databases accept about 32,000 parameters
_COUNTED_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class SqlLibrary:
    """Implements the agent's `Library`, `ElementLookup` and `PageTables`."""

    resources: ResourceRepository
    projects: ProjectRepository
    content: ContentRepository
    metadata: MetadataRepository
    _counted: dict[tuple[str, Scope], tuple[int, float]] = field(
        default_factory=dict[tuple[str, Scope], tuple[int, float]], repr=False
    )

    async def list_resources(self, owner_id: str, scope: Scope) -> Sequence[ResourceInfo]:
        """Returns the resources in scope, in any state, newest first, at most 500.

        If the scope names resources, returns those and the files inside them.
        """
        ids = await self.projects.named_within(owner_id, scope)
        if ids is not None:
            most = max(_MAX_LISTED, len(scope.resource_ids or ()))  # an archive may contain many more files
            found = [await self.resources.get(owner_id, i) for i in ids[:most]]
        else:
            inside = await self._inside(owner_id, scope)
            found, _ = await self.resources.page(owner_id, inside, _MAX_LISTED, None)
        return [_info(resource) for resource in found]

    async def narrowed(self, owner_id: str, scope: Scope, filters: tuple[Expression, ...]) -> Scope:
        """Narrows the scope to its resources that currently match the filters.

        Raises `InvalidFilter` for a filter that file lists do not support. Known metadata keys are those in the scope's
        projects.
        """
        return await self.metadata.narrowed(owner_id, scope, filters, scope.project_ids)

    async def count_characters(self, owner_id: str, scope: Scope) -> int:
        """Returns the characters in all files in scope, as counted by extraction; cached for a minute."""
        key, now = (owner_id, scope), time.monotonic()
        known = self._counted.get(key)
        if known is not None and known[1] > now:
            return known[0]
        inside = await self._inside(owner_id, scope)
        count = await self.resources.count_characters(owner_id, inside)
        if len(self._counted) >= _MAX_COUNTED:
            self._counted.clear()
        self._counted[key] = (count, now + _COUNTED_SECONDS)
        return count

    async def read_resource(self, owner_id: str, resource_id: str, first: int, last: int) -> Sequence[Element]:
        """Returns elements whose page, slide or row lies in first..last; all of a file without such units."""
        resource = await self.resources.get(owner_id, resource_id)
        found: list[Element] = []
        async for batch in self.content.iterate_elements(resource_id, resource.version):
            found += [e for e in batch if _within(e, first, last)]
        return found

    async def page_file(self, owner_id: str, resource_id: str) -> ResourceInfo:
        """Returns the file. Raises `NotFound` if it is not the owner's."""
        return _info(await self.resources.get(owner_id, resource_id))

    async def page_tables(self, owner_id: str, resource_id: str, limit: int) -> Sequence[Element]:
        """Returns the first `limit` tables of the current version, in reading order."""
        resource = await self.resources.get(owner_id, resource_id)
        stored, _ = await self.content.elements_page(resource_id, resource.version, limit, type=ElementType.TABLE.value)
        return await asyncio.to_thread(lambda: [Element.from_json(one) for one in stored])

    async def page_mentions(self, owner_id: str, resource_id: str, words: Sequence[str], limit: int) -> Sequence[str]:
        """Returns the current version's first `limit` texts that contain one of the words, ignoring case."""
        resource = await self.resources.get(owner_id, resource_id)
        return await self.content.texts_with(resource_id, resource.version, words, limit)

    async def elements(
        self, owner_id: str, resource_id: str, version: int, ids: Sequence[str]
    ) -> Mapping[str, Element]:
        """Returns the elements with these ids that exist in this version."""
        await self.resources.get(owner_id, resource_id)
        return await self.content.elements_by_id(resource_id, version, ids)

    async def _inside(self, owner_id: str, scope: Scope) -> ResourceFilter:
        named = scope.project_ids
        projects = None if named is None else await self.projects.resolve_all(owner_id, named)
        inside = await self.projects.named_within(owner_id, scope)
        return ResourceFilter(project_ids=projects, ids=inside and inside[:_MAX_NAMED])


def _within(element: Element, first: int, last: int) -> bool:
    place = element.locator
    number = place.page or place.slide or place.row
    return number is None or first <= number <= last


def _info(resource: Resource) -> ResourceInfo:
    coverage = resource.coverage
    notes = [resource.error_message or ""]
    if coverage is not None:
        notes += [*coverage.warnings, *coverage.skipped]
        notes += [f"{u.unit} {u.number}: {text}" for u in coverage.units for text in (*u.warnings, *u.skipped)]
    return ResourceInfo(
        id=resource.id,
        filename=resource.filename,
        version=resource.version,
        status=resource.status.value,
        category=resource.detected_category,
        characters=coverage.characters if coverage else 0,
        pages=len(coverage.units) if coverage else 0,
        unit=coverage.units[0].unit if coverage and coverage.units else "page",
        note="; ".join(note for note in notes[:10] if note),
        provenance=resource.provenance,
    )
