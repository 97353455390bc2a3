"""HTTP schemas for resources."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from datetime import datetime
from typing import Annotated, Any, Self

from pydantic import BeforeValidator, Field

from citewell.features.resources.handed_out import Deleted
from citewell.features.resources.said import Said
from citewell.features.schemas import (
    MAX_PROJECTS,
    CoverageJson,
    ElementJson,
    FiltersIn,
    JsonIn,
    LocatorJson,
    MetadataJson,
    MetadataValueOut,
    PieceJson,
    RequestBody,
    Schema,
    StageDetailsJson,
    Timestamp,
    rounded,
    sample,
    utc,
)
from citewell.ingest.adoption import ARCHIVE_PATH
from citewell.storage.files.resources import Original
from citewell.types import (
    AskedOptions,
    BlobLink,
    Chunk,
    ExpiredFile,
    JsonValue,
    MetadataKind,
    Resource,
    ResourceSummary,
    Searchable,
    UploadOutcome,
)
from citewell.types.accounts import Grant
from citewell.types.extraction import Coverage
from citewell.types.resources import MAX_LIFETIME_HOURS

MAX_CAPTION = 20_000
"""Characters of a caption; anything longer is a document."""


class OptionsOut(Schema):
    """A file's options. `chunking` is null if its project's, or the server's, applies."""

    multimodal: bool
    extract_tables: bool
    extract_images: bool
    chunking: dict[str, Any] | None
    caption: str | None = None


class StageOut(Schema):
    """One entry of a resource's timeline."""

    status: str
    at: Timestamp
    version: int
    details: StageDetailsJson = Field(default={})

    @staticmethod
    def of(event: Mapping[str, Any]) -> StageOut:
        """The public form of an event; what else it says are the details."""
        return StageOut.model_validate(
            {**event, "details": {k: v for k, v in event.items() if k not in {"id", "at", "version", "status"}}}
        )


def _coverage_json(coverage: Coverage | dict[str, Any] | None) -> dict[str, Any] | None:
    return coverage.to_json() if isinstance(coverage, Coverage) else coverage


class ResourceOut(Schema):
    """An uploaded file and its state. Durations in milliseconds, sizes in bytes."""

    id: str
    filename: str
    identifier: str | None
    file_size_bytes: int
    mime_type: str
    content_hash: str = Field(validation_alias="bytes_hash", description="SHA-256 of the bytes, in hexadecimal")
    detected_category: str = Field(description="rag, data, image, video, binary or unknown")
    type: str
    source: str
    storage_backend: str
    project_ids: list[str]
    version: int
    status: str
    error_message: str | None
    error_stage: str | None = Field(
        description="extraction, indexing or description (a file without only a description is searchable)"
    )
    error_code: str | None
    extraction_metadata: MetadataJson
    coverage: Annotated[CoverageJson | None, BeforeValidator(_coverage_json)]
    language: str | None
    summary: str | None
    chunk_count: int
    searchable: Searchable | None = Field(
        description="words: by keyword, while its vectors are being computed; full: by keyword and meaning; null: not yet, or never"
    )
    semantic_progress: Annotated[float, rounded(4)] = Field(
        description="the share of its passages with vectors, 0 to 1"
    )
    created_at: Timestamp
    extracted_at: Timestamp | None
    indexed_at: Timestamp | None
    extraction_duration_ms: int | None
    indexing_duration_ms: int | None
    parent_id: str | None
    record_id: str | None
    metadata: dict[str, MetadataValueOut] = Field(default={}, description="metadata set by people")
    thread: str | None = Field(default=None, description="the conversation the file belongs to")
    expires_at: Timestamp | None = Field(default=None, description="when it is deleted; null: never")
    options: OptionsOut
    stages: list[StageOut] | None = None

    @staticmethod
    def whole(resource: Resource, events: Iterable[Mapping[str, JsonValue]]) -> ResourceOut:
        """The public form of a resource with its timeline."""
        stages = [StageOut.of(event) for event in events]
        return ResourceOut.model_validate(resource).model_copy(update={"stages": stages})

    @staticmethod
    def brief(summary: ResourceSummary) -> ResourceOut:
        """The public form of a summary: the coverage has only `unit` and `unit_count`."""
        coverage = {"unit": summary.unit, "unit_count": summary.unit_count} if summary.unit else None
        return ResourceOut.model_validate(summary.resource).model_copy(update={"coverage": coverage})

    def within(self, grant: Grant, hidden: Collection[str] = ()) -> Self:
        """The resource as the holder of a grant may see it: only projects of the grant, and no hidden parent."""
        if grant.projects is None:
            return self
        changes: dict[str, Any] = {"project_ids": [one for one in self.project_ids if one in grant.projects]}
        if self.parent_id in hidden:
            said = {key: value for key, value in self.metadata.items() if key != ARCHIVE_PATH}
            changes |= {"parent_id": None, "metadata": said}
        return self.model_copy(update=changes)


