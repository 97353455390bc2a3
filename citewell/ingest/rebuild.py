"""Fills an index from SQL and the embedding cache alone: after a shard did not open, or when another model's index is built."""

from __future__ import annotations

import itertools
from collections.abc import Awaitable, Callable

from citewell.ingest.indexes import OpenIndex
from citewell.ingest.indexing import embedded, write_points
from citewell.storage.content import ContentRepository

Progress = Callable[[int, int], Awaitable[None]]


async def rebuild(
    index: OpenIndex, content: ContentRepository, max_dense_rows: int, progress: Progress | None = None
) -> int:
    """Write every chunk of every owner to `index`, as it was written first; returns how many.

    Writing a chunk twice is harmless, so it may be repeated.
    """
    total, done = await content.count_chunks(), 0
    async for batch in content.iterate_chunks():
        for (filename, language), group in itertools.groupby(batch, key=lambda one: (one.filename, one.language)):
            some = list(group)
            chunks = [one.chunk for one in some]
            dense = [embedded(one.chunk, one.rows_before, max_dense_rows) for one in some]
            await write_points(index, chunks, dense, filename, language)
        done += len(batch)
        if progress:
            await progress(done, total)
    return done
