"""A file is found by its words as soon as it is read, and by meaning when its vectors have followed."""

from __future__ import annotations

import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.contract_servers.faults import Fault
from tests.contract_servers.voyage import VoyageServer
from tests.server.in_process import InProcessServer
from tests.server.running import Server
from tests.server.test_remote_embedder import voyage

__all__ = ["voyage"]  # a fixture
pytestmark = [pytest.mark.full, pytest.mark.slow(30)]
_PARAGRAPH = (
    "Ship {0} left the harbour of town {0} with barrels of salt, and its master noted the wind of day {0}. " * 6
)


def _book(paragraphs: int = 500) -> bytes:
    needle = "The zeppelin of Captain Amundsen crossed the pole in the spring of 1926."
    return "\n\n".join([*(_PARAGRAPH.format(n) for n in range(paragraphs)), needle]).encode()


def _until(running: Server, resource_id: str, **wanted: object) -> dict[str, Any]:
    end = time.monotonic() + 120
    while True:
        found = running.client.get(f"/resources/{resource_id}").json()
        if all(found[name] == value for name, value in wanted.items()):
            return found
        assert time.monotonic() < end, found
        time.sleep(0.05)


def test_a_file_is_asked_about_while_its_vectors_follow(
    voyage: tuple[VoyageServer, dict[str, str]], tmp_path: Path
) -> None:
    server, environment = voyage
    server.trouble = lambda: Fault(status=503)
    with InProcessServer(tmp_path / "data", **environment) as running:
        resource = running.upload("book.txt", _book()).json()["id"]
        known = _until(running, resource, searchable="words")
        assert known["status"] in ("embedding", "partial")
        assert known["chunk_count"] > 32, "it is long enough to be embedded in turns"
        assert known["semantic_progress"] == 0.0
        answer = running.client.post("/chat", json={"message": "When did the zeppelin cross the pole?"}).json()
        assert "1926" in answer["answer"]
        assert answer["citations"][0]["resource_id"] == resource
        assert running.client.get(f"/resources/{resource}").json()["searchable"] == "words"
        assert running.wait(resource)["status"] == "partial"
        server.trouble = lambda: None
        running.client.post(f"/resources/{resource}/reindex").raise_for_status()
        done = running.wait(resource)
        assert (done["status"], done["searchable"], done["semantic_progress"]) == ("indexed", "full", 1.0)
        assert max(Counter(text for text in server.embedded if text != "ready?").values()) == 1


def test_a_file_whose_embedder_is_away_stays_found_by_its_words_and_goes_on_from_there(
    voyage: tuple[VoyageServer, dict[str, str]], tmp_path: Path
) -> None:
    server, environment = voyage
    server.trouble = lambda: Fault(status=401, message="no such key")
    with InProcessServer(tmp_path / "data", **environment) as running:
        for name, text in (("book.txt", _book()), ("note.txt", b"The balloon of Andree left the island at noon.")):
            left = running.add(name, text)
            assert (left["status"], left["searchable"], left["error_code"]) == ("partial", "words", "provider_auth")
        found = running.client.post("/search", json={"query": "zeppelin pole"}).json()["hits"]
        assert "Amundsen" in found[0]["text"]
        assert "Andree" in running.client.post("/search", json={"query": "balloon"}).json()["hits"][0]["text"]
        server.trouble = lambda: None
        running.client.post("/reindex", json={"failed": True}).raise_for_status()
        for resource in running.resources():
            done = _until(running, resource["id"], status="indexed")
            assert (done["searchable"], done["error_code"]) == ("full", None)
