"""Requests that come slowly, never end, or are too large: each is answered in time, holds up nobody, and leaves nothing."""

from __future__ import annotations

import asyncio
import json
import socket
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import httpx
import pytest
from starlette.requests import Request

from citewell.composition import open_services
from citewell.features.forms import receive_upload
from citewell.ingest.capture import Spool
from citewell.settings import load_settings
from tests.contract_servers.jwks import signed
from tests.server.in_process import InProcessServer
from tests.server.running import Server

HEAD_SECONDS, BODY_SECONDS, MAX_BODY, MAX_UPLOAD = 1.0, 1.5, 100_000, 20_000_000
PATIENCE = 120.0  # seconds: no limit of the server's, only the end of what a test waits for
BOUNDARY = "b0undary"
FILE_HEAD = f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="file"; filename="a.txt"\r\n\r\n'.encode()
SECRET = "only for these tests, 32 bytes or more"
END = f"\r\n--{BOUNDARY}--\r\n".encode()


@pytest.fixture(scope="module")
def strict(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with InProcessServer(
        tmp_path_factory.mktemp("strict") / "data",
        CITEWELL_HEADER_SECONDS=str(HEAD_SECONDS),
        CITEWELL_BODY_SECONDS=str(BODY_SECONDS),
        CITEWELL_MAX_BODY_BYTES=str(MAX_BODY),
        CITEWELL_MAX_UPLOAD_BYTES=str(MAX_UPLOAD),
    ) as running:
        yield running


def _connect(server: Server) -> socket.socket:
    host, port = server.url.removeprefix("http://").split(":")
    return socket.create_connection((host, int(port)), timeout=PATIENCE)


def _head(server: Server, path: str, length: int, kind: str, method: str = "POST", extra: str = "") -> bytes:
    token = server.client.headers["authorization"]
    return (
        f"{method} {path} HTTP/1.1\r\nHost: x\r\nAuthorization: {token}\r\nContent-Length: {length}\r\n"
        f"Content-Type: {kind}\r\n{extra}\r\n"
    ).encode()


def _upload_head(server: Server, length: int, extra: str = "") -> bytes:
    return _head(server, "/ingest", length, f"multipart/form-data; boundary={BOUNDARY}", extra=extra)


def _token(owner: str) -> str:
    return signed({"sub": owner, "exp": int(time.time()) + 3_600}, SECRET)


def _bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


def _begun(server: Server, token: str) -> socket.socket:
    """An upload of four bytes of which none has come yet."""
    connection = _connect(server)
    length = len(FILE_HEAD) + 4 + len(END)
    head = f"POST /ingest HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {token}\r\nContent-Length: {length}\r\n"
    connection.sendall(f"{head}Content-Type: multipart/form-data; boundary={BOUNDARY}\r\n\r\n".encode() + FILE_HEAD)
    return connection


def _until(holds: Callable[[], bool]) -> None:
    end = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.02)


def _rest(connection: socket.socket) -> bytes:
    """Everything until the server closes; a reset fails the test."""
    received = b""
    while piece := connection.recv(65_536):
        received += piece
    return received


def _answer(connection: socket.socket) -> tuple[int, dict[str, object]]:
    """Status and body of one response; the connection may stay open."""
    received = b""
    while b"\r\n\r\n" not in received:
        piece = connection.recv(65_536)
        assert piece, received
        received += piece
    head, _, body = received.partition(b"\r\n\r\n")
    fields = dict(line.lower().split(b": ", 1) for line in head.split(b"\r\n")[1:])
    while len(body) < int(fields[b"content-length"]):
        body += connection.recv(65_536)
    return int(head.split(b" ")[1]), json.loads(body) if body else {}


def _code(body: dict[str, object]) -> object:
    error = body["error"]
    assert isinstance(error, dict)
    return error["code"]


def _nothing_left(server: Server) -> None:
    end = time.monotonic() + PATIENCE
    while any((server.data / "uploads").glob("*")) and time.monotonic() < end:
        time.sleep(0.05)
    assert not list((server.data / "uploads").glob("*"))


