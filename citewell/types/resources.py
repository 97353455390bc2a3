"""Files and their life cycle: states, versions, projects, and the job that advances a file's state."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any

from citewell.types.extraction import Coverage
from citewell.types.json import JsonObject
from citewell.types.metadata import Metadata, Provenance
from citewell.types.search import Expression

MAX_LIFETIME_HOURS = 876_600
"""A hundred years."""


class Status(StrEnum):
    """States of a resource, in order. EMBEDDING is searchable by keyword while its vectors follow. PARTIAL is readable and listed; `ErrorStage`
    says what is missing. DESCRIBED means described by a vision model.
    """

    UPLOADED = "uploaded"
    EXTRACTING = "extracting"
    EXTRACTED = "extracted"
    STORED = "stored"
    FAILED = "failed"
    INDEXING = "indexing"
    EMBEDDING = "embedding"
    INDEXED = "indexed"
    ANALYZED = "analyzed"
    DESCRIBED = "described"
    PARTIAL = "partial"


class ErrorStage(StrEnum):
    """The step at which a resource stopped. If only its description is missing, it is searchable."""

    EXTRACTION = "extraction"
    INDEXING = "indexing"
    DESCRIPTION = "description"


class Searchable(StrEnum):
    """Whether a resource's passages are found by keyword, by meaning, or both."""

    WORDS = "words"
    FULL = "full"


TERMINAL = frozenset({Status.STORED, Status.FAILED, Status.INDEXED, Status.ANALYZED, Status.DESCRIBED, Status.PARTIAL})
FULLY_PROCESSED = frozenset({Status.INDEXED, Status.ANALYZED, Status.DESCRIBED})


@dataclass(frozen=True, slots=True, kw_only=True)
class UploadOptions:
    """The uploader's options, stored with the resource so that a later attempt uses the same ones.

    password: wiped from the row as soon as extraction ends
    chunking: `strategy`, `size` and `overlap` for this file, overriding its project's
    caption:  text that belongs to the file but is not in it; chunked, and embedded together with an image file
    """

    multimodal: bool = False
    extract_tables: bool = True
    extract_images: bool = True
    password: str | None = None
    chunking: JsonObject | None = None
    caption: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedOptions:
    """Upload options in a request; None leaves the file's option unchanged. An empty `chunking` restores the project's, an empty `caption`
    removes it.
    """

    multimodal: bool | None = None
    extract_tables: bool | None = None
    extract_images: bool | None = None
    password: str | None = None
    chunking: JsonObject | None = None
    caption: str | None = None

    def over(self, known: UploadOptions) -> UploadOptions:
        """The file's options with these applied."""
        named = {name: value for name in _OPTIONS if (value := getattr(self, name)) is not None}
        for name in ("chunking", "caption"):
            if (value := getattr(self, name)) is not None:
                named[name] = value or None
        return replace(known, **named)


_OPTIONS = ("multimodal", "extract_tables", "extract_images", "password")


class UploadOutcome(StrEnum):
    """The effect of an upload: a new file, or what happened to one already stored."""

    CREATED = "created"
    UNCHANGED = "unchanged"
    RETRIED = "retried"
    REREAD = "reread"
    REINDEXED = "reindexed"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReindexSelection:
    """Which files to process again.

    failed:     only those that are FAILED or PARTIAL
    read_again: also read the original bytes again
    """

    project_id: str | None = None
    failed: bool = False
    read_again: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Reindex:
    """A run that processes files again, and its progress.

    total: files at its start; waiting: those still in progress; failed: those that ended FAILED or PARTIAL; created_at: seconds since 1970 UTC
    """

    id: str
    selection: ReindexSelection
    total: int
    waiting: int
    failed: int
    created_at: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Resource:
    """An uploaded file, as its owner sees it. Times are seconds since 1970 UTC, durations milliseconds, sizes bytes.

    metadata:            what people set
    extraction_metadata: what the file says about itself
    thread:              the conversation it was added in
    expires_at:          when it is deleted; None for never
    vectors_done, vectors_total: how many of its passages have vectors, and how many will
    bytes_hash:          the SHA-256 of the bytes
    content_hash:        identifies the resource; differs from bytes_hash for an item of a source and for a project's own copy
    """

    id: str
    owner_id: str
    filename: str
    identifier: str | None
    file_size_bytes: int
    mime_type: str
    content_hash: str
    bytes_hash: str
    detected_category: str
    type: str
    source: str
    storage_backend: str
    project_ids: tuple[str, ...]
    version: int
    status: Status
    error_message: str | None
    error_stage: str | None
    error_code: str | None
    extraction_metadata: JsonObject
    coverage: Coverage | None
    language: str | None
    summary: str | None
    chunk_count: int
    created_at: float
    extracted_at: float | None
    indexed_at: float | None
    extraction_duration_ms: int | None
    indexing_duration_ms: int | None
    parent_id: str | None
    record_id: str | None
    options: UploadOptions
    metadata: Metadata
    thread: str | None
    searchable: Searchable | None = None
    vectors_done: int = 0
    vectors_total: int = 0
    expires_at: float | None = None

    @property
    def semantic_progress(self) -> float:
        """The share of its passages that have vectors, 0 to 1."""
        if self.searchable is not Searchable.WORDS:
            return 1.0 if self.searchable is Searchable.FULL else 0.0
        return self.vectors_done / self.vectors_total if self.vectors_total else 0.0

    @property
    def provenance(self) -> Provenance:
        """The details its passages carry."""
        return Provenance(record_id=self.record_id, identifier=self.identifier, metadata=self.metadata)


@dataclass(frozen=True, slots=True, kw_only=True)
class Project:
    """A named set of an owner's resources. `settings` may override the chunker (`{"chunking": {"strategy": …}}`)."""

    id: str
    owner_id: str
    name: str
    created_at: float
    settings: dict[str, Any]
    resource_count: int = 0


class Stage(StrEnum):
    """The durable stages that a worker runs."""

    EXTRACT = "extract"
    INDEX = "index"
    EMBED = "embed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """A leased stage of a resource. Every write of the stage carries `fence`; a higher fence in the row means the lease is lost.

    is_short: whether it is the first attempt to read a short text, which may be read together with others
    """

    resource_id: str
    owner_id: str
    version: int
    stage: Stage
    attempt: int
    fence: int
    worker: str
    deaths: int = 0
    is_short: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredBlob:
    """A blob that extraction produced, and its key in the blob store."""

    name: str
    key: str
    mime_type: str
    kind: str
    size: int
    metadata: JsonObject


@dataclass(frozen=True, slots=True)
class BlobLink:
    """A URL from which anyone who knows it can download a file until `expires_at` (seconds since 1970). It is a secret."""

    url: str = field(repr=False)
    expires_at: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpiredFile:
    """A file deleted at the end of its lifetime (`deleted_at`: seconds since 1970 UTC). receipt: what was deleted with it."""

    resource_id: str
    deleted_at: float
    receipt: JsonObject


@dataclass(frozen=True, slots=True)
class ResourceSummary:
    """A resource with its `unit` (page, slide …) and the number of units read, instead of its coverage, metadata and summary."""

    resource: Resource
    unit: str | None
    unit_count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ResourceFilter:
    """Filters for a list; None means any. A resource must match all `conditions` (filter language)."""

    project_ids: tuple[str, ...] | None = None
    status: str | None = None
    type: str | None = None
    category: str | None = None
    parent_id: str | None = None
    query: str | None = None
    ids: tuple[str, ...] | None = None
    conditions: tuple[Expression, ...] = ()
