"""A Redis of the tests' own, and databases for stores with a ledger."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from citewell.storage.database import Database
from tests.redis_server import redis_server


@pytest.fixture(scope="session")
def ledger_template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("ledger") / "template.db"

    async def make() -> None:
        database = Database(f"sqlite+aiosqlite:///{path}")
        await database.migrate()
        await database.close()

    asyncio.run(make())
    return path


@pytest.fixture
async def ledger_database(ledger_template: Path, tmp_path: Path) -> AsyncIterator[Database]:
    shutil.copyfile(ledger_template, tmp_path / "ledger.db")
    database = Database(f"sqlite+aiosqlite:///{tmp_path / 'ledger.db'}")
    yield database
    await database.close()


@pytest.fixture(scope="session")
def redis_url() -> Iterator[str]:
    """The address of a Redis with the query engine."""
    with redis_server() as url:
        yield url
