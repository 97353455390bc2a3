"""Timeouts and retries for chat models: retries while the provider is busy or unavailable, until an answer begins."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import aclosing
from typing import Protocol

from citewell.adapters.embedder.wrappers import RetryPolicy
from citewell.errors import ProviderRateLimited, ProviderUnavailable
from citewell.ports import Ask, ChatDelta, ChatMessage, ChatModel, ChatModelWrapper, ImageInput, VisionModel

IDLE_SECONDS = 60.0


class ChatAndVision(ChatModel, VisionModel, Protocol):
    """A model that implements both ports."""


class PatientChat(ChatModelWrapper):
    """Adds timeouts and retries to a chat and vision model.

    Retries with growing, jittered waits, or after the time the provider asks for (up to the policy's longest wait);
    never after part of an answer was passed on, because that part would be repeated.
    """

    def __init__(
        self,
        inner: ChatAndVision,
        seconds: float = 120.0,
        *,
        idle_seconds: float = IDLE_SECONDS,
        policy: RetryPolicy | None = None,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        """seconds: timeout of a whole answer, including retries; idle_seconds: timeout of its next piece."""
        super().__init__(inner)
        self._vision: VisionModel = inner
        self._seconds = seconds
        self._idle = idle_seconds
        self._policy = policy or RetryPolicy()
        self._sleep = sleep

    async def around(self, messages: Sequence[ChatMessage], ask: Ask) -> AsyncGenerator[ChatDelta]:
        """As `citewell.ports.ChatModelWrapper.around`."""
        deadline = asyncio.get_running_loop().time() + self._seconds
        attempt, said = 1, False
        while True:
            try:
                async with aclosing(ask()) as answer:
                    async for delta in self._timely(answer, deadline):
                        said = True
                        yield delta
                return
            except (ProviderRateLimited, ProviderUnavailable) as error:
                if said:
                    raise
                await self._wait(error, attempt, deadline)
            attempt += 1

    async def describe(self, image: ImageInput, prompt: str) -> str:
        """As `citewell.ports.VisionModel.describe`."""
        deadline = asyncio.get_running_loop().time() + self._seconds
        attempt = 1
        while True:
            try:
                async with asyncio.timeout_at(deadline):
                    return await self._vision.describe(image, prompt)
            except TimeoutError:
                raise self._too_slow() from None
            except (ProviderRateLimited, ProviderUnavailable) as error:
                await self._wait(error, attempt, deadline)
            attempt += 1

    async def _timely(self, answer: AsyncGenerator[ChatDelta], deadline: float) -> AsyncGenerator[ChatDelta]:
        loop = asyncio.get_running_loop()
        while True:
            try:
                async with asyncio.timeout_at(min(deadline, loop.time() + self._idle)):
                    delta = await anext(answer)
            except StopAsyncIteration:
                return
            except TimeoutError:
                raise self._too_slow() from None
            yield delta

    async def _wait(self, error: ProviderRateLimited | ProviderUnavailable, attempt: int, deadline: float) -> None:
        """Sleep before the next attempt; raises `error` if none is left."""
        asked = error.retry_after if isinstance(error, ProviderRateLimited) else None
        wait = self._policy.wait(attempt, asked)
        late = asyncio.get_running_loop().time() + wait > deadline
        if attempt >= self._policy.attempts or (asked or 0.0) > self._policy.longest_wait or late:
            raise error
        await self._sleep(wait)

    def _too_slow(self) -> ProviderUnavailable:
        return ProviderUnavailable("The model did not answer in time.")
