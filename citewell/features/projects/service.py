"""Projects: named sets of resources, each with optional chunking and index settings."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from citewell.chunk.config import ChunkConfig
from citewell.errors import InvalidInput
from citewell.features.requests import invalid_request
from citewell.ingest.chunking import with_settings
from citewell.storage.files.projects import ProjectRepository
from citewell.types import Project


@dataclass(frozen=True, slots=True, kw_only=True)
class ProjectService:
    """Projects of an owner. chunking: the server's default; has_index: whether an index is open."""

    repository: ProjectRepository
    chunking: ChunkConfig
    has_index: Callable[[str], bool]

    async def create(
        self,
        owner_id: str,
        name: str,
        chunking: Mapping[str, Any] | None = None,
        index: str | None = None,
        expires_in_hours: float | None = None,
    ) -> Project:
        """Create a project. Raises `Conflict` if the name is taken, and `InvalidRequest` for invalid chunking or an unknown index."""
        self._require_index(index)
        given = {"chunking": chunking, "index": index, "expires_in_hours": expires_in_hours}
        return await self.repository.create(owner_id, name, self._settings(given))

    async def change(self, owner_id: str, project_id: str, changes: Mapping[str, Any]) -> Project:
        """Change a project's `chunking` (`strategy`, `size`, `overlap`), `index` or `expires_in_hours`; None returns to the server's."""
        self._require_index(changes.get("index"))
        before = await self.repository.settings(owner_id, project_id)
        await self.repository.change(owner_id, project_id, self._settings({**before, **changes}))
        return await self.repository.get(owner_id, project_id)

    def _settings(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """A project's settings in their stored form. Chunking is validated together with the server's settings for missing fields."""
        settings = {name: value for name, value in given.items() if value is not None}
        try:
            with_settings(self.chunking, settings)
        except InvalidInput as error:
            raise invalid_request([{"field": "body.chunking", "problem": error.message}]) from error
        return settings

    def _require_index(self, named: str | None) -> None:
        """Raise `InvalidRequest` for an index that is not open. If a project's index is deleted later, the server's is used instead."""
        if named is not None and not self.has_index(named):
            raise invalid_request([{"field": "body.index", "problem": "There is no such open index."}])
