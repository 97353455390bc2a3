"""`/chat` and `/threads` over HTTP with a scripted provider: the stream's lines, typed errors, threads that last, work that stops."""

from __future__ import annotations

import http.client
import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.contract_servers.openai import KEY, OpenAIServer
from tests.contract_servers.script import Queue, Reply
from tests.contract_servers.serving import serving
from tests.server.in_process import InProcessServer
from tests.server.running import Server

NOTE = b"# Harbour\n\nThe harbour gate closes at half past nine in the evening.\n\n## Cranes\n\nDogs must be kept on a lead.\n"
SALES = b"Month,Visitors\nJan,120\nFeb,340\nMar,95\n"
QUESTION = "When does the harbour gate close?"
ANSWER = Reply(text="It closes at half past nine in the evening [1].")


class Place:
    def __init__(self, server: Server, model: OpenAIServer) -> None:
        self.server = server
        self.model = model
        self.note = server.add("Harbour.md", NOTE)["id"]
        self.sales = server.add("Visitors.csv", SALES)["id"]

    def ask(self, message: str = QUESTION, **fields: Any) -> httpx.Response:
        fields = {"resource_ids": [self.note], **fields}
        return self.server.client.post("/chat", json={"message": message, **fields})

    def lines(self, message: str = QUESTION, **fields: Any) -> list[dict[str, Any]]:
        response = self.ask(message, stream=True, **fields)
        assert response.headers["content-type"].startswith("application/x-ndjson")
        lines = [json.loads(line) for line in response.text.splitlines()]
        return [line for line in lines if "reading" not in line]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    model = OpenAIServer()
    with serving(model.app) as address:
        environment = {
            "CITEWELL_CHAT_PROVIDER": "openai",
            "CITEWELL_CHAT_MODEL": "gpt-test",
            "CITEWELL_CHAT_BASE_URL": f"{address}/v1",
            "CITEWELL_OPENAI_API_KEY": KEY,
            "CITEWELL_CHAT_PROFILE": "full",
            "CITEWELL_PRICES": '{"gpt-test": [2.0, 8.0]}',
        }
        with InProcessServer(tmp_path_factory.mktemp("chat") / "data", **environment) as server:
            yield Place(server, model)


def test_lines_are_text_then_used_documents_then_the_end(place: Place) -> None:
    place.model.script = Queue(ANSWER)
    lines = place.lines()
    kinds = [next(iter(line)) for line in lines]
    assert kinds == sorted(kinds, key=["stream", "used_docs", "done"].index)
    done = lines[-1]["done"]
    assert "".join(line["stream"] for line in lines if "stream" in line).strip() == done["answer"] == ANSWER.text
    document = next(line for line in lines if "used_docs" in line)["used_docs"][0]
    assert "half past nine" in document["page_content"]
    assert document["metadata"]["filename"] == "Harbour.md"
    assert document["metadata"]["locator"]["char_start"] >= 0
    assert done["citations"][0]["verdict"] == "supported"
    assert done["usage"]["input_tokens"] > 0
    assert done["usage"]["cost"] > 0
    assert done["timings_ms"]["total"] > 0
    assert done["trace"] is None


def test_rows_name_their_sheet_and_row(place: Place) -> None:
    place.model.script = Queue(Reply(text="February had 340 visitors [1]."))
    lines = place.lines("Which month had the most visitors?", resource_ids=[place.sales])
    metadata = next(line for line in lines if "used_docs" in line)["used_docs"][0]["metadata"]
    assert metadata["row_number"] == 3
    assert metadata["filename"] == "Visitors.csv"
    cited = lines[-1]["done"]["citations"][0]
    assert (cited["locator"]["row"], cited["label"]) == (3, metadata["label"])


