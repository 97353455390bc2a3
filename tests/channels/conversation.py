"""Claude as its contract server plays it: calls the search tool with what a test says, then cites the passages that hold the evidence."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tests.contract_servers.anthropic import search_results
from tests.contract_servers.script import Call, Cited, Reply


@dataclass
class Searching:
    """Asks for `calls` first; then says `answer`, citing every search result that holds `evidence`."""

    arguments: Mapping[str, Any]
    answer: str
    evidence: str
    tool: str = "search_user_files"
    rest: str = "."
    sources: list[str] = field(default_factory=list[str])

    def __call__(self, body: dict[str, Any]) -> Reply:
        if body["messages"][-1]["role"] == "user" and isinstance(body["messages"][-1]["content"], str):
            return Reply(text="Let me look.", calls=(Call(self.tool, dict(self.arguments)),))
        results = search_results(body["messages"])
        self.sources = [result["source"] for result in results]
        cited = tuple(i for i, result in enumerate(results) if self.evidence in result["content"][0]["text"])
        return Reply(cited=(Cited(self.answer, cited), Cited(self.rest)))
