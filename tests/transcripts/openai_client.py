"""OpenAI's client: from an upload to a cited answer, with the programs that people have."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import openai

from tests.server.running import RunningServer
from tests.transcripts.record import Transcript

SAMPLE = Path(__file__).resolve().parents[2] / "samples" / "Loan Policy.pdf"
QUESTION = "What is the maximum loan size for first-time borrowers?"


async def run(folder: Path) -> Transcript:
    """One question about one file."""
    return await asyncio.to_thread(_run, folder)


def _run(folder: Path) -> Transcript:
    page = Transcript(
        "A run of OpenAI's client",
        "The `openai` package against a running server: the program of OpenAI's guide to file search, with another base URL.",
    )
    with RunningServer(folder / "data", CITEWELL_OCR="false") as server:
        page.names[server.url] = "http://127.0.0.1:8000"
        token = server.client.headers["Authorization"].removeprefix("Bearer ")
        with openai.OpenAI(base_url=f"{server.url}/v1", api_key=token) as client:
            _ask(page, client, server.url)
    return page


def _ask(page: Transcript, client: openai.OpenAI, url: str) -> None:
    page.block(f'client = OpenAI(base_url="{url}/v1", api_key=token)  # citewell token', "python")
    page.step("Upload, and add to a vector store")
    page.block(
        'file = client.files.create(file=open("Loan Policy.pdf", "rb"), purpose="assistants")\n'
        'store = client.vector_stores.create(name="Policies")\n'
        "client.vector_stores.files.create_and_poll(file.id, vector_store_id=store.id)",
        "python",
    )
    file = client.files.create(file=(SAMPLE.name, SAMPLE.read_bytes()), purpose="assistants")
    store = client.vector_stores.create(name="Policies")
    added = client.vector_stores.files.create_and_poll(file.id, vector_store_id=store.id, poll_interval_ms=200)
    _show(page, {"id": added.id, "status": added.status, "vector_store_id": added.vector_store_id})
    page.step("Ask")
    page.block(
        "response = client.responses.create(\n"
        '    model="gpt-4o",\n'
        f'    input="{QUESTION}",\n'
        '    tools=[{"type": "file_search", "vector_store_ids": [store.id]}],\n'
        ")\nprint(response.output_text)",
        "python",
    )
    tools: list[Any] = [{"type": "file_search", "vector_store_ids": [store.id]}]
    answer = client.responses.create(model="gpt-4o", input=QUESTION, tools=tools)
    page.block(answer.output_text)
    message: Any = answer.output[-1]
    note = message.content[0].annotations[0].model_dump()
    page.block("response.output[-1].content[0].annotations[0]", "python")
    _show(page, {name: note[name] for name in ("type", "file_id", "filename", "index", "quote", "url")})


def _show(page: Transcript, value: object) -> None:
    page.block(json.dumps(value, ensure_ascii=False, indent=2), "json")
