"""HTTP schemas for projects."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from citewell.chunk.config import Strategy
from citewell.features.schemas import RequestBody, Schema, Timestamp
from citewell.types.resources import MAX_LIFETIME_HOURS

_LIFETIME = "hours after which files uploaded to it from now on are deleted; 0: never; null: the server's lifetime"


class ChunkingIn(RequestBody):
    """How a project's files are chunked, instead of the server's settings. Data files are always chunked by row."""

    strategy: Strategy | None = None
    size: int | None = Field(default=None, ge=16, le=100_000)
    overlap: int | None = Field(default=None, ge=0, le=50_000)

    def given(self) -> dict[str, Any]:
        """The fields that have a value."""
        return self.model_dump(mode="json", exclude_none=True)


class ProjectIn(RequestBody):
    """A new project."""

    name: str = Field(min_length=1, max_length=200, pattern=r"^[^\x00]+$")
    chunking: ChunkingIn | None = None
    index: str | None = Field(default=None, max_length=36, description="the index to search for this project")
    expires_in_hours: float | None = Field(default=None, ge=0, le=MAX_LIFETIME_HOURS, description=_LIFETIME)


class ProjectChange(RequestBody):
    """Changes to a project. Chunking applies to files indexed from then on (`POST /resources/{id}/reindex`)."""

    chunking: ChunkingIn | None = None
    index: str | None = Field(
        default=None, max_length=36, description="the index to search for this project; null for the server's"
    )
    expires_in_hours: float | None = Field(default=None, ge=0, le=MAX_LIFETIME_HOURS, description=_LIFETIME)

    def given(self) -> dict[str, Any]:
        """The given fields, including null ones."""
        changes: dict[str, Any] = {"chunking": self.chunking and self.chunking.given(), "index": self.index}
        changes["expires_in_hours"] = self.expires_in_hours
        return {name: changes[name] for name in sorted(self.model_fields_set)}


class ProjectOut(Schema):
    """A named set of resources."""

    id: str
    name: str
    created_at: Timestamp
    resource_count: int
    settings: dict[str, Any]


class ProjectList(Schema):
    """All projects, oldest first."""

    projects: list[ProjectOut]
    next_cursor: str | None = None