def test_beyond_the_uploads_of_an_owner_and_of_all_there_is_429_until_one_has_ended(tmp_path: Path) -> None:
    """Four at once, so two of an owner: a third is refused at its head, another owner's is not, and what is refused holds no file."""
    with InProcessServer(tmp_path / "data", CITEWELL_UPLOADS_AT_ONCE="4", CITEWELL_AUTH_SECRET=SECRET) as server:
        ann, bob, eve = (_token(name) for name in ("ann", "bob", "eve"))
        slow = [_begun(server, token) for token in (ann, ann)]
        _until(lambda: len(list((server.data / "uploads").glob("*"))) == 2)
        with _begun(server, ann) as third:
            status, body = _answer(third)
        assert (status, _code(body)) == (429, "rate_limited")
        slow += [_begun(server, token) for token in (bob, bob)]
        _until(lambda: len(list((server.data / "uploads").glob("*"))) == 4)
        refused = httpx.post(
            f"{server.url}/ingest", files={"file": ("a.txt", b"a")}, headers=_bearer(eve), timeout=PATIENCE
        )
        assert (refused.status_code, refused.json()["error"]["code"]) == (429, "rate_limited")
        assert int(refused.headers["retry-after"]) >= 1
        assert len(list((server.data / "uploads").glob("*"))) == 4
        slow[0].sendall(b"slow" + END)
        assert _answer(slow[0])[0] == 201
        again = httpx.post(
            f"{server.url}/ingest", files={"file": ("a.txt", b"a")}, headers=_bearer(eve), timeout=PATIENCE
        )
        assert again.status_code == 201
        for one in slow:
            one.close()


def test_a_head_that_does_not_end_is_cut_off_in_time(strict: Server) -> None:
    started = time.monotonic()
    with _connect(strict) as slow:
        answer = threading.Thread(target=lambda: answers.append(_rest(slow)))
        answers: list[bytes] = []
        answer.start()
        try:
            slow.sendall(b"GET /health HTTP/1.1\r\n")
            while answer.is_alive() and time.monotonic() - started < PATIENCE:
                slow.sendall(b"X-Slow: 1\r\n")
                time.sleep(0.1)
        except OSError:
            pass
        answer.join(PATIENCE)
    assert time.monotonic() - started > HEAD_SECONDS * 0.9
    assert answers[0].startswith(b"HTTP/1.1 408 ")


def test_a_connection_without_a_request_is_closed(strict: Server) -> None:
    with _connect(strict) as silent:
        assert _rest(silent) == b""


def test_the_time_for_a_head_begins_anew_with_each_request_of_a_connection(strict: Server) -> None:
    with _connect(strict) as connection:
        for _ in range(4):
            connection.sendall(b"GET /health HTTP/1.1\r\nHost: x\r\n\r\n")
            assert _answer(connection)[0] == 200
            time.sleep(HEAD_SECONDS * 0.4)


def test_a_head_without_end_in_size_is_refused(strict: Server) -> None:
    with _connect(strict) as connection:
        connection.sendall(b"GET /health HTTP/1.1\r\n")
        received = b""
        try:
            for _ in range(400):
                connection.sendall(b"X-Much: " + b"y" * 8_000 + b"\r\n")
            received = _rest(connection)
        except ConnectionError:
            return  # cut off while sending: as good
    assert received.startswith(b"HTTP/1.1 431 ")


@pytest.mark.parametrize("path", ["/search", "/ingest"])
def test_a_body_that_stops_coming_is_answered_408(strict: Server, path: str) -> None:
    kind = "application/json" if path == "/search" else f"multipart/form-data; boundary={BOUNDARY}"
    started = time.monotonic()
    with _connect(strict) as stalled:
        begin = b'{"query": "x' if path == "/search" else FILE_HEAD + b"some"
        stalled.sendall(_head(strict, path, 5_000, kind) + begin)
        status, body = _answer(stalled)
        assert stalled.recv(1) == b""
    assert (status, _code(body)) == (408, "request_timeout")
    assert time.monotonic() - started > BODY_SECONDS * 0.9
    _nothing_left(strict)


