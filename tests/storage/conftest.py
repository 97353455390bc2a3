"""An empty database of either kind for each test: SQLite's is a copied file, Postgres's one of the module's own, emptied."""

from __future__ import annotations

import asyncio
import math
import shutil
import uuid
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import asyncpg
import pytest
import sqlalchemy as sa

from citewell.settings import load_settings
from citewell.storage.accounts.audit import removing
from citewell.storage.accounts.audit_tables import audit_removals
from citewell.storage.database import Database
from citewell.storage.tables import metadata


async def _migrated(url: str) -> None:
    database = Database(url)
    await database.migrate()
    await database.close()


async def _execute(url: str, sql: str) -> None:
    connection: Any = await asyncpg.connect(url)
    await connection.execute(sql)
    await connection.close()


@pytest.fixture(scope="session")
def sqlite_template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A migrated database file, to copy."""
    path = tmp_path_factory.mktemp("sqlite") / "template.db"
    asyncio.run(_migrated(f"sqlite+aiosqlite:///{path}"))
    return path


@pytest.fixture(scope="module")
def postgres_database(postgres: str) -> Iterator[str]:
    """The URL of a migrated database on the tests' Postgres server, for one module."""
    name = f"test_{uuid.uuid4().hex}"
    plain = sa.make_url(postgres)
    asyncio.run(_execute(postgres, f"CREATE DATABASE {name}"))
    url = load_settings(database_url=plain.set(database=name).render_as_string(hide_password=False)).sql_url
    asyncio.run(_migrated(url))
    yield url
    asyncio.run(_execute(postgres, f"DROP DATABASE {name} WITH (FORCE)"))


@pytest.fixture(params=["sqlite", "postgres"])
def database_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The URL of a migrated database."""
    if request.param == "postgres":
        return str(request.getfixturevalue("postgres_database"))
    shutil.copyfile(request.getfixturevalue("sqlite_template"), tmp_path / "test.db")
    return f"sqlite+aiosqlite:///{tmp_path / 'test.db'}"


@pytest.fixture
async def database(database_url: str) -> AsyncIterator[Database]:
    """The database, empty."""
    opened = Database(database_url)
    if not opened.is_sqlite:
        async with opened.write() as connection, removing(connection, before=math.inf):
            for table in reversed(metadata.sorted_tables):
                if table is not audit_removals:
                    await connection.execute(sa.delete(table))
    yield opened
    await opened.close()
