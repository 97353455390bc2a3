"""Copies files from SQL into an index in batches, while other tasks may change, delete or index them."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass

from citewell.indexes.index_set import DescribingIndex, OpenIndex
from citewell.indexes.writing import is_embedded, write_indexed
from citewell.ports import PlanningEmbedder
from citewell.ports.points import file_payload
from citewell.storage.files.content import ChunkCount, ContentRepository
from citewell.types import FileFacts, Filter

_FILES = 256
# About two calls' worth of chunks at most vendors; rewritten after a crash.
_CHUNKS = 512


@dataclass(frozen=True, slots=True)
class FileBatch:
    """Consecutive files by id, with their chunk counts: one step of a build."""

    files: tuple[ChunkCount, ...]

    @property
    def ids(self) -> list[str]:
        """The ids of the files."""
        return [one.resource_id for one in self.files]

    @property
    def last(self) -> str:
        """The id of the last file."""
        return self.files[-1].resource_id

    @property
    def chunks(self) -> int:
        """The total number of chunks."""
        return sum(one.chunks for one in self.files)


async def file_batches(content: ContentRepository, after: str) -> AsyncGenerator[FileBatch]:
    """All files with chunks whose ids follow `after`, in batches of a few hundred chunks or one large file."""
    while files := await content.files_after(after, _FILES):
        batch: list[ChunkCount] = []
        for file in files:
            if batch and sum(one.chunks for one in batch) + file.chunks > _CHUNKS:
                yield FileBatch(tuple(batch))
                batch = []
            batch.append(file)
        yield FileBatch(tuple(batch))
        after = files[-1].resource_id


async def copy_files(
    index: OpenIndex, content: ContentRepository, batch: FileBatch, max_dense_rows: int, words_only: bool = False
) -> int:
    """Write the files' chunks as they were first indexed; returns how many. Repeating it is harmless.

    Afterwards, reconciles changes made between reading and writing: removes chunks deleted from SQL meanwhile, and
    updates each file's payload from SQL. A file that is being indexed is written by its worker as well.
    words_only: write no vectors yet
    """
    written: list[str] = []
    told: dict[str, tuple[str, FileFacts]] = {}
    async for chunks in content.iterate_chunks(resource_ids=batch.ids):
        await write_indexed(index, chunks, max_dense_rows, words_only)
        written += [one.chunk.id for one in chunks]
        told |= {one.chunk.resource_id: (one.chunk.owner_id, one.file) for one in chunks}
    gone = set(written) - await content.existing(written)
    if gone:
        await index.store.delete_ids(sorted(gone))
    now = await content.facts(list(told))
    for resource_id, (owner_id, facts) in told.items():
        if resource_id in now and now[resource_id] != facts:
            mine = Filter(owner_id=owner_id, resource_ids=(resource_id,))
            await index.store.set_payload(mine, file_payload(now[resource_id]))
            if isinstance(index.store, DescribingIndex):
                await index.store.describe_file(mine, now[resource_id])
    return len(written) - len(gone)


async def tokens_of(
    index: OpenIndex, content: ContentRepository, resource_ids: Sequence[str], max_dense_rows: int
) -> int:
    """The number of tokens in these files that the index's model has not embedded yet."""
    if not isinstance(index.embedder, PlanningEmbedder):
        return 0
    total = 0
    async for chunks in content.iterate_chunks(resource_ids=resource_ids):
        texts = [one.chunk.embedded_text for one in chunks if is_embedded(one.chunk, one.rows_before, max_dense_rows)]
        total += (await index.embedder.plan(texts)).tokens
    return total


async def erase(index: OpenIndex, content: ContentRepository) -> None:
    """Remove all owners' points from the index's store."""
    for owner_id in await content.owners():
        await index.store.delete(Filter(owner_id=owner_id))
