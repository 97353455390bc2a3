"""A full disk: one clear line, nothing half-kept, reading goes on, and so does the work once there is space again.

`benchmarks/full_disk.py` does the same to a server on a real disk that is filled while it works.
"""

from __future__ import annotations

import asyncio
import errno
import os
import sqlite3
import subprocess
import sys
import time
import uuid
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import httpx
import pytest
import sqlalchemy as sa

from citewell.adapters.index.qdrant_edge import QdrantEdgeIndex
from citewell.app import build
from citewell.errors import DiskFull, LimitExceeded
from citewell.ingest import capture
from citewell.ingest.capture import Spool
from citewell.ingest.parsers import ParserPool
from citewell.settings import load_settings
from citewell.storage.database import Database
from citewell.storage.work.jobs import JobRepository
from citewell.system import disk
from citewell.system.disk import MIN_FREE_BYTES, SPARE_BYTES, DiskReserve, SpareSpace, is_full
from citewell.system.folder import DataFolder
from citewell.types import TERMINAL, ExtractOptions, Job, Point
from tests.ingest import nasty

pytestmark = [pytest.mark.full, pytest.mark.slow(15)]

_TERMINAL = {status.value for status in TERMINAL}
_PATIENCE = 300  # times that a figure is looked at again


class Disk:
    """What the system says of the disk; `is_full` makes it say that nothing is left."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self._real = os.statvfs
        self.is_full = False
        patch.setattr(disk.os, "statvfs", self._statvfs)

    def _statvfs(self, path: str | Path) -> os.statvfs_result:
        found = list(self._real(path))
        if self.is_full:
            found[3] = found[4] = 0  # f_bfree, f_bavail
        return os.statvfs_result(found)


@pytest.fixture
def reported(monkeypatch: pytest.MonkeyPatch) -> Disk:
    return Disk(monkeypatch)


@asynccontextmanager
async def _serving(data: Path) -> AsyncGenerator[httpx.AsyncClient]:
    app = build(load_settings(data=data))
    async with app.router.lifespan_context(app):
        headers = {"Authorization": f"Bearer {DataFolder(data).token()}"}
        async with httpx.AsyncClient(
            transport=httpx.ASGITransport(app), base_url="http://test", headers=headers, timeout=60
        ) as client:
            yield client


async def _upload(client: httpx.AsyncClient, name: str, content: bytes) -> httpx.Response:
    return await client.post("/ingest", files={"file": (name, content)})


async def _terminal(client: httpx.AsyncClient, resource_id: str) -> dict[str, object]:
    end = time.monotonic() + 120
    while True:
        found = (await client.get(f"/resources/{resource_id}")).json()
        if found["status"] in _TERMINAL:
            return found
        assert time.monotonic() < end, found
        await asyncio.sleep(0.05)


async def test_uploads_are_refused_reading_goes_on_and_work_is_taken_up_again(
    tmp_path: Path, reported: Disk, caplog: pytest.LogCaptureFixture
) -> None:
    async with _serving(tmp_path / "data") as client:
        first = (await _upload(client, "first.txt", b"The harbour master keeps the keys.")).json()["id"]
        await _terminal(client, first)
        accepted = (await _upload(client, "second.txt", b"Herring is landed on Tuesdays.")).json()["id"]
        reported.is_full = True
        refused = await _upload(client, "third.txt", b"Cod is landed on Fridays.")
        assert (refused.status_code, refused.json()["error"]["code"]) == (507, "disk_full")
        assert not list((tmp_path / "data" / "uploads").iterdir())
        assert (await client.post("/search", json={"query": "harbour keys"})).json()["hits"]
        assert (await client.get(f"/resources/{first}/file")).content == b"The harbour master keeps the keys."
        ready = await client.get("/ready")
        assert (ready.status_code, ready.json()["parts"]["disk"]["ok"]) == (503, False)
        assert "disk is full" in ready.json()["parts"]["disk"]["note"]
        deleted = await client.delete(f"/resources/{first}")
        assert deleted.status_code == 200, "deleting makes room"
        assert deleted.json()["vectors_left"] > 0
        assert (await client.get(f"/resources/{first}")).status_code == 404
        assert not list((tmp_path / "data" / "blobs").glob(f"*/{first}/*/*"))
        assert first not in {
            hit["resource_id"] for hit in (await client.post("/search", json={"query": "harbour keys"})).json()["hits"]
        }
        await asyncio.sleep(3)
        reported.is_full = False
        assert (await _terminal(client, accepted))["status"] == "indexed"
        assert (await _upload(client, "third.txt", b"Cod is landed on Fridays.")).status_code == 201
        assert (await client.delete(f"/resources/{accepted}")).json()["vectors_left"] == 0
        assert (await client.get("/ready")).json()["parts"]["disk"]["ok"]
    async with _serving(tmp_path / "data"):
        pass
    async with _serving(tmp_path / "data") as client:
        figures = await _figures(client)
        for _ in range(_PATIENCE):  # the index is counted while the server already answers
            if figures["index_points"] == figures["chunks"]:
                break
            await asyncio.sleep(0.2)
            figures = await _figures(client)
        assert figures["index_points"] == figures["chunks"], "the vectors of the first file are gone, too"
    waits = [record for record in caplog.records if record.name == "citewell.ingest.workers" and record.levelno >= 40]
    assert len(waits) <= 2, "one line when work begins to wait, one for the stage that met it"
    assert not [record for record in caplog.records if record.exc_info]


async def _figures(client: httpx.AsyncClient) -> dict[str, str]:
    text = (await client.get("/metrics")).text
    return {name: text.split(f"\ncitewell_{name} ")[1].split()[0] for name in ("index_points", "chunks")}


async def test_a_transaction_without_room_leaves_nothing_and_says_so(tmp_path: Path) -> None:
    database = Database(f"sqlite+aiosqlite:///{tmp_path / 'a.db'}")
    notes = sa.Table("notes", sa.MetaData(), sa.Column("text", sa.Text))
    async with database.write() as connection:
        await connection.run_sync(notes.metadata.create_all)

    async def write(pages: int) -> None:
        async with database.write() as connection:
            await connection.execute(sa.insert(notes), {"text": "small"})
            await connection.exec_driver_sql(f"PRAGMA max_page_count={pages}")
            await connection.execute(sa.insert(notes), {"text": "x" * 1_000_000})

    with pytest.raises(DiskFull):
        await write(pages=3)
    assert await database.rows(sa.select(notes)) == []
    await write(pages=1_000_000)
    assert len(await database.rows(sa.select(notes))) == 2
    await database.close()


async def test_a_full_disk_gives_spare_space_back_to_whoever_signs_in_revokes_or_deletes(
    tmp_path: Path, reported: Disk
) -> None:
    """`benchmarks/full_disk.py` fills a real disk to its last byte."""
    spare = tmp_path / "data" / "citewell.db-spare"
    async with _serving(tmp_path / "data") as client:
        assert _occupied(spare) >= SPARE_BYTES
        token = (await client.post("/tokens", json={"name": "phone", "scopes": ["read"]})).json()["id"]
        reported.is_full = True
        assert (await client.delete(f"/tokens/{token}")).status_code == 204
        assert 0 < _occupied(spare) < SPARE_BYTES, "in portions: whatever fills the disk would take all of it"
        reported.is_full = False
        assert (await client.post("/tokens", json={"name": "tablet", "scopes": ["read"]})).status_code == 201
        assert _occupied(spare) >= SPARE_BYTES, "set aside again"


async def test_a_write_that_found_no_room_has_all_spare_space_the_next_time(tmp_path: Path) -> None:
    path = tmp_path / "a.db-spare"
    database = Database(f"sqlite+aiosqlite:///{tmp_path / 'a.db'}", SpareSpace(path, reserved=0))
    await database.change(lambda connection: connection.exec_driver_sql("CREATE TABLE notes (text TEXT)").close())
    assert _occupied(path) >= SPARE_BYTES
    for one in (_fail_through_write, _fail_through_change):
        with pytest.raises(DiskFull):
            await one(database)
        assert not path.stat().st_size
        await database.change(lambda connection: connection.exec_driver_sql("DELETE FROM notes").close())
        assert _occupied(path) >= SPARE_BYTES
    await database.close()


async def _fail_through_write(database: Database) -> None:
    async with database.write():
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


async def _fail_through_change(database: Database) -> None:
    def without_room(_: sa.Connection) -> None:
        raise OSError(errno.EDQUOT, os.strerror(errno.EDQUOT))

    await database.change(without_room)


def test_no_space_is_set_aside_that_files_need(tmp_path: Path) -> None:
    path = tmp_path / "spare"
    SpareSpace(path, reserved=1 << 60).tend()
    assert not path.exists()


def _occupied(path: Path) -> int:
    return path.stat().st_blocks * 512


async def test_workers_outlive_a_database_that_can_write_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """The end of a stage is written as soon as it can be; before, it ended the worker, and no file was read any more."""
    full = asyncio.Event()
    met = asyncio.Event()
    change = JobRepository.change

    async def without_room(self: JobRepository, job: Job, work: Callable[[sa.Connection], object]) -> object:
        if full.is_set():
            met.set()
            raise DiskFull from sqlite3.OperationalError("database or disk is full")
        return await change(self, job, work)

    monkeypatch.setattr(JobRepository, "change", without_room)
    async with _serving(tmp_path / "data") as client:
        full.set()
        ids = [(await _upload(client, f"{n}.txt", f"The {n}th note.".encode())).json()["id"] for n in range(6)]
        await asyncio.wait_for(met.wait(), 60)
        await asyncio.sleep(2.5)
        full.clear()
        assert {(await _terminal(client, one))["status"] for one in ids} == {"indexed"}
    assert len([r for r in caplog.records if "for now" in r.message]) == 1
    assert not [record for record in caplog.records if record.exc_info]


@pytest.fixture
def nowhere(tmp_path: Path) -> Path:
    """A file that takes no bytes, as on a full disk."""
    path = tmp_path / "spool.part"
    path.symlink_to("/dev/full")
    return path


def test_an_upload_that_finds_no_room_for_its_bytes_leaves_nothing(tmp_path: Path, nowhere: Path) -> None:
    with pytest.raises(DiskFull), Spool(nowhere, 1_000_000, DiskReserve(tmp_path, 0)) as spool:
        spool.write(b"x" * 100_000)
    assert not nowhere.is_symlink()


def test_an_upload_leaves_the_reserve_alone(tmp_path: Path, reported: Disk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(capture, "_CHECK_EVERY", 1_000)
    path = tmp_path / "spool.part"
    with Spool(path, 1_000_000, DiskReserve(tmp_path, 1)) as spool:
        spool.write(b"x" * 2_000)
        reported.is_full = True
        with pytest.raises(DiskFull):
            spool.write(b"x" * 2_000)
    assert not path.exists()


async def test_the_index_writes_nothing_that_it_may_have_no_room_for(tmp_path: Path, reported: Disk) -> None:
    """It maps files with holes: filling one without space would end the process."""
    index = await QdrantEdgeIndex.open(tmp_path / "index", 2)
    point = Point(id=str(uuid.uuid4()), dense=(0.6, 0.8), sparse=None, payload={"owner_id": "o", "resource_id": "r"})
    reported.is_full = True
    with pytest.raises(DiskFull):
        await index.upsert([point])
    assert await index.count() == 0
    reported.is_full = False
    await index.upsert([point])
    assert await index.count() == 1
    await index.close()


async def test_a_parser_without_room_is_not_the_files_fault(tmp_path: Path, reported: Disk) -> None:
    source = tmp_path / "source.bin"
    source.write_text("text")
    space = DiskReserve(tmp_path, MIN_FREE_BYTES)
    async with ParserPool(1, entry=f"{nasty.__name__}:read", space=space) as pool:
        with pytest.raises(LimitExceeded):
            await pool.parse(source, "find no space", ExtractOptions(), tmp_path / "scratch")
        reported.is_full = True
        with pytest.raises(DiskFull):
            await pool.parse(source, "find no space", ExtractOptions(), tmp_path / "scratch")
        with pytest.raises(DiskFull):  # long before the hours that this file takes
            await asyncio.wait_for(pool.parse(source, "loop with progress", ExtractOptions(), tmp_path / "scratch"), 60)


def test_a_server_without_room_to_start_says_so_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text(
        "import os\nreal = os.statvfs\n"
        "def full(path):\n    found = list(real(path)); found[3] = found[4] = 0\n    return os.statvfs_result(found)\n"
        "os.statvfs = full\n"
    )
    path = f"{tmp_path}:{os.environ.get('PYTHONPATH', '')}"
    command = [sys.executable, "-m", "citewell.cli", "serve", "--data", str(tmp_path / "data"), "--port", "0"]
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=120, env=os.environ | {"PYTHONPATH": path}, check=False
    )
    assert done.returncode == 2, done.stderr
    assert "disk is full" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_token_is_written_whole_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Half a token, or an empty one, would lock its owner out for good."""
    fdopen = os.fdopen

    def full(descriptor: int, mode: str) -> object:
        os.close(descriptor)
        return fdopen(os.open("/dev/full", os.O_WRONLY), mode)

    with monkeypatch.context() as patch:
        patch.setattr("citewell.system.folder.os.fdopen", full)
        with pytest.raises(DiskFull):
            DataFolder(tmp_path / "data").token()
    assert not list((tmp_path / "data").iterdir())
    (tmp_path / "data" / "token").touch()
    assert DataFolder(tmp_path / "data").token().startswith("cw_")


def test_a_full_disk_is_known_by_its_cause() -> None:
    wrapped = RuntimeError("wrapped")
    wrapped.__cause__ = OSError(errno.ENOSPC, "No space left on device")
    assert is_full(wrapped)
    assert is_full(OSError(errno.EDQUOT, "Disk quota exceeded"))
    assert not is_full(OSError(errno.EACCES, "Permission denied"))
    assert not is_full(ValueError("No space left on device"))