class IngestedOut(ResourceOut):
    """An uploaded file, and the outcome."""

    outcome: UploadOutcome = Field(
        description="created: a new file. For an existing one, unchanged: nothing to do; retried: failed steps run again; "
        "reread, reindexed: read or chunked again because of new options"
    )


class OptionsIn(RequestBody):
    """Options to change; omitted ones stay. An empty `chunking` restores the project's."""

    multimodal: bool | None = None
    extract_tables: bool | None = None
    extract_images: bool | None = None
    password: str | None = Field(default=None, description="opens an encrypted file")
    chunking: dict[str, JsonIn] | None = Field(default=None, description="`strategy`, `size`, `overlap`, for this file")
    caption: str | None = Field(
        default=None, max_length=MAX_CAPTION, description="text that belongs to the file; an empty one removes it"
    )

    def asked(self) -> AskedOptions:
        """The value for the service."""
        return AskedOptions(**self.model_dump())


class PictureIn(RequestBody):
    """Which picture of a file, and the scope that must contain the file."""

    chunk_id: str | None = Field(
        default=None, max_length=64, description="the passage that describes the picture; omit it for a picture file"
    )
    projects: list[str] | None = Field(default=None, max_length=MAX_PROJECTS, description="ids or names: any of them")
    resource_ids: list[str] | None = Field(default=None, max_length=10_000, description="ids or identifiers")
    filters: FiltersIn = Field(default=[], description="filters; the file must match all")


class ResourceList(Schema):
    """A page of resources, newest first."""

    resources: list[ResourceOut]
    next_cursor: str | None


class FacetValueOut(Schema):
    """A value, and how many files have it. For dates it is a month or a year in UTC."""

    value: bool | float | str
    files: int


class FacetOut(Schema):
    """A field with values of one type."""

    field: str = Field(description="its name in filters")
    type: MetadataKind = Field(validation_alias="kind")
    files: int = Field(description="how many files have it")
    distinct: int = Field(description="how many distinct values there are")
    values: list[FacetValueOut] = Field(description="the most frequent values; for dates, the latest periods")
    min: float | str | None = Field(
        default=None, validation_alias="least", description="the lowest number, or the earliest date"
    )
    max: float | str | None = Field(
        default=None, validation_alias="greatest", description="the highest number, or the latest date"
    )


class FacetsOut(Schema):
    """The number of files, and what they can be filtered by."""

    files: int
    facets: list[FacetOut] = Field(validation_alias="fields")


class ElementList(Schema):
    """A page of elements in reading order."""

    elements: list[ElementJson]
    next_cursor: str | None


class ChunkOut(Schema):
    """A chunk: the indexed text, and the elements it was made from."""

    id: str
    ordinal: int
    type: str
    text: str
    context: str
    token_count: int
    locator: LocatorJson
    pieces: list[PieceJson]

    @staticmethod
    def of(chunk: Chunk) -> ChunkOut:
        """The public form of a chunk."""
        pieces = [{"element_id": p.element_id, "start": p.start, "end": p.end} for p in chunk.pieces]
        return ChunkOut(
            id=chunk.id,
            ordinal=chunk.ordinal,
            type=chunk.type.value,
            text=chunk.text,
            context=chunk.context,
            token_count=chunk.token_count,
            locator=chunk.locator.to_json(),
            pieces=pieces,
        )


