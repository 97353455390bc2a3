"""Processes many files again, after a change of settings or a failure."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from citewell.storage.files.projects import ProjectRepository
from citewell.storage.work.reprocessing import ReprocessingRepository
from citewell.types import Reindex, ReindexSelection


@dataclass(frozen=True, slots=True, kw_only=True)
class ReindexService:
    """An owner's runs. A run is stored in the rows of its files, so it continues after a restart; unchanged texts come from the embedding cache."""

    repository: ReprocessingRepository
    projects: ProjectRepository
    wake: Callable[[], None]

    async def begin(
        self, owner_id: str, project: str | None = None, *, failed: bool = False, read_again: bool = False
    ) -> Reindex:
        """Start a run over all files, or those of a project (by id or name); `failed` and `read_again` as in `ReindexSelection`."""
        project_id = await self.projects.resolve(owner_id, project) if project is not None else None
        selection = ReindexSelection(project_id=project_id, failed=failed, read_again=read_again)
        begun = await self.repository.begin(owner_id, selection)
        self.wake()
        return begun
