"""Webhooks end to end: a receiver that fails in every way, and a server that is killed at every step, lose nothing and repeat an id rather than an event."""

from __future__ import annotations

import json
import re
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
import standardwebhooks
from pydantic import BaseModel

from citewell.features.chat.schemas import ChatIn
from citewell.features.resources.schemas import RecordsIn
from citewell.features.search.schemas import SearchIn
from citewell.features.triggers.schemas import ChunkIn, FetchIn, ResultIn, TriggerIn
from citewell.features.webhooks import schemas
from tests.server.in_process import InProcessServer
from tests.server.running import RunningServer, Server

pytestmark = pytest.mark.slow(60)
PRIVATE = {"CITEWELL_WEBHOOK_PRIVATE_ADDRESSES": "true"}
DOCUMENTATION = Path(__file__).resolve().parents[2] / "docs/webhooks.md"
EVENTS: Mapping[str, type[BaseModel]] = {
    "resource.indexed": schemas.ResourceEvent,
    "resource.failed": schemas.ResourceEvent,
    "resource.expiring": schemas.ResourceEvent,
    "resource.deleted": schemas.ResourceEvent,
    "chunk.stored": schemas.ChunkEvent,
    "answer.completed": schemas.AnswerEvent,
    "sync.finished": schemas.SyncEvent,
}
SECRET_PATH = "B7wEr9sQ"
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
        return f"http://127.0.0.1:{self.port}/in/{SECRET_PATH}"

    def open(self) -> None:
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["content-length"]))
                assert any(_is_signed(one, dict(self.headers), body) for one in receiver.secrets)
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


def _is_signed(secret: str, headers: dict[str, str], body: bytes) -> bool:
    try:
        standardwebhooks.Webhook(secret).verify(body, headers)
    except standardwebhooks.WebhookVerificationError:
        return False
    return True


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
def told(tmp_path: Path) -> Iterator[Server]:
    with InProcessServer(tmp_path / "data", **PRIVATE) as running:
        yield running


def subscribe(server: Server, receiver: Receiver, *events: str) -> str:
    made = server.client.post("/webhooks", json={"url": receiver.url, "events": list(events) or None})
    assert made.status_code == 201, made.text
    receiver.secrets.append(made.json()["secret"])
    return made.json()["id"]


def delivered(server: Server) -> list[dict[str, Any]]:
    page = server.client.get("/webhooks/deliveries", params={"limit": 200}).json()["deliveries"]
    return [one for one in page if one["state"] == "delivered"]


def _undescribed(body: dict[str, Any]) -> set[str]:
    """What an event says that its description in the OpenAPI document does not."""
    data: Any = EVENTS[body["type"]].model_fields["data"].annotation
    EVENTS[body["type"]].model_validate(body)
    return {*body} - {"type", "timestamp", "data"} | {*body["data"]} - {*data.model_fields}


@pytest.mark.full
def test_every_event_is_told_as_it_is_described(told: Server, receiver: Receiver) -> None:
    subscribe(told, receiver)
    subscribe(told, receiver, "chunk.stored")
    resource = told.add("Lighthouse.md", NOTE)
    answer = told.client.post("/chat", json={"message": "How often does the lamp turn?"}).json()
    broken = told.upload("broken.pdf", b"%PDF-1.7 this is none").json()
    told.wait(broken["id"])
    told.client.put("/sources/frames", json={"kind": "folder"}).raise_for_status()
    for report, announce in (({"added": 0}, False), ({"added": 3}, True)):
        run = {"cursor": None, "report": report, "announce": announce}
        told.client.post("/sources/frames/runs", json=run).raise_for_status()
    until(lambda: "answer.completed" in receiver.types())  # deleting the file empties what waits
    told.client.delete(f"/resources/{resource['id']}")
    until(lambda: set(receiver.types()) == set(EVENTS))
    bodies = {body["type"]: body["data"] for _, body in receiver.seen}
    assert bodies["resource.indexed"]["resource_id"] == resource["id"]
    assert "twelve seconds" in bodies["chunk.stored"]["text"]
    assert bodies["answer.completed"]["answer"] == answer["answer"]
    assert bodies["answer.completed"]["citations"][0]["filename"] == "Lighthouse.md"
    assert bodies["resource.deleted"]["filename"] == "Lighthouse.md"
    assert bodies["resource.failed"]["resource_id"] == broken["id"]
    assert bodies["resource.failed"]["error_message"]
    assert receiver.types().count("sync.finished") == 1
    assert bodies["sync.finished"] == {"source": "frames", "report": {"added": 3}}
    assert [_undescribed(body) for _, body in receiver.seen] == [set()] * len(receiver.seen)
    ids = [one for one, _ in receiver.seen]
    assert len(ids) == len(set(ids))