def test_a_computed_answer_has_a_picture_that_its_thread_keeps_as_long_as_the_file(place: Place) -> None:
    """A chat model's answer from a table query has the same picture as one by rules."""
    client = place.server.client
    resource = place.server.add("Callers.csv", SALES.replace(b"Visitors", b"Callers"))["id"]
    place.model.script = Queue(Reply(text="February had 340 callers [1]."))
    done = place.lines("Which month had the most callers?", resource_ids=[resource])[-1]["done"]
    picture = done["picture"]
    assert picture["$schema"].endswith("/vega-lite/v5.json")
    assert picture["title"] == "Callers by Month"
    values = [(value["x"], value["y"], value.get("cite"), value["row"]) for value in picture["data"]["values"]]
    assert values == [("Jan", 120.0, None, 2), ("Feb", 340.0, 1, 3), ("Mar", 95.0, None, 4)]
    assert done["citations"][0]["locator"] == {"row": 3, "column": "Callers"}
    address = f"/threads/{done['thread_id']}"
    assert client.get(address).json()["messages"][1]["details"]["picture"] == picture
    client.delete(f"/resources/{resource}")
    assert "picture" not in client.get(address).json()["messages"][1]["details"]


def test_prose_has_no_picture(place: Place) -> None:
    place.model.script = Queue(ANSWER)
    assert place.ask().json()["picture"] is None


def test_debug_shows_hits_prompts_and_timings(place: Place) -> None:
    place.model.script = Queue(ANSWER)
    trace = place.ask(debug=True).json()["trace"]
    assert trace["searches"][0]["hits"][0]["scores"]
    assert trace["searches"][0]["details"]["fused"]
    assert any("Use only the sources" in m["content"] for m in trace["prompts"][-1]["messages"])
    assert trace["tool_calls"][0]["name"] == "search_files"
    assert {"search", "model", "check_citations"} <= set(trace["timings_ms"])


@pytest.mark.parametrize(
    ("reply", "why"),
    [
        (Reply(status=401, message="bad key"), "rejected the API key"),
        (Reply(status=429, retry_after="3600"), "rate limit is reached"),
        (Reply(text="It is", refuse=True), "refused to answer"),
        (Reply(text="It closes at half past ten", drop_after=2), "broke off"),
        (Reply(text="It closes at half past ten", error_after=2), "responded with status"),
        (Reply(text=""), "empty answer"),
        (Reply(text="It closes at half past ten [1]. " * 40), "repeats itself"),
        (Reply(text="It closes in 1999, as everybody knows [1]."), "No passage supports"),
    ],
    ids=["key", "busy", "refusal", "dropped", "failed in the middle", "empty", "in circles", "unsupported"],
)
def test_the_answer_without_the_model_is_given_wherever_the_model_gives_none(
    place: Place, reply: Reply, why: str
) -> None:
    place.model.script = Queue(reply)
    lines = place.lines()
    text = ""
    for line in lines:
        text = "" if line.get("restart") else text + line.get("stream", "")
    done = lines[-1]["done"]
    assert text == done["answer"]
    assert "half past nine" in done["answer"]
    assert done["citations"][0]["verdict"] == "supported"
    assert why in done["notice"]
    assert "This answer is quoted from your files." in done["notice"]
    kept = place.server.client.get(f"/threads/{done['thread_id']}").json()["messages"][-1]
    assert kept["content"] == done["answer"]


def test_a_short_wait_that_the_provider_asks_for_is_kept(place: Place) -> None:
    place.model.script = Queue(Reply(status=429, retry_after="1"), ANSWER)
    started = time.monotonic()
    assert place.ask().json()["answer"] == ANSWER.text
    assert time.monotonic() - started >= 1


def test_a_context_that_is_too_long_is_tried_smaller(place: Place) -> None:
    place.model.script = Queue(Reply(status=400, message="This model's maximum context length is exceeded."), ANSWER)
    assert place.ask().json()["answer"] == ANSWER.text


