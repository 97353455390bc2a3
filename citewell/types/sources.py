"""What is synchronised from elsewhere: sources, and the items that they have brought."""

from __future__ import annotations

from dataclasses import dataclass, field

from citewell.types.json import JsonObject, JsonValue


@dataclass(frozen=True, slots=True, kw_only=True)
class SyncSource:
    """A place that files are synchronised from, and how far that is. Times are seconds since 1970 UTC.

    kind: which connector reads it. cursor: where the connector goes on, in its own words. report: what the last run did
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
    """What a source has brought under one of its keys. Another stamp is a change.

    resource_id: None where nothing was made of it, or what was made is deleted. keys: of metadata, those that the source gave.
    problem: why it could not be brought, with `problem_code`. status: of the resource
    """

    key: str
    stamp: str
    resource_id: str | None = None
    keys: tuple[str, ...] = ()
    problem: str | None = None
    problem_code: str | None = None
    status: str | None = None
