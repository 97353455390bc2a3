"""Timeouts and retries for chat models: retries while the provider is busy or unavailable, until an answer begins."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import aclosing
from typing import Protocol

from citewell.adapters.embedder.wrappers import RetryPolicy
from citewell.errors import ProviderRateLimited, ProviderUnavailable
from citewell.ports import Ask, ChatDelta, ChatMessage, ChatModel, ChatModelWrapper, ImageInput, VisionModel

_LOADING = 503
"""How a local server says that it is loading its model; what else it says will not change by waiting."""


class ChatAndVision(ChatModel, VisionModel, Protocol):
    """A model that implements both ports."""


class PatientChat(ChatModelWrapper):
    """Adds timeouts and retries to a chat and vision model.

    Retries with growing, jittered waits, or after the time the provider asks for (up to the policy's longest wait);
    never after part of an answer was passed on, because that part would be repeated, nor after a timeout. There is one limit, that of
    the whole answer: a server may read a long prompt or think without a word for all of it.
    """

    def __init__(
        self,
        inner: ChatAndVision,
        seconds: float = 120.0,
        *,
        is_own: bool = False,
        policy: RetryPolicy | None = None,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        """seconds: timeout of a whole answer, including retries; is_own: at your own address only a loading server is waited for."""
        super().__init__(inner)
        self._vision: VisionModel = inner
        self._seconds = seconds
        self._is_own = is_own
        self._policy = policy or RetryPolicy()
        self._sleep = sleep

    async def around(self, messages: Sequence[ChatMessage], ask: Ask) -> AsyncGenerator[ChatDelta]:
        """As `citewell.ports.ChatModelWrapper.around`."""
        deadline = asyncio.get_running_loop().time() + self._seconds
        attempt, is_last = 1, False
        while True:
            try:
                async with aclosing(ask()) as answer:
                    while True:
                        limit = asyncio.timeout_at(deadline)
                        try:
                            async with limit:
                                delta = await anext(answer)
                        except StopAsyncIteration:
                            return
                        except TimeoutError as error:
                            if not limit.expired():
                                raise
                            is_last = True
                            raise self._too_slow() from error
                        is_last = True
                        yield delta
            except (ProviderRateLimited, ProviderUnavailable) as error:
                if is_last:
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

    async def _wait(self, error: ProviderRateLimited | ProviderUnavailable, attempt: int, deadline: float) -> None:
        """Sleep before the next attempt; raises `error` if none is left."""
        asked = error.retry_after if isinstance(error, ProviderRateLimited) else None
        wait = self._policy.wait(attempt, asked)
        passes = not self._is_own or isinstance(error, ProviderRateLimited) or error.details.get("status") == _LOADING
        late = asyncio.get_running_loop().time() + wait > deadline
        if not passes or attempt >= self._policy.attempts or (asked or 0.0) > self._policy.longest_wait or late:
            raise error
        await self._sleep(wait)

    def _too_slow(self) -> ProviderUnavailable:
        return ProviderUnavailable(f"The model did not answer within {self._seconds:g} seconds.")