@pytest.mark.parametrize("stream", [True, False])
def test_a_client_that_leaves_stops_the_work_and_what_it_cost_is_counted(place: Place, stream: bool) -> None:
    place.model.script = Queue(Reply(text="It closes at half past nine. " * 40, pieces=200, delay=0.05))
    place.model.client_left.clear()
    before = len(place.model.requests)
    thread = place.server.client.post("/threads", json={"title": "left"}).json()["id"]
    body = {"message": QUESTION, "thread_id": thread, "resource_ids": [place.note], "stream": stream}
    address = httpx.URL(place.server.url)
    connection = http.client.HTTPConnection(address.host, address.port)
    headers = {"Authorization": place.server.client.headers["Authorization"], "Content-Type": "application/json"}
    connection.request("POST", "/chat", json.dumps(body), headers)
    end = time.monotonic() + 30
    while len(place.model.requests) == before:
        assert time.monotonic() < end
        time.sleep(0.05)
    time.sleep(0.5)
    connection.close()
    assert place.model.client_left.wait(60)
    end = time.monotonic() + 60
    while not (rows := place.server.client.get("/usage", params={"thread_id": thread}).json()["usage"]):
        assert time.monotonic() < end
        time.sleep(0.1)
    assert {row["kind"] for row in rows} >= {"chat"}


@pytest.mark.parametrize("is_stopped", [False, True], ids=["left alone", "stopped"])
def test_a_detached_answer_is_finished_without_its_reader_unless_it_is_stopped(place: Place, is_stopped: bool) -> None:
    text = "The harbour gate closes at half past nine in the evening [1]. Dogs must be kept on a lead [1]."
    place.model.script = Queue(Reply(text=text, pieces=60, delay=0.05))
    client = place.server.client
    thread = client.post("/threads", json={"title": "left"}).json()["id"]
    body = {"message": QUESTION, "thread_id": thread, "resource_ids": [place.note], "stream": True, "detached": True}
    with client.stream("POST", "/chat", json=body) as response:
        next(line for line in response.iter_lines() if "stream" in json.loads(line))
    assert client.get(f"/threads/{thread}").json()["answering"]
    if is_stopped:
        assert client.post(f"/threads/{thread}/stop").status_code == 204
    end = time.monotonic() + 60
    while len((shown := client.get(f"/threads/{thread}").json())["messages"]) < 2 or shown["answering"]:
        assert time.monotonic() < end
        time.sleep(0.1)
    answer = shown["messages"][1]
    assert (answer["content"] != text) == is_stopped
    assert text.startswith(answer["content"])
    assert answer["details"].get("stopped", False) == is_stopped


def test_threads_outlive_the_server_and_can_be_renamed_found_exported_and_deleted(place: Place) -> None:
    place.model.script = Queue(ANSWER)
    first = place.ask().json()
    thread = first["thread_id"]
    place.server.stop()
    place.server.start()
    client = place.server.client
    shown = client.get(f"/threads/{thread}").json()
    assert [message["role"] for message in shown["messages"]] == ["user", "assistant"]
    assert shown["messages"][1]["citations"] == first["citations"]
    assert client.patch(f"/threads/{thread}", json={"title": "Gate times"}).json()["title"] == "Gate times"
    assert [t["id"] for t in client.get("/threads", params={"q": "Gate times"}).json()["threads"]] == [thread]
    text = client.get(f"/threads/{thread}/export").text
    assert text.startswith("# Gate times\n")
    assert "- [1] Harbour.md" in text
    exported = client.get(f"/threads/{thread}/export", params={"format": "json"}).json()
    assert exported["messages"] == shown["messages"]
    assert client.delete(f"/threads/{thread}").status_code == 204
    assert client.get(f"/threads/{thread}").status_code == 404


def test_citations_survive_reindexing_and_lose_their_quote_with_their_file(place: Place) -> None:
    resource = place.server.add("Mooring.md", b"# Mooring\n\nBoats longer than ten metres moor at the north quay.\n")[
        "id"
    ]
    place.model.script = Queue(Reply(text="Boats longer than ten metres moor at the north quay [1]."))
    first = place.ask("Where do boats longer than ten metres moor?", resource_ids=[resource]).json()
    client = place.server.client
    assert client.post(f"/resources/{resource}/reindex").status_code in (200, 202)
    place.server.wait(resource)
    address = f"/threads/{first['thread_id']}"
    assert client.get(address).json()["messages"][1]["citations"] == first["citations"]
    client.delete(f"/resources/{resource}")
    gone = client.get(address).json()["messages"][1]["citations"][0]
    assert (gone["available"], gone["quote"]) == (False, "")
    assert gone["label"] == first["citations"][0]["label"]


