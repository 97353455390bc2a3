"""Sources and their items as HTTP sees them."""

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
    Field(min_length=1, max_length=MAX_KEY, pattern=r"^[^\x00]+$", description="the source's own name for the item"),
]
Stamp = Annotated[str, Field(max_length=_MAX_STAMP, description="of what the source has; another one is a change")]


class SourceIn(RequestBody):
    """What a source is."""

    kind: str = Field(min_length=1, max_length=_MAX_KIND, pattern=r"^[a-z_]+$", description="which connector reads it")
    project: str | None = Field(
        default=None, description="id or name of the project for its files; one of the source's name unless given"
    )


class SourceRunIn(RequestBody):
    """The end of a run."""

    cursor: str | None = Field(default=None, max_length=_MAX_CURSOR, description="where the next run goes on")
    report: dict[str, JsonIn] = Field(default_factory=dict[str, Any], description="what this run did")
    announce: bool = Field(default=True, description="whether webhooks are told")


class SourceOut(Schema):
    """A source, and how far it is."""

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
    """A record about a frame, by what its columns mean; they may hold anything, and what makes no sense is left out and reported."""

    source_id: str = Field(max_length=MAX_KEY)
    source_path: str = Field(max_length=_MAX_PATH)
    summary: JsonIn = None
    tags: JsonIn = None
    timestamp: JsonIn = None
    classification: JsonIn = None
    objects: JsonIn = None
    other: dict[str, JsonIn] = Field(default_factory=dict[str, Any])


class ItemIn(RequestBody):
    """What accompanies an item's file."""

    key: Key
    stamp: Stamp
    identifier: str | None = Field(default=None, description="of the file, unique in its project")
    metadata: dict[str, JsonIn] | None = None
    frame: FrameIn | None = Field(default=None, description="the record that the file is the frame of")
    by_model: bool = Field(default=True, description="whether the chat model, where there is one, tidies the record")
    multimodal: bool = Field(default=True, description="as of an upload")

    def sent(self) -> ItemSent:
        """The form that the service takes."""
        frame = None if self.frame is None else RawFrame(**self.frame.model_dump())
        return ItemSent(**self.model_dump(exclude={"frame"}), frame=frame)


class ItemProblemIn(RequestBody):
    """Why an item could not be brought."""

    key: Key
    stamp: Stamp
    code: str = Field(min_length=1, max_length=_MAX_KIND)
    message: str = Field(min_length=1, max_length=_MAX_PROBLEM)

    def item(self) -> SyncItem:
        """The form that the service takes."""
        return SyncItem(key=self.key, stamp=self.stamp, problem=self.message, problem_code=self.code)


class ItemRemovalIn(RequestBody):
    """An item that its source no longer has."""

    key: Key


class ItemRemovedOut(Schema):
    """Whether there was such an item."""

    removed: bool


class ItemKeptOut(Schema):
    """What became of an item."""

    resource_id: str
    outcome: UploadOutcome
    notes: list[str] = Field(description="what of its record makes no sense and was left out")


class SourceItemOut(Schema):
    """What a source has brought under a key; `resource_id` is null where there is no file of it (any more)."""

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
