"""Changes the embedding model without downtime: build the new index alongside the old one, compare, switch, roll back."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

from citewell.errors import CitewellError, Conflict, NotFound
from citewell.indexes.index_set import IndexSet, OpenIndex
from citewell.indexes.writing import rebuild
from citewell.storage.content import ContentRepository
from citewell.storage.indexes import IndexRecord, IndexRepository, IndexState

log = logging.getLogger(__name__)

Opener = Callable[[dict[str, Any]], Awaitable[OpenIndex]]


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexMigration:
    """Runs builds in the background. New chunks go to every open index meanwhile, so a finished one is complete.

    `open_index` returns the index for some embedding settings, registering and opening it if necessary.
    """

    indexes: IndexSet
    records: IndexRepository
    content: ContentRepository
    open_index: Opener
    max_dense_rows: int
    _builds: dict[str, asyncio.Task[None]] = field(default_factory=dict[str, "asyncio.Task[None]"])
    _opening: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def begin(self, settings: dict[str, Any], pause_seconds: float = 0.0) -> IndexRecord:
        """Open the index of another model and fill it; `pause_seconds` between batches makes the build gradual.

        Raises `Conflict` when it is the active one, and what the provider raises when it cannot be reached.
        """
        async with self._opening:
            index = await self.open_index(settings)
            if index is self.indexes.active:
                raise Conflict("This model's index is the active one.")
            if self.indexes.find(index.record.id) is None:
                self.indexes.add(index)
        self._start(index, pause_seconds)
        return await self.records.get(index.record.id)

    def resume(self, index: OpenIndex) -> None:
        """Resume a build that a stop interrupted."""
        self._start(index, 0.0)

    async def switch(self, index_id: str) -> IndexRecord:
        """Make an index serve searches; the previous one is kept up to date, so switching back rolls back."""
        record = await self.records.get(index_id)
        if record.state is IndexState.BUILDING:
            raise Conflict("This index is still being built.", progress=record.progress, total=record.total)
        if self.indexes.find(index_id) is None:
            raise Conflict("This index is not open: its model's provider could not be reached at start.")
        await self.records.activate(index_id)
        self.indexes.switch(index_id)
        return await self.records.get(index_id)

    async def drop(self, index_id: str) -> None:
        """Forget an index and its vectors; `Conflict` for the active one."""
        record = await self.records.get(index_id)
        if record.state is IndexState.ACTIVE:
            raise Conflict("The active index cannot be deleted. Switch to another one first.")
        await self._stop(index_id)
        found = self.indexes.remove(index_id)
        if found is not None:
            await found.store.close()
        await self.records.delete(index_id)

    async def wait(self, index_id: str) -> None:
        """Wait until the build of this index has ended."""
        if index_id not in self._builds:
            raise NotFound("No such index is being built.")
        await asyncio.wait({self._builds[index_id]})

    async def close(self) -> None:
        """Stop all builds; they are resumed at the next start."""
        for index_id in list(self._builds):
            await self._stop(index_id)

    def _start(self, index: OpenIndex, pause_seconds: float) -> None:
        running = self._builds.get(index.record.id)
        if running is None or running.done():
            self._builds[index.record.id] = asyncio.create_task(self._build(index, pause_seconds))

    async def _stop(self, index_id: str) -> None:
        task = self._builds.pop(index_id, None)
        if task is not None:
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await task

    async def _build(self, index: OpenIndex, pause_seconds: float) -> None:
        async def progress(done: int, total: int) -> None:
            await self.records.set_progress(index.record.id, done, total)
            await asyncio.sleep(pause_seconds)

        try:
            with self.indexes.being_filled():
                done = await rebuild(index, self.content, self.max_dense_rows, progress)
            await self.records.set_progress(index.record.id, done, done, IndexState.READY)
        except CitewellError:
            log.exception("building index %s stopped; it goes on at the next start", index.record.fingerprint)
