"""Webhooks end to end: a receiver that fails in every way, and a server that is killed at every step, lose nothing and repeat an id rather than an event."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from tests.server.running import RunningServer

pytestmark = pytest.mark.slow(60)
PRIVATE = {"CITEWELL_WEBHOOK_PRIVATE_ADDRESSES": "true"}
NOTE = b"# Lighthouse\n\nThe lamp of the lighthouse turns once every twelve seconds.\n"


@dataclass
class Receiver:
    """A server that checks signatures, and answers with the first of `statuses`, then 204. `hold` keeps an answer back until it is set."""

    statuses: list[int] = field(default_factory=list[int])
    secrets: list[str] = field(default_factory=list[str])
    seen: list[tuple[str, dict[str, Any]]] = field(default_factory=list[Any])
    hold: threading.Event | None = None
    port: int = 0
    _server: ThreadingHTTPServer | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/in"

    def open(self) -> None:
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["content-length"]))
                assert any(_signed(one, self.headers, body) for one in receiver.secrets)
                receiver.seen.append((self.headers["webhook-id"], json.loads(body)))
                if receiver.hold is not None:
                    receiver.hold.wait(60)
                self.send_response(receiver.statuses.pop(0) if receiver.statuses else 204)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, format: str, *args: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", self.port), Handler)
        self.port = self._server.server_address[1]
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def close(self) -> None:
        if self._server is not None:
            self._server.shutdown()
            self._server.server_close()
            self._server = None

    def types(self) -> list[str]:
        return [body["type"] for _, body in self.seen]


def _signed(secret: str, headers: Any, body: bytes) -> bool:
    content = f"{headers['webhook-id']}.{headers['webhook-timestamp']}.".encode() + body
    key = base64.b64decode(secret.removeprefix("whsec_"))
    expected = "v1," + base64.b64encode(hmac.new(key, content, hashlib.sha256).digest()).decode()
    return hmac.compare_digest(expected, headers["webhook-signature"])


def until(holds: Callable[[], object], seconds: float = 90) -> None:
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(0.05)


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    made = Receiver()
    made.open()
    yield made
    if made.hold is not None:
        made.hold.set()
    made.close()


@pytest.fixture
def told(tmp_path: Path) -> Iterator[RunningServer]:
    with RunningServer(tmp_path / "data", **PRIVATE) as running:
        yield running


def subscribe(server: RunningServer, receiver: Receiver, *events: str) -> str:
    made = server.client.post("/webhooks", json={"url": receiver.url, "events": list(events) or None})
    assert made.status_code == 201, made.text
    receiver.secrets.append(made.json()["secret"])
    return made.json()["id"]


def delivered(server: RunningServer) -> list[dict[str, Any]]:
    page = server.client.get("/webhooks/deliveries", params={"limit": 200}).json()["deliveries"]
    return [one for one in page if one["state"] == "delivered"]


def test_a_file_an_answer_and_a_deletion_are_told_of(told: RunningServer, receiver: Receiver) -> None:
    subscribe(told, receiver)
    subscribe(told, receiver, "chunk.stored")
    resource = told.add("Lighthouse.md", NOTE)
    answer = told.client.post("/chat", json={"message": "How often does the lamp turn?"}).json()
    told.client.delete(f"/resources/{resource['id']}")
    until(lambda: len(set(receiver.types())) == 4)
    bodies = {body["type"]: body["data"] for _, body in receiver.seen}
    assert bodies["resource.indexed"]["resource_id"] == resource["id"]
    assert "twelve seconds" in bodies["chunk.stored"]["text"]
    assert bodies["answer.completed"]["answer"] == answer["answer"]
    assert bodies["answer.completed"]["citations"][0]["filename"] == "Lighthouse.md"
    assert bodies["resource.deleted"]["filename"] == "Lighthouse.md"
    ids = [one for one, _ in receiver.seen]
    assert len(ids) == len(set(ids))


def test_failures_are_tried_again_and_dead_letters_replayed(told: RunningServer, receiver: Receiver) -> None:
    receiver.statuses = [429, 410]
    webhook = subscribe(told, receiver)
    told.client.post(f"/webhooks/{webhook}/test").raise_for_status()
    until(lambda: len(receiver.seen) == 2)
    until(lambda: not told.client.get(f"/webhooks/{webhook}").json()["enabled"])
    (dead,) = told.client.get("/webhooks/deliveries", params={"state": "dead"}).json()["deliveries"]
    assert (dead["attempts"], dead["status"]) == (2, 410)
    told.client.patch(f"/webhooks/{webhook}", json={"enabled": True}).raise_for_status()
    replayed = told.client.post(f"/webhooks/deliveries/{dead['id']}/replay")
    assert replayed.status_code == 202
    until(lambda: len(delivered(told)) == 1)
    assert {one for one, _ in receiver.seen} == {dead["id"]}
    assert told.client.post(f"/webhooks/{webhook}/replay").json() == {"replayed": 0}


def test_a_server_that_is_killed_before_while_and_after_it_sends_loses_nothing(
    told: RunningServer, receiver: Receiver
) -> None:
    subscribe(told, receiver)
    receiver.close()
    first = told.add("Lighthouse.md", NOTE)
    told.kill()  # before anything was taken: nobody listened
    receiver.hold = threading.Event()
    receiver.open()
    told.start()
    until(lambda: receiver.seen)
    told.kill()  # while the receiver has the event and has not answered
    receiver.hold.set()
    receiver.hold = None
    told.start()
    until(lambda: len(delivered(told)) == 1)
    told.kill()  # after it was taken
    told.start()
    second = told.add("Meadow.md", b"# Meadow\n\nThe meadow is mown in June.\n")
    until(lambda: len(delivered(told)) == 2)
    files = [body["data"]["resource_id"] for _, body in receiver.seen]
    assert files == [first["id"], first["id"], second["id"]]
    assert len({one for one, _ in receiver.seen}) == 2


def test_inner_addresses_and_plain_http_are_refused_unless_allowed(server: RunningServer) -> None:
    refused = server.client.post("/webhooks", json={"url": "http://example.com/"})
    assert refused.status_code == 422
    assert refused.json()["error"]["details"]["fields"][0]["field"] == "body.url"
    made = server.client.post("/webhooks", json={"url": "https://2852039166/latest/meta-data"}).json()
    sent = server.client.post(f"/webhooks/{made['id']}/test").json()
    address = f"/webhooks/deliveries/{sent['id']}"
    until(lambda: server.client.get(address).json()["attempts"])
    assert "169.254.169.254" in server.client.get(address).json()["problem"]
    server.client.delete(f"/webhooks/{made['id']}")


def test_the_secret_is_shown_once(server: RunningServer) -> None:
    made = server.client.post("/webhooks", json={"url": "https://hooks.example/", "events": ["resource.failed"]}).json()
    assert made["secret"].startswith("whsec_")
    assert "secret" not in server.client.get(f"/webhooks/{made['id']}").json()
    assert made["secret"] not in server.client.get("/webhooks").text
    server.client.delete(f"/webhooks/{made['id']}")
    assert server.client.get(f"/webhooks/{made['id']}").status_code == 404