class ChunkList(Schema):
    """A page of chunks in order."""

    chunks: list[ChunkOut]
    next_cursor: str | None


class BlobOut(Schema):
    """A file that extraction produced: an image from the document, or the exact copy of a table."""

    name: str
    mime_type: str
    kind: str
    size: int
    metadata: dict[str, Any]


class BlobList(Schema):
    """All extracted files of a resource."""

    blobs: list[BlobOut]


class ReceiptOut(Schema):
    """What a deletion removed. `vectors_left` is counted afterwards; it is 0 unless a store failed.

    `quotations`: citations in anybody's conversations from which the file's words were removed.
    """

    deleted: list[str]
    chunks: int
    elements: int
    files: int
    quotations: int
    vectors_left: int

    @staticmethod
    def of(done: Deleted) -> ReceiptOut:
        """The public form of a deletion."""
        return ReceiptOut(
            deleted=list(done.receipt.resource_ids),
            chunks=done.receipt.chunks,
            elements=done.receipt.elements,
            files=len(done.receipt.blob_keys),
            quotations=done.receipt.quotations,
            vectors_left=done.vectors_left,
        )


class ExpiredOut(ReceiptOut):
    """What the end of a file's lifetime removed."""

    resource_id: str
    deleted_at: Timestamp

    @staticmethod
    def of_file(file: ExpiredFile) -> ExpiredOut:
        """The public form of a receipt. A deletion that the server has not finished everywhere leaves vectors, which no search finds."""
        unfinished = {"vectors_left": file.receipt["chunks"]}
        values = {"resource_id": file.resource_id, "deleted_at": file.deleted_at}
        return ExpiredOut.model_validate({**unfinished, **file.receipt, **values})


class ExpiredList(Schema):
    """A page of expired files, newest first."""

    expired: list[ExpiredOut]
    next_cursor: str | None


class LinkOut(Schema):
    """A link to download a file without a token, and its expiry. Protect the link like a token."""

    url: str
    expires_at: datetime
    filename: str
    size: int
    sha256: str

    @staticmethod
    def of(link: BlobLink, original: Original) -> LinkOut:
        """The public form of a link."""
        return LinkOut(
            url=link.url,
            expires_at=utc(link.expires_at),
            filename=original.filename,
            size=original.size,
            sha256=original.content_hash,
        )


class ResourceChange(RequestBody):
    """Changes to a file; omitted fields stay."""

    metadata: dict[str, JsonIn | None] = Field(default={}, description="keys to set; null removes a key")
    identifier: str | None = Field(
        default=None, description="your own name for it, unique in a project; empty removes it"
    )
    thread: str | None = Field(default=None, description="the conversation it belongs to; empty removes it")
    expires_in_hours: float | None = Field(
        default=None,
        ge=0,
        le=MAX_LIFETIME_HOURS,
        description="its lifetime from now, after which it is deleted; 0: never",
    )

    def said(self) -> Said:
        """The value for the service."""
        return Said(
            metadata=self.metadata,
            identifier=self.identifier,
            thread=self.thread,
            expires_in_hours=self.expires_in_hours,
        )


class RecordIn(RequestBody):
    """A text to index."""

    id: str = Field(min_length=1, max_length=512, pattern=r"^[^\x00]+$")
    text: str
    title: str | None = Field(default=None, pattern=r"^[^\x00]*$")
    metadata: dict[str, Any] = Field(
        default={}, description="texts, numbers, true or false, dates (ISO 8601), lists of texts"
    )


class RecordsIn(RequestBody):
    """Texts to add; one with a known id replaces the earlier text, and is also added to the given project."""

    model_config = sample(
        {"records": [{"id": "note-1", "text": "The warehouse closes at nine.", "metadata": {"tags": ["hours"]}}]}
    )

    records: list[RecordIn] = Field(max_length=10_000)
    project: str | None = None


class RecordsOut(Schema):
    """The result: resource ids, one per text in order, and how many resources are new, replaced or unchanged."""

    resource_ids: list[str]
    added: int
    replaced: int
    unchanged: int