def test_a_body_that_trickles_is_answered_408(strict: Server) -> None:
    """A byte now and then keeps no connection alive: that is no poor line."""
    with _connect(strict) as trickling:
        trickling.sendall(_upload_head(strict, 5_000) + FILE_HEAD)
        started = time.monotonic()
        trickling.settimeout(0.1)
        received = b""
        while not received and time.monotonic() - started < PATIENCE:
            trickling.sendall(b"y")
            try:
                received = trickling.recv(1_000)
            except TimeoutError:
                continue
    assert received.startswith(b"HTTP/1.1 408 ")


def test_a_slow_upload_that_keeps_coming_succeeds(strict: Server) -> None:
    content = uuid.uuid4().bytes.hex().encode() * 300
    body = FILE_HEAD + content + END
    with _connect(strict) as slow:
        slow.sendall(_upload_head(strict, len(body)))
        pieces = [body[i : i + 1_100] for i in range(0, len(body), 1_100)]
        started = time.monotonic()
        for piece in pieces:
            slow.sendall(piece)
            time.sleep(0.4)
        assert time.monotonic() - started > 2 * BODY_SECONDS
        status, _ = _answer(slow)
    assert status == 201


@pytest.mark.parametrize("extra", ["", "Connection: close\r\n"])
def test_an_upload_that_says_it_is_too_large_is_refused_before_it_is_read(strict: Server, extra: str) -> None:
    """The answer arrives although the client goes on sending, and the connection ends without a reset."""
    size = MAX_UPLOAD * 2
    with _connect(strict) as connection:
        connection.sendall(_upload_head(strict, size, extra) + FILE_HEAD)
        status, body = _answer(connection)
        assert (status, _code(body)) == (413, "too_large")
        connection.sendall(b"z" * (size - len(FILE_HEAD)))
        if extra:
            assert _rest(connection) == b""
        else:
            connection.sendall(b"GET /health HTTP/1.1\r\nHost: x\r\n\r\n")
            assert _answer(connection)[0] == 200
    _nothing_left(strict)


def test_a_client_that_waits_for_100_continue_is_never_asked_for_too_large_a_body(strict: Server) -> None:
    with _connect(strict) as connection:
        connection.sendall(_upload_head(strict, MAX_UPLOAD * 2, "Expect: 100-continue\r\n"))
        status, _ = _answer(connection)
    assert status == 413


@pytest.mark.parametrize("kind", ["application/json", "multipart/form-data; boundary=b"])
@pytest.mark.parametrize("path", ["/search", "/records", "/chat", "/v1/chat/completions", "/mcp", "/tokens"])
def test_other_bodies_are_bounded(strict: Server, path: str, kind: str) -> None:
    with _connect(strict) as connection:
        connection.sendall(_head(strict, path, MAX_BODY + 1, kind))
        status, body = _answer(connection)
    assert (status, _code(body)) == (413, "too_large")


def test_a_body_of_unknown_size_is_bounded_while_it_comes(strict: Server) -> None:
    def pieces() -> Iterator[bytes]:
        yield b'{"query": "'
        for _ in range(60):
            yield b"x" * 4_096
        yield b'"}'

    response = strict.client.post("/search", content=pieces(), headers={"Content-Type": "application/json"})
    assert (response.status_code, _code(response.json())) == (413, "too_large")


@pytest.mark.full
def test_a_body_within_the_limit_is_read(strict: Server) -> None:
    records = [{"id": str(n), "text": f"The {n}th text"} for n in range(1_000)]
    assert len(json.dumps(records)) < MAX_BODY
    assert strict.client.post("/records", json={"records": records}).status_code == 200


