"""A server whose vectors are in Pinecone, as its contract describes it: writes are seen late, and nothing is written twice for that."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.contract_servers.faults import Fault
from tests.contract_servers.pinecone_database import KEY, PineconeDatabase
from tests.contract_servers.serving import serving
from tests.server.in_process import InProcessServer
from tests.server.running import RunningServer, Server

pytestmark = [pytest.mark.full, pytest.mark.slow(30)]
SAMPLES = Path(__file__).resolve().parents[2] / "samples"
FILES = ("Loan Policy.pdf", "Finance Sheet.xlsx", "Growth Plan.docx")
QUESTION = "What is the maximum loan amount?"


@pytest.fixture
def pinecone() -> Iterator[PineconeDatabase]:
    made = PineconeDatabase(lag=3, waits=1)
    with serving(made.app) as address:
        made.address = address
        yield made


def environment(pinecone: PineconeDatabase) -> dict[str, str]:
    return {
        "CITEWELL_VECTOR_STORE": "pinecone",
        "PINECONE_API_KEY": KEY,
        "PINECONE_CONTROLLER_HOST": pinecone.address,
    }


def cited(running: Server) -> str:
    """The answer to the question, which must cite something."""
    answer = running.client.post("/chat", json={"message": QUESTION}).json()
    assert answer["citations"], answer
    return str(answer["answer"])


def eventually(holds: Callable[[], bool]) -> None:
    end = time.monotonic() + 60
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.1)


def ids_written(pinecone: PineconeDatabase) -> list[str]:
    bodies = [body for _, path, body in pinecone.requests if path.endswith("/upsert")]
    return [
        one.get("id") or one["_id"] for body in bodies for one in (body if isinstance(body, list) else body["vectors"])
    ]


def records(pinecone: PineconeDatabase) -> int:
    """How many records there are when everything is seen."""
    (index,) = pinecone.indexes.values()
    for space in index.namespaces.values():
        for _ in range(10):
            space.read()
    return sum(len(space.records) for space in index.namespaces.values())


def test_files_are_asked_about_changed_and_deleted(pinecone: PineconeDatabase, tmp_path: Path) -> None:
    with RunningServer(tmp_path / "data", **environment(pinecone)) as running:
        added = [running.add(name, (SAMPLES / name).read_bytes()) for name in FILES]
        answer = cited(running)
        running.client.patch(f"/resources/{added[0]['id']}", json={"metadata": {"kind": "policy"}}).raise_for_status()
        filters = [{"field": "metadata.kind", "operator": "eq", "value": "policy"}]

        def found() -> set[str]:
            hits = running.client.post("/search", json={"query": "loan", "filters": filters}).json()["hits"]
            return {hit["resource_id"] for hit in hits}

        eventually(lambda: found() == {added[0]["id"]})
        running.kill()
        running.start()
        assert cited(running) == answer
        assert not running.client.get("/ready").json().get("rebuilding")
        written = ids_written(pinecone)
        assert len(written) == len(set(written)) == records(pinecone)
        for one in added:
            assert running.client.delete(f"/resources/{one['id']}").status_code == 200
        assert records(pinecone) == 0


def test_while_pinecone_is_away_words_are_searched_and_the_answer_says_so(
    pinecone: PineconeDatabase, tmp_path: Path
) -> None:
    with InProcessServer(tmp_path / "data", **environment(pinecone)) as running:
        running.add(FILES[0], (SAMPLES / FILES[0]).read_bytes())
        asked = {"query": "maximum loan amount"}
        assert not running.client.post("/search", json=asked).json().get("notice")
        pinecone.trouble = lambda: Fault(status=503, message="overloaded", retry_after="0")
        found = running.client.post("/search", json=asked).json()
        assert found["hits"]
        assert "by keyword only, because the vector store failed" in found["notice"]
        answer = running.client.post("/chat", json={"message": QUESTION}).json()
        assert answer["citations"], answer
        assert "by keyword only" in answer["notice"]
        pinecone.trouble = lambda: None
        again = running.client.post("/search", json=asked).json()
        assert again["hits"][0]["scores"]["dense"] is not None
        assert not again.get("notice")


def test_an_index_that_somebody_deleted_is_made_again_and_filled(pinecone: PineconeDatabase, tmp_path: Path) -> None:
    with InProcessServer(tmp_path / "data", **environment(pinecone)) as running:
        running.add(FILES[0], (SAMPLES / FILES[0]).read_bytes())
        answer, before = cited(running), records(pinecone)
    pinecone.indexes.clear()
    with InProcessServer(tmp_path / "data", **environment(pinecone)) as running:
        eventually(lambda: not running.client.get("/ready").json().get("rebuilding"))
        assert cited(running) == answer
        assert records(pinecone) == before


def test_an_index_that_embeds_itself_is_given_texts_and_questions(pinecone: PineconeDatabase, tmp_path: Path) -> None:
    chosen = {"EMBEDDING_PROVIDER": "store", "CITEWELL_EMBEDDING_BASE_URL": "http://127.0.0.1:9"}
    with InProcessServer(tmp_path / "data", **environment(pinecone), **chosen) as running:
        added = running.add(FILES[0], (SAMPLES / FILES[0]).read_bytes())
        record = {"id": "7", "text": "Zebras graze beside the northern fence.", "title": "Zebras"}
        running.client.post("/records", json={"records": [record]}).raise_for_status()
        cited(running)
        (index,) = pinecone.indexes.values()
        assert index.embed is not None
        assert (index.embed["model"], index.embed["field_map"]) == ("multilingual-e5-large", {"text": "chunk_text"})
        assert index.embed["read_parameters"]["input_type"] == "query"
        written = ids_written(pinecone)
        assert len(written) == len(set(written)) == records(pinecone)
        hit = running.client.post("/search", json={"query": "zebras northern fence", "top_k": 1}).json()["hits"][0]
        assert "Zebras" in hit["text"]
        assert hit["scores"]["dense"] > 0.5
        assert "zebras northern fence" in pinecone.embedded
        ready = running.client.get("/ready")
        assert (ready.status_code, ready.json().get("degraded")) == (200, False), ready.text
        assert running.client.delete(f"/resources/{added['id']}").status_code == 200
        assert records(pinecone) == 1


def test_a_store_that_embeds_nothing_is_told_so(tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match="EMBEDDING_PROVIDER is 'store'"):
        RunningServer(tmp_path / "data", EMBEDDING_PROVIDER="store", PINECONE_API_KEY=KEY).start()
