"""Reading rows in one step: the same rows as in a transaction, and always those that were committed last."""

from __future__ import annotations

import asyncio
import shutil
import sqlite3
import uuid
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import aiosqlite
import asyncpg
import pytest
import sqlalchemy as sa
from alembic.script import ScriptDirectory
from sqlalchemy.exc import IntegrityError

from citewell.errors import ConfigurationError
from citewell.settings.values import async_url, is_pooled, plain_postgres_url
from citewell.storage import database as module
from citewell.storage import sqlite
from citewell.storage.database import Database
from citewell.storage.lookups import Lookup
from citewell.storage.revisions import known_revisions, last_revision, newest_name
from citewell.storage.tables import owners

_TABLE = sa.Table("notes", sa.MetaData(), sa.Column("id", sa.Integer, primary_key=True), sa.Column("text", sa.Text))


async def test_rows_are_those_committed_last(tmp_path: Path) -> None:
    database = Database(f"sqlite+aiosqlite:///{tmp_path / 'a.db'}")
    query = sa.select(_TABLE).order_by(_TABLE.c.id)
    async with database.write() as connection:
        await connection.run_sync(_TABLE.metadata.create_all)
    assert await database.rows(query) == []
    for number in range(3):
        async with database.write() as connection:
            await connection.execute(sa.insert(_TABLE), {"id": number, "text": f"note {number}"})
            assert len(await database.rows(query)) == number
        assert [row["text"] for row in await database.rows(query)] == [f"note {n}" for n in range(number + 1)]
    many = await asyncio.gather(*(database.rows(query.where(_TABLE.c.id == n % 3)) for n in range(40)))
    assert [rows[0]["id"] for rows in many] == [n % 3 for n in range(40)]
    await database.close()


async def test_rows_looked_up_are_those_that_the_query_reads(tmp_path: Path) -> None:
    table = sa.Table(
        "facts",
        sa.MetaData(),
        sa.Column("id", sa.Text, primary_key=True),
        sa.Column("n", sa.Integer),
        sa.Column("of", sa.JSON),
    )
    database = Database(f"sqlite+aiosqlite:///{tmp_path / 'a.db'}")
    async with database.write() as connection:
        await connection.run_sync(table.metadata.create_all)
        rows = [{"id": str(n), "n": n % 3, "of": {"é": [n]} if n % 2 else None} for n in range(100)]
        await connection.execute(sa.insert(table), rows)
    chosen = table.c.id.in_(sa.bindparam("ids", expanding=True))
    query = sa.select(table.c.id, table.c.of.label("said")).where(chosen, table.c.n < sa.bindparam("below"))
    lookup = Lookup(query)
    for count in (0, 1, 3, 3, 90):
        ids = [str(n) for n in range(count)]
        found = await database.look_up(lookup, ids, {"below": 2})
        assert [dict(row) for row in found] == [
            dict(row) for row in await database.rows(query, {"ids": ids, "below": 2})
        ]
        assert len(found) == sum(n % 3 < 2 for n in range(count))
    async with database.write() as connection:
        await connection.execute(sa.delete(table).where(table.c.id == "0"))
        assert [row["id"] for row in await database.look_up(lookup, ["0", "1"], {"below": 2})] == ["0", "1"]
    assert [row["id"] for row in await database.look_up(lookup, ["0", "1"], {"below": 2})] == ["1"]
    await database.close()


async def test_a_write_that_is_cancelled_locks_nobody_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sqlite, "_PRAGMAS", sqlite._PRAGMAS.replace("30000", "100"))
    database = Database(f"sqlite+aiosqlite:///{tmp_path / 'a.db'}")
    async with database.write() as connection:
        await connection.run_sync(_TABLE.metadata.create_all)
    begun = asyncio.Event()

    async def write() -> None:
        async with database.write() as connection:
            begun.set()
            await connection.execute(sa.insert(_TABLE), [{"id": n, "text": "cancelled"} for n in range(100_000)])

    writing = asyncio.create_task(write())
    await begun.wait()
    await asyncio.sleep(0.01)
    writing.cancel()
    with pytest.raises(asyncio.CancelledError) as raised:
        await writing
    try:
        async with database.write() as connection:  # `raised` refers to the statement still, by its traceback
            await connection.execute(sa.insert(_TABLE), {"id": 0, "text": "kept"})
        assert [row["text"] for row in await database.rows(sa.select(_TABLE))] == ["kept"]
        assert raised.tb is not None
    finally:
        await database.close()


def test_revisions_are_those_that_alembic_knows() -> None:
    scripts = ScriptDirectory(str(module.MIGRATIONS))
    known = known_revisions(module.MIGRATIONS)
    assert known == {one.revision: one.down_revision for one in scripts.walk_revisions()}
    assert last_revision(known) == newest_name(module.MIGRATIONS) == scripts.get_current_head()


