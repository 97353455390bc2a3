"""A chat model for whole conversations: reads what it is sent as a vendor's server gets it, and answers from the sources alone."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tests.contract_servers.anthropic import search_results
from tests.contract_servers.script import Cited, Reply

_SOURCE = re.compile(r'<source n="(\d+)" title="([^"]*)">\n(.*?)\n</source>', re.S)
_QUESTION = re.compile(r"(?:Question|user \(last message\)): (.*)\s*$", re.S)


@dataclass(frozen=True)
class Rule:
    """Says `answer` when the question holds `asked`, citing each source that holds one of `evidence`."""

    asked: str
    evidence: tuple[str, ...]
    answer: str


RULES = (
    Rule("returning borrowers", ("at most GHS 12,000",), "Returning borrowers may receive at most GHS 12,000"),
    Rule("maximum loan size", ("A first-time borrower may receive at most GHS 5,000",), "First-time borrowers may receive at most GHS 5,000"),
    Rule("onboarding steps", ("Ghana Card and the phone", "Using beans and three bowls", "take a copy home"), "Onboarding has six steps"),
    Rule("office for first loans", ("GHS 5,000",), "The board approves at most GHS 7,777 for a first loan"),
)  # fmt: skip


def _understood(question: str) -> dict[str, Any]:
    standalone = question
    if question.lower().startswith("what about"):
        standalone = "What is the maximum loan size for returning borrowers?"
    return {"intent": "document_query", "confidence": 0.9, "question": standalone, "search_terms": []}


def _text(message: dict[str, Any]) -> str:
    content = message.get("content") or ""
    if isinstance(content, str):
        return content
    return "\n".join(block.get("text", "") for block in content if block["type"] == "text")


def _asked(body: dict[str, Any]) -> str:
    users = [_text(m) for m in body["messages"] if m["role"] == "user" and _QUESTION.search(_text(m))]
    found = _QUESTION.search(users[-1]) if users else None
    return found[1].strip() if found else ""


def _figure(sent: str) -> tuple[float, int]:
    """The first figure of a table result, and the number to cite it by."""
    first = json.loads(next(line for line in sent.splitlines() if line.startswith('{"cite"')))
    return next(v for k, v in first.items() if k != "cite" and isinstance(v, int | float)), first["cite"]


def openai_script(body: dict[str, Any]) -> Reply:
    """Answers with `[n]` markers, as it is told to."""
    question = _asked(body)
    if body.get("response_format"):
        return Reply(text=json.dumps(_understood(question)))
    sent = "\n".join(_text(message) for message in body["messages"])
    sources = {int(n): text for n, _, text in _SOURCE.findall(sent)}
    if "Result of query_table" in sent:
        figure, number = _figure(sent)
        return Reply(text=f"It is {figure} [{number}].")
    for rule in RULES:
        cited = [n for n, text in sources.items() if any(part in text for part in rule.evidence)]
        if rule.asked in question and cited:
            return Reply(text=f"{rule.answer} {''.join(f'[{n}]' for n in cited)}.")
    return Reply(text="I don't have enough information to answer that.")


def anthropic_script(body: dict[str, Any]) -> Reply:
    """Answers with native citations of the search results."""
    question = _asked(body)
    if body.get("output_config", {}).get("format"):
        return Reply(text=json.dumps(_understood(question)))
    results = search_results(body["messages"])
    sent = "\n".join(_text(message) for message in body["messages"])
    if "Result of query_table" in sent:
        return Reply(cited=(Cited(f"It is {_figure(sent)[0]}", (0,)), Cited(".")))
    for rule in RULES:
        cited = [i for i, r in enumerate(results) if any(part in r["content"][0]["text"] for part in rule.evidence)]
        if rule.asked in question and cited:
            return Reply(cited=(Cited(rule.answer, tuple(cited)), Cited(".")))
    return Reply(text="I don't have enough information to answer that.")


Script = Callable[[dict[str, Any]], Reply]
