"""Files embedded by a vendor's model, through the vendor's contract: how many calls, what fails, and what is paid for twice (nothing)."""

from __future__ import annotations

import json
import random
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from citewell import Citewell, SpendQuotaReached
from citewell.storage.vectors.indexes import IndexState
from tests.contract_servers import voyage as contract
from tests.contract_servers.faults import Fault
from tests.contract_servers.serving import serving
from tests.contract_servers.voyage import VoyageServer
from tests.server.in_process import InProcessServer
from tests.server.running import RunningServer

pytestmark = [pytest.mark.full, pytest.mark.slow(40)]
LINES = 2_000


@pytest.fixture
def voyage() -> Iterator[tuple[VoyageServer, dict[str, str]]]:
    """The server, and the environment that leads to it."""
    server = VoyageServer()
    with serving(server.app) as address:
        yield (
            server,
            {
                "EMBEDDING_PROVIDER": "voyage",
                "EMBEDDING_BASE_URL": f"{address}/v1",
                "VOYAGE_API_KEY": contract.KEY,
                "EMBEDDING_DIMENSIONS": "256",
            },
        )


def _records(count: int) -> bytes:
    """Rows that have nothing in common but their form."""
    words = random.Random(3)
    rows = [f"{n},item {words.getrandbits(40):x},{words.choice(['Oslo', 'Lima', 'Rabat'])}" for n in range(count)]
    return "\n".join(["number,name,town", *rows]).encode()


def test_a_large_file_is_embedded_in_full_calls_and_no_text_twice(
    voyage: tuple[VoyageServer, dict[str, str]], tmp_path: Path
) -> None:
    server, environment = voyage
    with InProcessServer(tmp_path / "data", **environment) as running:
        done = running.add("items.csv", _records(LINES))
        assert (done["status"], done["chunk_count"] >= LINES) == ("analyzed", True)
        documents = [body for body in server.requests if body["input_type"] == "document"]
        assert len(documents) <= done["chunk_count"] // 256 + 2
        assert max(Counter(server.embedded).values()) == 1
        before = len(server.requests)
        found = running.client.post("/search", json={"query": "a town called Oslo"}).json()["hits"]
        assert "Oslo" in found[0]["text"]
        answer = running.client.post("/chat", json={"message": "Which town does item number 7 have?"})
        assert answer.status_code == 200
        # One query for the search and those of the question; the checker's comparisons are the built-in model's.
        assert all(len(body["input"]) == 1 for body in server.requests[before:])
        usage = running.client.get("/usage").json()["usage"]
        [spent] = [row for row in usage if row["provider"] == "voyage" and row["units"] >= LINES]
        assert spent["input_tokens"] > LINES


def test_while_the_vendor_is_away_words_are_searched_and_the_server_is_degraded(
    voyage: tuple[VoyageServer, dict[str, str]], tmp_path: Path
) -> None:
    server, environment = voyage
    with InProcessServer(tmp_path / "data", **environment) as running:
        running.add("note.txt", b"The zeppelin leaves the harbour at noon.")
        assert running.client.get("/ready").json()["degraded"] is False
        server.trouble = lambda: Fault(status=401, message="no such key")
        found = running.client.post("/search", json={"query": "when does the zeppelin leave"}).json()
        assert "zeppelin" in found["hits"][0]["text"]
        assert "by keyword only" in found["notice"]
        end = time.monotonic() + 90
        ready = running.client.get("/ready")
        while not ready.json()["degraded"] and time.monotonic() < end:
            time.sleep(1.0)  # until the next minute's question
            ready = running.client.get("/ready")
        assert (ready.status_code, ready.json()["ready"], ready.json()["degraded"]) == (200, True, True)
        assert "provider_auth" in ready.json()["parts"]["embedder"]["note"]


def test_a_vendor_that_does_not_answer_holds_up_no_search(
    voyage: tuple[VoyageServer, dict[str, str]], tmp_path: Path
) -> None:
    server, environment = voyage
    with InProcessServer(tmp_path / "data", **environment) as running:
        running.add("note.txt", b"The zeppelin leaves the harbour at noon.")
        server.trouble = lambda: Fault(pause=100_000)  # seconds: an answer that waited for this one would never come
        found = running.client.post("/search", json={"query": "when does the zeppelin leave"}).json()
        assert "zeppelin" in found["hits"][0]["text"]
        assert "by keyword only" in found["notice"]


def test_vectors_of_another_length_leave_words_to_search_by(
    voyage: tuple[VoyageServer, dict[str, str]], tmp_path: Path
) -> None:
    server, environment = voyage
    shorter = json.dumps({"data": [{"index": 0, "embedding": [0.6, 0.8]}], "usage": {"total_tokens": 4}}).encode()
    with InProcessServer(tmp_path / "data", **environment) as running:
        running.add("note.txt", b"The zeppelin leaves the harbour at noon.")
        server.trouble = lambda: Fault(body=shorter)
        found = running.client.post("/search", json={"query": "when does the zeppelin leave"})
        assert found.status_code == 200, found.text
        assert "zeppelin" in found.json()["hits"][0]["text"]
        assert "2 dimensions, not 256" in found.json()["notice"]
        answer = running.client.post("/chat", json={"message": "When does the zeppelin leave the harbour?"}).json()
        assert "noon" in answer["answer"]


def test_killed_in_the_middle_with_a_failing_provider_nothing_is_lost_or_embedded_twice(
    voyage: tuple[VoyageServer, dict[str, str]], tmp_path: Path
) -> None:
    server, environment = voyage
    chance = random.Random(5)

    def trouble() -> Fault | None:
        if chance.random() < 0.2:
            return Fault(status=chance.choice([429, 500]), retry_after="0.2")
        return Fault(pause=0.1)

    server.trouble = trouble
    running = RunningServer(tmp_path / "data", CITEWELL_LEASE_SECONDS="5", **environment)
    running.start()
    resource = running.upload("items.csv", _records(LINES)).json()["id"]
    end = time.monotonic() + 120
    while len(server.embedded) < 600 and time.monotonic() < end:
        time.sleep(0.02)
    running.kill()
    in_flight = len(server.requests)
    running.start()
    try:
        done = running.wait(resource)
        assert (done["status"], done["error_code"]) == ("analyzed", None)
        seen = Counter(text for text in server.embedded if text != "ready?")
        assert len(seen) >= LINES
        # What was under way when the process died was paid for, and lost: three calls of 256 at most.
        assert sum(count - 1 for count in seen.values()) <= 3 * 256
        assert in_flight < len(server.requests)
    finally:
        running.stop()


def test_a_spent_account_leaves_the_file_partial_and_it_goes_on_from_there(
    voyage: tuple[VoyageServer, dict[str, str]], tmp_path: Path
) -> None:
    server, environment = voyage
    left = 3

    def trouble() -> Fault | None:
        nonlocal left
        left -= 1
        return Fault(status=402, message="out of credit") if left < 0 else None

    server.trouble = trouble
    with InProcessServer(tmp_path / "data", **environment) as running:
        resource = running.add("items.csv", _records(1_000))
        assert (resource["status"], resource["error_code"]) == ("partial", "provider_quota")
        assert "Add credit" in resource["error_message"]
        assert len(server.embedded) > 200
        server.trouble = lambda: None
        running.client.post(f"/resources/{resource['id']}/reindex").raise_for_status()
        assert running.wait(resource["id"])["status"] == "analyzed"
        assert max(Counter(server.embedded).values()) == 1


