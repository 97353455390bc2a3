"""Sends deliveries from the outbox: repeatedly for a day, always under the same id, and to each receiver at its own pace."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import random
import time
from collections.abc import Coroutine, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from citewell.errors import CitewellError, DiskFull
from citewell.features.webhooks.signing import signed_headers
from citewell.storage.channels.webhooks import DeliveryRepository
from citewell.types import Acknowledgement, DeliveryState, DueDelivery

log = logging.getLogger(__name__)
WAITS = (5.0, 30.0, 120.0, 600.0, 1_800.0, 3_600.0, 7_200.0, 14_400.0, 28_800.0, 28_800.0)
"""Seconds between attempts: the eleventh, about a day after the first, is the last."""
MAX_ASKED_SECONDS = 3_600.0
"""The longest wait a receiver may request with `Retry-After`, beyond Citewell's own."""
_JITTER = 0.1
_AT_ONCE = 8
_PAUSE_SECONDS = 5.0
_TIDY_SECONDS = 3_600.0
_GONE = 410


class WebhookSender(Protocol):
    """Posts to addresses that owners registered, except forbidden ones."""

    async def post(self, url: str, headers: Mapping[str, str], body: bytes) -> Acknowledgement:
        """Send once. Raises `InvalidInput` for a forbidden address, and `Unavailable` if there is no response in time."""
        ...


@dataclass(kw_only=True)
class DeliveryRunner:
    """Sends all owners' deliveries. Each is a leased row, so one in flight when the process dies is sent again."""

    name: str
    queue: DeliveryRepository
    sender: WebhookSender
    waits: Sequence[float] = WAITS
    poll_seconds: float = 1.0
    _tasks: set[asyncio.Task[None]] = field(default_factory=set["asyncio.Task[None]"])
    _free: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(_AT_ONCE))
    _wakeup: asyncio.Event = field(default_factory=asyncio.Event)

    def start(self) -> None:
        """Start sending; call within the event loop that runs everything else."""
        self._keep(self._loop())
        self._keep(self._tidy())

    def wake(self) -> None:
        """Check for deliveries now rather than at the next poll."""
        self._wakeup.set()

    async def stop(self) -> None:
        """Stop at once; the next process sends deliveries in flight again."""
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        with contextlib.suppress(DiskFull):
            await self.queue.release(self.name)

    async def run_once(self) -> bool:
        """Send the next due delivery. Returns whether there was one."""
        delivery = await self.queue.claim(self.name)
        if delivery is None:
            return False
        await self._send(delivery)
        return True

    async def _loop(self) -> None:
        while True:
            self._wakeup.clear()
            pause = self.poll_seconds
            await self._free.acquire()
            try:
                delivery = await self.queue.claim(self.name)
                if delivery is not None:
                    self._keep(self._send_beside(delivery))
                    continue
            except CitewellError as error:
                log.warning("webhooks wait to be sent: %s", error)
                pause = _PAUSE_SECONDS
            except Exception:  # the database may be unavailable for a while, and the loop must survive that
                log.exception("sending webhooks failed; retrying")
                pause = _PAUSE_SECONDS
            self._free.release()
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._wakeup.wait(), pause)

    async def _send_beside(self, delivery: DueDelivery) -> None:
        """Send one delivery concurrently with others. If the result cannot be recorded, the lease expires and the delivery is sent again."""
        try:
            await self._send(delivery)
        except Exception:  # the database may be unavailable for a while
            log.exception("the result of a webhook's delivery was not recorded; it will be sent again")
        finally:
            self._free.release()
            self._wakeup.set()  # the webhook is free for its next delivery

    def _keep(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _tidy(self) -> None:
        while True:
            try:
                await self.queue.forget_old()
            except Exception:  # the database may be unavailable for a while, and the loop must survive that
                log.exception("old deliveries of webhooks were not removed; retrying later")
            await asyncio.sleep(_TIDY_SECONDS)

    async def _send(self, delivery: DueDelivery) -> None:
        now, body = time.time(), delivery.body.encode()
        try:
            answer = await self.sender.post(
                delivery.url, signed_headers(delivery.secret, delivery.id, int(now), body), body
            )
        except CitewellError as error:
            await self._again(delivery, None, error.message)
            return
        if 200 <= answer.status < 300:
            await self.queue.finish(delivery, DeliveryState.DELIVERED, due=now, status=answer.status, problem="")
        elif answer.status == _GONE:
            problem = "The receiver responded 410 Gone. Enable the webhook again when it is back."
            await self.queue.finish(delivery, DeliveryState.DEAD, due=now, status=answer.status, problem=problem)
            await self.queue.disable(delivery.webhook_id, problem)
        else:
            await self._again(delivery, answer, _said(answer))

    async def _again(self, delivery: DueDelivery, answer: Acknowledgement | None, problem: str) -> None:
        """Retry later, or give up after the last attempt."""
        now = time.time()
        status = answer.status if answer is not None else None
        if delivery.attempts >= len(self.waits):
            await self.queue.finish(delivery, DeliveryState.DEAD, due=now, status=status, problem=problem)
            return
        wait = self.waits[delivery.attempts] * random.uniform(1 - _JITTER, 1 + _JITTER)  # noqa: S311 - no secret
        if answer is not None and answer.retry_after is not None:
            wait = max(wait, min(answer.retry_after, MAX_ASKED_SECONDS))
        await self.queue.finish(delivery, DeliveryState.PENDING, due=now + wait, status=status, problem=problem)


def _said(answer: Acknowledgement) -> str:
    if 300 <= answer.status < 400:
        return f"The receiver responded with a redirect ({answer.status}), which is not followed. Register its target."
    return f"The receiver responded {answer.status}."
