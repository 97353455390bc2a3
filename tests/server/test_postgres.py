"""The whole way of a file with Postgres in SQLite's place: uploaded, interrupted by kill -9, found, cited, deleted."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.server.running import RunningServer

pytestmark = pytest.mark.slow(30)

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
