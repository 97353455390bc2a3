"""Earlier conversations in answers, and answers that are given again, over HTTP."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.server.in_process import InProcessServer

NOTE = b"# Harbour\n\nThe harbour gate closes at half past nine in the evening.\n"
QUESTION = "When does the harbour gate close?"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[InProcessServer]:
    with InProcessServer(tmp_path_factory.mktemp("memory") / "data") as server:
        server.add("Harbour.md", NOTE)
        yield server


@pytest.fixture
def remembering(server: InProcessServer) -> Iterator[InProcessServer]:
    """With the search on, and no conversation."""
    _forget(server)
    server.client.put("/memory", json={"enabled": True})
    yield server
    server.client.put("/memory", json={"enabled": False})


def _forget(server: InProcessServer) -> None:
    for thread in server.client.get("/threads", params={"limit": 1000}).json()["threads"]:
        server.client.delete(f"/threads/{thread['id']}")


def _ask(server: InProcessServer, message: str, **fields: Any) -> dict[str, Any]:
    response = server.client.post("/chat", json={"message": message, **fields})
    assert response.status_code == 200, response.text
    return response.json()


def test_conversations_are_searched_only_for_those_who_turn_it_on(server: InProcessServer) -> None:
    _forget(server)
    _ask(server, "We decided to repair the crane in May.")
    assert server.client.get("/memory").json()["enabled"] is False
    assert server.client.get("/memory/search", params={"q": "crane"}).status_code == 409
    assert _ask(server, "What did we decide about the crane?")["remembered"] == []


def test_what_was_said_is_quoted_apart_from_files(remembering: InProcessServer) -> None:
    said = _ask(remembering, "We decided to repair the crane in May.")
    answer = _ask(remembering, "What did we decide about the crane?")
    [quoted] = answer["remembered"]
    assert (quoted["kind"], quoted["said_by"], quoted["thread_id"]) == ("chat", "you", said["thread_id"])
    assert quoted["label"].startswith("chat of ")
    assert quoted["quote"] == "We decided to repair the crane in May."
    assert f"From your {quoted['label']}" in answer["answer"]
    assert answer["citations"] == []
    assert answer["answered"]
    [_, kept] = remembering.client.get(f"/threads/{answer['thread_id']}").json()["messages"]
    assert kept["remembered"] == [quoted]


def test_files_are_cited_as_ever_beside_what_was_said(remembering: InProcessServer) -> None:
    _ask(remembering, QUESTION)
    answer = _ask(remembering, "As you told me, the harbour gate closes in the evening. When does it close?")
    assert [one["filename"] for one in answer["citations"]] == ["Harbour.md"]
    assert answer["remembered"]


def test_a_statement_answers_where_files_do_not(remembering: InProcessServer) -> None:
    _ask(remembering, "My storage locker has the number 17.")
    assert "17" in _ask(remembering, "Which number does my storage locker have?")["remembered"][0]["quote"]
    assert _ask(remembering, "Who is the mayor of Bern?")["remembered"] == []


def test_a_deleted_conversation_is_forgotten(remembering: InProcessServer) -> None:
    said = _ask(remembering, "We decided to repair the crane in May.")
    answer = _ask(remembering, "What did we decide about the crane?")
    remembering.client.delete(f"/threads/{said['thread_id']}")
    [_, kept] = remembering.client.get(f"/threads/{answer['thread_id']}").json()["messages"]
    assert kept["remembered"] == []
    assert _ask(remembering, "What did we decide about the crane?")["remembered"] == []


def test_a_question_about_one_file_finds_nothing_said_of_others(remembering: InProcessServer) -> None:
    other = remembering.add("Cranes.md", b"# Cranes\n\nThe crane lifts nine tonnes.\n")["id"]
    _ask(remembering, QUESTION)
    assert _ask(remembering, "What did you say about the harbour gate?")["remembered"]
    assert _ask(remembering, "What did you say about the harbour gate?", resource_ids=[other])["remembered"] == []
    remembering.client.delete(f"/resources/{other}")


def test_an_equal_question_gets_its_earlier_answer_if_asked_for(server: InProcessServer) -> None:
    _forget(server)
    first = _ask(server, QUESTION)
    again = _ask(server, "Could you tell me when the harbour gate closes?", repeat=True)
    assert again["answered_before"]["message_id"] == first["message_id"]
    assert (again["answer"], again["citations"]) == (first["answer"], first["citations"])
    assert _ask(server, QUESTION)["answered_before"] is None
    assert _ask(server, "When does the harbour gate open?", repeat=True)["answered_before"] is None


def test_an_answer_is_given_again_only_while_its_files_are_unchanged(server: InProcessServer) -> None:
    _forget(server)
    _ask(server, QUESTION)
    added = server.add("News.md", b"# News\n\nFrom May on, the harbour gate closes at ten.\n")["id"]
    assert _ask(server, QUESTION, repeat=True)["answered_before"] is None
    server.client.delete(f"/resources/{added}")
    assert _ask(server, QUESTION, repeat=True)["answered_before"] is not None


def test_an_answer_that_was_rated_down_is_not_given_again(server: InProcessServer) -> None:
    _forget(server)
    first = _ask(server, QUESTION)
    path = f"/threads/{first['thread_id']}/messages/{first['message_id']}/feedback"
    server.client.put(path, json={"rating": "down"})
    assert _ask(server, QUESTION, repeat=True)["answered_before"] is None


def test_answers_are_not_given_again_where_that_is_turned_off(tmp_path: Path) -> None:
    with InProcessServer(tmp_path / "data", CITEWELL_REPEAT_ANSWERS="false") as server:
        server.add("Harbour.md", NOTE)
        _ask(server, QUESTION)
        assert _ask(server, QUESTION, repeat=True)["answered_before"] is None
