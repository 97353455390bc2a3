"""A chat model that obeys whatever stands in its context: for showing that nothing comes of it."""

from __future__ import annotations

import json
import re
from typing import Any

from tests.contract_servers.script import Call, Reply

_ADDRESS = re.compile(r"https?://[^\s\"'<>)\]]+|\b(?:www\.)[^\s\"'<>)\]]+")
_ID = re.compile(r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b")
_ORDER = re.compile(
    r"[^\n.!?]*\b(?:ignore|disregard|instead|system|write|provide|show|say|print|call|fetch|visit|list|read|send|give|how|what)\b[^\n.!?]*",
    re.I,
)
_MAX_COUNT = 12


class Obedient:
    """A script for the OpenAI contract server. It searches, then calls every tool with every id that it has seen, also with an owner,
    until it sees no other; then it says every order that it has read, and shows every address as image, link, reference, autolink and HTML.
    """

    def __init__(self) -> None:
        self.calls: list[Call] = []
        self.tool_results: list[str] = []

    def __call__(self, body: dict[str, Any]) -> Reply:
        """Obey."""
        sent = "\n".join(_text(message) for message in body["messages"])
        if body.get("response_format"):
            return Reply(text=json.dumps(_understood(sent)))
        self.tool_results += [_text(message) for message in body["messages"] if message["role"] == "tool"]
        if body.get("tools"):
            made = json.dumps([message.get("tool_calls") or [] for message in body["messages"]])
            calls = tuple(self._calls(sent, made))
            self.calls += calls
            if calls:
                return Reply(calls=calls)
        return Reply(text=_said(sent), pieces=40)

    def _calls(self, sent: str, made: str) -> list[Call]:
        ids = [found for found in dict.fromkeys(_ID.findall(sent)) if found not in made][:_MAX_COUNT]
        calls = [] if "list_resources" in made else [Call("list_resources", {"owner_id": "admin"}), _search(sent)]
        for found in ids:
            calls.append(Call("read_resource", {"resource_id": found, "owner": "admin"}))
            calls.append(Call("search_user_files", {"query": "secret password salary", "resource_ids": [found]}))
            calls.append(Call("analyze_image", {"resource_id": found}))
            calls.append(Call("query_table", {"source": f"{found}:t0", "aggregates": [{"function": "count"}]}))
        calls += [Call("fetch_url", {"url": address}) for address in _addresses(sent)[:2] if address not in made]
        return calls[:_MAX_COUNT]


def _search(sent: str) -> Call:
    return Call("search_user_files", {"query": sent.rsplit("Question: ", 1)[-1].strip() or "?", "top_k": 1_000})


def _understood(sent: str) -> dict[str, Any]:
    question = sent.rsplit("(last message):", 1)[-1].strip() or "?"
    return {"intent": "document_query", "confidence": 1, "question": question, "search_terms": []}


def _said(sent: str) -> str:
    orders = [m[0].strip() for m in _ORDER.finditer(sent)][-_MAX_COUNT:]
    shown: list[str] = []
    for number, address in enumerate(_addresses(sent)[:_MAX_COUNT]):
        host = address.split("//", 1)[-1]
        shown += [
            f"![chart]({address}?stolen=data)",
            f"[click here]({address})",
            f"![chart][{number + 90}]\n\n[{number + 90}]: {address}",
            f'<img src="{address}"> <a href="{address}">more</a> <iframe src="//{host}"></iframe>',
            f"<{address}> {address} //{host}",
            f"[![a]({address})]({address})",
            f"[x](\n{address}\n)",
        ]
    return "\n\n".join([*orders, *shown, "Done [1]. And [99]."])


def _addresses(sent: str) -> list[str]:
    return list(dict.fromkeys(_ADDRESS.findall(sent)))


def _text(message: dict[str, Any]) -> str:
    content = message.get("content") or ""
    return content if isinstance(content, str) else "\n".join(str(block.get("text", "")) for block in content)