@pytest.mark.full
def test_the_description_has_a_sample_of_all_that_automation_services_send_and_get(server: Server) -> None:
    described = server.client.get("/openapi.json").json()
    operations = [one for methods in described["paths"].values() for one in methods.values()]
    names = [one["operationId"] for one in operations]
    assert len(names) == len(set(names))
    assert {"ingest", "search", "chat", "subscribe_webhook", "unsubscribe_webhook", "trigger_result"} <= set(names)
    assert all(re.fullmatch(r"[a-z][a-z0-9_]*", name) for name in names)
    assert all(one["summary"] and one["description"] for one in operations)
    assert set(described["webhooks"]) == set(EVENTS)
    requests = (ChatIn, ChunkIn, FetchIn, RecordsIn, ResultIn, SearchIn, TriggerIn)
    for model in (*EVENTS.values(), *requests):
        (sample,) = described["components"]["schemas"][model.__name__]["examples"]
        model.model_validate(sample)
        assert model not in EVENTS.values() or _undescribed(sample) == set()


@pytest.mark.full
def test_the_receiver_of_the_documentation_takes_an_event(told: Server, tmp_path: Path) -> None:
    (program,) = re.findall(r"```python title=\"receiver.py\"\n(.*?)```", DOCUMENTATION.read_text(), re.DOTALL)
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    path = tmp_path / "receiver.py"
    path.write_text(program.replace("9000", str(port)))
    secret = told.client.post("/webhooks", json={"url": f"http://127.0.0.1:{port}/"}).json()["secret"]
    with subprocess.Popen(
        [sys.executable, "-u", str(path)], env={"WEBHOOK_SECRET": secret}, stdout=subprocess.PIPE, text=True
    ) as running:
        try:
            told.add("Lighthouse.md", NOTE)
            assert running.stdout is not None
            message, type_, filename = running.stdout.readline().split()
        finally:
            running.kill()
    assert (message[:4], type_, filename) == ("msg_", "resource.indexed", "Lighthouse.md")


def test_failures_are_tried_again_and_dead_letters_replayed(told: Server, receiver: Receiver) -> None:
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


@pytest.mark.full
def test_a_server_that_is_killed_before_while_and_after_it_sends_loses_nothing(
    tmp_path: Path, receiver: Receiver
) -> None:
    with RunningServer(tmp_path / "data", **PRIVATE) as told:
        _kill_before_while_and_after(told, receiver)
    assert SECRET_PATH not in told.log(), "who knows the address of a webhook can mostly send to it"


def _kill_before_while_and_after(told: RunningServer, receiver: Receiver) -> None:
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


def test_inner_addresses_and_plain_http_are_refused_unless_allowed(server: Server) -> None:
    refused = server.client.post("/webhooks", json={"url": "http://example.com/"})
    assert refused.status_code == 422
    assert refused.json()["error"]["details"]["fields"][0]["field"] == "body.url"
    made = server.client.post("/webhooks", json={"url": "https://2852039166/latest/meta-data"}).json()
    sent = server.client.post(f"/webhooks/{made['id']}/test").json()
    address = f"/webhooks/deliveries/{sent['id']}"
    until(lambda: server.client.get(address).json()["attempts"])
    problem = server.client.get(address).json()["problem"]
    assert "resolves to an internal address" in problem
    assert "169.254.169.254" not in problem
    server.client.delete(f"/webhooks/{made['id']}")


def test_the_secret_is_shown_once(server: Server) -> None:
    made = server.client.post("/webhooks", json={"url": "https://hooks.example/", "events": ["resource.failed"]}).json()
    assert made["secret"].startswith("whsec_")
    assert "secret" not in server.client.get(f"/webhooks/{made['id']}").json()
    assert made["secret"] not in server.client.get("/webhooks").text
    server.client.delete(f"/webhooks/{made['id']}")
    assert server.client.get(f"/webhooks/{made['id']}").status_code == 404
