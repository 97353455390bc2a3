"""Projects: named sets of resources, each with its own chunking if it says so."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from citewell.chunk.config import ChunkConfig
from citewell.errors import InvalidInput
from citewell.features.requests import invalid_request
from citewell.ingest.chunking import with_settings
from citewell.storage.projects import ProjectRepository
from citewell.types import Project


@dataclass(frozen=True, slots=True, kw_only=True)
class ProjectService:
    """Projects of an owner. chunking: what applies where a project says nothing."""

    projects: ProjectRepository
    chunking: ChunkConfig

    async def all(self, owner_id: str) -> list[Project]:
        """All projects, oldest first."""
        return await self.projects.all(owner_id)

    async def get(self, owner_id: str, project_id: str) -> Project:
        """One project."""
        return await self.projects.get(owner_id, project_id)

    async def create(self, owner_id: str, name: str, chunking: Mapping[str, Any] | None = None) -> Project:
        """A new project; `Conflict` when the name is taken, `InvalidRequest` for chunking that cannot work."""
        return await self.projects.create(owner_id, name, self._settings(chunking))

    async def change(self, owner_id: str, project_id: str, chunking: Mapping[str, Any] | None) -> Project:
        """Give a project another chunking (`strategy`, `size`, `overlap`); None returns it to the server's."""
        await self.projects.change(owner_id, project_id, self._settings(chunking))
        return await self.projects.get(owner_id, project_id)

    async def delete(self, owner_id: str, project_id: str) -> None:
        """Delete a project; its resources stay."""
        await self.projects.delete(owner_id, project_id)

    def _settings(self, chunking: Mapping[str, Any] | None) -> dict[str, Any]:
        """The form in which a project keeps its chunking, tried out where the server's settings fill the gaps."""
        if chunking is None:
            return {}
        settings = {"chunking": dict(chunking)}
        try:
            with_settings(self.chunking, settings)
        except InvalidInput as error:
            raise invalid_request([{"field": "body.chunking", "problem": error.message}]) from error
        return settings
