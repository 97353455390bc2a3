"""Embeds the first chunks of a long file while its parser is still reading the rest, so that no core sits idle.

Only the embedding cache keeps the result: stage 3 cuts the same chunks and finds their vectors there. A chunk that comes
out differently in the end has cost one embedding, and nothing else.
"""

from __future__ import annotations

import asyncio
import itertools
import threading
from collections.abc import AsyncGenerator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from citewell.chunk.chunker import chunk_elements
from citewell.chunk.config import ChunkConfig, Strategy
from citewell.extract.core.sink import TITLE_FILE
from citewell.indexes.index_set import IndexSet
from citewell.ingest.chunking import chunk_title, config_of
from citewell.ingest.parser_scratch import follow_elements
from citewell.ports import Embedder
from citewell.storage.projects import ProjectRepository
from citewell.types import Category, Element, Resource

_LONG_SECONDS = 1.0
_LOOK_SECONDS = 0.1
_BATCH = 64
_MAX_TITLE_LENGTH = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadAhead:
    """Runs alongside stage 2, for indexes whose embeddings cost only time: those of `providers`."""

    projects: ProjectRepository
    indexes: IndexSet
    chunking: ChunkConfig
    providers: frozenset[str] = frozenset({"builtin"})

    @asynccontextmanager
    async def beside(self, resource: Resource, folder: Path) -> AsyncGenerator[None]:
        """Work on what the parser writes into `folder` until the block ends; errors surface only in stage 3."""
        if resource.detected_category != Category.RAG or not self._embedders():
            yield
            return
        ended = threading.Event()
        task = asyncio.create_task(self._run(resource, folder, ended))
        try:
            yield
        finally:
            ended.set()
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    async def _run(self, resource: Resource, folder: Path, ended: threading.Event) -> None:
        await asyncio.sleep(_LONG_SECONDS)
        active = self.indexes.active.embedder
        project = (
            await self.projects.settings(resource.owner_id, resource.project_ids[0]) if resource.project_ids else {}
        )
        config = config_of(self.chunking, resource, project, active)
        if config.strategy is Strategy.SEMANTIC:
            return
        elements = _following(folder, ended)
        first = await asyncio.to_thread(next, elements, None)
        if first is None:
            return
        title = chunk_title(resource.filename, await asyncio.to_thread(_title, folder))
        chunks = chunk_elements(itertools.chain([first], elements), config, active.tokenizer, title)
        while True:
            batch = await asyncio.to_thread(lambda: list(itertools.islice(chunks, _BATCH)))
            if ended.is_set() or not batch:
                return
            for embedder in self._embedders():
                await embedder.embed([chunk.embedded_text for chunk in batch])

    def _embedders(self) -> list[Embedder]:
        return [i.embedder for i in self.indexes.all if i.embedder.fingerprint.provider in self.providers]


def _following(folder: Path, ended: threading.Event) -> Iterator[Element]:
    return follow_elements(folder, lambda: not ended.wait(_LOOK_SECONDS))


def _title(folder: Path) -> str:
    with (folder / TITLE_FILE).open(encoding="utf-8", errors="replace") as file:
        return file.read(_MAX_TITLE_LENGTH)
