"""Answers that go on after their reader has left: each runs as a task of its own, from which a reader takes the events while there is one."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import TypeVar

T = TypeVar("T")


class DetachedTurns:
    """The detached turns of this process, by owner and thread."""

    def __init__(self) -> None:
        self._tasks: dict[tuple[str, str], set[asyncio.Task[None]]] = {}

    async def events(self, owner_id: str, thread_id: str, turn: AsyncGenerator[T]) -> AsyncGenerator[T]:
        """The turn's events. The turn reaches its end whether or not they are read to theirs; what it fails with is raised here."""
        waiting: asyncio.Queue[T | None] = asyncio.Queue()

        async def run() -> None:
            try:
                async with aclosing(turn):
                    async for event in turn:
                        waiting.put_nowait(event)
            finally:
                waiting.put_nowait(None)

        task = asyncio.create_task(run())
        self._add((owner_id, thread_id), task)
        while (event := await waiting.get()) is not None:
            yield event
        await task

    def is_running(self, owner_id: str, thread_id: str) -> bool:
        """Whether an answer of this thread is under way here."""
        return (owner_id, thread_id) in self._tasks

    async def stop(self, owner_id: str, thread_id: str) -> None:
        """End the answers of a thread where they are."""
        await _ended(self._tasks.get((owner_id, thread_id), set()))

    async def close(self) -> None:
        """End all answers where they are, as the server does when it stops."""
        await _ended({task for tasks in self._tasks.values() for task in tasks})

    def _add(self, key: tuple[str, str], task: asyncio.Task[None]) -> None:
        self._tasks.setdefault(key, set()).add(task)

        def forget(_: asyncio.Task[None]) -> None:
            left = self._tasks[key] - {task}
            if left:
                self._tasks[key] = left
            else:
                del self._tasks[key]

        task.add_done_callback(forget)


async def _ended(tasks: set[asyncio.Task[None]]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
