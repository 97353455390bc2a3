"""How a server is, as HTTP sees it."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from citewell.features.health.findings import Level
from citewell.features.schemas import Schema


class Health(Schema):
    """The process answers."""

    status: str = "ok"
    version: str


class RebuildingOut(Schema):
    """How far the index is that is being rebuilt, in chunks; `problem` is what it waits for, `because` why no other one answers."""

    done: int
    total: int
    problem: str
    because: str


class IndexChangeOut(Schema):
    """An index that is to take the place of the one that answers, and how far it is, in chunks."""

    index_id: str
    fingerprint: str
    store: str
    mode: str = Field(description="fresh, dual or gradual")
    state: str = Field(description="building, or offered: it costs money, and waits for `PATCH /indexes/{id}`")
    done: int
    total: int
    paused: bool
    problem: str


class Readiness(Schema):
    """Whether each part works, and how far the index is while it is being rebuilt: searches find what is there already."""

    ready: bool
    degraded: bool = Field(
        default=False,
        description="the vendor of the embedder is away: searches go by words alone; or the disk is nearly full: no files are taken in",
    )
    rebuilding: RebuildingOut | None = None
    changing: list[IndexChangeOut] = Field(default=[], description="indexes of another model or store on their way")
    parts: dict[str, dict[str, Any]]


class FindingOut(Schema):
    """One thing that was looked at; `advice` says what to do about a note or an error."""

    part: str
    level: Level
    text: str
    advice: str


class Examination(Schema):
    """What is configured and what can be reached."""

    findings: list[FindingOut]
