"""Claude's tools: a question answered with a native citation, and a picture looked at, with Anthropic's library against its contract."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anthropic

from citewell import Citewell
from citewell.channels.claude import ClaudeFiles
from tests.contract_servers.anthropic import KEY, AnthropicServer, search_results
from tests.contract_servers.script import Call, Cited, Reply
from tests.contract_servers.serving import serving
from tests.transcripts.frames import scene
from tests.transcripts.record import Transcript, wrapped

SAMPLE = Path(__file__).resolve().parents[2] / "samples" / "Loan Policy.pdf"
LOAN = "A first-time borrower may receive at most GHS 5,000"
Script = list[Callable[[dict[str, Any]], Reply]]


async def run(folder: Path) -> Transcript:
    """Two questions, each with what went to Anthropic and what came back."""
    return await asyncio.to_thread(_run, folder)


def _run(folder: Path) -> Transcript:
    page = Transcript(
        "A run of Claude's tools",
        "Anthropic's library against a local server that follows its published contract (`tests/contract_servers/anthropic.py`). "
        "What Claude says is scripted there; requests, results, citations and their checks are real.",
    )
    scene("car").save(folder / "coast.png")
    with Citewell(folder / "data", ocr=False) as cw:
        cw.add(SAMPLE)
        cw.add(folder / "coast.png", caption="The coastal road near Ada, from the drone.")
        page.step("A question about a document")
        _ask(
            page,
            cw,
            "How much may a new borrower get?",
            [_search("maximum loan size for first-time borrowers"), _cite(LOAN)],
        )
        page.step(
            "A question about a picture", "The search finds the picture by its caption; `analyze_image` shows it."
        )
        script = [_search("coastal road near Ada"), _look, _cite("The coastal road near Ada", " has a red car on it.")]
        _ask(page, cw, "What is on the road near Ada?", script)
    return page


def _search(query: str) -> Callable[[dict[str, Any]], Reply]:
    return lambda _: Reply(text="Let me look.", calls=(Call("search_user_files", {"query": query, "top_k": 2}),))


def _look(body: dict[str, Any]) -> Reply:
    source = next(one["source"] for one in search_results(body["messages"]) if "coast.png" in one["title"])
    return Reply(calls=(Call("analyze_image", {"resource_id": source}),))


def _cite(statement: str, rest: str = ".") -> Callable[[dict[str, Any]], Reply]:
    def reply(body: dict[str, Any]) -> Reply:
        results = search_results(body["messages"])
        cited = tuple(n for n, one in enumerate(results) if statement in one["content"][0]["text"])
        return Reply(cited=(Cited(statement, cited), Cited(rest)))

    return reply


def _ask(page: Transcript, cw: Citewell, question: str, script: Script) -> None:
    server, files = AnthropicServer(lambda body: script.pop(0)(body)), ClaudeFiles(cw)
    messages: list[Any] = [{"role": "user", "content": question}]
    told = [wrapped("You", question)]
    with serving(server.app) as url:
        claude = anthropic.Anthropic(api_key=KEY, base_url=url)
        while True:
            reply = claude.messages.create(model="claude-test", max_tokens=1024, tools=files.tools, messages=messages)
            told.append(wrapped("Claude", "\n".join(_said(block.model_dump()) for block in reply.content)))
            if reply.stop_reason != "tool_use":
                break
            results = files.results(reply)
            messages += [{"role": "assistant", "content": reply.content}, {"role": "user", "content": results}]
            told.append(wrapped("Citewell", "\n".join(_result(dict(one)) for one in results)))
    answer = files.answer(reply, messages)
    told.append(
        wrapped("answer", "\n".join([answer.text, *(f"{c.n} {c.label} {c.verdict.value}" for c in answer.citations)]))
    )
    page.block("\n".join(told))


def _said(block: dict[str, Any]) -> str:
    if block["type"] == "tool_use":
        return f"{block['name']} {json.dumps(block['input'])}"
    cited = [f"{one['source']} ({one['title']})" for one in block.get("citations") or ()]
    return block["text"] + "".join(f"\n  cites {one}" for one in cited)


def _result(result: dict[str, Any]) -> str:
    lines = [f"tool_result{' is_error' if result.get('is_error') else ''}"]
    for block in result["content"]:
        match block["type"]:
            case "search_result":
                text = " ".join(block["content"][0]["text"].split())
                lines.append(f"  search_result {block['source']} · {block['title']}\n    {text[:100]}…")
            case "image":
                lines.append(f"  image {block['source']['media_type']}")
            case _:
                lines.append(f"  text {block['text']}")
    return "\n".join(lines)
