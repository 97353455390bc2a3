"""HTTP schemas for the server's state."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from citewell.features.health.findings import Level
from citewell.features.schemas import Schema


class Health(Schema):
    """The server is running."""

    status: str = "ok"
    version: str


class RebuildingOut(Schema):
    """The progress of an index being rebuilt, in chunks; `problem`: what it waits for; `because`: why no other index answers."""

    done: int
    total: int
    problem: str
    because: str


class IndexChangeOut(Schema):
    """An index that will replace the active one, and its progress in chunks."""

    index_id: str
    fingerprint: str
    store: str
    mode: str = Field(description="fresh, dual or gradual")
    state: str = Field(description="building, or offered: it costs money and waits for `PATCH /indexes/{id}`")
    done: int
    total: int
    paused: bool
    problem: str


class Readiness(Schema):
    """Whether each part works, and the progress of an index being rebuilt: searches find what it already contains."""

    ready: bool
    degraded: bool = Field(
        default=False,
        description="the embedder's vendor is unavailable, so searches use keywords only; or the disk is nearly full, so no files are accepted",
    )
    rebuilding: RebuildingOut | None = None
    changing: list[IndexChangeOut] = Field(default=[], description="indexes being built for another model or store")
    parts: dict[str, dict[str, Any]]


class FindingOut(Schema):
    """The result of one check; `advice` says what to do about a note or an error."""

    part: str
    level: Level
    text: str
    advice: str


class Examination(Schema):
    """What is configured, and what can be reached."""

    findings: list[FindingOut]