def _parts(name: str, count: int) -> bytes:
    return b"".join(
        f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="{name}"\r\n\r\nx\r\n'.encode() for _ in range(count)
    )


@pytest.mark.parametrize(
    ("name", "refused"),
    [("project", (400, "invalid_input")), ("same", (422, "invalid_request")), ("", (422, "invalid_request"))],
)
def test_parts_are_counted_whatever_their_names(strict: Server, name: str, refused: tuple[int, str]) -> None:
    """Parts of one name count as often as they come; those that nothing knows, or without a name, are refused at once."""
    body = _parts(name, 101) + FILE_HEAD + b"text" + END
    response = strict.client.post(
        "/ingest", content=body, headers={"Content-Type": f"multipart/form-data; boundary={BOUNDARY}"}
    )
    assert (response.status_code, _code(response.json())) == refused
    _nothing_left(strict)


@pytest.mark.parametrize("where", ["before the first part", "after the last", "in fields"])
def test_what_is_not_the_file_is_bounded(strict: Server, where: str) -> None:
    junk = 12 * 1024 * 1024
    body = {
        "before the first part": b"\r\n" * (junk // 2) + FILE_HEAD + b"text" + END,
        "after the last": FILE_HEAD + b"text" + END + b"j" * junk,
        "in fields": b"".join(
            f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="project"\r\n\r\n'.encode() + b"x" * 60_000 + b"\r\n"
            for _ in range(200)
        ),
    }[where]
    response = strict.client.post(
        "/ingest", content=body, headers={"Content-Type": f"multipart/form-data; boundary={BOUNDARY}"}
    )
    assert response.status_code in (400, 413), response.text
    assert _code(response.json()) in ("invalid_input", "too_large")
    _nothing_left(strict)


def test_a_boundary_that_is_too_long_is_a_bad_request(strict: Server) -> None:
    response = strict.client.post(
        "/ingest", content=b"x", headers={"Content-Type": f"multipart/form-data; boundary={'b' * 5_000}"}
    )
    assert (response.status_code, _code(response.json())) == (400, "invalid_input")


async def test_taking_in_a_form_does_not_hold_the_loop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Parsing, hashing and a disk that is slow: whatever else the loop has to do is done meanwhile."""
    ticks, waited = 0, list[bool]()
    meanwhile = threading.Event()
    write = Spool.write

    def slow_write(self: Spool, data: bytes) -> None:
        """A disk that has written nothing before the loop has gone round ten times more."""
        nonlocal ticks
        ticks = 0
        meanwhile.clear()
        waited.append(meanwhile.wait(PATIENCE))
        write(self, data)

    async def receive() -> dict[str, object]:
        return {"type": "http.request", "body": FILE_HEAD + b"text" + END, "more_body": False}

    async def tick() -> None:
        nonlocal ticks
        while True:
            await asyncio.sleep(0.005)
            ticks += 1
            if ticks >= 10:
                meanwhile.set()

    monkeypatch.setattr(Spool, "write", slow_write)
    async with open_services(load_settings(data=tmp_path, workers=0)) as services:
        headers = [(b"content-type", f"multipart/form-data; boundary={BOUNDARY}".encode())]
        request = Request({"type": "http", "method": "POST", "headers": headers}, receive)
        ticking = asyncio.create_task(tick())
        spool = partial(services.resources.open_spool, services.local_owner)
        upload = await receive_upload(request, spool, services.resources.max_bytes, ("file",))
        ticking.cancel()
    assert upload.file.size == 4
    assert waited
    assert all(waited)


def test_clients_that_vanish_in_the_middle_of_an_upload_leave_nothing(strict: Server, tmp_path: Path) -> None:
    for _ in range(20):
        with _connect(strict) as connection:
            connection.sendall(_upload_head(strict, 5_000_000) + FILE_HEAD + b"y" * 300_000)
    _nothing_left(strict)
    assert strict.add("after.txt", uuid.uuid4().hex.encode())["status"] == "indexed"
