"""Write steps that wait for one another share a transaction, and each ends as if it had one of its own."""

from __future__ import annotations

import asyncio
import sqlite3
import threading
from collections.abc import AsyncGenerator, Callable
from contextlib import closing
from pathlib import Path

import pytest
import sqlalchemy as sa
from sqlalchemy import event
from sqlalchemy.exc import IntegrityError, OperationalError

from citewell.storage.database import Database

notes = sa.Table("notes", sa.MetaData(), sa.Column("number", sa.Integer, primary_key=True))


@pytest.fixture
async def database(tmp_path: Path) -> AsyncGenerator[Database]:
    database = Database(f"sqlite+aiosqlite:///{tmp_path / 'notes.db'}")
    async with database.write() as connection:
        await connection.run_sync(notes.create)
    yield database
    await database.close()


def add(number: int) -> Callable[[sa.Connection], int]:
    def work(connection: sa.Connection) -> int:
        connection.execute(sa.insert(notes).values(number=number))
        return number

    return work


async def numbers(database: Database) -> list[int]:
    return [row["number"] for row in await database.rows(sa.select(notes).order_by(notes.c.number))]


class Held:
    """A step that has begun, and ends when it is let go."""

    def __init__(self, database: Database) -> None:
        self._begun, self._over = threading.Event(), threading.Event()
        self._database = database

    def __call__(self, connection: sa.Connection) -> None:
        connection.execute(sa.insert(notes).values(number=1_000))
        self._begun.set()
        assert self._over.wait(30)

    async def begin(self) -> asyncio.Task[None]:
        task = asyncio.create_task(self._database.change(self))
        assert await asyncio.to_thread(self._begun.wait, 30)
        return task

    def let_go(self) -> None:
        self._over.set()


async def test_steps_that_wait_share_one_commit(database: Database) -> None:
    held = Held(database)
    first = await held.begin()
    waiting = [asyncio.create_task(database.change(add(number))) for number in range(5)]
    await asyncio.sleep(0)
    statements: list[str] = []
    reader = database._reader  # pyright: ignore[reportPrivateUsage]
    assert reader is not None

    def note(connection: object, cursor: object, statement: str, *_: object) -> None:
        statements.append(statement)

    event.listen(reader, "before_cursor_execute", note)
    held.let_go()
    assert await asyncio.gather(first, *waiting) == [None, 0, 1, 2, 3, 4]
    assert statements.count("COMMIT") == 2, "the one that had begun, and one for all five"
    assert await numbers(database) == [0, 1, 2, 3, 4, 1_000]


async def test_a_step_that_fails_is_undone_alone(database: Database) -> None:
    def twice(connection: sa.Connection) -> None:
        add(7)(connection)
        add(2)(connection)  # which is there by then

    held = Held(database)
    first = await held.begin()
    waiting = [asyncio.create_task(database.change(work)) for work in (add(1), add(2), twice, add(3))]
    await asyncio.sleep(0)
    held.let_go()
    ended = await asyncio.gather(first, *waiting, return_exceptions=True)
    assert isinstance(ended[3], IntegrityError)
    assert [ended[1], ended[2], ended[4]] == [1, 2, 3]
    assert await numbers(database) == [1, 2, 3, 1_000]


async def test_a_step_after_which_the_transaction_is_gone_fails_for_all_of_it(database: Database) -> None:
    def undone(connection: sa.Connection) -> None:
        connection.exec_driver_sql("ROLLBACK")  # as SQLite does by itself when the disk is full
        raise OperationalError("INSERT", {}, sqlite3.OperationalError("as it does then"))

    held = Held(database)
    first = await held.begin()
    waiting = [asyncio.create_task(database.change(work)) for work in (add(1), undone, add(3))]
    await asyncio.sleep(0)
    held.let_go()
    ended = await asyncio.gather(first, *waiting, return_exceptions=True)
    assert [type(one) for one in ended[1:]] == [OperationalError] * 3
    assert await numbers(database) == [1_000]
    assert await database.change(add(4)) == 4


async def test_whoever_is_cancelled_leaves_nothing_half_done(database: Database) -> None:
    held = Held(database)
    first = await held.begin()
    early, late = (asyncio.create_task(database.change(add(number))) for number in (1, 2))
    await asyncio.sleep(0)
    early.cancel()
    first.cancel()
    with pytest.raises(asyncio.CancelledError):
        await early
    await asyncio.sleep(0.01)
    assert not first.done(), "it has begun, and is waited for"
    held.let_go()
    with pytest.raises(asyncio.CancelledError):
        await first
    assert await late == 2
    assert await numbers(database) == [2, 1_000]


async def test_a_closed_database_says_so(database: Database) -> None:
    await database.close()
    steps = [asyncio.create_task(database.change(add(number))) for number in (1, 2)]
    ended = await asyncio.wait_for(asyncio.gather(*steps, return_exceptions=True), 30)
    assert [type(one) for one in ended] == [RuntimeError] * 2


def test_an_event_loop_that_ends_waits_for_what_has_begun(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "notes.db")) as connection:
        connection.execute("CREATE TABLE notes (number INTEGER PRIMARY KEY)")
    database = Database(f"sqlite+aiosqlite:///{tmp_path / 'notes.db'}")

    async def begin() -> None:
        held = Held(database)
        tasks.append(await held.begin())
        tasks.append(asyncio.create_task(database.change(add(1))))
        await asyncio.sleep(0)
        threading.Timer(0.2, held.let_go).start()

    tasks: list[asyncio.Task[object]] = []
    asyncio.run(begin())
    assert all(task.cancelled() for task in tasks)
    asyncio.run(database.close())
    with closing(sqlite3.connect(tmp_path / "notes.db")) as connection:
        assert connection.execute("SELECT number FROM notes").fetchall() == [(1_000,)]
