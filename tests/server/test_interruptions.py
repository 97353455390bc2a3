"""What happens to a data folder: two servers want it, it cannot be written, its files are damaged, the clock jumps, clients
vanish, and the process is killed right after a deletion."""

from __future__ import annotations

import asyncio
import json
import os
import random
import socket
import struct
import subprocess
import sys
import threading
import time
import uuid
from collections.abc import AsyncGenerator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from citewell.adapters.index.qdrant_edge import QdrantEdgeIndex
from citewell.app import build
from citewell.errors import DataFolderBusy
from citewell.features.resources.service import ResourceService
from citewell.library import Citewell
from citewell.settings import load_settings
from citewell.storage.database import Database
from citewell.storage.work.jobs import JobRepository
from citewell.system.folder import DataFolder
from citewell.types import TERMINAL, Stage
from tests.server.running import RunningServer
from tests.storage.rows import add_resource

pytestmark = [pytest.mark.full, pytest.mark.slow(50)]

VANISHING = int(os.environ.get("CITEWELL_TEST_VANISHING", "40"))
HOURS = 5 * 3600.0


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    """A server that these tests may hurt."""
    with RunningServer(tmp_path_factory.mktemp("interruptions") / "data") as running:
        yield running


@asynccontextmanager
async def _serving(data: Path, workers: int = 1) -> AsyncGenerator[httpx.AsyncClient]:
    app = build(load_settings(data=data, workers=workers))
    async with app.router.lifespan_context(app):
        headers = {"Authorization": f"Bearer {DataFolder(data).token()}"}
        async with httpx.AsyncClient(
            transport=httpx.ASGITransport(app), base_url="http://test", headers=headers, timeout=60
        ) as client:
            yield client


async def _upload(client: httpx.AsyncClient, name: str, content: bytes) -> dict[str, Any]:
    response = await client.post("/ingest", files={"file": (name, content)})
    assert response.status_code in (200, 201), response.text
    return response.json()


async def _terminal(client: httpx.AsyncClient, resource_id: str) -> dict[str, Any]:
    end = time.monotonic() + 120
    while True:
        found = (await client.get(f"/resources/{resource_id}")).json()
        if found["status"] in {status.value for status in TERMINAL}:
            return found
        assert time.monotonic() < end, found
        await asyncio.sleep(0.05)


# Two at one folder, and a folder that cannot be used.


def _command(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "citewell.cli", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=180, check=False)


def test_a_second_server_on_a_folder_is_one_line_and_the_first_goes_on(own: RunningServer) -> None:
    before = (own.data / "server.json").read_text()
    second = _command("serve", "--data", str(own.data), "--port", "0")
    assert second.returncode == 2
    assert "Another process holds" in second.stderr
    assert "Traceback" not in second.stderr
    with pytest.raises(DataFolderBusy), Citewell(own.data):
        pass
    assert (own.data / "server.json").read_text() == before
    assert own.client.get("/ready").status_code == 200


@pytest.mark.parametrize("command", ["serve", "ls", "token"])
def test_a_folder_that_cannot_be_used_is_one_line(tmp_path: Path, command: str) -> None:
    (tmp_path / "file").write_text("in the way")
    for folder in (tmp_path / "file", Path("/proc/citewell")):
        done = _command(command, "--data", str(folder))
        assert done.returncode == 2, done.stderr
        assert "cannot be used" in done.stderr
        assert "Traceback" not in done.stderr


# Damaged files.


