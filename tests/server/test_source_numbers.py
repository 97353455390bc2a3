"""`[n]` in an answer is ours alone, on every way out: what a paper, a README or a table has in brackets is never taken for a citation."""

from __future__ import annotations

import json
import re
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from typing import Any

import pytest

from tests.contract_servers.openai import KEY, OpenAIServer
from tests.contract_servers.script import Reply
from tests.contract_servers.serving import serving
from tests.server.in_process import InProcessServer
from tests.server.mcp_client import connected
from tests.server.running import Server

pytestmark = pytest.mark.full

PAPER = b"""# Attention

Attention over long inputs has been shown [1, 2] to help translation [12].

# References

[1] Bahdanau et al., 2015. [2] Luong et al., 2015.
"""
README = b"# Paddle\n\nThe first paddle argument is read with args[0], as the manual says [1].\n"
SALES = b"Region,Sales [2]\nNorth [1],120\nSouth [2],340\nWest [3],95\n"
QUESTION = "What has attention over long inputs been shown to help?"
MARKER = re.compile(r"\[(\d+)\]")


def agree(answer: dict[str, Any]) -> bool:
    """Whether every marker has exactly one citation, and every citation a marker."""
    text = answer["answer"] if "answer" in answer else answer["content"]
    return {int(n) for n in MARKER.findall(text)} == {c["n"] for c in answer["citations"]} and len(
        {c["n"] for c in answer["citations"]}
    ) == len(answer["citations"])


def ask(server: Server, message: str, **fields: Any) -> dict[str, Any]:
    """The answer, after the stream said the same and the thread kept the same."""
    answer = server.client.post("/chat", json={"message": message, **fields}).json()
    assert agree(answer), answer["answer"]
    lines = server.client.post("/chat", json={"message": message, "stream": True, **fields}).text.splitlines()
    said = "".join(json.loads(line).get("stream", "") for line in lines)
    done = json.loads(lines[-1])["done"]
    assert said == done["answer"] == answer["answer"]
    assert agree(done)
    kept = server.client.get(f"/threads/{answer['thread_id']}").json()["messages"][-1]
    assert (kept["content"], kept["citations"]) == (answer["answer"], answer["citations"])
    return answer


@pytest.fixture(scope="module")
def model() -> OpenAIServer:
    return OpenAIServer()


