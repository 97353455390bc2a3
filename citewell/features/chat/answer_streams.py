"""Streamed answers for the library, awaited or in a `with` block: pieces of text, then the whole answer."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterator
from dataclasses import replace
from types import TracebackType
from typing import Any, Protocol, Self, TypeVar

from citewell.agent.interface import AgentEvent, Done, Failed, TextDelta, TextRestarted
from citewell.errors import CitewellError, InvalidInput, from_code
from citewell.features.chat.service import Turn
from citewell.features.turns import RESTART
from citewell.types import Answer

T = TypeVar("T")


class AsyncAnswerStream(AsyncIterator[str]):
    """A streamed answer: its pieces of text, then `answer`, complete with its citations.

    The question is asked on entering the `async with` block, or with the first piece; leaving the block stops the answer.
    Only one task may read at a time.
    """

    def __init__(self, begin: Callable[[], Awaitable[Turn]]) -> None:
        self._begin = begin
        self._turn: Turn | None = None
        self._pending: asyncio.Task[AgentEvent | None] | None = None
        self._answer: Answer | None = None
        self._is_over = False

    async def __aenter__(self) -> Self:
        await self._begun()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def __anext__(self) -> str:
        """The next piece; raises the error that the answer ended with."""
        while not self._is_over:
            event = await self._next()
            if self._is_over:  # another task closed the stream
                break
            if isinstance(event, TextDelta):
                return event.text
            if isinstance(event, TextRestarted):
                return RESTART
            if isinstance(event, Done):
                self._answer = replace(event.answer, notice=(await self._begun()).noted(event))
            if event is None or isinstance(event, Done | Failed):
                await self.close()
            if isinstance(event, Failed):
                raise from_code(event.code, event.message, event.details)
            if event is None:
                raise CitewellError("The stream closed before the answer was complete. Ask again.")
        raise StopAsyncIteration

    @property
    def answer(self) -> Answer:
        """The complete answer. Raises `InvalidInput` before the stream ends."""
        if self._answer is None:
            raise InvalidInput("The answer is not complete yet. Iterate to its end first.")
        return self._answer

    @property
    def thread_id(self) -> str:
        """The thread id for a follow-up. Raises `InvalidInput` before the question is asked."""
        if self._turn is None:
            raise InvalidInput("The question has not been asked yet. Enter the stream first: `async with stream:`.")
        return self._turn.thread.id

    @property
    def is_over(self) -> bool:
        """Whether the stream has ended: the answer is complete, has failed, or was stopped."""
        return self._is_over

    async def close(self) -> None:
        """Stop the answer here; the text so far stays in the thread. Safe to call twice."""
        if self._is_over:
            return
        self._is_over = True
        if self._pending is not None:
            self._pending.cancel()
            await asyncio.gather(self._pending, return_exceptions=True)
        if self._turn is not None:
            await self._turn.events.aclose()

    async def _begun(self) -> Turn:
        if self._turn is None:
            self._turn = await self._begin()
        return self._turn

    async def _next(self) -> AgentEvent | None:
        """The next event, None at the end. It is awaited in a separate task, which `close` may cancel without cancelling the reader's."""
        events = (await self._begun()).events

        async def event() -> AgentEvent | None:
            return await anext(events, None)

        self._pending = asyncio.create_task(event())
        try:
            return await self._pending
        except asyncio.CancelledError:
            reader = asyncio.current_task()
            if self._is_over and reader is not None and not reader.cancelling():
                return None
            raise


class Call(Protocol):
    """Runs work on the library's loop and waits for its result."""

    def __call__(self, work: Coroutine[Any, Any, T]) -> T:
        """The result of the work."""
        ...


class AnswerStream(Iterator[str]):
    """A streamed answer: its pieces of text, then `answer`, complete with its citations.

    Leaving the `with` block stops the answer. Pass `thread_id` to ask a follow-up.
    """

    def __init__(self, stream: AsyncAnswerStream, call: Call) -> None:
        self.thread_id = stream.thread_id
        self._stream = stream
        self._call = call

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __next__(self) -> str:
        """The next piece; raises the error that the answer ended with."""
        piece = None if self._stream.is_over else self._call(self._piece())
        if piece is None:
            raise StopIteration
        return piece

    @property
    def answer(self) -> Answer:
        """The complete answer. Raises `InvalidInput` before the stream ends."""
        return self._stream.answer

    def close(self) -> None:
        """Stop the answer here; the text so far stays in the thread. Safe to call twice."""
        if not self._stream.is_over:
            self._call(self._stream.close())

    async def _piece(self) -> str | None:
        return await anext(self._stream, None)
