"""HTTP schemas for resources."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime
from typing import Any, Self

from pydantic import Field

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
    metadata_json,
    sample,
    utc,
)
from citewell.ingest.adoption import ARCHIVE_PATH
from citewell.ingest.records import RecordsAdded
from citewell.storage.files.resources import Original
from citewell.types import (
    AskedOptions,
    BlobLink,
    Chunk,
    Facet,
    Facets,
    JsonValue,
    MetadataKind,
    Resource,
    ResourceSummary,
    Searchable,
    StoredBlob,
    UploadOptions,
    UploadOutcome,
)
from citewell.types.accounts import Grant

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
    at: datetime
    version: int
    details: StageDetailsJson = Field(default={})


class ResourceOut(Schema):
    """An uploaded file and its state. Durations in milliseconds, sizes in bytes."""

    id: str
    filename: str
    identifier: str | None
    file_size_bytes: int
    mime_type: str
    content_hash: str = Field(description="SHA-256 of the bytes, in hexadecimal")
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
    coverage: CoverageJson | None
    language: str | None
    summary: str | None
    chunk_count: int
    searchable: Searchable | None = Field(
        description="words: by keyword, while its vectors are being computed; full: by keyword and meaning; null: not yet, or never"
    )
    semantic_progress: float = Field(description="the share of its passages with vectors, 0 to 1")
    created_at: datetime
    extracted_at: datetime | None
    indexed_at: datetime | None
    extraction_duration_ms: int | None
    indexing_duration_ms: int | None
    parent_id: str | None
    record_id: str | None
    metadata: dict[str, MetadataValueOut] = Field(default={}, description="metadata set by people")
    thread: str | None = Field(default=None, description="the conversation the file belongs to")
    options: OptionsOut
    stages: list[StageOut] | None = None

    @staticmethod
    def of(resource: Resource, events: list[dict[str, JsonValue]] | None = None) -> ResourceOut:
        """The public form of a resource, with its timeline when given."""
        return ResourceOut(
            id=resource.id,
            filename=resource.filename,
            identifier=resource.identifier,
            file_size_bytes=resource.file_size_bytes,
            mime_type=resource.mime_type,
            content_hash=resource.bytes_hash,
            detected_category=resource.detected_category,
            type=resource.type,
            source=resource.source,
            storage_backend=resource.storage_backend,
            project_ids=list(resource.project_ids),
            version=resource.version,
            status=resource.status.value,
            error_message=resource.error_message,
            error_stage=resource.error_stage,
            error_code=resource.error_code,
            extraction_metadata=dict(resource.extraction_metadata),
            coverage=resource.coverage.to_json() if resource.coverage else None,
            language=resource.language,
            summary=resource.summary,
            chunk_count=resource.chunk_count,
            searchable=resource.searchable,
            semantic_progress=round(resource.semantic_progress, 4),
            created_at=utc(resource.created_at),
            extracted_at=utc(resource.extracted_at),
            indexed_at=utc(resource.indexed_at),
            extraction_duration_ms=resource.extraction_duration_ms,
            indexing_duration_ms=resource.indexing_duration_ms,
            parent_id=resource.parent_id,
            record_id=resource.record_id,
            metadata=metadata_json(resource.metadata),
            thread=resource.thread,
            options=_options(resource.options),
            stages=None if events is None else [_stage(event) for event in events],
        )

    @staticmethod
    def brief(summary: ResourceSummary) -> ResourceOut:
        """The public form of a summary: the coverage has only `unit` and `unit_count`."""
        coverage = {"unit": summary.unit, "unit_count": summary.unit_count} if summary.unit else None
        return ResourceOut.of(summary.resource).model_copy(update={"coverage": coverage})

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


def _options(options: UploadOptions) -> OptionsOut:
    return OptionsOut(
        multimodal=options.multimodal,
        extract_tables=options.extract_tables,
        extract_images=options.extract_images,
        chunking=None if options.chunking is None else dict(options.chunking),
        caption=options.caption,
    )


def _stage(event: dict[str, Any]) -> StageOut:
    known = {"id", "at", "version", "status"}
    return StageOut(
        status=event["status"],
        at=utc(float(event["at"])),
        version=event["version"],
        details={k: v for k, v in event.items() if k not in known},
    )


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
    type: MetadataKind
    files: int = Field(description="how many files have it")
    distinct: int = Field(description="how many distinct values there are")
    values: list[FacetValueOut] = Field(description="the most frequent values; for dates, the latest periods")
    min: float | str | None = Field(default=None, description="the lowest number, or the earliest date")
    max: float | str | None = Field(default=None, description="the highest number, or the latest date")

    @staticmethod
    def of(facet: Facet) -> FacetOut:
        """The public form of a facet."""
        return FacetOut(
            field=facet.field,
            type=facet.kind,
            files=facet.files,
            distinct=facet.distinct,
            values=[FacetValueOut(value=one.value, files=one.files) for one in facet.values],
            min=facet.least,
            max=facet.greatest,
        )


class FacetsOut(Schema):
    """The number of files, and what they can be filtered by."""

    files: int
    facets: list[FacetOut]

    @staticmethod
    def of(found: Facets) -> FacetsOut:
        """The public form of facets."""
        return FacetsOut(files=found.files, facets=[FacetOut.of(facet) for facet in found.fields])


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

    @staticmethod
    def of(blob: StoredBlob) -> BlobOut:
        """The public form of an extracted file."""
        return BlobOut(
            name=blob.name, mime_type=blob.mime_type, kind=blob.kind, size=blob.size, metadata=dict(blob.metadata)
        )


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

    def said(self) -> Said:
        """The value for the service."""
        return Said(metadata=self.metadata, identifier=self.identifier, thread=self.thread)


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

    @staticmethod
    def of(done: RecordsAdded) -> RecordsOut:
        """The public form of the result."""
        return RecordsOut(
            resource_ids=list(done.resource_ids), added=done.added, replaced=done.replaced, unchanged=done.unchanged
        )
