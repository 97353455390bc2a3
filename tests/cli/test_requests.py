"""One request of a command to a server that runs: what is sent, what comes back, and what is loaded for it."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread, Timer

import pytest

from citewell.client import SilentServer, request_json
from citewell.errors import CitewellError, InvalidInput, RateLimited
from citewell.system.folder import DataFolder

_ANSWER = {"answer": "30 days.", "citations": []}


class _Server(ThreadingHTTPServer):
    """Answers every request in the same way, and keeps what it was sent."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.status, self.content = 200, json.dumps(_ANSWER).encode()
        self.got: list[tuple[str, str, dict[str, str], bytes]] = []


class _Handler(BaseHTTPRequestHandler):
    def _answer(self) -> None:
        assert isinstance(self.server, _Server)
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.server.got.append((self.command, self.path, dict(self.headers), body))
        self.send_response(self.server.status)
        self.send_header("Content-Length", str(len(self.server.content)))
        self.end_headers()
        self.wfile.write(self.server.content)

    do_GET = do_POST = do_DELETE = _answer  # noqa: N815 - the names that the library calls

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[DataFolder]:
    """A folder that a server holds."""
    folder = DataFolder(tmp_path)
    folder.hold()
    yield folder
    folder.release()


@pytest.fixture
def server(folder: DataFolder) -> Iterator[_Server]:
    with _Server() as server:
        folder.announce(f"http://127.0.0.1:{server.server_port}")
        Thread(target=server.serve_forever).start()
        yield server
        server.shutdown()


def test_a_question_is_sent_as_json_with_the_local_token(folder: DataFolder, server: _Server) -> None:
    assert request_json(folder, "POST", "/chat", json={"message": "Wie lange läuft die Kündigung?"}) == _ANSWER
    ((method, path, headers, body),) = server.got
    assert (method, path) == ("POST", "/chat")
    assert headers["Authorization"] == f"Bearer {folder.token()}"
    assert headers["Content-Type"] == "application/json"
    assert json.loads(body) == {"message": "Wie lange läuft die Kündigung?"}


def test_what_was_typed_reaches_the_server_whatever_its_characters(folder: DataFolder, server: _Server) -> None:
    request_json(folder, "GET", "/audit", params={"action": "a b&c=ü", "limit": 50})
    request_json(folder, "DELETE", "/indexes/ein Index ü#1")
    assert [path for _, path, _, _ in server.got] == [
        "/audit?action=a+b%26c%3D%C3%BC&limit=50",
        "/indexes/ein%20Index%20%C3%BC%231",
    ]
    assert all("Content-Type" not in headers for _, _, headers, _ in server.got)


def test_an_answer_without_content_is_none(folder: DataFolder, server: _Server) -> None:
    server.content = b""
    assert request_json(folder, "DELETE", "/sources/wiki") is None


def test_the_error_that_was_answered_is_raised(folder: DataFolder, server: _Server) -> None:
    server.status = 400
    server.content = json.dumps({"error": {"code": "invalid_input", "message": "No.", "details": {"a": 1}}}).encode()
    with pytest.raises(InvalidInput, match=r"No\.") as caught:
        request_json(folder, "POST", "/search", json={})
    assert caught.value.details == {"a": 1}
    server.content = json.dumps(
        {"error": {"code": "rate_limited", "message": "Later.", "details": {"retry_after": 3}}}
    ).encode()
    with pytest.raises(RateLimited) as later:
        request_json(folder, "POST", "/search", json={})
    assert later.value.retry_after == 3.0


@pytest.mark.parametrize("content", [b"Bad gateway \xff", b"{}", b"[1]", b'{"error": "no"}'])
def test_an_answer_that_is_not_ours_is_quoted(folder: DataFolder, server: _Server, content: bytes) -> None:
    server.status, server.content = 502, content
    with pytest.raises(CitewellError) as caught:
        request_json(folder, "GET", "/indexes")
    assert (caught.value.code, caught.value.details) == ("http_error", {"status": 502})
    assert caught.value.message == content.decode("utf-8", "replace")


def test_a_server_that_does_not_answer_is_told_apart(folder: DataFolder) -> None:
    folder.announce("http://127.0.0.1:9")
    with pytest.raises(SilentServer, match="refused"):
        request_json(folder, "GET", "/indexes")


def test_a_server_that_is_starting_is_waited_for(folder: DataFolder, server: _Server) -> None:
    folder.announce(None)
    Timer(0.3, folder.announce, (f"http://127.0.0.1:{server.server_port}",)).start()
    assert request_json(folder, "GET", "/indexes") == _ANSWER


def test_a_proxy_is_not_asked_for_a_server_of_this_machine(
    folder: DataFolder, server: _Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("ALL_PROXY", "http://127.0.0.1:9")
    assert request_json(folder, "GET", "/indexes") == _ANSWER


@pytest.mark.parametrize("command", ["ask", "search"])
def test_a_question_loads_neither_an_event_loop_nor_a_client_of_a_package_nor_what_other_commands_need(
    folder: DataFolder, server: _Server, command: str
) -> None:
    server.content = json.dumps(_ANSWER | {"hits": []}).encode()
    heavy = (
        "asyncio",
        "httpx",
        "dotenv",
        "citewell.types",
        "citewell.settings",
        "citewell.cli.adding",
        "citewell.cli.syncing",
    )
    program = f"""
import sys
from citewell.cli import main
sys.argv = ["citewell", {command!r}, "How long?", "--data", {str(folder.path)!r}]
try:
    main()
except SystemExit as ended:
    assert not ended.code, ended
print(*(name for name in {heavy!r} if name in sys.modules), file=sys.stderr)
"""
    outcome = subprocess.run(
        [sys.executable, "-c", program], cwd=folder.path, capture_output=True, text=True, check=False
    )
    assert outcome.returncode == 0, outcome.stderr
    assert outcome.stderr.split() == []
    assert ("30 days." if command == "ask" else "Nothing found.") in outcome.stdout
