"""A backup as docs/deploying.md describes it: of the database and the files, made while the server takes files in, restored elsewhere."""

from __future__ import annotations

import shutil
import sqlite3
import threading
import time
from contextlib import closing
from pathlib import Path

import httpx
import pytest

from tests.server.in_process import InProcessServer
from tests.server.running import Server

pytestmark = [pytest.mark.full, pytest.mark.slow(20)]


def _keep_uploading(server: Server, stop: threading.Event) -> None:
    number = 0
    with httpx.Client(base_url=server.url, headers=server.client.headers) as client:
        while not stop.is_set():
            client.post("/ingest", files={"file": (f"{number}.txt", f"Parcel {number} is in Oslo.".encode())})
            number += 1


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
        with (
            closing(sqlite3.connect(running.data / "citewell.db")) as source,
            closing(sqlite3.connect(backup / "citewell.db")) as copy,
        ):
            source.backup(copy)
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
