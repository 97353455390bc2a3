"""HTTP schemas for sources and their items."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from citewell.features.schemas import JsonIn, RequestBody, Schema, Timestamp
from citewell.features.sources.service import MAX_KEY, ItemSent
from citewell.ingest.frames import RawFrame
from citewell.types import SyncItem, UploadOutcome

_MAX_KIND = 64
_MAX_STAMP = 256
_MAX_PATH = 4_096
_MAX_PROBLEM = 1_000
_MAX_CURSOR = 512

Key = Annotated[
    str,
    Field(min_length=1, max_length=MAX_KEY, pattern=r"^[^\x00]+$", description="the source's key for the item"),
]
Stamp = Annotated[
    str, Field(max_length=_MAX_STAMP, description="the source's version stamp; a different one means a change")
]


class SourceIn(RequestBody):
    """A source's definition."""

    kind: str = Field(min_length=1, max_length=_MAX_KIND, pattern=r"^[a-z_]+$", description="which connector reads it")
    project: str | None = Field(
        default=None, description="id or name of the project for its files; default: one named after the source"
    )


class SourceRunIn(RequestBody):
    """The end of a run."""

    cursor: str | None = Field(default=None, max_length=_MAX_CURSOR, description="where the next run continues")
    report: dict[str, JsonIn] = Field(default_factory=dict[str, Any], description="what this run did")
    announce: bool = Field(default=True, description="whether to notify webhooks")


class SourceOut(Schema):
    """A source, and its progress."""

    name: str
    kind: str
    project_id: str
    cursor: str | None
    report: dict[str, Any]
    created_at: Timestamp
    finished_at: Timestamp | None


class SourceList(Schema):
    """Sources by name."""

    sources: list[SourceOut]


class FrameIn(RequestBody):
    """A record about a frame, by the meaning of its columns. They may contain anything; unusable values are left out and reported."""

    source_id: str = Field(max_length=MAX_KEY)
    source_path: str = Field(max_length=_MAX_PATH)
    summary: JsonIn = None
    tags: JsonIn = None
    timestamp: JsonIn = None
    classification: JsonIn = None
    objects: JsonIn = None
    other: dict[str, JsonIn] = Field(default_factory=dict[str, Any])


class ItemIn(RequestBody):
    """The details of an item's file."""

    key: Key
    stamp: Stamp
    identifier: str | None = Field(default=None, description="the file's identifier, unique in its project")
    metadata: dict[str, JsonIn] | None = None
    frame: FrameIn | None = Field(default=None, description="the record to which the frame belongs")
    by_model: bool = Field(default=True, description="whether the chat model, if configured, tidies the record")
    multimodal: bool = Field(default=True, description="as in an upload")

    def sent(self) -> ItemSent:
        """The value for the service."""
        frame = None if self.frame is None else RawFrame(**self.frame.model_dump())
        return ItemSent(**self.model_dump(exclude={"frame"}), frame=frame)


class ItemProblemIn(RequestBody):
    """Why an item could not be imported."""

    key: Key
    stamp: Stamp
    code: str = Field(min_length=1, max_length=_MAX_KIND)
    message: str = Field(min_length=1, max_length=_MAX_PROBLEM)

    def item(self) -> SyncItem:
        """The value for the service."""
        return SyncItem(key=self.key, stamp=self.stamp, problem=self.message, problem_code=self.code)


class ItemRemovalIn(RequestBody):
    """An item that is no longer in its source."""

    key: Key


class ItemRemovedOut(Schema):
    """Whether the item existed."""

    removed: bool


class ItemKeptOut(Schema):
    """The outcome for an item."""

    resource_id: str
    outcome: UploadOutcome
    notes: list[str] = Field(description="unusable values of its record, which were left out")


class SourceItemOut(Schema):
    """An item imported under a source's key; `resource_id` is null if it has no file (any more)."""

    key: str
    stamp: str
    resource_id: str | None
    status: str | None
    problem: str | None
    problem_code: str | None


class SourceItemList(Schema):
    """A page of items by key."""

    items: list[SourceItemOut]
    next_cursor: str | None
