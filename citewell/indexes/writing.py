"""Writes chunks into an index: one batch during indexing, or every chunk from SQL when the index is rebuilt."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TypeVar

from citewell.errors import ProviderModelGone, ProviderRejected, TextsRejected
from citewell.indexes.absent import AbsentEmbedder
from citewell.indexes.index_set import CompletingIndex, OpenIndex
from citewell.ports import Capability, FloatMatrix, Pictured, multimodal
from citewell.ports.points import index_point
from citewell.storage.files.content import ContentRepository, IndexedChunk
from citewell.types import Chunk, ChunkType, FileFacts, Point

log = logging.getLogger(__name__)
_Input = TypeVar("_Input", str, Pictured)
_FEW = 4
Progress = Callable[[int, int], Awaitable[None]]


async def write_points(index: OpenIndex, batch: Sequence[Chunk], dense: Sequence[bool], file: FileFacts) -> None:
    """Embed those chunks of a batch that are marked `dense`, and put all into the store; the others are found by their words only."""
    await write_chunks(index, batch, dense, [file] * len(batch))


async def add_vectors(index: OpenIndex, chunks: Sequence[Chunk], file: FileFacts) -> None:
    """Embed chunks that the store finds by their words already, and write as little as it allows."""
    store = index.store
    if not isinstance(store, CompletingIndex):
        await write_points(index, chunks, [True] * len(chunks), file)
        return
    vectors = await _embed(index, chunks, [True] * len(chunks))
    embedded = {chunk.id: vector for chunk, vector in zip(chunks, vectors, strict=True) if vector is not None}
    missing = await store.add_vectors(embedded)
    rest = [chunk for chunk in chunks if chunk.id in missing]
    if rest:  # of a store that was emptied meanwhile; their vectors are in the cache
        await write_points(index, rest, [True] * len(rest), file)


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


async def write_indexed(
    index: OpenIndex, batch: Sequence[IndexedChunk], max_dense_rows: int, words_only: bool = False
) -> None:
    """Write chunks of any resources as they were written first; without vectors where they are to be found by words only."""
    dense = [not words_only and is_embedded(one.chunk, one.rows_before, max_dense_rows) for one in batch]
    await write_chunks(index, [one.chunk for one in batch], dense, [one.file for one in batch])


async def write_chunks(
    index: OpenIndex, batch: Sequence[Chunk], dense: Sequence[bool], files: Sequence[FileFacts]
) -> None:
    """Put chunks into the store, those marked `dense` with their vectors, or with their texts where the store embeds them itself.

    files: the file of each chunk
    """
    texts: list[str | None] = [None] * len(batch)
    vectors: list[FloatMatrix | None] = [None] * len(batch)
    if Capability.SERVER_SIDE_EMBEDDING in index.store.capabilities:
        texts = [chunk.embedded_text if wanted else None for chunk, wanted in zip(batch, dense, strict=True)]
    else:
        vectors = await _embed(index, batch, dense)

    def points() -> list[Point]:
        return [
            index_point(chunk, None if vector is None else vector.tolist(), file, text)
            for chunk, vector, text, file in zip(batch, vectors, texts, files, strict=True)
        ]

    # A switch to another thread and back costs more than a few points do.
    await index.store.upsert(points() if len(batch) <= _FEW else await asyncio.to_thread(points))


async def _embed(index: OpenIndex, batch: Sequence[Chunk], dense: Sequence[bool]) -> list[FloatMatrix | None]:
    """A vector of shape (dimensions,) for each chunk that is marked `dense` and that the provider takes, None for the others.

    A chunk that describes a picture gets the vector of the picture with its words, where the embedder takes pictures.
    """
    wanted = [place for place, is_wanted in enumerate(dense) if is_wanted]
    if not wanted or isinstance(index.embedder, AbsentEmbedder):
        return [None] * len(batch)
    vectors = await _embed_pictures(index, {place: batch[place] for place in wanted})
    texts = {place: batch[place].embedded_text for place in wanted if place not in vectors}
    vectors |= await _accepted(texts, index.embedder.embed)
    return [vectors.get(place) for place in range(len(batch))]


async def _embed_pictures(index: OpenIndex, chunks: Mapping[int, Chunk]) -> dict[int, FloatMatrix]:
    """By place; those that the provider refuses are left to their words."""
    embedder = multimodal(index.embedder)
    if embedder is None or index.pictures is None:
        return {}
    images = {place: await index.pictures.of(chunk) for place, chunk in chunks.items()}
    shown = {
        place: Pictured(image, chunks[place].embedded_text) for place, image in images.items() if image is not None
    }
    try:
        return await _accepted(shown, embedder.embed_pictures)
    except ProviderModelGone:
        raise
    except ProviderRejected as error:
        log.warning("%d pictures are found by their words only: %s", len(shown), error.message)
        return {}


async def _accepted(
    inputs: Mapping[int, _Input], embed: Callable[[Sequence[_Input]], Awaitable[FloatMatrix]]
) -> dict[int, FloatMatrix]:
    """The vectors of the inputs that the provider takes, by place; the others have none."""
    places = list(inputs)
    try:
        rows = await embed([inputs[place] for place in places])
    except TextsRejected as error:
        log.warning("%d inputs are found by their words only: %s", len(error.indices), error.message)
        refused = set(error.indices)
        places = [place for number, place in enumerate(places) if number not in refused]
        rows = await embed([inputs[place] for place in places])
    return dict(zip(places, rows, strict=True))


def is_embedded(chunk: Chunk, rows_before: int, max_dense_rows: int) -> bool:
    """All chunks are, but for the rows beyond the first `max_dense_rows` of a resource, and summaries that repeat one passage."""
    return rows_before < max_dense_rows if chunk.type is ChunkType.ROW else not chunk.repeats_a_passage
