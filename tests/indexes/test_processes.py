"""Processes on one Postgres: what one does to the indexes, the others follow, and a build misses nothing that they write."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Callable, Generator
from pathlib import Path

import asyncpg
import pytest

from citewell.composition import open_services
from citewell.settings import Settings, load_settings
from citewell.storage.vectors.indexes import BuildOptions

pytestmark = pytest.mark.full

RECORDS = [{"id": str(n), "text": f"Lamp number{n} is kept in room {n}."} for n in range(12)]
OTHER = {"provider": "builtin", "model": "other", "dimensions": 32}


async def _execute(url: str, statement: str) -> None:
    connection = await asyncpg.connect(url)
    await connection.execute(statement)
    await connection.close()


@pytest.fixture
def database(postgres: str) -> Generator[str]:
    name = f"d{uuid.uuid4().hex}"
    asyncio.run(_execute(postgres, f"CREATE DATABASE {name}"))
    yield postgres.replace("/postgres?", f"/{name}?")
    asyncio.run(_execute(postgres, f"DROP DATABASE {name} WITH (FORCE)"))


async def _until(holds: Callable[[], bool]) -> None:
    async with asyncio.timeout(60):
        while not holds():  # noqa: ASYNC110 - as a user would look
            await asyncio.sleep(0.05)


@pytest.mark.slow(15)
async def test_the_others_write_to_a_new_index_and_switch_with_the_one_that_built_it(
    database: str, tmp_path: Path
) -> None:
    def settings(name: str) -> Settings:
        return load_settings(data=tmp_path / name, workers=0, database_url=database, vector_store="pgvector")

    async with open_services(settings("one")) as one, open_services(settings("two")) as two:
        await one.resources.add_records(one.local_owner, RECORDS)
        made = await one.indexes.build(one.local_owner, OTHER, BuildOptions(switch=True))
        await _until(lambda: two.search.indexes.has(made.id))
        await two.resources.add_records(two.local_owner, [{"id": "99", "text": "Lamp number99 is new."}])
        for services in (one, two):
            await _until(lambda s=services: s.search.indexes.active.record.id == made.id)  # type: ignore[misc]
            assert {await index.store.count() for index in services.search.indexes.all} == {13}
        before = next(i for i in one.search.indexes.all if i.record.id != made.id).record.id
        await one.indexes.switch(one.local_owner, before)
        await _until(lambda: two.search.indexes.active.record.id == before)
        await one.indexes.delete(one.local_owner, made.id)
        await _until(lambda: not two.search.indexes.has(made.id))
