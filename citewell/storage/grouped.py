"""Write steps of an SQLite database: those that have to wait for one another share a transaction, and the wait for the disk."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field
from typing import Any, TypeVar, cast

import sqlalchemy as sa

T = TypeVar("T")
_MAX_SHARED = 64


class GroupedWrites:
    """Runs steps in the order in which they come, one transaction at a time, in `threads`.

    What comes while another transaction is written waits for it, and then shares the next one. A step that fails is undone by
    itself and the others of its transaction stay; when the transaction fails, all of them do. writer: held while one is open
    """

    def __init__(self, engine: sa.Engine, threads: Executor, writer: asyncio.Lock) -> None:
        self._engine = engine
        self._threads = threads
        self._writer = writer
        self._waiting: list[_Step] = []
        self._running: asyncio.Task[None] | None = None

    async def run(self, work: Callable[[sa.Connection], T]) -> T:
        """What `work` returns, once that is on the disk. A caller that is cancelled waits for a step that has begun; one that has not is left out."""
        step = _Step(work)
        self._waiting.append(step)
        if self._running is None or self._running.done():
            self._running = asyncio.create_task(self._write())
        try:
            return await asyncio.shield(step.outcome)
        except asyncio.CancelledError:
            if step in self._waiting:
                self._waiting.remove(step)
            else:
                await asyncio.wait({step.outcome})
            raise

    async def _write(self) -> None:
        loop = asyncio.get_running_loop()
        try:
            while self._waiting:
                async with self._writer:
                    steps = self._waiting[:_MAX_SHARED]
                    works = [step.work for step in steps]
                    written = loop.run_in_executor(self._threads, _transaction, self._engine, works)
                    del self._waiting[: len(steps)]
                    try:
                        await asyncio.wait({written})
                    finally:
                        await asyncio.wait({written})  # the next writer would find the database locked
                        _tell(steps, written)
        except RuntimeError as error:  # the database is closed, and its threads take no more work
            for step in self._waiting:
                step.fail(error)
        finally:
            for step in self._waiting:  # the event loop ends
                step.outcome.cancel()
            self._waiting.clear()


@dataclass(frozen=True, slots=True, eq=False)
class _Step:
    work: Callable[[sa.Connection], Any]
    outcome: asyncio.Future[Any] = field(default_factory=lambda: asyncio.get_running_loop().create_future())

    def fail(self, error: BaseException) -> None:
        self.outcome.set_exception(error)
        self.outcome.exception()  # a cancelled caller does not ask for it


@dataclass(frozen=True, slots=True)
class _Failed:
    error: BaseException


def _tell(steps: Sequence[_Step], written: asyncio.Future[list[Any]]) -> None:
    """Tell each step how it ended, or all of them how their transaction failed."""
    error = written.exception()
    outcomes: list[Any] = written.result() if error is None else [_Failed(error)] * len(steps)
    for step, outcome in zip(steps, outcomes, strict=True):
        if isinstance(outcome, _Failed):
            step.fail(outcome.error)
        else:
            step.outcome.set_result(outcome)


def _transaction(engine: sa.Engine, works: Sequence[Callable[[sa.Connection], Any]]) -> list[Any]:
    """What each step returns, or how it failed."""
    with engine.connect() as connection:
        connection.exec_driver_sql("BEGIN IMMEDIATE")
        try:
            outcomes = [_one(connection, work) for work in works]
            connection.exec_driver_sql("COMMIT")
        except BaseException:
            if _is_open(connection):
                connection.exec_driver_sql("ROLLBACK")
            raise
        return outcomes


def _one(connection: sa.Connection, work: Callable[[sa.Connection], Any]) -> object:
    connection.exec_driver_sql("SAVEPOINT step")
    try:
        outcome = work(connection)
    except Exception as error:
        if not _is_open(connection):  # a full disk, for example, undoes the whole transaction
            raise
        connection.exec_driver_sql("ROLLBACK TO step")
        outcome = _Failed(error)
    connection.exec_driver_sql("RELEASE step")
    return outcome


def _is_open(connection: sa.Connection) -> bool:
    return cast(sqlite3.Connection, connection.connection.driver_connection).in_transaction
