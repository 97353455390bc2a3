"""Waits for complete responses, or the start of streamed ones, and stops the work if the client disconnects."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Coroutine, Sequence
from contextlib import aclosing
from typing import Any, TypeVar

from starlette.exceptions import HTTPException
from starlette.requests import Request

from citewell.agent.interface import AgentEvent, Done, Failed

CLIENT_LEFT = 499
T = TypeVar("T")


async def last_event(request: Request, events: AsyncGenerator[AgentEvent]) -> Done | Failed | None:
    """The turn's last event; None if the client disconnected, which closes `events`."""
    return await _unless_left(request, _last(events))


async def unless_left(request: Request, work: Coroutine[Any, Any, T]) -> T:
    """The result of `work`. If the client disconnects, the work is cancelled and an `HTTPException` raised, which nobody reads."""
    found = await _unless_left(request, work)
    if found is None:
        raise HTTPException(CLIENT_LEFT)
    return found


async def begun(pieces: AsyncGenerator[T]) -> AsyncGenerator[T]:
    """The same pieces, once the first has arrived, so that an earlier error becomes a proper response instead of a broken download."""
    first = [piece] if (piece := await anext(pieces, None)) is not None else []
    return _rest(first, pieces)


async def _rest(first: Sequence[T], pieces: AsyncGenerator[T]) -> AsyncGenerator[T]:
    async with aclosing(pieces):
        for piece in first:
            yield piece
        async for piece in pieces:
            yield piece


async def _unless_left(request: Request, work: Coroutine[Any, Any, T]) -> T | None:
    answer = asyncio.create_task(work)
    gone = asyncio.create_task(_disconnected(request))
    try:
        await asyncio.wait((answer, gone), return_when=asyncio.FIRST_COMPLETED)
        return answer.result() if answer.done() else None
    finally:
        for task in (answer, gone):
            task.cancel()
        await asyncio.gather(answer, gone, return_exceptions=True)


async def _last(events: AsyncGenerator[AgentEvent]) -> Done | Failed:
    async with aclosing(events):
        async for event in events:
            if isinstance(event, Done | Failed):
                return event
    return Failed("internal", "The stream closed before the answer was complete. Ask again.")


async def _disconnected(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass
