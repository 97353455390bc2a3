"""Servers and workers on one store: a Redis, and a Qdrant server, which is the contract server here or the one that QDRANT_URL names."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Generator
from pathlib import Path

import httpx
import pytest
import redis

from tests.adapters.blob.stores import KEYS, new_s3_bucket, s3
from tests.contract_servers.faults import Fault
from tests.contract_servers.qdrant import QdrantServer
from tests.contract_servers.serving import serving
from tests.redis_server import redis_server
from tests.server.in_process import InProcessServer
from tests.server.running import RunningServer
from tests.server.test_pgvector import FILES, SAMPLES, cited, database

pytestmark = [pytest.mark.full, pytest.mark.slow(30)]
assert database  # a fixture


class QdrantCollections:
    """A Qdrant server with collections of this test's own."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.prefix = f"t{uuid.uuid4().hex}"
        self.environment = {
            "CITEWELL_VECTOR_STORE": "qdrant",
            "QDRANT_URL": url,
            "QDRANT_COLLECTION_NAME": self.prefix,
            "CITEWELL_QDRANT_READABLE_PAYLOAD": "true",
        }

    def points(self) -> int:
        """How many points there are."""
        listed = httpx.get(f"{self.url}/collections").json()["result"]["collections"]
        names = [one["name"] for one in listed if one["name"].startswith(self.prefix)]
        counts = [httpx.post(f"{self.url}/collections/{name}/points/count", json={"exact": True}) for name in names]
        return sum(answer.json()["result"]["count"] for answer in counts)


class RedisKeys:
    """A Redis with keys of this test's own."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.prefix = f"t{uuid.uuid4().hex}"
        self.environment = {
            "CITEWELL_VECTOR_STORE": "redis",
            "REDIS_URL": url,
            "CITEWELL_REDIS_PREFIX": self.prefix,
        }

    def points(self) -> int:
        """How many points there are."""
        with redis.Redis.from_url(self.url) as client:
            return len(list(client.scan_iter(match=f"{self.prefix}:*:point:*", count=1_000)))


Store = QdrantCollections | RedisKeys


@pytest.fixture(params=["qdrant", "redis"])
def store(request: pytest.FixtureRequest) -> Generator[Store]:
    if request.param == "redis":
        with redis_server() as url:
            yield RedisKeys(url)
    elif url := os.environ.get("QDRANT_URL"):
        yield QdrantCollections(url)
    else:
        with serving(QdrantServer().app) as base:
            yield QdrantCollections(base)


def test_files_are_asked_about_changed_and_deleted_in_a_shared_store(store: Store, tmp_path: Path) -> None:
    with RunningServer(tmp_path / "data", **store.environment) as running:
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
        assert store.points() == 0


def test_a_search_while_qdrant_is_away_says_so_and_the_next_one_finds(tmp_path: Path) -> None:
    server = QdrantServer()
    with (
        serving(server.app) as base,
        InProcessServer(tmp_path / "data", CITEWELL_VECTOR_STORE="qdrant", QDRANT_URL=base) as running,
    ):
        added = running.add("note.txt", b"The warehouse closes at nine in the evening.")
        server.trouble = lambda: Fault(status=503, message="no leader")
        asked = running.client.post("/search", json={"query": "When does the warehouse close?"})
        assert asked.status_code == 503
        assert "no leader" in asked.text
        assert "\ncitewell_index_points NaN\n" in running.client.get("/metrics").text
        server.trouble = lambda: None
        assert f"\ncitewell_index_points {added['chunk_count']:.1f}\n" in running.client.get("/metrics").text
        hits = running.client.post("/search", json={"query": "When does the warehouse close?"}).json()["hits"]
        assert hits[0]["filename"] == "note.txt"


@pytest.fixture
def bucket() -> Generator[str]:
    with s3() as address:
        yield address


def test_a_worker_beside_the_server_takes_over_what_a_killed_one_began(
    database: str, store: Store, bucket: str, tmp_path: Path
) -> None:
    environment = store.environment | {
        "CITEWELL_DATABASE_URL": database,
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
            assert store.points() > 0
        finally:
            os.killpg(second.pid, signal.SIGTERM)
            second.wait(30)
