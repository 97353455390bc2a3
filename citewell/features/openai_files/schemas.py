"""Files and vector stores as OpenAI's clients send and read them (https://platform.openai.com/docs/api-reference/vector-stores)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Literal

from pydantic import Field

from citewell.errors import InvalidInput
from citewell.features.addresses import passage_address
from citewell.features.openai_files.service import MAX_BATCH, Batch, FoundPassage, attributes_of, name_and_metadata
from citewell.features.openai_ids import FILE, STORE
from citewell.features.schemas import LocatorJson, RequestBody, Schema
from citewell.storage.files.projects import ProjectCount
from citewell.types import Project, Resource, Status

_MAX_PAIRS = 16
_FAILED = (Status.FAILED, Status.STORED)
_READY = (Status.INDEXED, Status.ANALYZED, Status.DESCRIBED, Status.PARTIAL)

Attribute = str | int | float | bool
Attributes = Annotated[dict[str, Attribute], Field(max_length=_MAX_PAIRS)]
Pairs = Annotated[dict[str, str], Field(max_length=_MAX_PAIRS)]
NoEffect = Annotated[Any, Field(description="accepted, without effect")]
FileState = Literal["in_progress", "completed", "failed"]


def state_of(status: Status) -> FileState:
    """What a client waits for: whether a file is searchable in full, or never will be."""
    if status in _FAILED:
        return "failed"
    return "completed" if status in _READY else "in_progress"


class StoreIn(RequestBody):
    """A new vector store."""

    name: str | None = None
    file_ids: list[str] = Field(default=[], max_length=MAX_BATCH)
    metadata: Pairs | None = None
    expires_after: dict[str, Any] | None = None
    description: NoEffect = None
    chunking_strategy: NoEffect = None

    def checked(self) -> StoreIn:
        """Itself. Raises `InvalidInput` for an expiry, which would be ignored."""
        if self.expires_after is not None:
            raise InvalidInput(
                "Vector stores do not expire here. Leave out `expires_after`, and delete the store yourself."
            )
        return self


class StoreChange(StoreIn):
    """Changes of a vector store."""


class StoreFileIn(RequestBody):
    """A file to add to a vector store."""

    file_id: str
    attributes: Attributes | None = None
    chunking_strategy: NoEffect = None


class StoreFileChange(RequestBody):
    """Attributes to set; others stay."""

    attributes: Attributes | None


class StoreBatchIn(RequestBody):
    """Files to add together: their ids with the same attributes, or each with its own."""

    file_ids: list[str] = Field(default=[], max_length=MAX_BATCH)
    attributes: Attributes | None = None
    chunking_strategy: NoEffect = None
    files: list[StoreFileIn] = Field(default=[], max_length=MAX_BATCH)


class RankingIn(RequestBody):
    """Of the ranking options, the lowest score."""

    score_threshold: float = Field(default=0.0, ge=0.0, le=1.0)
    ranker: NoEffect = None
    hybrid_search: NoEffect = None


class StoreSearchIn(RequestBody):
    """A search in a vector store."""

    query: str | list[str]
    filters: dict[str, Any] | None = None
    max_num_results: int = Field(default=10, ge=1, le=50)
    ranking_options: RankingIn | None = None
    rewrite_query: NoEffect = None


class FileOut(Schema):
    """A file."""

    id: str
    object: Literal["file"] = "file"
    bytes: int
    created_at: int
    filename: str
    purpose: str = "assistants"
    status: Literal["uploaded", "processed", "error"]
    status_details: str | None = None

    @staticmethod
    def of(resource: Resource) -> FileOut:
        """A resource as a file."""
        status = {"completed": "processed", "failed": "error", "in_progress": "uploaded"}[state_of(resource.status)]
        return FileOut.model_validate(
            {
                "id": FILE + resource.id,
                "bytes": resource.file_size_bytes,
                "created_at": int(resource.created_at),
                "filename": resource.filename,
                "status": status,
                "status_details": resource.error_message,
            }
        )


class FilePage(Schema):
    """A page of files, newest first."""

    object: Literal["list"] = "list"
    data: list[FileOut]
    first_id: str | None
    last_id: str | None
    has_more: bool


class DeletedOut(Schema):
    """What was deleted or removed."""

    id: str
    object: Literal["file", "vector_store.deleted", "vector_store.file.deleted"]
    deleted: Literal[True] = True


class FileCountsOut(Schema):
    """Files by state."""

    in_progress: int = 0
    completed: int = 0
    failed: int = 0
    cancelled: int = 0
    total: int = 0


class StoreOut(Schema):
    """A vector store."""

    id: str
    object: Literal["vector_store"] = "vector_store"
    created_at: int
    name: str
    usage_bytes: int
    file_counts: FileCountsOut
    status: Literal["in_progress", "completed"]
    expires_after: None = None
    expires_at: None = None
    last_active_at: int
    metadata: dict[str, str]

    @staticmethod
    def of(project: Project, counts: Sequence[ProjectCount]) -> StoreOut:
        """A project as a vector store."""
        name, metadata = name_and_metadata(project)
        counted = _counted([(state_of(one.status), one.files) for one in counts])
        return StoreOut(
            id=STORE + project.id,
            created_at=int(project.created_at),
            name=name,
            usage_bytes=sum(one.bytes for one in counts),
            file_counts=counted,
            status="in_progress" if counted.in_progress else "completed",
            last_active_at=int(project.created_at),
            metadata=metadata,
        )


class StorePage(Schema):
    """A page of vector stores, newest first."""

    object: Literal["list"] = "list"
    data: list[StoreOut]
    first_id: str | None
    last_id: str | None
    has_more: bool


class FileErrorOut(Schema):
    """Why a file cannot be searched."""

    code: Literal["server_error", "unsupported_file", "invalid_file"]
    message: str


class ChunkingOut(Schema):
    """How files are chunked: by what they are, which OpenAI calls `other`."""

    type: Literal["other"] = "other"


class StoreFileOut(Schema):
    """A file in a vector store."""

    id: str
    object: Literal["vector_store.file"] = "vector_store.file"
    usage_bytes: int
    created_at: int
    vector_store_id: str
    status: FileState
    last_error: FileErrorOut | None
    chunking_strategy: ChunkingOut = ChunkingOut()
    attributes: dict[str, Attribute]

    @staticmethod
    def of(project_id: str, resource: Resource) -> StoreFileOut:
        """A resource as a file of a vector store."""
        state, why = state_of(resource.status), resource.error_message or "No reader for files of this type."
        code = "unsupported_file" if resource.status is Status.STORED else "invalid_file"
        return StoreFileOut(
            id=FILE + resource.id,
            usage_bytes=resource.file_size_bytes,
            created_at=int(resource.created_at),
            vector_store_id=STORE + project_id,
            status=state,
            last_error=FileErrorOut(code=code, message=why) if state == "failed" else None,
            attributes=attributes_of(resource.metadata),
        )


class StoreFilePage(Schema):
    """A page of the files of a vector store, newest first."""

    object: Literal["list"] = "list"
    data: list[StoreFileOut]
    first_id: str | None
    last_id: str | None
    has_more: bool


class StoreBatchOut(Schema):
    """Files that were added together."""

    id: str
    object: Literal["vector_store.file_batch"] = "vector_store.file_batch"
    created_at: int
    vector_store_id: str
    status: Literal["in_progress", "completed"]
    file_counts: FileCountsOut

    @staticmethod
    def of(project_id: str, batch: Batch, files: Sequence[Resource]) -> StoreBatchOut:
        """A batch, by the states of its files."""
        counted = _counted([(state_of(one.status), 1) for one in files])
        return StoreBatchOut(
            id=batch.id,
            created_at=int(batch.created_at),
            vector_store_id=STORE + project_id,
            status="in_progress" if counted.in_progress else "completed",
            file_counts=counted,
        )


class TextOut(Schema):
    """A text."""

    type: Literal["text"] = "text"
    text: str


class PassageCitationOut(Schema):
    """A Citewell extension: where the passage is. `url` opens it."""

    chunk_id: str
    label: str
    url: str
    locator: LocatorJson


class StoreHitOut(Schema):
    """A passage."""

    file_id: str
    filename: str
    score: float
    attributes: dict[str, Attribute]
    content: list[TextOut]
    citation: PassageCitationOut

    @staticmethod
    def of(found: FoundPassage, base: str) -> StoreHitOut:
        """A hit. base: begins links."""
        hit, chunk = found.hit, found.hit.chunk
        return StoreHitOut.model_validate(
            {
                "file_id": FILE + chunk.resource_id,
                "filename": hit.filename,
                "score": round(hit.score, 6),
                "attributes": found.attributes,
                "content": [TextOut(text=chunk.text)],
                "citation": {
                    "chunk_id": chunk.id,
                    "label": chunk.locator.label(hit.filename),
                    "url": passage_address(base, chunk.resource_id, chunk.id),
                    "locator": chunk.locator.to_json(),
                },
            }
        )


class StoreHits(Schema):
    """The passages found."""

    object: Literal["vector_store.search_results.page"] = "vector_store.search_results.page"
    search_query: list[str]
    data: list[StoreHitOut]
    has_more: Literal[False] = False
    next_page: None = None


def _counted(states: Sequence[tuple[FileState, int]]) -> FileCountsOut:
    counts = {
        name: sum(files for state, files in states if state == name) for name in ("in_progress", "completed", "failed")
    }
    return FileCountsOut(**counts, total=sum(counts.values()))
