"""A conversation of twenty turns: tokens sent to the chat model, beside sending every file whole with each question; and the agent's own time.

    python benchmarks/thread_cost.py FILE…        # for example samples/*

The chat model is a server on this machine that answers with the first sentence of the first source, and counts four characters a token.
The agent's own time is that of a turn without the chat model, the search and the embedding of sentences for checking.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import re
import statistics
import sys
import tempfile
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent))

from citewell import Citewell
from citewell.agent.interface import Done, Failed
from citewell.features.chat.service import ChatRequest
from tests.contract_servers.openai import KEY, OpenAIServer
from tests.contract_servers.script import Reply
from tests.contract_servers.serving import serving

TURNS = (
    "What is this about?", "Who is it for?", "What does it cost?", "And when is it due?", "Thanks!", "What are the main steps?",
    "What about the second one?", "Who decides?", "How long does that take?", "What happens when somebody is late?",
    "Is there an exception?", "Which figure is the highest?", "Compare the first and the last.", "Why did it change?",
    "Great, that helps", "Where can I find more?", "What must never be done?", "And who checks that?", "What is planned next?",
    "Summarise what we talked about.",
)  # fmt: skip
_SOURCE = re.compile(r'<source n="(\d+)"[^>]*>\n(.*?)[.\n]', re.S)
_WITHIN = ("model", "search", "query_table", "extract", "summarise")


def answer(body: dict[str, Any]) -> Reply:
    sent = "\n".join(str(message.get("content")) for message in body["messages"])
    if body.get("response_format"):
        question = sent.rsplit("(last message):", 1)[-1].strip()
        plan = {"intent": "document_query", "confidence": 0.9, "question": question, "search_terms": []}
        return Reply(text=json.dumps(plan))
    found = _SOURCE.search(sent)
    return Reply(text=f"{found[2].strip()} [{found[1]}]." if found else "You are welcome.")


async def turn(citewell: Citewell, message: str, thread: str | None) -> tuple[str, Done]:
    services = citewell._services
    begun = await services.chat.begin(ChatRequest(owner_id=services.local_owner, message=message, thread_id=thread))
    async for event in begun.events:
        if isinstance(event, Failed):
            raise SystemExit(f"{message}: {event.message}")
        if isinstance(event, Done):
            return begun.thread.id, event
    raise SystemExit("no end")


def measure(files: list[Path], scratch: str) -> dict[str, Any]:
    with serving(OpenAIServer(answer).app) as address:
        settings = {
            "chat_provider": "openai",
            "chat_model": "gpt-test",
            "chat_base_url": f"{address}/v1",
            "openai_api_key": KEY,
        }
        with Citewell(scratch, **settings) as citewell:
            for file in files:
                citewell.add(file)
            thread, rows = None, []
            for message in TURNS:
                thread, done = asyncio.run_coroutine_threadsafe(
                    turn(citewell, message, thread), citewell._loop
                ).result()
                rows.append((message, done))
    return report(rows)


def stuffed(done: Done) -> int:
    """The tokens that sending every file whole would have taken."""
    return done.usage.stuffing.input_tokens if done.usage.stuffing is not None else 0


def report(rows: list[tuple[str, Done]]) -> dict[str, Any]:
    own: list[float] = []
    for message, done in rows:
        timings: Any = done.answer.trace["timings_ms"]
        own.append(timings["total"] - sum(timings.get(step, 0.0) for step in (*_WITHIN, "check_citations")))
        print(f"{message[:40]:40} {done.usage.input_tokens:7,} sent {stuffed(done):9,} stuffing {own[-1]:6.1f} ms")
    sent = sum(done.usage.input_tokens for _, done in rows)
    stuffing = sum(stuffed(done) for _, done in rows)
    return {
        "turns": len(rows),
        "input_tokens": sent,
        "output_tokens": sum(done.usage.output_tokens for _, done in rows),
        "stuffing_tokens": stuffing,
        "times_less": round(stuffing / sent, 1),
        "own_ms_median": round(statistics.median(own), 1),
        "own_ms_worst": round(max(own), 1),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", type=Path)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        print(json.dumps(measure(arguments.files, scratch)))


if __name__ == "__main__":
    main()
