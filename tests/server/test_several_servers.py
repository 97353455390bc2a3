"""Two servers on one database, vector store and object store, each with a data folder of its own: nothing that one knows is needed by the other."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Generator
from pathlib import Path
from typing import Any

import pytest

from tests.adapters.blob.stores import KEYS, new_s3_bucket, s3
from tests.server.running import RunningServer
from tests.server.test_pgvector import database

__all__ = ["database"]  # a fixture
pytestmark = [pytest.mark.full, pytest.mark.slow(30)]
SAMPLES = Path(__file__).resolve().parents[2] / "samples"
QUESTION = "What is the maximum loan size for first-time borrowers?"


@pytest.fixture
def servers(database: str, tmp_path: Path) -> Generator[tuple[RunningServer, RunningServer]]:
    with s3() as address:
        environment = {
            "CITEWELL_DATABASE_URL": database,
            "CITEWELL_VECTOR_STORE": "pgvector",
            "CITEWELL_BLOB_BACKEND": "s3",
            "CITEWELL_BLOB_BUCKET": new_s3_bucket(address),
            "CITEWELL_S3_ENDPOINT": address,
            **{f"CITEWELL_{name.upper()}": value for name, value in KEYS.items()},
        }
        with (
            RunningServer(tmp_path / "one", **environment) as one,
            RunningServer(tmp_path / "two", **environment) as two,
        ):
            yield one, two


def eventually(is_so: Callable[[], Any]) -> Any:
    """What it returns once that is true; after 60 s, what it returned last."""
    end = time.monotonic() + 60
    while not (found := is_so()) and time.monotonic() < end:
        time.sleep(0.1)
    return found


def test_what_begins_at_one_server_goes_on_at_the_other(servers: tuple[RunningServer, RunningServer]) -> None:
    one, two = servers
    added = one.add("Loan Policy.pdf", (SAMPLES / "Loan Policy.pdf").read_bytes())
    again = two.upload("Loan Policy.pdf", (SAMPLES / "Loan Policy.pdf").read_bytes())
    assert (again.status_code, again.json()["id"]) == (200, added["id"])
    assert two.client.get(f"/resources/{added['id']}/file").content == (SAMPLES / "Loan Policy.pdf").read_bytes()

    first = one.client.post("/chat", json={"message": QUESTION}).json()
    streamed = two.client.post(
        "/chat", json={"message": "And for repeat borrowers?", "thread_id": first["thread_id"], "stream": True}
    )
    last = json.loads(streamed.text.strip().splitlines()[-1])
    assert last["done"]["citations"][0]["resource_id"] == added["id"]
    kept = one.client.get(f"/threads/{first['thread_id']}").json()["messages"]
    assert [message["role"] for message in kept] == ["user", "assistant"] * 2

    two.client.delete(f"/resources/{added['id']}").raise_for_status()
    assert one.client.get(f"/resources/{added['id']}").status_code == 404
    assert one.client.post("/search", json={"query": "loan"}).json()["hits"] == []


def test_a_key_that_one_server_was_told_is_soon_known_to_the_other(
    servers: tuple[RunningServer, RunningServer],
) -> None:
    one, two = servers
    added = one.add("note.txt", b"The dogs were walked at noon, and the cats stayed at home.")

    def inferred() -> list[dict[str, Any]]:
        return two.client.post("/search", json={"query": "dogs where department is kennel"}).json()["inferred_filters"]

    assert inferred() == []  # and the keys, of which there are none, are remembered
    one.client.patch(f"/resources/{added['id']}", json={"metadata": {"department": "kennel"}}).raise_for_status()
    assert [found["filter"]["value"] for found in eventually(inferred)] == ["kennel"]


def test_a_token_of_one_server_opens_the_other_until_it_is_revoked(
    servers: tuple[RunningServer, RunningServer],
) -> None:
    one, two = servers
    made = one.client.post("/tokens", json={"name": "laptop"}).json()
    headers = {"Authorization": f"Bearer {made['token']}"}
    assert two.client.get("/resources", headers=headers).status_code == 200
    assert one.client.get("/resources").status_code == two.client.get("/resources").status_code == 200
    two.client.delete(f"/tokens/{made['id']}").raise_for_status()
    assert eventually(lambda: one.client.get("/resources", headers=headers).status_code == 401)
