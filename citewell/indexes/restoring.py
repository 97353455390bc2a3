"""Repairs indexes that lost points: detects them at start and rewrites them from SQL while searches continue."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping, Sequence
from enum import Enum, auto
from itertools import groupby

from citewell.errors import CitewellError, Unavailable
from citewell.indexes.index_set import IndexSet, OpenIndex, Rebuilding
from citewell.indexes.writing import rebuild, write_indexed
from citewell.ports import Capability, VectorIndex
from citewell.storage.files.content import ContentRepository
from citewell.text.sparse import sparse_document
from citewell.types import Filter, VectorQuery

log = logging.getLogger(__name__)
RETRY_SECONDS = 30.0
_RESOURCES = 256
_SAMPLE = 64
_SAMPLE_OF_WORDS = 8
# For stores whose writes become visible late; Pinecone's take seconds.
_ASKED_AGAIN = 10
ASK_AGAIN_SECONDS = 1.0


class IndexCondition(Enum):
    """The state of an index, compared with SQL."""

    WHOLE = auto()
    INCOMPLETE = auto()
    DAMAGED = auto()
    """The points lack vectors or words, or the index cannot be read: every point must be rewritten."""


async def condition_of(store: VectorIndex, content: ContentRepository) -> IndexCondition:
    """The condition of a store, judged by its point count and a sample of points; takes milliseconds at any size.

    Ignores resources that are being indexed; their workers handle them.
    """
    try:
        if await store.count() < await content.count_settled_chunks():
            return IndexCondition.INCOMPLETE
        return IndexCondition.WHOLE if await _sample_is_there(store, content) else IndexCondition.DAMAGED
    except Unavailable:
        log.warning("the index cannot be read", exc_info=True)
        return IndexCondition.DAMAGED


async def restore(indexes: IndexSet, index: OpenIndex, content: ContentRepository, max_dense_rows: int) -> None:
    """Write what the index lacks, reporting progress in `indexes` until it is complete.

    Retries while a provider is unavailable.
    """
    key = index.record.id
    try:
        while indexes.find(key) is index:
            try:
                with indexes.being_filled():
                    await _restore(indexes, index, content, max_dense_rows)
                break
            except CitewellError as error:
                log.warning("rebuilding index %s resumes in %s s: %s", index.record.fingerprint, RETRY_SECONDS, error)
                done, total = await index.store.count(), await content.count_chunks()
                indexes.note_rebuilding(key, Rebuilding(min(done, total), total, error.message))
                await asyncio.sleep(RETRY_SECONDS)
        indexes.note_rebuilding(key, None)
    except Exception:
        log.exception("rebuilding index %s failed; it resumes at the next start", index.record.fingerprint)
        raise


async def _restore(indexes: IndexSet, index: OpenIndex, content: ContentRepository, max_dense_rows: int) -> None:
    async def progress(done: int, total: int) -> None:
        indexes.note_rebuilding(index.record.id, Rebuilding(done, total))

    if await condition_of(index.store, content) is IndexCondition.DAMAGED:
        await rebuild(index, content, max_dense_rows, progress)
        return
    total, done = await content.count_chunks(), 0
    async for counts in content.settled_resources(_RESOURCES):
        for owner_id, group in groupby(sorted(counts, key=lambda one: one.owner_id), key=lambda one: one.owner_id):
            expected = {one.resource_id: one.chunks for one in group}
            await _complete(index, content, owner_id, expected, max_dense_rows)
            done += sum(expected.values())
            await progress(min(done, total), total)
    if await condition_of(index.store, content) is IndexCondition.DAMAGED:
        await rebuild(index, content, max_dense_rows, progress)


async def _complete(
    index: OpenIndex, content: ContentRepository, owner_id: str, expected: Mapping[str, int], max_dense_rows: int
) -> None:
    """Rewrite the owner's resources that have fewer points in the index than expected."""
    everything = Filter(owner_id=owner_id, resource_ids=tuple(expected))
    if await index.store.count(everything) == sum(expected.values()):
        return
    lacking = [
        resource_id
        for resource_id, chunks in expected.items()
        if await index.store.count(Filter(owner_id=owner_id, resource_ids=(resource_id,))) != chunks
    ]
    if lacking:
        async for batch in content.iterate_chunks(resource_ids=lacking):
            await write_indexed(index, batch, max_dense_rows)


async def _vectors_are_there(store: VectorIndex, ids: Sequence[str]) -> bool:
    """Whether the vectors exist. In an `EVENTUAL` store one is enough, and the check is repeated before it fails."""
    if Capability.EVENTUAL not in store.capabilities:
        return len(await store.vectors(ids)) == len(ids)
    for _ in range(_ASKED_AGAIN):
        if not ids or await store.vectors(ids):
            return True
        await asyncio.sleep(ASK_AGAIN_SECONDS)
    return False


async def _sample_is_there(store: VectorIndex, content: ContentRepository) -> bool:
    """Whether randomly sampled chunks have their vectors and are found by keyword."""
    sample = await content.sample_chunks(_SAMPLE)
    if not await _vectors_are_there(store, [one.chunk.id for one in sample]):
        return False
    if Capability.SPARSE not in store.capabilities:
        return True
    for one in sample[:_SAMPLE_OF_WORDS]:
        words = sparse_document(one.chunk.text, one.chunk.context, one.file.language)
        own = Filter(owner_id=one.chunk.owner_id, resource_ids=(one.chunk.resource_id,))
        if words.indices and not await store.search(VectorQuery(sparse=words, filter=own, limit=1)):
            return False
    return True
