"""Files with a lifetime: shown, announced, and deleted everywhere with a receipt."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.server.in_process import InProcessServer

pytestmark = pytest.mark.slow(60)
BRIEF = 0.0008  # hours: three seconds


def _upload(server: InProcessServer, name: str, **fields: str) -> dict[str, Any]:
    text = f"# {name}\n\nThe lamp of the lighthouse {name} turns once every twelve seconds.\n"
    response = server.client.post("/ingest", files={"file": (f"{name}.md", text.encode())}, data=fields)
    assert response.is_success, response.text
    return response.json()


def _wait(condition: Callable[[], bool]) -> None:
    for _ in range(600):
        if condition():
            return
        time.sleep(0.1)
    raise AssertionError


def _hours(resource: dict[str, Any]) -> float | None:
    if resource["expires_at"] is None:
        return None
    end, start = (
        time.mktime(time.strptime(resource[one][:19], "%Y-%m-%dT%H:%M:%S")) for one in ("expires_at", "created_at")
    )
    return round((end - start) / 3_600, 2)


def test_the_upload_the_project_or_the_server_says_how_long_a_file_lives(tmp_path: Path) -> None:
    server = InProcessServer(tmp_path / "data", FILES_API_TTL_HOURS="100")
    server.start()
    try:
        created = server.client.post("/projects", json={"name": "brief", "expires_in_hours": 10})
        assert created.status_code == 201
        assert _hours(_upload(server, "alba")) == 100
        assert _hours(_upload(server, "brisa", project="brief")) == 10
        assert _hours(_upload(server, "corvo", project="brief", expires_in_hours="2")) == 2
        kept = _upload(server, "delta", expires_in_hours="0")
        assert _hours(kept) is None
        changed = server.client.patch(f"/resources/{kept['id']}", json={"expires_in_hours": 5})
        assert _hours(changed.json()) == 5
        for wrong in ("-1", "soon", "nan", "1e9"):
            refused = server.client.post("/ingest", files={"file": ("e.md", b"e")}, data={"expires_in_hours": wrong})
            assert (refused.status_code, "expires_in_hours" in refused.text) == (400, True)
        refused = server.client.post("/projects", json={"name": "x", "expires_in_hours": -1})
        assert (refused.status_code, "expires_in_hours" in refused.text) == (422, True)
    finally:
        server.stop()


def test_an_expired_file_is_gone_everywhere_and_leaves_a_receipt(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("citewell.features.resources.expiring._LOOK_SECONDS", 0.2)
    server = InProcessServer(tmp_path / "data")
    server.start()
    try:
        file = _upload(server, "alba", expires_in_hours=str(BRIEF))
        other = _upload(server, "brisa")
        address = f"/resources/{file['id']}"
        _wait(lambda: server.client.get(address).status_code == 404)
        found = server.client.post("/search", json={"query": "lighthouse alba lamp"}).json()["hits"]
        assert {hit["resource_id"] for hit in found} <= {other["id"]}
        (receipt,) = server.client.get("/resources/expired").json()["expired"]
        assert (receipt["resource_id"], receipt["deleted"]) == (file["id"], [file["id"]])
        assert (receipt["files"], receipt["vectors_left"]) == (1, 0)
        entries = server.client.get("/audit", params={"action": "file.expired"}).json()["entries"]
        assert [(one["subject"], one["actor"]) for one in entries] == [(file["id"], "system")]
        _wait(lambda: not [path for path in (tmp_path / "data").rglob("*") if file["id"] in str(path)])
    finally:
        server.stop()
