"""kill -9 at random moments: what was acknowledged is finished, once, and equal to an undisturbed run."""

from __future__ import annotations

import os
import random
import threading
import time
from pathlib import Path

import httpx
import pytest

from citewell.types import TERMINAL
from tests.server.running import RunningServer

pytestmark = [pytest.mark.full, pytest.mark.slow(30)]

FILES = int(os.environ.get("CITEWELL_TEST_KILL_FILES", "24"))
KILLS = int(os.environ.get("CITEWELL_TEST_KILLS", "4"))
# A folder of real files to send in place of generated ones.
FOLDER = os.environ.get("CITEWELL_TEST_KILL_FOLDER")
_WORDS = [
    "loan",
    "borrower",
    "repayment",
    "ledger",
    "quarter",
    "branch",
    "interest",
    "audit",
    "receipt",
    "harvest",
    "market",
    "stall",
    "season",
]


def _document(number: int) -> tuple[str, bytes]:
    """A document of its own content and of some hundred to some thousand words; every fourth one is a data file."""
    chance = random.Random(number)
    if number % 4 == 3:
        rows = "\n".join(f"{i},{chance.choice(_WORDS)},{chance.randint(1, 9999)}" for i in range(40 + number))
        return f"data {number}.csv", f"id,word,amount\n{rows}\n".encode()
    paragraphs = [
        " ".join(chance.choice(_WORDS) for _ in range(chance.randint(20, 120))) + f" number {number}."
        for _ in range(chance.randint(3, 25))
    ]
    return f"document {number}.md", ("# Document\n\n" + "\n\n".join(paragraphs)).encode()


def _documents() -> list[tuple[str, bytes]]:
    if FOLDER is None:
        return [_document(number) for number in range(FILES)]
    paths = sorted(path for path in Path(FOLDER).rglob("*") if path.is_file() and path.stat().st_size)
    return [(path.name, path.read_bytes()) for path in random.Random(3).sample(paths, min(FILES, len(paths)))]


Counts = dict[tuple[str, str], tuple[str, int]]


def _counts(server: RunningServer) -> Counts:
    """Status and number of chunks of each file, and of the files inside files."""
    found = server.resources()
    counts = {(r["filename"], r["content_hash"]): (r["status"], r["chunk_count"]) for r in found}
    assert len(counts) == len(found), "a file is there twice"
    return counts


def _wait_for_all(server: RunningServer, seconds: float) -> Counts:
    terminal = {status.value for status in TERMINAL}
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        found = _counts(server)
        if found and all(status in terminal for status, _ in found.values()):
            return found
        time.sleep(0.2)
    raise AssertionError(f"not all terminal: {_counts(server)}\n{server.log()}")


@pytest.mark.timeout(600 + 15 * FILES)
def test_kill_9_loses_nothing_and_doubles_nothing(tmp_path: Path) -> None:
    documents = _documents()
    with RunningServer(tmp_path / "calm") as calm:
        for name, content in documents:
            assert calm.upload(name, content).status_code in (200, 201)
        expected = _wait_for_all(calm, 300 + 5 * FILES)
    assert FOLDER or {status for status, _ in expected.values()} == {"indexed", "analyzed"}

    disturbed = RunningServer(tmp_path / "disturbed")
    disturbed.start()
    stopped = threading.Event()
    uploads = threading.Thread(target=_upload_all, args=(disturbed, documents, stopped))
    uploads.start()
    chance = random.Random(7)
    for _ in range(KILLS):
        time.sleep(chance.uniform(0.1, 1.5))
        disturbed.kill()
        disturbed.start()
    uploads.join(300 + 5 * FILES)
    assert not uploads.is_alive()
    found = _wait_for_all(disturbed, 300 + 5 * FILES)
    try:
        assert found == expected
        _index_equals_sql(disturbed, sum(count for _, count in expected.values()))
    finally:
        stopped.set()
        disturbed.stop()


def _upload_all(server: RunningServer, documents: list[tuple[str, bytes]], stopped: threading.Event) -> None:
    """Send each file until it is acknowledged, as a person would."""
    for name, content in documents:
        while not stopped.is_set():
            try:
                if server.upload(name, content).status_code in (200, 201):
                    break
            except (httpx.TransportError, RuntimeError):
                time.sleep(0.1)


def _index_equals_sql(server: RunningServer, chunks: int) -> None:
    """Every chunk is found once, none is left over: the store is opened after the server has let it go."""
    import asyncio

    from citewell.adapters.index.qdrant_edge import QdrantEdgeIndex

    server.stop()
    folder = next((server.data / "indexes").iterdir())

    async def count() -> int:
        index = await QdrantEdgeIndex.open(folder, 384)
        try:
            return await index.count()
        finally:
            await index.close()

    assert asyncio.run(count()) == chunks


def test_indexing_everything_again_goes_on_after_kill_9(tmp_path: Path) -> None:
    with RunningServer(tmp_path / "again") as server:
        project = server.client.post("/projects", json={"name": "Cut"}).json()["id"]
        files = [server.upload(*_document(number), project="Cut").json()["id"] for number in range(9)]
        before = {one: server.wait(one)["chunk_count"] for one in files}
        chunking = {"strategy": "characters", "size": 120, "overlap": 0}
        server.client.patch(f"/projects/{project}", json={"chunking": chunking})
        run = server.client.post("/reindex", json={"project": "Cut"}).json()
        assert (run["total"], run["state"]) == (9, "running")
        server.kill()
        server.start()
        end = time.monotonic() + 120
        while (now := server.client.get(f"/reindex/{run['id']}").json())["state"] == "running":
            assert time.monotonic() < end, now
            time.sleep(0.1)
        assert (now["done"], now["failed"]) == (9, 0)
        after = {one: server.client.get(f"/resources/{one}").json() for one in files}
        assert {one["status"] for one in after.values()} == {"indexed", "analyzed"}
        documents = [one for one in files if after[one]["type"] == "md"]
        assert all(after[one]["chunk_count"] > before[one] for one in documents)
        assert [one["id"] for one in server.client.get("/reindex").json()["runs"]] == [run["id"]]