def _damage(path: Path, how: str) -> None:
    content = bytearray(path.read_bytes())
    if how == "missing":
        path.unlink()
    elif how == "truncated":
        path.write_bytes(content[: len(content) // 2])
    else:
        content[len(content) // 2] ^= 1
        path.write_bytes(content)


def _file_of(data: Path, content: bytes) -> Path:
    return next(p for p in (data / "blobs").rglob("original-*") if p.is_file() and p.read_bytes() == content)


@pytest.mark.parametrize("size", [400, 3_000_000])
@pytest.mark.parametrize("how", ["missing", "truncated", "flipped"])
def test_damaged_bytes_are_never_given_out_as_the_file(own: RunningServer, how: str, size: int) -> None:
    content = random.Random(f"{how} {size}").randbytes(size)
    damaged, whole = own.add(f"{how} {size}.bin", content), own.add("whole.bin", content[::-1])
    _damage(_file_of(own.data, content), how)
    address = f"/resources/{damaged['id']}/file"
    if how == "flipped" and size > 1_000_000:
        with pytest.raises(httpx.RemoteProtocolError):
            own.client.get(address)
    else:
        answer = own.client.get(address)
        assert (answer.status_code, answer.json()["error"]["code"]) == (500, "damaged_file")
    assert own.client.get(f"/resources/{whole['id']}/file").content == content[::-1]
    assert "Traceback" not in own.log()
    again = own.upload("the same.bin", content)
    assert (again.status_code, again.json()["id"]) == (200, damaged["id"])
    assert own.client.get(address).content == content


@pytest.mark.parametrize("how", ["missing", "truncated", "flipped"])
async def test_a_file_damaged_before_it_was_read_fails_with_the_reason_and_is_restored_by_its_upload(
    tmp_path: Path, how: str
) -> None:
    data, content = tmp_path / "data", b"The harbour master keeps the keys of the old lighthouse."
    async with _serving(data, workers=0) as client:
        damaged = await _upload(client, "damaged.txt", content)
        other = await _upload(client, "other.txt", b"Herring is landed on Tuesdays.")
    _damage(_file_of(data, content), how)
    async with _serving(data) as client:
        found = await _terminal(client, damaged["id"])
        assert (found["status"], found["error_code"]) == ("failed", "damaged_file")
        assert (await _terminal(client, other["id"]))["status"] == "indexed"
        await _upload(client, "damaged.txt", content)
        assert (await _terminal(client, damaged["id"]))["status"] == "indexed"


@pytest.mark.parametrize("how", ["missing", "truncated"])
def test_a_damaged_copy_of_a_table_is_said_to_be_damaged(own: RunningServer, how: str) -> None:
    rows = "".join(f"{n},{how},{n * 3}\n" for n in range(50))
    sheet = own.add(f"{how}.csv", f"number,word,amount\n{rows}".encode())
    copy = next(b for b in own.client.get(f"/resources/{sheet['id']}/blobs").json()["blobs"] if "parquet" in b["kind"])
    path = next(
        p
        for p in (own.data / "blobs").rglob("extracted-*")
        if sheet["id"] in str(p) and p.stat().st_size == copy["size"]
    )
    _damage(path, how)
    table = sheet["extraction_metadata"]["tables"][0]["id"]
    for call in ("rows", "spread?column=amount"):
        answer = own.client.get(f"/resources/{sheet['id']}/tables/{table}/{call}")
        assert (answer.status_code, answer.json()["error"]["code"]) == (500, "damaged_file")
        assert "Upload the file again" in answer.json()["error"]["message"]
    asked = own.client.post("/chat", json={"message": f"What is the total of amount in {how}.csv?"})
    assert asked.status_code == 200, asked.text
    assert own.client.post(f"/resources/{sheet['id']}/reindex").status_code == 202
    assert own.wait(sheet["id"])["status"] == "analyzed"
    assert "Traceback" not in own.log()


# The clock.


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> dict[str, float]:
    """Set `by` to move the system's clock."""
    real, moved = time.time, {"by": 0.0}
    monkeypatch.setattr(time, "time", lambda: real() + moved["by"])
    return moved


@asynccontextmanager
async def _jobs(tmp_path: Path) -> AsyncGenerator[tuple[Database, JobRepository]]:
    database = Database(f"sqlite+aiosqlite:///{tmp_path / 'a.db'}")
    await database.migrate()
    try:
        yield database, JobRepository(database, lease_seconds=60)
    finally:
        await database.close()


@pytest.mark.parametrize("hours", [HOURS, -HOURS])
async def test_a_lease_neither_ends_nor_lasts_when_the_clock_is_set(
    tmp_path: Path, clock: dict[str, float], hours: float
) -> None:
    async with _jobs(tmp_path) as (database, jobs):
        await add_resource(database, "a")
        job = await jobs.claim(Stage.EXTRACT, "one")
        assert job is not None
        clock["by"] = hours
        assert await jobs.claim(Stage.EXTRACT, "two") is None, "what one works on was given to another"
        await jobs.renew(job)
        await jobs.retry_later(job, 0.01, "test")
        clock["by"] = 0.0
        await asyncio.sleep(0.05)
        assert await jobs.claim(Stage.EXTRACT, "two") is not None, "its wait goes by another clock"


async def test_what_waits_by_a_clock_that_was_wrong_is_due_after_a_restart(
    tmp_path: Path, clock: dict[str, float]
) -> None:
    clock["by"] = HOURS
    async with _jobs(tmp_path) as (database, jobs):
        await add_resource(database, "a")
        job = await jobs.claim(Stage.EXTRACT, "one")
        assert job is not None
        await jobs.retry_later(job, 1, "test")
        await add_resource(database, "b")
        assert await jobs.claim(Stage.EXTRACT, "one") is not None
        clock["by"] = 0.0
        later = JobRepository(database, lease_seconds=60)
        await later.release_all()
        clock["by"] = 901.0
        later = JobRepository(database, lease_seconds=60)
        claimed = [await later.claim(Stage.EXTRACT, "new") for _ in range(2)]
        assert None not in claimed


async def test_files_are_read_once_each_whatever_the_clock_does(tmp_path: Path, clock: dict[str, float]) -> None:
    async with _serving(tmp_path / "data") as client:
        added = []
        for number, hours in enumerate([0.0, HOURS, -HOURS, 2 * HOURS, 0.0]):
            clock["by"] = hours
            added.append((await _upload(client, f"{number}.txt", f"The {number}th note {uuid.uuid4()}".encode()))["id"])
            await asyncio.sleep(0.3)
        for resource_id in added:
            found = await _terminal(client, resource_id)
            assert found["status"] == "indexed"
            assert [stage["status"] for stage in found["stages"]].count("extracting") == 1


# Clients that vanish.


def _vanish(server: RunningServer, path: str, body: bytes, kind: str, length: int, read: int) -> None:
    """Send a request (maybe a part of it), read some of the answer, and reset the connection."""
    host, port = server.url.removeprefix("http://").split(":")
    token = server.client.headers["authorization"]
    head = f"POST {path} HTTP/1.1\r\nHost: x\r\nAuthorization: {token}\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\n\r\n"
    with socket.create_connection((host, int(port)), timeout=60) as connection:
        connection.sendall(head.encode() + body)
        if read:
            connection.recv(read)
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


def _descriptors(pid: int) -> int:
    return len(list(Path(f"/proc/{pid}/fd").iterdir()))


def _resident(pid: int) -> int:
    pages = Path(f"/proc/{pid}/statm").read_text().split()[1]
    return int(pages) * os.sysconf("SC_PAGE_SIZE")


def test_clients_that_vanish_leave_no_task_file_connection_or_memory(own: RunningServer) -> None:
    text = " ".join(f"The loan of season {n} has a limit of {n * 10} crowns." for n in range(300))
    own.add("loans.txt", text.encode())
    ask = json.dumps({"message": "What limit does the loan of season 7 have?", "stream": True}).encode()
    upload = b'--b\r\nContent-Disposition: form-data; name="file"; filename="v.txt"\r\n\r\n' + b"v" * 200_000

    def round_of(count: int) -> None:
        calls = [(own, "/chat", ask, "application/json", len(ask), n % 3) for n in range(count)]
        calls += [(own, "/ingest", upload, "multipart/form-data; boundary=b", 5_000_000, 0) for _ in range(count // 2)]
        threads = [threading.Thread(target=_vanish, args=call) for call in calls]
        for start in range(0, len(threads), 20):
            for thread in threads[start : start + 20]:
                thread.start()
            for thread in threads[start : start + 20]:
                thread.join()

    round_of(VANISHING)  # what the first questions load stays
    _quiet(own)
    files, memory = _descriptors(own.pid), _resident(own.pid)
    round_of(VANISHING)
    _quiet(own)
    assert _descriptors(own.pid) <= files + 5
    assert _resident(own.pid) <= memory + (64 << 20)
    assert not list((own.data / "uploads").iterdir())
    answers = [own.client.post("/search", json={"query": "loan"}).status_code for _ in range(20)]
    assert answers == [200] * 20
    assert own.client.post("/chat", json={"message": "What limit does the loan of season 7 have?"}).status_code == 200
    assert "Traceback" not in own.log()


def _quiet(server: RunningServer) -> None:
    """Wait until the server has nothing more to do."""
    calm, before = 0, server.processor_seconds()
    end = time.monotonic() + 60
    while calm < 3 and time.monotonic() < end:
        time.sleep(0.5)
        now = server.processor_seconds()
        calm = calm + 1 if now - before < 0.05 else 0
        before = now


# Deletions.


def _points(data: Path) -> int:
    async def count() -> int:
        index = await QdrantEdgeIndex.open(next((data / "indexes").iterdir()), 384)
        try:
            return await index.count()
        finally:
            await index.close()

    return asyncio.run(count())


def test_an_acknowledged_deletion_outlives_kill_9(tmp_path: Path) -> None:
    server = RunningServer(tmp_path / "data")
    server.start()
    kept = server.add("kept.txt", b"The keeper of the lighthouse counts the ships.")
    gone = server.add("gone.txt", b"The smuggler of the cove counts the barrels.")
    receipt = server.client.delete(f"/resources/{gone['id']}")
    server.kill()
    assert receipt.status_code == 200
    assert receipt.json()["vectors_left"] == 0
    server.start()
    try:
        assert server.client.get(f"/resources/{gone['id']}").status_code == 404
        hits = server.client.post("/search", json={"query": "smuggler barrels"}).json()["hits"]
        assert {hit["resource_id"] for hit in hits} <= {kept["id"]}
        files = [p for p in (server.data / "blobs").rglob("*") if p.is_file() and p.name != ".id"]
        assert [p.read_bytes() for p in files] == [b"The keeper of the lighthouse counts the ships."]
    finally:
        server.stop()
    assert _points(server.data) == kept["chunk_count"]


async def test_a_deletion_that_was_interrupted_is_finished_at_the_next_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between SQL, which is deleted first, and everything else."""

    async def dies(*_: object) -> int:
        raise KeyboardInterrupt

    data = tmp_path / "data"
    async with _serving(data) as client:
        gone = await _upload(client, "gone.txt", b"The smuggler of the cove counts the barrels.")
        await _terminal(client, gone["id"])
        kept = await _terminal(client, (await _upload(client, "kept.txt", b"The keeper counts the ships."))["id"])
        with monkeypatch.context() as patch:
            patch.setattr(ResourceService, "_finish", dies)
            with pytest.raises(BaseException):  # noqa: B017 - however the server passes it on
                await client.delete(f"/resources/{gone['id']}")
    assert await asyncio.to_thread(_points, data) > kept["chunk_count"]
    async with _serving(data) as client:
        assert (await client.get(f"/resources/{gone['id']}")).status_code == 404
    assert await asyncio.to_thread(_points, data) == kept["chunk_count"]


async def test_a_file_deleted_while_it_is_indexed_leaves_no_points(tmp_path: Path) -> None:
    data = tmp_path / "data"
    text = "\n\n".join(f"Paragraph {n} tells of ship {n} and its cargo of {n * 7} barrels." * 6 for n in range(400))
    async with _serving(data) as client:
        for wait in (0.3, 0.8, 1.5):
            added = await _upload(client, "long.txt", f"{text} {wait}".encode())
            end = time.monotonic() + 60
            while (await client.get(f"/resources/{added['id']}")).json()["status"] not in ("indexing", "embedding"):
                assert time.monotonic() < end
                await asyncio.sleep(0.02)
            await asyncio.sleep(wait)
            assert (await client.delete(f"/resources/{added['id']}")).status_code == 200
        kept = await _terminal(client, (await _upload(client, "kept.txt", b"The keeper counts the ships."))["id"])
    async with _serving(data, workers=0):
        pass  # a worker that was stopped before it noticed the deletion has left points, which the next start removes
    assert await asyncio.to_thread(_points, data) == kept["chunk_count"]
