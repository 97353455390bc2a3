"""Writes chunks into an index: one batch during indexing, or every chunk from SQL when the index is rebuilt."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence

from citewell.errors import TextsRejected
from citewell.indexes.index_set import OpenIndex
from citewell.points import index_point
from citewell.ports import FloatMatrix
from citewell.storage.content import ContentRepository, IndexedChunk
from citewell.types import Chunk, ChunkType, Point

log = logging.getLogger(__name__)
Progress = Callable[[int, int], Awaitable[None]]


async def write_points(
    index: OpenIndex, batch: Sequence[Chunk], dense: Sequence[bool], filename: str, language: str | None
) -> None:
    """Embed those chunks of a batch that are marked `dense`, and put all into the store; the others are found by their words only."""
    vectors = await _embed(index, batch, dense)

    def points() -> list[Point]:
        return [
            index_point(chunk, None if vector is None else vector.tolist(), filename, language)
            for chunk, vector in zip(batch, vectors, strict=True)
        ]

    await index.store.upsert(await asyncio.to_thread(points))


def mark_embedded(batch: Sequence[Chunk], rows_before: int, max_dense_rows: int) -> tuple[list[bool], int]:
    """For each chunk of a batch whether it gets a vector, and how many rows of its resource there are up to the end of the batch.

    rows_before: how many rows the resource has before the batch
    """
    marked: list[bool] = []
    for chunk in batch:
        marked.append(is_embedded(chunk, rows_before, max_dense_rows))
        rows_before += chunk.type is ChunkType.ROW
    return marked, rows_before


async def rebuild(
    index: OpenIndex, content: ContentRepository, max_dense_rows: int, progress: Progress | None = None
) -> int:
    """Write every chunk of every owner to `index`, as it was written first; returns how many.

    Writing a chunk twice is harmless, so it may be repeated.
    """
    total, done = await content.count_chunks(), 0
    async for batch in content.iterate_chunks():
        await write_indexed(index, batch, max_dense_rows)
        done += len(batch)
        if progress:
            await progress(done, total)
    return done


async def write_indexed(index: OpenIndex, batch: Sequence[IndexedChunk], max_dense_rows: int) -> None:
    """Write chunks of any resources as they were written first."""
    chunks = [one.chunk for one in batch]
    vectors = await _embed(index, chunks, [is_embedded(one.chunk, one.rows_before, max_dense_rows) for one in batch])

    def points() -> list[Point]:
        return [
            index_point(one.chunk, None if vector is None else vector.tolist(), one.filename, one.language)
            for one, vector in zip(batch, vectors, strict=True)
        ]

    await index.store.upsert(await asyncio.to_thread(points))


async def _embed(index: OpenIndex, batch: Sequence[Chunk], dense: Sequence[bool]) -> list[FloatMatrix | None]:
    """A vector of shape (dimensions,) for each chunk that is marked `dense` and that the provider takes, None for the others."""
    wanted = [place for place, is_wanted in enumerate(dense) if is_wanted]
    try:
        rows = await index.embedder.embed([batch[place].embedded_text for place in wanted])
    except TextsRejected as error:
        log.warning("%d texts are found by their words only: %s", len(error.indices), error.message)
        refused = set(error.indices)
        wanted = [place for number, place in enumerate(wanted) if number not in refused]
        rows = await index.embedder.embed([batch[place].embedded_text for place in wanted])
    vectors = dict(zip(wanted, rows, strict=True))
    return [vectors.get(place) for place in range(len(batch))]


def is_embedded(chunk: Chunk, rows_before: int, max_dense_rows: int) -> bool:
    """All chunks are, but for the rows beyond the first `max_dense_rows` of a resource."""
    return chunk.type is not ChunkType.ROW or rows_before < max_dense_rows
