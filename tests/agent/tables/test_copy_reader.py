"""Queries over exact copies: as many at once as is fair, no longer than allowed, and out of everybody else's way."""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from citewell.agent.tables.run import copies
from citewell.agent.tables.run.copies import CopyReader
from citewell.errors import RateLimited, Unavailable

ENDLESS = "SELECT sum(a.range * b.range) FROM range(10000000) a, range(10000000) b"
NOWHERE = Path("unread.parquet")
PATIENCE = 30  # seconds after which what should end soon has hung


async def test_a_query_that_takes_too_long_is_interrupted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(copies, "_SECONDS", 0.2)
    reader = CopyReader()
    async with asyncio.timeout(PATIENCE):
        with pytest.raises(Unavailable, match="longer than"):
            await reader.run("ada", NOWHERE, ENDLESS, [])
        assert await reader.run("ada", NOWHERE, "SELECT 7", []) == [(7,)]


async def test_long_queries_of_one_owner_hold_up_neither_shared_threads_nor_another_owners_queries() -> None:
    asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(1))
    reader = CopyReader()
    many = [asyncio.create_task(reader.run("ada", NOWHERE, ENDLESS, [])) for _ in range(20)]
    async with asyncio.timeout(PATIENCE):
        await asyncio.sleep(0.05)
        assert await asyncio.to_thread(lambda: "free") == "free"
        assert await reader.run("bob", NOWHERE, "SELECT 7", []) == [(7,)]
        assert not any(task.done() for task in many)
        for task in many:
            task.cancel()
        await asyncio.gather(*many, return_exceptions=True)
        assert await reader.run("ada", NOWHERE, "SELECT 8", []) == [(8,)]


async def test_queries_that_nobody_waits_for_any_more_end(monkeypatch: pytest.MonkeyPatch) -> None:
    begun, ended = threading.Event(), list[str]()
    execute = copies._execute

    def watched(*arguments: object) -> object:
        begun.set()
        try:
            return execute(*arguments)  # type: ignore[arg-type]
        finally:
            ended.append("ended")

    monkeypatch.setattr(copies, "_execute", watched)
    reader = CopyReader()
    asked = asyncio.create_task(reader.run("ada", NOWHERE, ENDLESS, []))
    async with asyncio.timeout(PATIENCE):
        await asyncio.to_thread(begun.wait, PATIENCE)
        asked.cancel()
        await asyncio.gather(asked, return_exceptions=True)
    assert ended == ["ended"]


async def test_an_owner_cannot_have_any_number_of_queries_wait() -> None:
    reader = CopyReader()
    many = [asyncio.create_task(reader.run("ada", NOWHERE, ENDLESS, [])) for _ in range(200)]
    await asyncio.sleep(0.05)
    refused = [task for task in many if task.done()]
    assert len(refused) == 200 - copies._EACH - copies._WAITING
    assert all(isinstance(task.exception(), RateLimited) for task in refused)
    for task in many:
        task.cancel()
    await asyncio.gather(*many, return_exceptions=True)