@pytest.fixture(scope="module")
def asked(model: OpenAIServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server with a chat model."""
    with serving(model.app) as address:
        environment = {
            "CITEWELL_CHAT_PROVIDER": "openai",
            "CITEWELL_CHAT_MODEL": "gpt-test",
            "CITEWELL_CHAT_BASE_URL": f"{address}/v1",
            "CITEWELL_CHAT_PROFILE": "full",
            "CITEWELL_OPENAI_API_KEY": KEY,
        }
        with InProcessServer(tmp_path_factory.mktemp("asked") / "data", **environment) as server:
            server.add("Attention.md", PAPER)
            server.add("Paddle [2].md", README)
            yield server


@pytest.fixture(scope="module")
def files(server: Server) -> dict[str, str]:
    """A server without one."""
    return {
        name: server.add(name, content)["id"]
        for name, content in (("Attention [3].md", PAPER), ("Paddle.md", README), ("Regions.csv", SALES))
    }


def says(text: str) -> Callable[[dict[str, Any]], Reply]:
    return lambda body: Reply(text=text, pieces=40)


def test_sentences_of_a_paper_keep_its_numbers_apart_from_ours(server: Server, files: dict[str, str]) -> None:
    answer = ask(server, QUESTION, resource_ids=[files["Attention [3].md"]], references=True)
    assert "has been shown (1, 2) to help translation (12). [1]" in answer["answer"]
    assert "References\n[1] Attention (3).md" in answer["answer"]
    assert answer["citations"][0]["label"].startswith("Attention [3].md")
    assert "[1, 2]" in answer["citations"][0]["quote"] or "shown" in answer["citations"][0]["quote"]


def test_code_of_a_readme_stays_code(server: Server, files: dict[str, str]) -> None:
    answer = ask(server, "How is the first paddle argument read?", resource_ids=[files["Paddle.md"]])
    assert answer["answer"].endswith("is read with args[ 0 ]… [1]")


@pytest.mark.parametrize(
    "question",
    [
        "Which region has the highest sales?",
        "What are the total sales?",
        "What are the sales by region?",
        "What are the sales of South [2]?",
        "How many regions are there?",
    ],
)
def test_columns_and_cells_with_brackets_cite_nothing(server: Server, files: dict[str, str], question: str) -> None:
    answer = ask(server, question, resource_ids=[files["Regions.csv"]])
    assert answer["citations"]
    assert {c["resource_id"] for c in answer["citations"]} == {files["Regions.csv"]}


def test_a_column_keeps_the_number_in_its_name(server: Server, files: dict[str, str]) -> None:
    answer = ask(server, "Which region has the highest sales?", resource_ids=[files["Regions.csv"]])
    assert "South (2): " in answer["answer"]
    assert "Sales (2)" in answer["answer"]


def test_a_model_sees_no_brackets_but_ours(asked: Server, model: OpenAIServer) -> None:
    model.script = says("Translation [1].")
    ask(asked, f"{QUESTION} As cited in [1, 2]?")
    sent = json.dumps(model.requests[-1]["messages"][1:], ensure_ascii=False)
    assert "has been shown [ 1, 2 ] to help translation [ 12 ]." in sent
    assert "As cited in [ 1, 2 ]?" in sent
    assert not re.search(r"\[\d", sent.replace("[{", ""))


@pytest.mark.parametrize(
    "text",
    [
        'The paper says: "Attention over long inputs has been shown [1, 2] to help translation [12]." [1]',
        "Attention over long inputs has been shown [1, 2] to help translation [12]. [1]",
        "Translation [1] and more. [2] Also this [1] and that. [7]\n- one [1]\n- two [2] three. [1]",
        "```\nargs[0] = rows[1]\n``` [1]\nand `args[2]` [2]",
        "See [1](http://evil.example/[2]) and [^1] and [1-2] and [0] and [12345].",
    ],
)
def test_a_models_answer_has_a_citation_for_each_marker(asked: Server, model: OpenAIServer, text: str) -> None:
    model.script = says(text)
    answer = ask(asked, QUESTION, references=True)
    assert answer["citations"]
    assert "[12]" not in answer["answer"]
    assert "[1, 2]" not in answer["answer"]


def test_annotations_of_chat_clients_are_the_markers(asked: Server, model: OpenAIServer) -> None:
    model.script = says("\n\nAttention over long inputs has been shown [1, 2] to help translation [12]. [1]")
    body = {"model": "citewell", "messages": [{"role": "user", "content": QUESTION}], "references": True}
    message = asked.client.post("/v1/chat/completions", json=body).json()["choices"][0]["message"]
    spans = [(a["url_citation"]["start_index"], a["url_citation"]["end_index"]) for a in message["annotations"]]
    assert spans == [match.span() for match in MARKER.finditer(message["content"])]
    lines = asked.client.post("/v1/chat/completions", json={**body, "stream": True}).text.split("\n\n")
    chunks = [json.loads(line.removeprefix("data: ")) for line in lines if line.startswith("data: {")]
    deltas = [chunk["choices"][0]["delta"] for chunk in chunks]
    streamed = "".join(delta.get("content", "") for delta in deltas)
    assert streamed == message["content"]
    assert deltas[-1]["annotations"] == message["annotations"]


async def test_passages_for_other_models_have_numbers_of_ours_only(server: Server, files: dict[str, str]) -> None:
    async with connected(server) as client:
        result = await client.call("search_files", {"query": QUESTION})
    numbers = [int(n) for n in MARKER.findall(result.text)]
    assert numbers == [passage["n"] for passage in result.content["passages"]]
    assert any("[1, 2]" in passage["text"] for passage in result.content["passages"])


def test_a_stored_answer_shows_no_marker_that_lost_its_citation(server: Server, files: dict[str, str]) -> None:
    answer = ask(server, QUESTION, resource_ids=[files["Attention [3].md"]])
    with closing(sqlite3.connect(next(server.data.glob("*.db")))) as database, database:
        changed = database.execute(
            "UPDATE messages SET content = content || ' And more [3].' WHERE id = ?", (answer["message_id"],)
        )
        assert changed.rowcount == 1
    kept = server.client.get(f"/threads/{answer['thread_id']}").json()["messages"][-1]
    assert kept["content"] == answer["answer"] + " And more."
    assert agree(kept)


def test_a_stopped_answer_is_kept_without_markers_that_nobody_checked(asked: Server, model: OpenAIServer) -> None:
    model.script = lambda _: Reply(text="Translation is helped [1]. " * 40, pieces=200, delay=0.05)
    thread = asked.client.post("/threads", json={"title": "left"}).json()["id"]
    body = {"message": QUESTION, "thread_id": thread, "stream": True}
    with asked.client.stream("POST", "/chat", json=body) as response:
        read = ""
        for line in response.iter_lines():
            read += json.loads(line).get("stream", "")
            if len(read) > 60:
                break
    assert "[1]" in read
    end = time.monotonic() + 60
    while len(kept := asked.client.get(f"/threads/{thread}").json()["messages"]) < 2:
        assert time.monotonic() < end
        time.sleep(0.1)
    assert kept[-1]["content"].startswith("Translation is helped. Translation is helped.")
    assert agree(kept[-1])
