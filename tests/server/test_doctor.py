"""What `citewell doctor` finds, asked of a running server."""

from __future__ import annotations

import httpx

from tests.server.running import Server


def test_the_owner_of_the_server_sees_what_is_configured_and_what_works(server: Server) -> None:
    findings = {f["part"]: f for f in server.client.get("/doctor").json()["findings"]}
    assert findings["embeddings"]["text"] == "builtin"
    assert str(server.data) in findings["data folder"]["text"]
    assert findings["database"]["level"] == findings["index"]["level"] == findings["embedder"]["level"] == "ok"


def test_nobody_else_sees_it(server: Server) -> None:
    assert httpx.get(f"{server.url}/doctor").status_code == 401
