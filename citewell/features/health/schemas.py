"""How a server is, as HTTP sees it."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, Field

from citewell.features.health.findings import Level


class Health(BaseModel):
    """The process answers."""

    status: str = "ok"
    version: str


class RebuildingOut(BaseModel):
    """How far the index is that is being rebuilt, in chunks; `problem` is what it waits for."""

    done: int
    total: int
    problem: str


class Readiness(BaseModel):
    """Whether each part works, and how far the index is while it is being rebuilt: searches find what is there already."""

    ready: bool
    degraded: bool = Field(default=False, description="the vendor of the embedder is away: searches go by words alone")
    rebuilding: RebuildingOut | None = None
    parts: dict[str, dict[str, Any]]


class FindingOut(BaseModel):
    """One thing that was looked at; `advice` says what to do about a note or an error."""

    part: str
    level: Level
    text: str
    advice: str


class Examination(BaseModel):
    """What is configured and what can be reached."""

    findings: list[FindingOut]
