"""A backup as docs/deploying.md describes it: of the database and the files, made while the server takes files in, restored elsewhere."""

from __future__ import annotations

import asyncio
import shutil
import sqlite3
import threading
import time
from contextlib import closing
from pathlib import Path

import httpx
import pytest

from citewell.composition.recovery import restore_lost
from citewell.settings import load_settings
from citewell.system.lost_found import LostAndFound
from tests.server.in_process import InProcessServer
from tests.server.running import RunningServer, Server

pytestmark = [pytest.mark.full, pytest.mark.slow(20)]


def _keep_uploading(server: Server, stop: threading.Event) -> None:
    number = 0
    with httpx.Client(base_url=server.url, headers=server.client.headers) as client:
        while not stop.is_set():
            client.post("/ingest", files={"file": (f"{number}.txt", f"Parcel {number} is in Oslo.".encode())})
            number += 1


def _copy_database(data: Path, backup: Path) -> None:
    """`sqlite3 data/citewell.db ".backup 'backup/citewell.db'"`."""
    with (
        closing(sqlite3.connect(data / "citewell.db")) as source,
        closing(sqlite3.connect(backup / "citewell.db")) as copy,
    ):
        source.backup(copy)


def _take_out_database(data: Path, to: Path) -> None:
    to.mkdir()
    for path in data.glob("citewell.db*"):
        path.rename(to / path.name)


def _texts(server: RunningServer) -> list[str]:
    return sorted(server.client.get(f"/resources/{one['id']}/file").text for one in server.resources())


def test_database_and_files_are_all_that_a_backup_needs(tmp_path: Path, samples: Path) -> None:
    backup = tmp_path / "backup"
    backup.mkdir()
    with InProcessServer(tmp_path / "data") as running:
        running.add("Loan Policy.pdf", (samples / "Loan Policy.pdf").read_bytes())
        asked = running.client.post("/chat", json={"message": "What is the maximum loan size?"}).json()
        stop = threading.Event()
        uploads = threading.Thread(target=_keep_uploading, args=(running, stop))
        uploads.start()
        time.sleep(1.0)
        _copy_database(running.data, backup)
        shutil.copytree(running.data / "blobs", backup / "blobs")
        stop.set()
        uploads.join()
        shutil.copy(running.data / "token", backup)
        token = running.client.headers["Authorization"]
    with InProcessServer(backup) as restored:
        assert restored.client.headers["Authorization"] == token
        files = [restored.wait(one["id"]) for one in restored.resources()]
        assert {one["status"] for one in files} == {"indexed"}
        assert len(files) > 1
        end = time.monotonic() + 60
        while restored.client.get("/ready").json()["rebuilding"] is not None and time.monotonic() < end:
            time.sleep(0.1)
        for one in files:
            assert restored.client.get(f"/resources/{one['id']}/file").status_code == 200
            hits = restored.client.post("/search", json={"query": "Oslo", "resource_ids": [one["id"]]}).json()["hits"]
            assert hits or one["filename"] == "Loan Policy.pdf"
        messages = restored.client.get(f"/threads/{asked['thread_id']}").json()["messages"]
        assert messages[-1]["content"] == asked["answer"]


def test_going_back_to_an_older_database_loses_no_file_that_came_later(tmp_path: Path) -> None:
    """As docs/deploying.md and docs/upgrading.md describe it, with files that were added after the backup, and forward again."""
    server, backup = RunningServer(tmp_path / "data"), tmp_path / "backup"
    backup.mkdir()
    early, late = [f"Parcel {n} is in Oslo." for n in range(2)], [f"Parcel {n} is in Bergen." for n in range(3)]
    with server:
        for text in early:
            server.add(f"{text}.txt", text.encode())
        _copy_database(server.data, backup)
        for text in late:
            server.add(f"{text}.txt", text.encode())
    _take_out_database(server.data, tmp_path / "newer")
    shutil.copy(backup / "citewell.db", server.data)
    with server:
        assert _texts(server) == sorted(early)
        found = {one["part"]: one["text"] for one in server.client.get("/doctor").json()["findings"]}
        assert found["lost+found"].startswith("3 stored files")
    restored = asyncio.run(restore_lost(load_settings(data=server.data)))
    assert [one.problem for one in restored] == ["", "", ""]
    with server:
        assert _texts(server) == sorted(early + late)
        for one in server.resources():
            assert server.wait(one["id"])["status"] == "indexed"
    _take_out_database(server.data, tmp_path / "with restored files")
    for path in (tmp_path / "newer").iterdir():
        shutil.copy(path, server.data)
    with server:
        assert _texts(server) == sorted(early + late)
        hits = server.client.post("/search", json={"query": "Bergen"}).json()["hits"]
        assert {hit["filename"] for hit in hits} >= {f"{text}.txt" for text in late}
    kept = LostAndFound(server.data).files()
    assert sorted((server.data / "lost+found" / one.key).read_text() for one in kept) == late, (
        "those that were added again"
    )
