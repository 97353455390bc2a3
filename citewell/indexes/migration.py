"""Migrates to another model or store: builds an index beside the active one, file by file, then switches; and back."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

from citewell.errors import CitewellError, Conflict, NotFound, SpendingLimitReached
from citewell.indexes.copying import FileBatch, copy_files, erase, file_batches, tokens_of
from citewell.indexes.index_set import IndexChange, IndexSet, OpenIndex, Rebuilding
from citewell.ports.remote_vectors import RemovableIndex
from citewell.storage.files.content import ContentRepository
from citewell.storage.vectors.indexes import BuildMode, BuildOptions, IndexRecord, IndexRepository, IndexState

log = logging.getLogger(__name__)
RETRY_SECONDS = 30.0
_LEASE_POLL_SECONDS = 2.0
Opener: TypeAlias = Callable[[Mapping[str, Any], BuildOptions], Awaitable[OpenIndex]]
"""Returns the index for model and store settings, registering and opening it if necessary."""
Forgetter: TypeAlias = Callable[[IndexRecord], Awaitable[None]]
"""Removes what a closed index left on disk."""
TokenPrice: TypeAlias = Callable[[IndexRecord], float | None]
"""US dollars per token of an index's model; None if unknown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexMigration:
    """Builds indexes in the background. New chunks go to every open index meanwhile, so a finished one is complete.

    name:           this process's name in leases: only one process builds an index at a time
    settle_seconds: how long other processes take to notice that an index was added or removed; builds wait that long
                    before reading, so that the others write to the index too
    """

    indexes: IndexSet
    records: IndexRepository
    content: ContentRepository
    open_index: Opener
    forget: Forgetter
    price: TokenPrice
    max_dense_rows: int
    name: str = "this process"
    settle_seconds: float = 0.0
    _builds: dict[str, asyncio.Task[None]] = field(default_factory=dict[str, "asyncio.Task[None]"])
    _opening: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def begin(self, settings: Mapping[str, Any], options: BuildOptions) -> IndexRecord:
        """Open the index of another model or store, and start filling it.

        Raises `Conflict` if it is the active one, or the provider's or store's error if that cannot be reached.
        """
        async with self._opening:
            index = await self.open_index(settings, options)
            key = index.record.id
            if index is self.indexes.active:
                raise Conflict("This index is the active one.")
            known = self.indexes.find(key)
            record = await self.records.get(key)
            if record.state is not IndexState.BUILDING or known is None:
                await self._stop(key)
                if record.is_behind:
                    await erase(index, self.content)
                await self.records.restart(key, options)
            elif record.build != options:
                await self.records.set_build(key, options)
            if known is None:
                self.indexes.add(index)
            if options.mode is BuildMode.FRESH:
                await self._start_fresh(index)
        await self.resume(index)
        return await self.records.get(key)

    async def _start_fresh(self, index: OpenIndex) -> None:
        """Make the index active before it is filled, and drop the previous one."""
        before = self.indexes.active
        await self.records.activate(index.record.id, IndexState.FILLING)
        self.indexes.switch(index.record.id)
        self.indexes.note_rebuilding(index.record.id, Rebuilding(0, await self.content.count_chunks()))
        await self.drop(before.record.id)

    async def resume(self, index: OpenIndex) -> None:
        """Resume a build after the last file that was moved."""
        record = await self.records.get(index.record.id)
        if record.paused:
            await self.records.set_paused(record.id, paused=False)
            record = replace(record, paused=False, problem="")
        self._report(record)
        running = self._builds.get(record.id)
        if running is None or running.done():
            self._builds[record.id] = asyncio.create_task(self._build(index))

    async def pause(self, index_id: str) -> IndexRecord:
        """Pause a build, keeping its progress. Raises `Conflict` if the index is not being built."""
        record = await self.records.get(index_id)
        if not record.is_being_built:
            raise Conflict("This index is not being built.", state=record.state.value)
        await self.records.set_paused(index_id, paused=True)
        await self._stop(index_id)
        record = await self.records.get(index_id)
        self._report(record)
        return record

    async def change(self, index_id: str, options: BuildOptions) -> None:
        """Change a build's options, effective from its next batch."""
        await self.records.set_build(index_id, options)

    async def switch(self, index_id: str) -> IndexRecord:
        """Make an index serve searches; the previous one stays up to date, so switching back is a rollback.

        Raises `Conflict` if it is not ready.
        """
        record = await self.records.get(index_id)
        if record.state in (IndexState.BUILDING, IndexState.OFFERED):
            raise Conflict("This index is still being built.", progress=record.progress, total=record.total)
        if record.is_behind or self.indexes.find(index_id) is None:
            raise Conflict("This index is not open: its model or its store could not be reached at start.")
        if index_id != self.indexes.active.record.id:
            await self.records.activate(index_id)
            self.indexes.switch(index_id)
        return await self.records.get(index_id)

    async def drop(self, index_id: str) -> None:
        """Delete an index and its vectors. Raises `Conflict` for the active one."""
        record = await self.records.get(index_id)
        if record.state in (IndexState.ACTIVE, IndexState.FILLING):
            raise Conflict("The active index cannot be deleted. Switch to another one first.")
        await self._stop(index_id)
        found = self.indexes.remove(index_id)
        self.indexes.note_change(index_id, None)
        await self.records.delete(index_id)
        if found is not None:
            await asyncio.sleep(self.settle_seconds)  # until no other process writes to it
            try:
                await erase(found, self.content)
                if isinstance(found.store, RemovableIndex):
                    await found.store.remove()
                await found.store.close()
            except CitewellError as error:
                log.warning(
                    "the vectors of %s could not be removed from %s: %s",
                    record.fingerprint,
                    record.store,
                    error.message,
                )
        await self.forget(record)

    async def follow(self, open_beside: Callable[[IndexRecord], Awaitable[None]]) -> None:
        """Apply other processes' changes to the indexes (open, switch, close), and update their build progress."""
        async with self._opening:
            records = {record.id: record for record in await self.records.all()}
            for index in self.indexes.all:
                if index.record.id not in records and index is not self.indexes.active:
                    await self._stop(index.record.id)
                    self.indexes.remove(index.record.id)
                    await index.store.close()
            for record in records.values():
                await self._follow(record, open_beside)

    async def _follow(self, record: IndexRecord, open_beside: Callable[[IndexRecord], Awaitable[None]]) -> None:
        if record.state is IndexState.OFFERED or record.is_behind:
            return
        if not self.indexes.has(record.id):
            await open_beside(record)
        if not self.indexes.has(record.id):
            return
        if record.state in (IndexState.ACTIVE, IndexState.FILLING) and self.indexes.active.record.id != record.id:
            self.indexes.switch(record.id)
        if record.is_being_built:
            self._report(record)
        else:
            self.indexes.note_moved(record.id, None)
            self.indexes.note_change(record.id, None)

    async def wait(self, index_id: str) -> None:
        """Wait until the build of this index ends. Raises `NotFound` if there is none."""
        if index_id not in self._builds:
            raise NotFound("No such index is being built.")
        await asyncio.wait({self._builds[index_id]})

    async def close(self) -> None:
        """Stop all builds; they are resumed at the next start."""
        for index_id in list(self._builds):
            await self._stop(index_id)
        with contextlib.suppress(CitewellError):
            await self.records.release(self.name)

    async def _stop(self, index_id: str) -> None:
        task = self._builds.pop(index_id, None)
        if task is not None:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    async def _build(self, index: OpenIndex) -> None:
        """Fill an index. Vendor and store errors are retried; reaching the spending limit pauses the build."""
        key = index.record.id
        while True:
            try:
                if not await self.records.lease(key, self.name):
                    await asyncio.sleep(_LEASE_POLL_SECONDS)
                    if not (await self.records.get(key)).is_being_built:
                        return
                    continue
                await asyncio.sleep(self.settle_seconds)
                with self.indexes.being_filled():
                    is_whole = await self._fill(index)
                if is_whole:
                    await self._finish(key)
                return
            except NotFound:
                return
            except SpendingLimitReached as error:
                await self.records.set_paused(key, True, error.message)
                self._report(await self.records.get(key))
                return
            except CitewellError as error:
                log.warning("building index %s resumes in %s s: %s", index.record.fingerprint, RETRY_SECONDS, error)
                await self.records.note_problem(key, error.message)
                self._report(await self.records.get(key))
                await asyncio.sleep(RETRY_SECONDS)
            except Exception:
                log.exception("building index %s failed; it resumes at the next start", index.record.fingerprint)
                raise

    async def _fill(self, index: OpenIndex) -> bool:
        """Copy the remaining files; False if the build was paused meanwhile."""
        key = index.record.id
        record = await self.records.get(key)
        if record.state is IndexState.FILLING and not record.moved_to:
            async for batch in file_batches(self.content, ""):
                await copy_files(index, self.content, batch, self.max_dense_rows, words_only=True)
        done = record.progress if record.moved_to else 0
        async for batch in file_batches(self.content, record.moved_to):
            record = await self.records.get(key)
            if record.paused:
                self._report(record)
                return False
            cost = await self._cost(index, record, batch)
            done += await copy_files(index, self.content, batch, self.max_dense_rows)
            total = max(done, await self.content.count_chunks())
            await self.records.lease(key, self.name)
            await self.records.set_progress(key, done, total, moved_to=batch.last, spent=record.spent + cost)
            if record.problem:
                await self.records.note_problem(key, "")
            record = await self.records.get(key)
            self._report(record)
            await asyncio.sleep(record.build.pause_seconds)
        return True

    async def _cost(self, index: OpenIndex, record: IndexRecord, batch: FileBatch) -> float:
        """The approximate cost of a batch in US dollars.

        Raises `SpendingLimitReached` if it exceeds the build's limit.
        """
        price, most = self.price(record), record.build.max_dollars
        if not price:
            return 0.0
        cost = price * await tokens_of(index, self.content, batch.ids, self.max_dense_rows)
        if most is not None and record.spent + cost > most:
            raise SpendingLimitReached(
                f"This build has cost about {record.spent:.4f} US dollars, and its limit is {most:.4f}. Raise the limit to continue."
            )
        return cost

    async def _finish(self, index_id: str) -> None:
        record = await self.records.get(index_id)
        if not record.is_being_built:
            return
        done = await self.content.count_chunks()
        if record.state is IndexState.FILLING:
            await self.records.set_progress(index_id, done, done, IndexState.ACTIVE)
            self.indexes.note_rebuilding(index_id, None)
            return
        await self.records.set_progress(index_id, done, done, None if record.build.switch else IndexState.READY)
        if record.build.switch:
            await self.records.activate(index_id)
            self.indexes.switch(index_id)
            log.warning("answers come from %s in %s now", record.fingerprint, record.store)
        self.indexes.note_moved(index_id, None)
        self.indexes.note_change(index_id, None)

    def _report(self, record: IndexRecord) -> None:
        """Publish a build's progress, and let searches use a gradual one."""
        if record.state is IndexState.FILLING:
            before = self.indexes.rebuilding
            because = before.because if before is not None else ""
            total = record.total or (before.total if before is not None else 0)
            progress = Rebuilding(record.progress, total, record.problem, because)
            self.indexes.note_rebuilding(record.id, progress)
            return
        self.indexes.note_change(record.id, change_of(record))
        if record.build.mode is BuildMode.GRADUAL:
            self.indexes.note_moved(record.id, record.moved_to)


def change_of(record: IndexRecord) -> IndexChange:
    """The progress of an index that is going to replace the active one."""
    return IndexChange(
        index_id=record.id,
        fingerprint=record.fingerprint,
        store=record.store,
        mode=record.build.mode,
        state=record.state,
        done=record.progress,
        total=record.total,
        paused=record.paused,
        problem=record.problem,
    )
