"""Servers and workers on one Postgres, which holds what they know and the vectors."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Generator
from pathlib import Path

import asyncpg
import pytest

from tests.adapters.blob.stores import KEYS, new_s3_bucket, s3
from tests.server.in_process import InProcessServer
from tests.server.running import RunningServer, Server

pytestmark = pytest.mark.slow(30)
SAMPLES = Path(__file__).resolve().parents[2] / "samples"
FILES = ("Loan Policy.pdf", "Finance Sheet.xlsx", "Growth Plan.docx")


@pytest.fixture
def database(postgres: str) -> Generator[str]:
    name = f"d{uuid.uuid4().hex}"
    asyncio.run(execute(postgres, f"CREATE DATABASE {name}"))
    yield postgres.replace("/postgres?", f"/{name}?")
    asyncio.run(execute(postgres, f"DROP DATABASE {name} WITH (FORCE)"))


async def execute(url: str, statement: str) -> None:
    connection = await asyncpg.connect(url)
    await connection.execute(statement)
    await connection.close()


async def _points(url: str) -> int:
    connection = await asyncpg.connect(url)
    tables = await connection.fetch(
        "SELECT tablename FROM pg_tables WHERE schemaname = 'citewell' AND tablename LIKE 'points%'"
    )
    counts = [await connection.fetchval(f"SELECT count(*) FROM citewell.{row['tablename']}") for row in tables]
    await connection.close()
    return sum(counts)


def points(url: str) -> int:
    """How many points the vector store holds."""
    return asyncio.run(_points(url))


def cited(running: Server, question: str) -> str:
    """The answer to a question, which must cite something."""
    answer = running.client.post("/chat", json={"message": question}).json()
    assert answer["citations"], answer
    return str(answer["answer"])


def test_files_are_asked_about_changed_and_deleted_in_postgres(database: str, tmp_path: Path) -> None:
    environment = {"CITEWELL_DATABASE_URL": database, "CITEWELL_VECTOR_STORE": "pgvector"}
    with RunningServer(tmp_path / "data", **environment) as running:
        added = [running.add(name, (SAMPLES / name).read_bytes()) for name in FILES]
        assert not any((tmp_path / "data" / "indexes").iterdir())
        answer = cited(running, "What is the maximum loan amount?")
        running.client.patch(f"/resources/{added[0]['id']}", json={"metadata": {"kind": "policy"}}).raise_for_status()
        filters = [{"field": "metadata.kind", "operator": "eq", "value": "policy"}]
        hits = running.client.post("/search", json={"query": "loan", "filters": filters}).json()["hits"]
        assert {hit["resource_id"] for hit in hits} == {added[0]["id"]}
        running.kill()
        running.start()
        assert cited(running, "What is the maximum loan amount?") == answer
        for one in added:
            assert running.client.delete(f"/resources/{one['id']}").status_code == 200
        assert points(database) == 0


def test_a_library_that_moves_to_postgres_is_written_there_and_found_again_when_it_moves_back(
    database: str, tmp_path: Path
) -> None:
    with InProcessServer(tmp_path / "data") as running:
        added = [running.add(name, (SAMPLES / name).read_bytes()) for name in FILES]
        answer = cited(running, "What is the maximum loan amount?")
    moved = {"CITEWELL_VECTOR_STORE": "pgvector", "CITEWELL_PGVECTOR_URL": database}
    with InProcessServer(tmp_path / "data", **moved) as running:
        end = time.monotonic() + 120
        while running.client.get("/ready").json().get("rebuilding") and time.monotonic() < end:
            time.sleep(0.2)
        while cited(running, "What is the maximum loan amount?") != answer and time.monotonic() < end:
            time.sleep(0.2)
        assert cited(running, "What is the maximum loan amount?") == answer
        running.add("note.txt", b"The warehouse closes at nine in the evening.")
        assert points(database) > 0
        running.client.delete(f"/resources/{added[2]['id']}").raise_for_status()
    with InProcessServer(tmp_path / "data") as running:

        def find() -> list[dict[str, str]]:
            return running.client.post("/search", json={"query": "When does the warehouse close?"}).json()["hits"]

        end = time.monotonic() + 120
        while time.monotonic() < end and not [hit for hit in find() if hit["filename"] == "note.txt"]:
            time.sleep(0.2)
        found = find()
        assert found[0]["filename"] == "note.txt"
        assert not [hit for hit in found if hit["resource_id"] == added[2]["id"]]


@pytest.fixture
def bucket() -> Generator[str]:
    with s3() as address:
        yield address


def test_a_worker_beside_the_server_takes_over_what_a_killed_one_began(
    database: str, bucket: str, tmp_path: Path
) -> None:
    environment = {
        "CITEWELL_DATABASE_URL": database,
        "CITEWELL_VECTOR_STORE": "pgvector",
        "CITEWELL_WORKERS": "0",
        "CITEWELL_BLOB_BACKEND": "s3",
        "S3_BUCKET": new_s3_bucket(bucket),
        "S3_ENDPOINT": bucket,
        "S3_REGION": KEYS["s3_region"],
        "AWS_ACCESS_KEY_ID": KEYS["s3_access_key_id"],
        "AWS_SECRET_ACCESS_KEY": KEYS["s3_secret_access_key"],
    }
    own = {k: v for k, v in os.environ.items() if not k.startswith("CITEWELL_")}

    def start_worker(name: str) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", "citewell.cli", "worker", "--data", str(tmp_path / name)]
        settings = own | environment | {"CITEWELL_WORKERS": "1"}
        return subprocess.Popen(command, env=settings, start_new_session=True, stdout=subprocess.DEVNULL)

    with RunningServer(tmp_path / "data", **environment) as running:
        accepted = [running.upload(name, (SAMPLES / name).read_bytes()).json() for name in FILES]
        first = start_worker("one")
        end = time.monotonic() + 60
        while time.monotonic() < end and not any(
            running.client.get(f"/resources/{one['id']}").json()["status"] != "uploaded" for one in accepted
        ):
            time.sleep(0.05)
        os.killpg(first.pid, signal.SIGKILL)
        first.wait()
        second = start_worker("two")
        try:
            assert {running.wait(one["id"])["status"] for one in accepted} == {"indexed", "analyzed"}
            assert cited(running, "What is the maximum loan amount?")
        finally:
            os.killpg(second.pid, signal.SIGTERM)
            second.wait(30)
