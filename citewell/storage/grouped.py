"""Group commit for SQLite: writes that would wait for each other share one transaction and one disk sync."""

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
    """Runs steps in arrival order in `threads`, one transaction at a time.

    Steps that arrive while a transaction is being written share the next one. A failed step is rolled back alone,
    without the rest of its transaction; if the transaction itself fails, all its steps fail.

    writer: held while a transaction is open
    """

    def __init__(self, engine: sa.Engine, threads: Executor, writer: asyncio.Lock) -> None:
        self._engine = engine
        self._threads = threads
        self._writer = writer
        self._waiting: list[_Step] = []
        self._running: asyncio.Task[None] | None = None

    async def run(self, work: Callable[[sa.Connection], T]) -> T:
        """Runs `work` and returns its result once it is on disk.

        On cancellation, a step that has not started is dropped; one that has started is waited for.
        """
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
                        await asyncio.wait({written})  # otherwise the next writer would find the database locked
                        _tell(steps, written)
        except RuntimeError as error:  # the database was closed, and its thread pool with it
            for step in self._waiting:
                step.fail(error)
        finally:
            for step in self._waiting:  # the event loop is shutting down
                step.outcome.cancel()
            self._waiting.clear()


@dataclass(frozen=True, slots=True, eq=False)
class _Step:
    work: Callable[[sa.Connection], Any]
    outcome: asyncio.Future[Any] = field(default_factory=lambda: asyncio.get_running_loop().create_future())

    def fail(self, error: BaseException) -> None:
        self.outcome.set_exception(error)
        self.outcome.exception()  # marks it retrieved, in case the caller was canceled


@dataclass(frozen=True, slots=True)
class _Failed:
    error: BaseException


def _tell(steps: Sequence[_Step], written: asyncio.Future[list[Any]]) -> None:
    """Sets the outcome of each step, or the transaction's error on all of them."""
    error = written.exception()
    outcomes: list[Any] = written.result() if error is None else [_Failed(error)] * len(steps)
    for step, outcome in zip(steps, outcomes, strict=True):
        if isinstance(outcome, _Failed):
            step.fail(outcome.error)
        else:
            step.outcome.set_result(outcome)


def _transaction(engine: sa.Engine, works: Sequence[Callable[[sa.Connection], Any]]) -> list[Any]:
    """Runs the steps in one transaction; returns each one's result or `_Failed`."""
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
        if not _is_open(connection):  # some errors, such as a full disk, roll back the whole transaction
            raise
        connection.exec_driver_sql("ROLLBACK TO step")
        outcome = _Failed(error)
    connection.exec_driver_sql("RELEASE step")
    return outcome


def _is_open(connection: sa.Connection) -> bool:
    return cast(sqlite3.Connection, connection.connection.driver_connection).in_transaction
