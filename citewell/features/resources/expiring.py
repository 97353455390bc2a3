"""Deletes files at the end of their lifetime, and announces it before."""

from __future__ import annotations

import asyncio
import logging
import time
import uuid
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from citewell.errors import CitewellError, NotFound
from citewell.storage.files.expiry import ExpiryRepository
from citewell.types.audit import AuditAction, AuditActor, AuditEntry, AuditOutcome

log = logging.getLogger(__name__)
_LOOK_SECONDS = 10.0
_DAY = 86_400.0


@dataclass(kw_only=True)
class Expiring:
    """Announces and deletes. Files sent to the Telegram bot are left to the bot, which tells their chat.

    expire:    deletes an owner's file everywhere
    note:      writes an entry of the audit log
    kept_days: how long receipts are kept
    """

    files: ExpiryRepository
    expire: Callable[[str, str], Awaitable[None]]
    note: Callable[[AuditEntry], Awaitable[None]]
    kept_days: int
    _task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Start working; call within the event loop that runs everything else."""
        self._task = asyncio.create_task(self._loop(), name="expiry")

    async def stop(self) -> None:
        """Stop at once; the next process continues."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
        self._task = None

    async def run_once(self, now: float) -> int:
        """Announce and delete what is due at a time. Returns how many files were deleted."""
        deleted = 0
        for file in await self.files.due(now):
            if file.notice_at is not None:
                await self.files.announce(file, now)
                continue
            try:
                await self.delete(file.owner_id, file.id)
                deleted += 1
            except NotFound:  # deleted by hand, or by another server, at the same time
                continue
        return deleted

    async def delete(self, owner_id: str, resource_id: str) -> None:
        """Delete an expired file, with a receipt and an entry in the audit log. Raises `NotFound`."""
        await self.expire(owner_id, resource_id)
        await self.note(
            AuditEntry(
                at=time.time(),
                owner_id=owner_id,
                actor=AuditActor.SYSTEM,
                action=AuditAction.FILE_EXPIRED,
                outcome=AuditOutcome.DONE,
                request_id=str(uuid.uuid4()),
                subject=resource_id,
            )
        )

    async def _loop(self) -> None:
        while True:
            try:
                await self.run_once(time.time())
                await self.files.prune(time.time() - self.kept_days * _DAY)
            except CitewellError as error:
                log.warning("cannot delete expired files now: %s", error.message)
            except Exception:  # the database may be unavailable for a while, and the loop must survive that
                log.exception("cannot delete expired files now; retrying")
            await asyncio.sleep(_LOOK_SECONDS)