def test_calls_under_way_when_another_fails_are_not_paid_for_twice(
    voyage: tuple[VoyageServer, dict[str, str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    server, environment = voyage
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    calls = 0

    def trouble() -> Fault | None:
        nonlocal calls
        calls += 1
        return Fault(status=402, message="out of credit") if calls == 1 else Fault(pause=1.0)

    (tmp_path / "items.csv").write_bytes(_records(1_000))
    server.trouble = trouble
    with Citewell(tmp_path / "data") as library:
        assert library.add(tmp_path / "items.csv").error_code == "provider_quota"
        assert len(server.embedded) >= 2 * 256, "two more were under way"
        assert library.add(tmp_path / "items.csv").status == "analyzed"
        assert max(Counter(server.embedded).values()) == 1


def test_a_server_that_is_stopped_waits_for_the_calls_under_way(
    voyage: tuple[VoyageServer, dict[str, str]], tmp_path: Path
) -> None:
    server, environment = voyage
    server.trouble = lambda: Fault(pause=1.0)
    running = InProcessServer(tmp_path / "data", **environment)
    running.start()
    resource = running.upload("items.csv", _records(1_000)).json()["id"]
    end = time.monotonic() + 60
    while not server.requests and time.monotonic() < end:
        time.sleep(0.02)
    running.stop()
    before = len(server.embedded)
    assert before > 0
    server.trouble = lambda: None
    running.start()
    try:
        assert running.wait(resource)["status"] == "analyzed"
        assert len(server.embedded) > before
        assert max(Counter(text for text in server.embedded if text != "ready?").values()) == 1
    finally:
        running.stop()


def test_nothing_is_spent_beyond_the_limit(
    voyage: tuple[VoyageServer, dict[str, str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    server, environment = voyage
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    dollars_per_million, limit = 100.0, 1.0
    settings = {"prices": {"voyage-4": (dollars_per_million, 0.0)}, "max_spend": limit}
    with Citewell(tmp_path / "data", **settings) as library:
        (tmp_path / "items.csv").write_bytes(_records(LINES))
        resource = library.add(tmp_path / "items.csv")
        assert (resource.status, resource.error_code) == ("partial", "spending_limit")
        tokens = sum(contract.tokens_of(text) for text in server.embedded)
        assert 0 < tokens * dollars_per_million / 1e6 <= limit


def test_an_owner_spends_no_more_than_their_quota_but_for_the_calls_under_way(
    voyage: tuple[VoyageServer, dict[str, str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    server, environment = voyage
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    (tmp_path / "items.csv").write_bytes(_records(LINES))
    prices = {"voyage-4": (100.0, 0.0)}
    with Citewell(tmp_path / "data", prices=prices, quota_spend=0.5) as library:
        resource = library.add(tmp_path / "items.csv")
        assert (resource.status, resource.error_code) == ("partial", "quota_spend")
        assert server.embedded
        before = len(server.embedded)
        with pytest.raises(SpendQuotaReached, match=r"of 0\.50 US dollars"):
            library.ask("Which item is from Oslo?")
        with pytest.raises(SpendQuotaReached):
            library.add_texts([{"id": "r", "text": "Something that was never embedded."}])
        assert len(server.embedded) == before, "nothing more is paid for"
    with Citewell(tmp_path / "data", prices=prices) as library:
        assert library.add(tmp_path / "items.csv").status == "analyzed"
        assert max(Counter(server.embedded).values()) == 1


def test_one_text_that_the_provider_refuses_is_found_by_its_words(
    voyage: tuple[VoyageServer, dict[str, str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    server, environment = voyage
    for name, value in environment.items():
        monkeypatch.setenv(name, value)

    class Words(set[str]):
        def __contains__(self, text: object) -> bool:
            return "zeppelin" in str(text)

    server.forbidden = Words()
    with Citewell(tmp_path / "data") as library:
        rows = _records(300).decode() + "\n300,zeppelin,Oslo"
        (tmp_path / "items.csv").write_text(rows)
        assert library.add(tmp_path / "items.csv").status == "analyzed"
        server.forbidden = set()
        assert any("zeppelin" in hit.chunk.text for hit in library.search("zeppelin", 2))


def test_the_index_of_another_model_is_built_beside_the_active_one_and_takes_over(
    voyage: tuple[VoyageServer, dict[str, str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    server, environment = voyage
    (tmp_path / "note.txt").write_text("The zeppelin leaves at noon.")
    with Citewell(tmp_path / "data") as library:
        library.add(tmp_path / "note.txt")
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    with InProcessServer(tmp_path / "data", CITEWELL_INDEX_BUILD="always", **environment) as running:
        end = time.monotonic() + 60
        indexes: list[dict[str, str]] = []
        while time.monotonic() < end and not (len(indexes) == 2 and all(i["state"] != "building" for i in indexes)):
            time.sleep(0.1)
            indexes = running.client.get("/indexes").json()["indexes"]
        assert {index["fingerprint"]: index["state"] for index in indexes}["voyage/voyage-4/256"] == IndexState.ACTIVE
        assert any("zeppelin" in text for text in server.embedded)