def test_a_long_thread_is_summarised_once_and_the_summary_is_used(place: Place, tmp_path: Path) -> None:
    asked: list[dict[str, Any]] = []

    def script(body: dict[str, Any]) -> Reply:
        asked.append(body)
        if body.get("response_format"):
            plan = {"intent": "document_query", "confidence": 1, "question": QUESTION, "search_terms": []}
            return Reply(text=json.dumps(plan))
        if "Summarise the older part" in body["messages"][0]["content"]:
            return Reply(text="The user wonders about gates and cranes.")
        return Reply(
            text="It closes at half past nine in the evening [1]. "
            + " ".join(f"So it has been for {n} years here." for n in range(60))
        )

    place.model.script = script
    thread = None
    for turn in range(8):
        response = place.ask(f"{QUESTION} Tell me again, number {turn}.", thread_id=thread)
        thread = response.json()["thread_id"]
    summaries = [b for b in asked if "Summarise the older part" in b["messages"][0]["content"]]
    assert 1 <= len(summaries) <= 4
    last = json.dumps(asked[-1]["messages"])
    assert "The user wonders about gates and cranes." in last
    assert len(last) < 40_000


def test_what_a_question_says_of_the_files_is_told_before_the_answer_and_kept(place: Place) -> None:
    place.model.script = Queue(Reply(text="They must be kept on a lead [1]."))
    lines = place.lines("What does Harbour.md say about dogs?", resource_ids=None)
    told = lines[0]["inferred_filters"]
    assert [(one["id"], one["label"], one["applied"]) for one in told] == [("filename", "file: Harbour.md", True)]
    done = lines[-1]["done"]
    assert done["inferred_filters"] == told
    kept = place.server.client.get(f"/threads/{done['thread_id']}").json()["messages"][-1]
    assert kept["details"]["inferred_filters"] == told


def test_what_was_inferred_can_be_taken_off_a_question(place: Place) -> None:
    place.model.script = Queue(Reply(text="They must be kept on a lead [1]."))
    done = place.ask("What does Harbour.md say about dogs?", ignore_inferred=["filename"]).json()
    assert done["inferred_filters"] == []
    asked = place.server.client.get(f"/threads/{done['thread_id']}").json()["messages"][0]
    assert asked["details"]["ignore_inferred"] == ["filename"]


def test_a_chat_model_reads_filters_with_the_keys_that_files_have(place: Place) -> None:
    said = json.dumps({"tags": ["outdoor"], "timestamp": "2026-01-05T10:00:00Z"})
    frame = place.server.add("Frame.md", b"# Frame\n\nA red car at the gate.\n", metadata=said)["id"]
    read = {
        "conditions": [
            {"field": "tag", "operator": "eq", "values": ["outdoor"], "words": "tagged 'outdoor'"},
            {"field": "metadata.timestamp", "operator": "gte", "values": ["2026-01-01"], "words": "since January 2026"},
        ],
        "semantic": "a red car",
    }
    place.model.script = Queue(Reply(text=json.dumps(read)))
    body = {"query": "frames tagged 'outdoor' since January 2026 showing a red car", "self_query": "model"}
    asked = len(place.model.requests)
    found = place.server.client.post("/search", json={**body, "debug": True, "time_zone": "Europe/Berlin"}).json()
    assert {hit["resource_id"] for hit in found["hits"]} == {frame}
    assert [(one["id"], one["words"]) for one in found["inferred_filters"]] == [
        ("tag", "tagged 'outdoor'"),
        ("metadata.timestamp", "since January 2026"),
    ]
    assert found["inferred_filters"][1]["filter"]["value"] == "2025-12-31T23:00:00Z"
    assert found["trace"]["details"]["semantic"] == "a red car"
    prompt = json.dumps(place.model.requests[asked:])
    assert "metadata.timestamp (date)" in prompt
    assert "Europe/Berlin" in prompt
