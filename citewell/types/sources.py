"""Synced sources, and the items imported from them."""

from __future__ import annotations

from dataclasses import dataclass, field

from citewell.types.json import JsonObject, JsonValue


@dataclass(frozen=True, slots=True, kw_only=True)
class SyncSource:
    """A synced source and its state. Times are seconds since 1970 UTC.

    kind: its connector; cursor: where the connector continues, in the connector's format; report: the result of the last run
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
    """An item imported from a source, by its key there. A different stamp means it changed.

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
