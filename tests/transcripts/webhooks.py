"""Webhooks and n8n: an event to a receiver that checks its signature, and the three workflows of deploy/n8n."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import hmac
import json
import queue
import threading
from collections.abc import Generator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from tests.contract_servers.airtable import AirtableServer
from tests.server.running import RunningServer
from tests.transcripts.n8n import Workflow
from tests.transcripts.record import Transcript

SAMPLE = Path(__file__).resolve().parents[2] / "samples" / "Loan Policy.pdf"
QUESTION = "Where does the heron stand?"


class Receiver(ThreadingHTTPServer):
    """Takes events whose signature is right (Standard Webhooks), and refuses others."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.secret = ""
        self.events: queue.Queue[dict[str, Any]] = queue.Queue()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/"

    def event(self, kind: str) -> dict[str, Any]:
        """The next event of a kind."""
        while (found := self.events.get(timeout=120))["type"] != kind:
            pass
        return found


class _Handler(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        receiver = self.server
        assert isinstance(receiver, Receiver)
        body = self.rfile.read(int(self.headers["content-length"]))
        signed = f"{self.headers['webhook-id']}.{self.headers['webhook-timestamp']}.".encode() + body
        key = base64.b64decode(receiver.secret.removeprefix("whsec_"))
        expected = "v1," + base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
        is_right = hmac.compare_digest(expected, self.headers["webhook-signature"])
        if is_right:
            receiver.events.put(json.loads(body))
        self.send_response(204 if is_right else 401)
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:
        pass


async def run(folder: Path) -> Transcript:
    """All of it, in a thread."""
    return await asyncio.to_thread(_run, folder)


def _run(folder: Path) -> Transcript:
    page = Transcript(
        "A run of the webhooks and of the n8n workflows",
        "A running server, a receiver that checks signatures as Standard Webhooks describes, and the workflows of `deploy/n8n` as they are "
        "imported: each node's parameters are read from its file, its expressions are evaluated by Node, and its request goes to the server. "
        "The workflows have not been run in n8n itself.",
    )
    allowed = {"CITEWELL_WEBHOOK_PRIVATE_ADDRESSES": "true", "CITEWELL_OCR": "false"}
    with RunningServer(folder / "data", **allowed) as server, _receiving() as receiver:
        page.names |= {receiver.url: "http://127.0.0.1:9000/", server.url: "http://127.0.0.1:8000"}
        _events(page, server, receiver)
        _fetch(page, server)
        _chunk(page, server, receiver)
        _result(page, server)
    return page


@contextmanager
def _receiving() -> Generator[Receiver]:
    receiver = Receiver()
    threading.Thread(target=receiver.serve_forever, daemon=True).start()
    try:
        yield receiver
    finally:
        receiver.shutdown()
        receiver.server_close()


def _events(page: Transcript, server: RunningServer, receiver: Receiver) -> None:
    asked = {"url": receiver.url, "events": ["resource.indexed", "chunk.stored"]}
    made = server.client.post("/webhooks", json=asked).raise_for_status().json()
    receiver.secret = made["secret"]
    page.step("An address is registered")
    page.block(f"POST /webhooks {json.dumps(asked)}\n→ 201, secret {made['secret']}")
    server.add(SAMPLE.name, SAMPLE.read_bytes())
    event = receiver.event("resource.indexed")
    data = {name: event["data"][name] for name in ("resource_id", "filename", "status")}
    page.step("A file is added, and the receiver is told", "The signature was right: the receiver refuses others.")
    page.block(json.dumps({"type": event["type"], "data": data}, indent=2), "json")


def _flow(page: Transcript, server: RunningServer, name: str, **more: Any) -> Workflow:
    made = server.client.post("/webhooks/incoming", json={"kind": name, "name": f"n8n {name}", "project": "Frames"})
    made.raise_for_status()
    return Workflow(name, server.url, made.json()["path"], made.json()["secret"], page.block, **more)


def _fetch(page: Transcript, server: RunningServer) -> None:
    table = AirtableServer()
    table.put("rec00000000000012", {"Name": "Frame 12", "Summary": "The heron stands in the reeds at dawn."})

    def rows() -> list[dict[str, Any]]:
        return [{"id": one.id, **one.fields} for one in table.records.values()]

    page.step(
        "Workflow `fetch.json`", "The node *Airtable: search records* finds one record; *Citewell: fetch* sends it."
    )
    answered = _flow(page, server, "fetch", airtable=rows).run({})
    page.block(json.dumps(answered, indent=2), "json")


def _chunk(page: Transcript, server: RunningServer, receiver: Receiver) -> None:
    event = receiver.event("chunk.stored")
    while "heron" not in event["data"]["text"]:
        event = receiver.event("chunk.stored")
    page.step("Workflow `chunk.json`", "Called with the event `chunk.stored` of that record; it counts the words.")
    answered = _flow(page, server, "chunk").run({"body": event})
    page.block(json.dumps(answered, indent=2), "json")


def _result(page: Transcript, server: RunningServer) -> None:
    page.step("Workflow `result.json`", "A question, and the cited answer that the workflow responds with.")
    answered = _flow(page, server, "result").run({"body": {"message": QUESTION}})
    cited = [{name: one[name] for name in ("n", "label", "quote", "verdict")} for one in answered["citations"]]
    page.block(json.dumps({"answer": answered["answer"], "citations": cited}, indent=2), "json")
