"""Updates the file details in every point's payload, in every index, without embedding anything again."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from dataclasses import dataclass, field

from citewell.errors import CitewellError, DiskFull
from citewell.indexes.index_set import DescribingIndex, IndexSet
from citewell.ports.points import file_payload
from citewell.storage.work.payload_changes import PayloadChange, PayloadChangeRepository
from citewell.types import Filter

log = logging.getLogger(__name__)
_BATCH = 256
_RETRY_SECONDS = 5.0
_REMEMBERED = 4_096


@dataclass(kw_only=True)
class PayloadWriter:
    """Rewrites the payloads of changed files. Each change is a row, deleted once every index has it, so none is lost if the process dies.

    While an index is being filled from SQL, possibly with data from before a change, rows stay and are applied again.
    """

    name: str
    changes: PayloadChangeRepository
    indexes: IndexSet
    poll_seconds: float = 1.0
    _task: asyncio.Task[None] | None = None
    _wakeup: asyncio.Event = field(default_factory=asyncio.Event)
    _awaited: dict[str, asyncio.Future[None]] = field(default_factory=dict[str, "asyncio.Future[None]"])
    _recent: dict[str, None] = field(default_factory=dict[str, None])

    def start(self) -> None:
        """Start working; call within the event loop that runs everything else."""
        self._task = asyncio.create_task(self._loop(), name="payloads")

    def wake(self) -> None:
        """Look for changes now rather than at the next poll."""
        self._wakeup.set()

    async def stop(self) -> None:
        """Stop at once; the next process continues with unfinished changes."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
        self._task = None
        with contextlib.suppress(DiskFull):
            await self.changes.release(self.name)

    async def applied(self, stamp: str, seconds: float) -> bool:
        """Wait until the indexes contain a change, for at most `seconds`. Returns whether they do.

        Returns False at once if this process writes no payloads.
        """
        if self._task is None:
            return False
        self.wake()
        if stamp in self._recent:
            return True
        done = self._awaited.setdefault(stamp, asyncio.get_running_loop().create_future())
        try:
            await asyncio.wait({done}, timeout=seconds)
            return done.done()
        finally:
            self._awaited.pop(stamp, None)

    async def run_once(self) -> int:
        """Apply one batch. Returns how many files were rewritten."""
        batch = await self.changes.claim(self.name, _BATCH)
        if batch:
            await self._apply(batch)
            if not self.indexes.filling:
                await self.changes.finish([change for change in batch if change.is_last])
            self._tell(batch)
        return len(batch)

    def _tell(self, batch: list[PayloadChange]) -> None:
        self._recent |= dict.fromkeys(change.stamp for change in batch)
        for old in list(self._recent)[: max(0, len(self._recent) - _REMEMBERED)]:
            del self._recent[old]
        for change in batch:
            waiting = self._awaited.get(change.stamp)
            if waiting is not None and not waiting.done():
                waiting.set_result(None)

    async def _loop(self) -> None:
        while True:
            self._wakeup.clear()
            pause = self.poll_seconds
            try:
                if await self.run_once():
                    continue
            except CitewellError as error:
                log.warning("payloads wait to be rewritten: %s", error)
                await self._give_back()
                pause = _RETRY_SECONDS
            except Exception:  # the database may be unavailable for a while, and the loop must survive that
                log.exception("rewriting payloads failed; retrying")
                pause = _RETRY_SECONDS
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._wakeup.wait(), pause)

    async def _give_back(self) -> None:
        with contextlib.suppress(CitewellError):
            await self.changes.release(self.name)

    async def _apply(self, batch: list[PayloadChange]) -> None:
        files = await self.changes.facts([change.resource_id for change in batch])
        for change in batch:
            if change.resource_id in files:
                mine = Filter(owner_id=change.owner_id, resource_ids=(change.resource_id,))
                file = files[change.resource_id]
                payload = file_payload(file)
                for index in self.indexes.all:
                    await index.store.set_payload(mine, payload)
                    if isinstance(index.store, DescribingIndex):
                        await index.store.describe_file(mine, file)
