"""What is asked for by its ids is looked up by them, however much its owner has. SQLite has no statistics to know that by, and chooses its
plans by the form of a statement alone; so they are the same for a database that is empty."""

from __future__ import annotations

import shutil
import sqlite3
import uuid
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import sqlalchemy as sa

from citewell.storage.conversations.threads import ThreadRepository
from citewell.storage.database import Database
from citewell.storage.files.content import ContentRepository
from citewell.storage.files.metadata import MetadataRepository
from citewell.storage.files.resources import ResourceRepository
from citewell.storage.tables import resources
from citewell.storage.work.payload_changes import PayloadChangeRepository, note_changes
from citewell.types import ResourceFilter, Status
from tests.storage.rows import add_resource

_IDS = tuple(str(uuid.UUID(int=n)) for n in range(200))


class _Traced:
    """A database that notes what SQLite executes, with the values in place of the parameters."""

    def __init__(self, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self._path = path
        self._said: list[str] = []
        connect = sqlite3.connect

        def traced(*args: object, **kwargs: object) -> sqlite3.Connection:
            connection: sqlite3.Connection = connect(*args, **kwargs)  # type: ignore[call-overload]
            connection.set_trace_callback(self._said.append)
            return connection

        monkeypatch.setattr(sqlite3, "connect", traced)
        monkeypatch.setattr("sqlite3.dbapi2.connect", traced)
        self.database = Database(f"sqlite+aiosqlite:///{path}")
        self._connect = connect

    def plans(self) -> list[str]:
        """The steps of what was read since the last call, one line each."""
        said, self._said[:] = list(self._said), []
        reads = [one for one in said if one.lstrip().upper().startswith(("SELECT", "WITH", "UPDATE", "DELETE"))]
        assert reads
        plain = self._connect(self._path)
        steps = [step[3] for one in reads for step in plain.execute(f"EXPLAIN QUERY PLAN {one}")]
        plain.close()
        return steps


@pytest.fixture
async def traced(tmp_path: Path, sqlite_template: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[_Traced]:
    shutil.copyfile(sqlite_template, tmp_path / "test.db")
    opened = _Traced(tmp_path / "test.db", monkeypatch)
    yield opened
    await opened.database.close()


def _reads_no_more_than_asked(steps: list[str]) -> None:
    tables = ("chunks", "elements", "resources", "messages")
    for step in steps:
        assert not step.startswith(tuple(f"SCAN {table}" for table in tables)), steps
        assert not (step.startswith("SEARCH resources") and "(id=?)" not in step), steps


@pytest.mark.parametrize("count", [1, 10, 20, 200])
async def test_passages_are_looked_up_by_their_ids(traced: _Traced, count: int) -> None:
    await ContentRepository(traced.database).load_chunks("ada", _IDS[:count])
    _reads_no_more_than_asked(traced.plans())


@pytest.mark.parametrize("files", [1, 7, 250])
async def test_passages_around_others_are_looked_up_by_their_places(traced: _Traced, files: int) -> None:
    places = [(f"r{n % files}", 1, n) for n in range(500)]
    await ContentRepository(traced.database).chunks_at("ada", places)
    _reads_no_more_than_asked(traced.plans())


async def test_files_are_looked_up_by_their_ids(traced: _Traced) -> None:
    files, named = ResourceRepository(traced.database), ResourceFilter(ids=_IDS)
    await files.page("ada", named, 200, None)
    await files.summaries("ada", named, 200, None)
    await files.count_characters("ada", named)
    await files.owned("ada", _IDS)
    metadata = MetadataRepository(traced.database)
    await metadata.keys("ada", _IDS)
    await metadata.facts("ada", _IDS)
    await metadata.filtered_ids("ada", named)
    _reads_no_more_than_asked(traced.plans())


async def test_a_look_for_payloads_that_are_behind_does_not_read_all_files(traced: _Traced) -> None:
    _, resource = await add_resource(traced.database, "ada")
    async with traced.database.write() as connection:
        await connection.run_sync(note_changes, [resource])
        await connection.execute(sa.update(resources).values(status=Status.INDEXED))
    traced.plans()
    assert await PayloadChangeRepository(traced.database).claim("w", 256)
    _reads_no_more_than_asked(traced.plans())


async def test_where_no_payload_is_behind_nothing_is_written(traced: _Traced) -> None:
    before = traced.database.writes
    assert await PayloadChangeRepository(traced.database).claim("w", 256) == []
    assert traced.database.writes == before


async def test_words_in_conversations_are_looked_for_in_the_owners_alone(traced: _Traced) -> None:
    await ThreadRepository(traced.database).page("ada", 20, None, "loan")
    _reads_no_more_than_asked(traced.plans())


async def test_all_files_of_an_owner_are_still_looked_up_by_the_owner(traced: _Traced) -> None:
    await ResourceRepository(traced.database).page("ada", ResourceFilter(), 20, None)
    assert any("ix_resources_owner_created (owner_id=?)" in step for step in traced.plans())
