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
    """Embed the chunks marked `dense` and write all chunks to the store; the others are searchable by keyword only."""
    await write_chunks(index, batch, dense, [file] * len(batch))


async def add_vectors(index: OpenIndex, chunks: Sequence[Chunk], file: FileFacts) -> None:
    """Embed chunks that are already searchable by keyword, writing only the vectors if the store can."""
    store = index.store
    if not isinstance(store, CompletingIndex):
        await write_points(index, chunks, [True] * len(chunks), file)
        return
    vectors = await _embed(index, chunks, [True] * len(chunks))
    embedded = {chunk.id: vector for chunk, vector in zip(chunks, vectors, strict=True) if vector is not None}
    missing = await store.add_vectors(embedded)
    rest = [chunk for chunk in chunks if chunk.id in missing]
    if rest:  # the store was emptied meanwhile; their vectors are cached
        await write_points(index, rest, [True] * len(rest), file)


def mark_embedded(batch: Sequence[Chunk], rows_before: int, max_dense_rows: int) -> tuple[list[bool], int]:
    """Whether each chunk of a batch gets a vector, and the resource's row count up to the end of the batch.

    rows_before: the resource's row count before the batch
    """
    marked: list[bool] = []
    for chunk in batch:
        marked.append(is_embedded(chunk, rows_before, max_dense_rows))
        rows_before += chunk.type is ChunkType.ROW
    return marked, rows_before


async def rebuild(
    index: OpenIndex, content: ContentRepository, max_dense_rows: int, progress: Progress | None = None
) -> int:
    """Write every chunk of every owner to `index`, as first indexed; returns how many. Repeating it is harmless."""
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
    """Write chunks of any resources as they were first indexed; with `words_only`, without vectors."""
    dense = [not words_only and is_embedded(one.chunk, one.rows_before, max_dense_rows) for one in batch]
    await write_chunks(index, [one.chunk for one in batch], dense, [one.file for one in batch])


async def write_chunks(
    index: OpenIndex, batch: Sequence[Chunk], dense: Sequence[bool], files: Sequence[FileFacts]
) -> None:
    """Write chunks to the store; those marked `dense` with vectors, or with texts if the store embeds them itself.

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

    # For a few points, a switch to another thread costs more than it saves.
    await index.store.upsert(points() if len(batch) <= _FEW else await asyncio.to_thread(points))


async def _embed(index: OpenIndex, batch: Sequence[Chunk], dense: Sequence[bool]) -> list[FloatMatrix | None]:
    """A vector of shape (dimensions,) per chunk that is marked `dense` and accepted by the provider, else None.

    If the embedder takes pictures, a chunk that describes a picture gets the vector of the picture with its text.
    """
    wanted = [place for place, is_wanted in enumerate(dense) if is_wanted]
    if not wanted or isinstance(index.embedder, AbsentEmbedder):
        return [None] * len(batch)
    vectors = await _embed_pictures(index, {place: batch[place] for place in wanted})
    texts = {place: batch[place].embedded_text for place in wanted if place not in vectors}
    vectors |= await _accepted(texts, index.embedder.embed)
    return [vectors.get(place) for place in range(len(batch))]


async def _embed_pictures(index: OpenIndex, chunks: Mapping[int, Chunk]) -> dict[int, FloatMatrix]:
    """Vectors of pictures by chunk position; chunks whose pictures the provider rejects are embedded as text."""
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
        log.warning("the provider rejected %d pictures, which are embedded as text only: %s", len(shown), error.message)
        return {}


async def _accepted(
    inputs: Mapping[int, _Input], embed: Callable[[Sequence[_Input]], Awaitable[FloatMatrix]]
) -> dict[int, FloatMatrix]:
    """The vectors of the inputs that the provider accepts, by position; the others have none."""
    places = list(inputs)
    try:
        rows = await embed([inputs[place] for place in places])
    except TextsRejected as error:
        log.warning("the provider rejected %d inputs: %s", len(error.indices), error.message)
        refused = set(error.indices)
        places = [place for number, place in enumerate(places) if number not in refused]
        rows = await embed([inputs[place] for place in places])
    return dict(zip(places, rows, strict=True))


def is_embedded(chunk: Chunk, rows_before: int, max_dense_rows: int) -> bool:
    """Whether a chunk gets a vector: not rows after the first `max_dense_rows`, nor summaries that repeat a passage."""
    return rows_before < max_dense_rows if chunk.type is ChunkType.ROW else not chunk.repeats_a_passage
