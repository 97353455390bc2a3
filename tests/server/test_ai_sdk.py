"""`/chat` as Vercel's AI SDK reads it: the UI message stream, with a source per citation. https://ai-sdk.dev/docs/ai-sdk-ui/stream-protocol"""

from __future__ import annotations

import json
from typing import Any

from tests.server.running import Server

NOTE = b"# Harbour\n\nThe harbour gate closes at half past nine in the evening.\n"


def _parts(server: Server, message: str) -> list[dict[str, Any]]:
    body = {"message": message, "stream": True, "protocol": "ai-sdk"}
    response = server.client.post("/chat", json=body)
    assert response.headers["x-vercel-ai-ui-message-stream"] == "v1"
    assert response.headers["content-type"].startswith("text/event-stream")
    *events, end = response.text.strip().split("\n\n")
    assert end == "data: [DONE]"
    return [json.loads(event.removeprefix("data: ")) for event in events]


def test_a_message_streams_as_text_sources_and_the_whole_answer(server: Server) -> None:
    server.add("Harbour.md", NOTE)
    parts = _parts(server, "When does the harbour gate close?")
    kinds = [part["type"] for part in parts]
    assert kinds[:2] == ["start", "text-start"]
    assert kinds[-2:] == ["data-answer", "finish"]
    assert kinds.count("text-end") == 1
    written = "".join(part["delta"] for part in parts if part["type"] == "text-delta")
    (source,) = [part for part in parts if part["type"] == "source-url"]
    answer = parts[-2]["data"]
    assert written == answer["answer"]
    assert source["providerMetadata"]["citewell"]["quote"] == answer["citations"][0]["quote"]
    assert (source["sourceId"], source["title"]) == ("1", answer["citations"][0]["label"])
    chunk = source["url"].replace("/library/", "/resources/").replace("?passage=", "/chunks/")
    assert "half past nine" in server.client.get(chunk).json()["text"]
    assert parts[0]["messageMetadata"]["thread_id"] == answer["thread_id"]


def test_advice_is_part_of_the_text_where_there_is_no_answer(server: Server) -> None:
    parts = _parts(server, "How heavy is the largest walrus?")
    written = "".join(part["delta"] for part in parts if part["type"] == "text-delta")
    assert written.endswith("Upload a file that does, or use the words of your files.")
