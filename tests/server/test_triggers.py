"""Other programs keep records, put metadata on a file and ask, each with a secret that opens one thing only."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.server.running import RunningServer, Server


def trigger(server: Server, kind: str, project: str | None = None) -> tuple[httpx.Client, str, str]:
    """A client with only the trigger's secret, the path to call, and the trigger's id."""
    made = server.client.post("/webhooks/incoming", json={"kind": kind, "name": f"n8n {kind}", "project": project})
    assert made.status_code == 201, made.text
    assert made.json()["secret"] not in server.client.get("/webhooks/incoming").text
    headers = {"Authorization": f"Bearer {made.json()['secret']}"}
    return httpx.Client(base_url=server.url, headers=headers, timeout=120), made.json()["path"], made.json()["id"]


def test_records_are_kept_described_and_asked_about(server: Server) -> None:
    fetch, fetch_path, _ = trigger(server, "fetch", "Frames")
    chunk, chunk_path, _ = trigger(server, "chunk", "Frames")
    ask, ask_path, _ = trigger(server, "result", "Frames")
    with fetch, chunk, ask:
        record = {"id": "rec1", "text": "The heron stands in the reeds at dawn.", "title": "Frame 12"}
        body: dict[str, Any] = {"records": [record]}
        first = fetch.post(fetch_path, json=body, headers={"Idempotency-Key": "run 1"})
        assert first.json()["added"] == 1, first.text
        assert fetch.post(fetch_path, json=body, headers={"Idempotency-Key": "run 1"}).json() == first.json()
        assert fetch.post(fetch_path, json=body).json()["unchanged"] == 1
        (resource,) = first.json()["resource_ids"]
        said = chunk.post(chunk_path, json={"resource_id": resource, "metadata": {"bird": "heron"}})
        assert said.json() == {"resource_id": resource, "metadata": {"bird": "heron"}}, said.text
        question = {"message": "Where does the heron stand?"}
        answer = ask.post(ask_path, json=question, headers={"Idempotency-Key": "q1"}).json()
        assert "reeds" in answer["answer"]
        assert answer["citations"][0]["resource_id"] == resource
        again = ask.post(ask_path, json=question, headers={"Idempotency-Key": "q1"}).json()
        assert again["message_id"] == answer["message_id"]


def test_a_secret_opens_one_trigger_and_nothing_else(server: Server) -> None:
    fetch, path, trigger_id = trigger(server, "fetch")
    ask, ask_path, _ = trigger(server, "result")
    with fetch, ask:
        for client, wrong in ((ask, path), (fetch, ask_path), (fetch, "/webhooks/incoming/none/fetch")):
            sent = client.post(wrong, json={"records": []} if "fetch" in wrong else {"message": "x"})
            assert (sent.status_code, sent.json()["error"]["code"]) == (401, "unauthorized")
        assert fetch.get("/resources").status_code == 401
        assert httpx.post(f"{server.url}{path}", json={"records": []}).status_code == 401
        assert fetch.post(path, json={"records": [], "owner": "x"}).status_code == 422
        assert server.client.delete(f"/webhooks/incoming/{trigger_id}").status_code == 204
        assert fetch.post(path, json={"records": []}).status_code == 401


def test_a_file_outside_its_project_is_not_described(server: Server) -> None:
    outside = server.add("Outside.md", b"# Outside\n\nA note elsewhere.\n", project="Elsewhere")
    server.add("Inside.md", b"# Inside\n\nA note within.\n", project="Within")
    chunk, path, _ = trigger(server, "chunk", "Within")
    with chunk:
        refused = chunk.post(path, json={"resource_id": outside["id"], "metadata": {"x": "y"}})
    assert refused.status_code == 404


def test_a_file_in_other_projects_too_is_not_described(server: Server) -> None:
    content = b"# Both\n\nA note in two projects, which one of them may not describe.\n"
    for project in ("Elsewhere", "Within"):
        both = server.add("Both.md", content, project=project)
    chunk, path, _ = trigger(server, "chunk", "Within")
    with chunk:
        refused = chunk.post(path, json={"resource_id": both["id"], "metadata": {"x": "y"}})
    assert (refused.status_code, refused.json()["error"]["code"]) == (403, "forbidden")
    assert server.client.get(f"/resources/{both['id']}").json()["metadata"] == {}


def test_a_record_in_other_projects_is_not_changed(server: Server) -> None:
    record = {"id": "outside", "text": "The heron is elsewhere."}
    server.client.post("/records", json={"records": [record], "project": "Elsewhere"}).raise_for_status()
    fetch, path, _ = trigger(server, "fetch", "Within")
    with fetch:
        refused = fetch.post(path, json={"records": [record | {"text": "The heron is gone."}]})
        assert (refused.status_code, refused.json()["error"]["code"]) == (403, "forbidden")
        assert "'outside' is also in other projects" in refused.json()["error"]["message"]
        assert fetch.post(path, json={"records": [record]}).json()["unchanged"] == 1
        own = {"id": "inside", "text": "The owl is here."}
        assert fetch.post(path, json={"records": [own]}).json()["added"] == 1
        assert fetch.post(path, json={"records": [own | {"text": "The owl is gone."}]}).json()["replaced"] == 1


@pytest.mark.full
def test_a_call_that_is_repeated_after_a_kill_is_done_once(tmp_path: Path) -> None:
    with RunningServer(tmp_path / "data") as running:
        fetch, path, _ = trigger(running, "fetch")
        ask, ask_path, _ = trigger(running, "result")
        record = {"id": "rec1", "text": "The heron stands in the reeds at dawn.", "title": "Frame 12"}
        question = {"message": "Where does the heron stand?"}
        with fetch, ask:
            kept = fetch.post(path, json={"records": [record]}, headers={"Idempotency-Key": "run 1"}).json()
            answer = ask.post(ask_path, json=question, headers={"Idempotency-Key": "q1"}).json()
        running.kill()
        running.start()
        for client, where, body, key, before in (
            (fetch, path, {"records": [record]}, "run 1", kept),
            (ask, ask_path, question, "q1", answer),
        ):
            headers = {"Authorization": client.headers["authorization"], "Idempotency-Key": key}
            again = httpx.post(f"{running.url}{where}", json=body, headers=headers, timeout=120)
            assert again.json() == before
        assert len(running.resources()) == 1
        assert len(running.client.get("/threads").json()["threads"]) == 1