@pytest.fixture
def later_version(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Gives the code one more revision than it has."""

    def add() -> None:
        folder = tmp_path / "migrations"
        shutil.copytree(module.MIGRATIONS, folder)
        head = ScriptDirectory(str(folder)).get_current_head()
        change = f"revision, down_revision = 'later', {head!r}\n\n\ndef upgrade():\n    op.drop_table('usage')\n"
        (folder / "versions" / "later.py").write_text(f"from alembic import op\n\n{change}", encoding="utf-8")
        monkeypatch.setattr(module, "MIGRATIONS", folder)

    return add


async def _owners(url: str) -> list[str]:
    database = Database(url)
    names = [row["name"] for row in await database.rows(sa.select(owners.c.name))]
    await database.close()
    return names


async def test_a_database_is_copied_before_its_schema_changes(
    tmp_path: Path, later_version: Callable[[], None]
) -> None:
    url, backups = f"sqlite+aiosqlite:///{tmp_path / 'a.db'}", tmp_path / "backups"
    database = Database(url)
    await database.migrate(backups)
    await database.migrate(backups)
    assert not backups.exists(), "nothing changed"
    async with database.write() as connection:
        await connection.execute(sa.insert(owners), {"id": "o", "name": "ann", "created_at": 1.0})
    later_version()
    await database.migrate(backups)
    await database.close()
    (copy,) = backups.iterdir()
    assert await _owners(f"sqlite+aiosqlite:///{copy}") == ["ann"]
    with closing(sqlite3.connect(copy)) as before, closing(sqlite3.connect(tmp_path / "a.db")) as after:
        named = "SELECT count(*) FROM sqlite_master WHERE name = 'usage'"
        assert (before.execute(named).fetchone(), after.execute(named).fetchone()) == ((1,), (0,))


async def test_a_database_of_a_newer_version_is_refused_in_one_line(
    tmp_path: Path, later_version: Callable[[], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    url, known = f"sqlite+aiosqlite:///{tmp_path / 'a.db'}", module.MIGRATIONS
    database = Database(url)
    later_version()
    await database.migrate()
    monkeypatch.setattr(module, "MIGRATIONS", known)
    with pytest.raises(ConfigurationError, match=r"revision later.*Install the newer version"):
        await database.migrate()
    await database.close()


@pytest.mark.parametrize(
    ("url", "pooled"),
    [
        ("postgresql://u@h:6543/d", True),
        ("postgresql://u@h/d?pgbouncer=true", True),
        ("postgresql://u@h:6543/d?pgbouncer=false", False),
        ("postgresql://u@h:5432/d?sslmode=require", False),
    ],
)
def test_an_address_says_whether_a_pooler_gives_each_transaction_another_session(url: str, pooled: bool) -> None:
    assert is_pooled(url) is pooled
    assert "pgbouncer" not in plain_postgres_url(url)
    assert ("pgbouncer=true" in async_url(url)) is pooled


async def test_behind_such_a_pooler_no_statement_is_kept(postgres: str) -> None:
    database = Database(async_url(f"{postgres}&pgbouncer=true"))
    for _ in range(3):
        async with database.write() as connection:
            assert await connection.scalar(sa.text("SELECT count(*) FROM pg_prepared_statements")) == 1  # its own
    await database.close()


async def test_a_statement_with_its_rows_is_one_step_of_the_thread(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps: list[str] = []
    execute = aiosqlite.Connection._execute

    async def counted(self: aiosqlite.Connection, fn: Callable[..., object], *args: object, **kwargs: object) -> object:
        steps.append(fn.__name__)
        return await execute(self, fn, *args, **kwargs)

    database = Database(f"sqlite+aiosqlite:///{tmp_path / 'a.db'}")
    async with database.write() as connection:
        await connection.run_sync(_TABLE.metadata.create_all)
    monkeypatch.setattr(aiosqlite.Connection, "_execute", counted)
    async with database.write() as connection:
        done = await connection.execute(sa.insert(_TABLE).returning(_TABLE.c.id), [{"text": "a"}, {"text": "b"}])
        assert done.scalars().all() == [1, 2]
        changed = await connection.execute(sa.update(_TABLE).values(text="c"))
        assert changed.rowcount == 2
    assert steps == ["run", "run", "commit"]
    steps.clear()
    async with database.read() as connection:
        assert (await connection.execute(sa.select(_TABLE.c.text))).scalars().all() == ["c", "c"]
    assert steps == ["run", "rollback"]
    steps.clear()
    async with database.write():
        pass
    assert steps == []
    await database.close()


async def test_a_failed_statement_leaves_the_transaction_as_it_was(tmp_path: Path) -> None:
    database = Database(f"sqlite+aiosqlite:///{tmp_path / 'a.db'}")
    async with database.write() as connection:
        await connection.run_sync(_TABLE.metadata.create_all)
    async with database.write() as connection:
        await connection.execute(sa.insert(_TABLE), {"id": 1, "text": "kept"})
        with pytest.raises(IntegrityError):
            await connection.execute(sa.insert(_TABLE), {"id": 1, "text": "twice"})
        assert (await connection.execute(sa.select(_TABLE.c.text))).scalars().all() == ["kept"]
    assert [row["text"] for row in await database.rows(sa.select(_TABLE))] == ["kept"]
    await database.close()


async def test_processes_that_start_at_once_on_a_new_postgres_migrate_one_after_the_other(postgres: str) -> None:
    name = f"test_{uuid.uuid4().hex}"
    first: Any = await asyncpg.connect(postgres)
    await first.execute(f"CREATE DATABASE {name}")
    url = sa.make_url(async_url(postgres)).set(database=name).render_as_string(hide_password=False)
    databases = [Database(url) for _ in range(4)]
    await asyncio.gather(*(database.migrate() for database in databases))
    async with databases[0].read() as connection:
        assert await connection.scalar(sa.text("SELECT count(*) FROM alembic_version")) == 1
    for database in databases:
        await database.close()
    await first.execute(f"DROP DATABASE {name} WITH (FORCE)")
    await first.close()
