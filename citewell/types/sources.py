"""Synced sources, and the items imported from them."""

from __future__ import annotations

from dataclasses import dataclass, field

from citewell.types.json import JsonObject, JsonValue


@dataclass(frozen=True, slots=True, kw_only=True)
class SyncSource:
    """A synced source and its state. Times are seconds since 1970 UTC.

    kind: its connector; cursor: where that connector continues, in its own format; report: what the last run did
    """

    id: str
    owner_id: str
    name: str
    kind: str
    project_id: str
    cursor: str | None
    report: JsonObject = field(default_factory=dict[str, JsonValue])
    created_at: float = 0.0
    finished_at: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SyncItem:
    """What was imported under one of a source's keys. A different stamp means a change.

    resource_id: None if no resource was created, or it was deleted
    keys:        the metadata keys that the source set
    problem:     why it could not be imported, with `problem_code`
    status:      the resource's
    """

    key: str
    stamp: str
    resource_id: str | None = None
    keys: tuple[str, ...] = ()
    problem: str | None = None
    problem_code: str | None = None
    status: str | None = None
