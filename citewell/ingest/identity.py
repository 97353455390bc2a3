"""Assigns ids to draft chunks, always the same for the same work."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Iterator

from citewell.types import Chunk, ChunkDraft, Job

_NAMESPACE = uuid.UUID("7b7d4c0e-5d0f-5c57-9a53-9e2f6a3f1c11")


def chunk_id(resource_id: str, version: int, fingerprint: str, ordinal: int) -> str:
    """UUIDv5 of everything that determines a chunk, so that repeating the work gives the same ids."""
    return str(uuid.uuid5(_NAMESPACE, f"{resource_id}/{version}/{fingerprint}/{ordinal}"))


def identified(drafts: Iterable[ChunkDraft], job: Job, fingerprint: str, first: int = 0) -> Iterator[Chunk]:
    """The chunks of a job's resource, numbered from `first`."""
    for ordinal, draft in enumerate(drafts, start=first):
        yield identify(draft, job.owner_id, job.resource_id, job.version, ordinal, fingerprint)


def identify(draft: ChunkDraft, owner_id: str, resource_id: str, version: int, ordinal: int, fingerprint: str) -> Chunk:
    """Give a draft its identity."""
    return Chunk(
        id=chunk_id(resource_id, version, fingerprint, ordinal),
        owner_id=owner_id,
        resource_id=resource_id,
        version=version,
        ordinal=ordinal,
        type=draft.type,
        text=draft.text,
        context=draft.context,
        locator=draft.locator,
        pieces=draft.pieces,
        token_count=draft.token_count,
        metadata=draft.metadata,
    )
