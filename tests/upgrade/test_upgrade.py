"""Data folders of earlier versions open without loss, and nothing in them is embedded again."""

from __future__ import annotations

import json
import sqlite3
import tarfile
from contextlib import closing
from pathlib import Path

import pytest

from tests.server.running import RunningServer
from tests.upgrade.make_folder import ANSWERED, BERTHS, FOLDERS, observe

pytestmark = pytest.mark.full

NAMES = sorted(path.name.removesuffix(".tar.xz") for path in FOLDERS.glob("*.tar.xz"))


def _embedded(data: Path) -> int:
    with closing(sqlite3.connect(f"file:{data / 'citewell.db'}?mode=ro", uri=True)) as connection:
        return connection.execute("SELECT count(*) FROM embedding_cache").fetchone()[0]


@pytest.mark.parametrize("name", NAMES)
def test_a_folder_of_an_earlier_version_opens_without_loss(name: str, tmp_path: Path) -> None:
    data = tmp_path / "data"
    with tarfile.open(FOLDERS / f"{name}.tar.xz") as archive:
        archive.extractall(data, filter="data")
    expected = json.loads((FOLDERS / f"{name}.json").read_text(encoding="utf-8"))
    cached = _embedded(data)
    with RunningServer(data) as server:
        assert observe(server) == expected
        for question, fact in ANSWERED.items():
            answer = server.client.post("/chat", json={"message": question}).json()
            assert fact in answer["answer"]
            assert answer["citations"]
        assert _embedded(data) == cached
        # It goes on where it was left: known bytes are recognised, new ones are read, threads are continued.
        assert server.upload("Berths again.csv", BERTHS.encode()).status_code == 200
        assert server.add("Moorings.csv", b"Mooring,Depth\nA,4\nB,6\n")["status"] == "analyzed"
        thread = server.client.get("/threads").json()["threads"][-1]
        follow_up = {"message": "Who is the harbour master?", "thread_id": thread["id"]}
        assert "Ama Boateng" in server.client.post("/chat", json=follow_up).json()["answer"]
