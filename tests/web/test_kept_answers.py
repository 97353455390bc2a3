"""What stands in a thread when an answer was left in the middle, or when there was none: the words so far, the nearest passages."""

from __future__ import annotations

import json
import time
import uuid
from collections.abc import Callable, Iterator
from typing import Any

import httpx
import pytest

from tests.contract_servers.openai import KEY, OpenAIServer
from tests.contract_servers.script import Queue, Reply
from tests.contract_servers.serving import serving
from tests.server.in_process import InProcessServer
from tests.server.running import Server

pytestmark = pytest.mark.slow(25)

NOTE = b"# Harbour\n\nThe harbour gate closes at half past nine in the evening.\n"
QUESTION = "When does the harbour gate close?"


def _messages(server: Server, thread_id: str) -> list[dict[str, Any]]:
    return server.client.get(f"/threads/{thread_id}").json()["messages"]


def _wait(server: Server, thread_id: str, done: Callable[[list[dict[str, Any]]], bool]) -> list[dict[str, Any]]:
    end = time.monotonic() + 60
    while not done(found := _messages(server, thread_id)):
        assert time.monotonic() < end, found
        time.sleep(0.1)
    return found


@pytest.fixture(scope="module")
def slow(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server whose chat model takes ten seconds for an answer."""
    model = OpenAIServer()
    model.script = Queue(Reply(text="It closes at half past nine. " * 40, pieces=200, delay=0.05))
    with serving(model.app) as address:
        environment = {
            "CITEWELL_CHAT_PROVIDER": "openai",
            "CITEWELL_CHAT_MODEL": "gpt-test",
            "CITEWELL_CHAT_BASE_URL": f"{address}/v1",
            "CITEWELL_CHAT_PROFILE": "full",
            "CITEWELL_OPENAI_API_KEY": KEY,
        }
        with InProcessServer(tmp_path_factory.mktemp("slow") / "data", **environment) as server:
            server.add("Harbour.md", NOTE)
            yield server


def _leave_in_the_middle(server: Server, thread_id: str) -> str:
    """Ask, read the first words, and hang up; the words that were read."""
    body = {"message": QUESTION, "thread_id": thread_id, "stream": True}
    with server.client.stream("POST", "/chat", json=body) as response:
        read = ""
        for line in response.iter_lines():
            read += json.loads(line).get("stream", "")
            if len(read) > 60:
                break
    return read


@pytest.mark.full
def test_an_answer_that_was_left_keeps_its_words_and_says_so(slow: Server) -> None:
    thread_id = slow.client.post("/threads", json={"title": "left"}).json()["id"]
    read = _leave_in_the_middle(slow, thread_id)
    question, answer = _wait(slow, thread_id, lambda found: len(found) == 2)
    assert question["content"] == QUESTION
    assert answer["details"]["stopped"] is True
    assert answer["content"].startswith(read)
    assert len(answer["content"]) < len("It closes at half past nine. " * 40)
    assert answer["citations"] == []


@pytest.mark.full
def test_a_question_taken_back_at_once_leaves_no_words_behind(slow: Server) -> None:
    thread_id = slow.client.post("/threads", json={"title": "taken back"}).json()["id"]
    body = {"message": QUESTION, "thread_id": thread_id, "stream": True}
    with slow.client.stream("POST", "/chat", json=body) as response:
        lines = response.iter_lines()
        while "stream" not in json.loads(next(lines)):
            pass
        asked = _messages(slow, thread_id)[0]["id"]
        assert slow.client.delete(f"/threads/{thread_id}/messages/{asked}").status_code == 204
    with httpx.Client(base_url=slow.url, headers=slow.client.headers) as another:
        time.sleep(1)
        assert another.get(f"/threads/{thread_id}").json()["messages"] == []


def test_the_nearest_passages_stay_with_an_answer_that_is_none(server: Server) -> None:
    note = server.add(f"Harbour {uuid.uuid4().hex}.md", NOTE + uuid.uuid4().hex.encode())["id"]
    body = {"message": "What is the boiling point of tungsten?", "resource_ids": [note]}
    said = server.client.post("/chat", json=body).json()
    assert said["answered"] is False
    kept = _messages(server, said["thread_id"])[-1]["details"]["nearest"]
    assert kept == [{name: value for name, value in near.items() if name != "text"} for near in said["nearest"]]
    chunk = server.client.get(f"/resources/{note}/chunks/{kept[0]['chunk_id']}").json()
    assert "harbour gate" in chunk["text"]
