"""A real server's life: it starts, reads a file, answers, is killed with work to do, and goes on from there."""

from __future__ import annotations

from pathlib import Path

from tests.server.running import RunningServer

QUESTION = {"message": "What is the maximum loan size for first-time borrowers?"}


def test_a_server_that_is_killed_goes_on_where_it_was(tmp_path: Path, samples: Path) -> None:
    with RunningServer(tmp_path / "data") as server:
        server.add("Loan Policy.pdf", (samples / "Loan Policy.pdf").read_bytes())
        answer = server.client.post("/chat", json=QUESTION).json()
        assert "GHS 5,000" in answer["answer"]
        assert answer["citations"][0]["label"] == "Loan Policy.pdf (p. 3)"
        accepted = server.upload("Growth Plan.docx", (samples / "Growth Plan.docx").read_bytes()).json()
        token = server.client.headers["Authorization"]
        server.kill()
        server.start()
        assert server.client.headers["Authorization"] == token
        assert server.wait(accepted["id"])["status"] == "indexed"
        assert server.client.post("/chat", json=QUESTION).json()["answer"] == answer["answer"]
        assert len(server.resources()) == 2
