"""Files and their life cycle: states, versions, projects, and the job that advances a file's state."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any

from citewell.types.extraction import Coverage
from citewell.types.json import JsonObject
from citewell.types.metadata import Metadata, Provenance
from citewell.types.search import Expression


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
    """What the uploader asked for; kept with the resource so that a later attempt does the same.

    password is wiped from the row as soon as extraction has ended.
    chunking: how this file is cut, in place of its project's settings: `strategy`, `size`, `overlap`
    caption: words that belong to the file and are not in it; they are cut, and embedded with the picture that a file is
    """

    multimodal: bool = False
    extract_tables: bool = True
    extract_images: bool = True
    password: str | None = None
    chunking: JsonObject | None = None
    caption: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedOptions:
    """Upload options as a request names them; None leaves one as the file has it. An empty `chunking` is that of the project again, an
    empty `caption` none.
    """

    multimodal: bool | None = None
    extract_tables: bool | None = None
    extract_images: bool | None = None
    password: str | None = None
    chunking: JsonObject | None = None
    caption: str | None = None

    def over(self, known: UploadOptions) -> UploadOptions:
        """What a file's options become."""
        named = {name: value for name in _OPTIONS if (value := getattr(self, name)) is not None}
        for name in ("chunking", "caption"):
            if (value := getattr(self, name)) is not None:
                named[name] = value or None
        return replace(known, **named)


_OPTIONS = ("multimodal", "extract_tables", "extract_images", "password")


class UploadOutcome(StrEnum):
    """What an upload did: stored a new file, or what it did for one already stored."""

    CREATED = "created"
    UNCHANGED = "unchanged"
    RETRIED = "retried"
    REREAD = "reread"
    REINDEXED = "reindexed"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReindexSelection:
    """Which files to send through the stages again.

    failed:     only those that are FAILED or PARTIAL
    read_again: from their bytes, in place of only what was read from them
    """

    project_id: str | None = None
    failed: bool = False
    read_again: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Reindex:
    """A run that sends files through the stages again, and how far it is.

    total: files when it began. waiting: those still under way; failed: of the others, FAILED or PARTIAL. created_at: seconds since 1970 UTC
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

    @property
    def semantic_progress(self) -> float:
        """The share of its passages that have vectors, 0 to 1."""
        if self.searchable is not Searchable.WORDS:
            return 1.0 if self.searchable is Searchable.FULL else 0.0
        return self.vectors_done / self.vectors_total if self.vectors_total else 0.0

    @property
    def provenance(self) -> Provenance:
        """What its passages carry of it."""
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
    """A leased stage of a resource. Every write of the stage carries `fence`; a higher fence in the row means the lease is lost."""

    resource_id: str
    owner_id: str
    version: int
    stage: Stage
    attempt: int
    fence: int
    worker: str
    deaths: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredBlob:
    """A blob that extraction produced, and the key it has in the blob store."""

    name: str
    key: str
    mime_type: str
    kind: str
    size: int
    metadata: JsonObject


@dataclass(frozen=True, slots=True)
class BlobLink:
    """Where the bytes of a file can be fetched by anybody who knows the address, until `expires_at` (seconds since 1970). The address is a secret."""

    url: str = field(repr=False)
    expires_at: float


@dataclass(frozen=True, slots=True)
class ResourceSummary:
    """A resource without its coverage, metadata and summary; `unit` (page, slide …) and how many of them were read are given instead."""

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
