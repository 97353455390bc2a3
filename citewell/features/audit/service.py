"""The audit log: entries are written in batches, held until they are, read by owners and administrators, and deleted by age."""

from __future__ import annotations

import asyncio
import itertools
import logging
import time
from collections import OrderedDict, deque
from collections.abc import AsyncGenerator
from dataclasses import asdict, dataclass, field

import orjson

from citewell.errors import DatabaseAway, DiskFull, Forbidden, Unavailable
from citewell.storage.accounts.audit import AuditRepository
from citewell.system.shares import Shares
from citewell.types.accounts import Principal
from citewell.types.audit import AuditEntry, AuditFilter

log = logging.getLogger(__name__)
MAX_WAITING = 10_000
"""Entries held while the database cannot be written to. Beyond these, requests that must be logged are refused."""
EVERYBODY = "all"
_BATCH = 200
_PAGE = 500
_PAUSE_SECONDS = 1.0
_TIDY_SECONDS = 3_600.0
_DAY = 86_400.0
# Repeated requests within this time are one entry: a viewer loads a file in many pieces.
_SAME_SECONDS = 60.0
_MAX_SEEN = 4_096
_FULL = "The audit log cannot be written now. Try again shortly."


@dataclass(kw_only=True)
class AuditLog:
    """Writes and reads the log. Entries that arrive together are written together; those that cannot be written are held and retried.

    days: how long entries are kept
    """

    repository: AuditRepository
    days: int
    pause_seconds: float = _PAUSE_SECONDS
    _exports: Shares = field(default_factory=lambda: Shares("exports of the audit log", each=1))
    _waiting: deque[AuditEntry] = field(default_factory=deque[AuditEntry])
    _written: asyncio.Event = field(default_factory=asyncio.Event)
    _wakeup: asyncio.Event = field(default_factory=asyncio.Event)
    _failing: bool = False
    _tasks: list[asyncio.Task[None]] = field(default_factory=list["asyncio.Task[None]"])
    _seen: OrderedDict[tuple[object, ...], float] = field(default_factory=OrderedDict[tuple[object, ...], float])

    async def start(self) -> None:
        """Log changes that were in progress when a server stopped, and start writing. Call within the event loop that runs everything else."""
        if found := await self.repository.finish_interrupted():
            log.warning(
                "%d changes were in progress when the server stopped; the audit log lists them as interrupted", found
            )
        self._tasks = [asyncio.create_task(self._loop()), asyncio.create_task(self._tidy())]

    async def stop(self) -> None:
        """Write held entries. Those that cannot be written go to the server's log, as JSON, so that none is lost."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        try:
            while self._waiting:
                await self._write_some()
        except Exception:  # the database may be unavailable, and this is the last chance
            log.exception("the audit log cannot be written; %d entries follow", len(self._waiting))
            for entry in self._waiting:
                log.error("audit %s", orjson.dumps(asdict(entry)).decode())

    async def write(self, entry: AuditEntry, *, is_noted: bool) -> None:
        """Return when the entry is in the log, or at once if the database cannot be written to: the entry is then held and written later.

        is_noted: whether `begin` recorded it. Raises `Unavailable` if so many are held that an unrecorded one could be lost.
        """
        if len(self._waiting) >= MAX_WAITING:
            if is_noted:  # the database records that the change was begun, and the next start logs it
                return
            raise Unavailable(_FULL)
        self._waiting.append(entry)
        self._wakeup.set()
        while not self._failing and self._tasks and any(one is entry for one in self._waiting):
            await self._written.wait()

    def is_repeated(self, entry: AuditEntry) -> bool:
        """Whether the same caller's same action on the same subject was logged within the last minute."""
        key = (entry.action, entry.owner_id, entry.actor_id, entry.credential_id, entry.subject, entry.outcome)
        key = (*key, entry.network)
        now = time.monotonic()
        if self._seen.get(key, now - _SAME_SECONDS) > now - _SAME_SECONDS:
            return True
        self._seen[key] = now
        self._seen.move_to_end(key)
        while len(self._seen) > _MAX_SEEN:
            self._seen.popitem(last=False)
        return False

    async def page(
        self, principal: Principal, owner: str | None, wanted: AuditFilter, limit: int, cursor: str | None
    ) -> tuple[list[AuditEntry], str | None]:
        """A page of the caller's log, newest first; administrators can read another owner's, or all owners' (`all`)."""
        return await self.repository.page(_whose(principal, owner), wanted, limit, cursor)

    def export(self, principal: Principal, owner: str | None, wanted: AuditFilter) -> AsyncGenerator[list[AuditEntry]]:
        """The whole log in pages, newest first. Raises `Forbidden` like `page`, and `RateLimited` with the first page if the caller has another export in progress."""
        return self._pages(principal.owner_id, _whose(principal, owner), wanted)

    async def _pages(self, asker: str, owner_id: str | None, wanted: AuditFilter) -> AsyncGenerator[list[AuditEntry]]:
        cursor: str | None = None
        async with self._exports.hold(asker):
            while True:
                found, cursor = await self.repository.page(owner_id, wanted, _PAGE, cursor)
                yield found
                if cursor is None:
                    return

    async def _loop(self) -> None:
        while True:
            if not self._waiting:
                self._wakeup.clear()
                await self._wakeup.wait()
            try:
                await self._write_some()
                self._failing = False
            except Exception as error:  # the disk may be full or the database unavailable for a while; entries are held
                if not self._failing:
                    is_known = isinstance(error, DiskFull | DatabaseAway)
                    log.error(
                        "the audit log cannot be written; entries are held and written later: %s",
                        error,
                        exc_info=not is_known,
                    )
                self._failing = True
            self._tell()
            if self._failing:
                await asyncio.sleep(self.pause_seconds)

    async def _write_some(self) -> None:
        some = list(itertools.islice(self._waiting, _BATCH))
        await self.repository.add(some)
        for _ in some:
            self._waiting.popleft()

    def _tell(self) -> None:
        """Wake the tasks whose entries have been written."""
        self._written.set()
        self._written = asyncio.Event()

    async def _tidy(self) -> None:
        while True:
            try:
                await self.repository.prune(time.time() - self.days * _DAY)
            except Exception:  # the database may be unavailable for a while, and the loop must survive that
                log.exception("old entries of the audit log were not removed; retrying later")
            await asyncio.sleep(_TIDY_SECONDS)


def _whose(principal: Principal, owner: str | None) -> str | None:
    """The owner whose log is requested; None for all."""
    if owner is None or owner == principal.owner_id:
        return principal.owner_id
    if not principal.is_administrator:
        raise Forbidden("Only administrators can read the audit log of others.")
    return None if owner == EVERYBODY else owner
