"""Every bad input gets the right status, a stable code, and a message that says what to do; and leaves nothing behind."""

from __future__ import annotations

import base64
import hmac
import json
import socket
import threading
import time
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.server.in_process import InProcessServer
from tests.server.running import Server


def _error(response: httpx.Response, status: int, code: str) -> None:
    assert response.status_code == status, response.text
    error = response.json()["error"]
    assert error["code"] == code
    assert len(error["message"]) > 10


def _unique(text: str = "Some words") -> bytes:
    return f"{text} {uuid.uuid4()}".encode()


def _files(folder: Path) -> set[Path]:
    return {p for p in folder.rglob("*") if p.is_file()}


def test_empty_file(server: Server) -> None:
    _error(server.upload("empty.txt", b""), 400, "empty_file")


@pytest.mark.parametrize("field", ["project", "identifier", "thread", "caption", "password", "metadata"])
def test_a_null_character_in_a_field_of_a_form(server: Server, field: str) -> None:
    response = server.client.post("/ingest", files={"file": ("a.txt", _unique())}, data={field: "har\x00bour"})
    _error(response, 422, "invalid_request")
    assert response.json()["error"]["details"]["fields"][0]["field"] == f"body.{field}"


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/records", {"records": [{"id": "nu\x00ll", "text": "Some words."}]}),
        ("/records", {"records": [{"id": "null", "text": "Some words.", "title": "nu\x00ll"}]}),
        ("/records", {"records": [{"id": "null", "text": "Some words."}], "project": "har\x00bour"}),
        ("/search", {"query": "words", "project": "har\x00bour"}),
        ("/projects", {"name": "har\x00bour"}),
    ],
)
def test_a_null_character_in_a_name(server: Server, path: str, body: dict[str, Any]) -> None:
    _error(server.client.post(path, json=body), 422, "invalid_request")


def test_a_record_whose_id_is_blank(server: Server) -> None:
    _error(server.client.post("/records", json={"records": [{"id": " ", "text": "x"}]}), 400, "invalid_input")


@pytest.mark.parametrize("text", ["", "   ", "\n\t"])
def test_a_record_without_words(server: Server, text: str) -> None:
    response = server.client.post("/records", json={"records": [{"id": "no words", "text": text}]})
    _error(response, 400, "invalid_input")
    assert "'no words'" in response.json()["error"]["message"]


@pytest.mark.parametrize("query", ["", "   ", "\n\t"])
def test_empty_query(server: Server, query: str) -> None:
    _error(server.client.post("/search", json={"query": query}), 400, "empty_query")
    _error(server.client.post("/chat", json={"message": query}), 400, "empty_query")


@pytest.mark.parametrize("top_k", [0, -1, 101, 10**9])
def test_top_k_out_of_bounds(server: Server, top_k: int) -> None:
    _error(server.client.post("/search", json={"query": "x", "top_k": top_k}), 400, "invalid_input")


def test_top_k_that_is_no_number(server: Server) -> None:
    _error(server.client.post("/search", json={"query": "x", "top_k": "many"}), 422, "invalid_request")


def test_a_type_without_reader_is_stored_with_its_reason(server: Server) -> None:
    resource = server.add("thing.bin", bytes(range(256)) * 40 + uuid.uuid4().bytes)
    assert resource["status"] == "stored"
    assert resource["error_code"] == "no_reader"
    assert "cannot read its type" in resource["error_message"]


def test_a_type_without_reader_is_refused_when_strict(server: Server) -> None:
    before = len(server.resources())
    _error(
        server.upload("thing.bin", bytes(range(256)) * 40 + uuid.uuid4().bytes, strict="true"), 415, "unsupported_type"
    )
    assert len(server.resources()) == before


@pytest.mark.parametrize("header", [{}, {"Authorization": "Bearer wrong"}, {"Authorization": "Basic eDp5"}])
@pytest.mark.parametrize(
    ("method", "path"), [("GET", "/resources"), ("POST", "/search"), ("POST", "/ingest"), ("GET", "/ready")]
)
def test_no_token_or_a_wrong_one(server: Server, header: dict[str, str], method: str, path: str) -> None:
    response = httpx.request(method, server.url + path, headers=header)
    _error(response, 401, "unauthorized")
    assert response.headers["www-authenticate"] == "Bearer"


@pytest.mark.parametrize("path", ["", "/file", "/elements", "/chunks", "/events", "/blobs"])
def test_unknown_resource(server: Server, path: str) -> None:
    _error(server.client.get(f"/resources/{uuid.uuid4()}{path}"), 404, "not_found")


def test_unknown_thread_project_and_route(server: Server) -> None:
    _error(server.client.get(f"/threads/{uuid.uuid4()}"), 404, "not_found")
    _error(server.client.post("/search", json={"query": "x", "project": "no such"}), 404, "not_found")
    _error(server.client.get("/nothing-here"), 404, "not_found")
    _error(server.client.post("/chat", json={"message": "x", "resource_ids": [str(uuid.uuid4())]}), 404, "not_found")


@pytest.mark.parametrize("project", ["", "  "])
@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("POST", "/search", {"query": "x", "project": ...}),
        ("POST", "/search", {"query": "x", "projects": [...]}),
        ("POST", "/chat", {"message": "x", "project": ...}),
        ("POST", "/records", {"records": [{"id": "x", "text": "y"}], "project": ...}),
        ("POST", "/reindex", {"project": ...}),
        ("PUT", "/sources/unnamed", {"kind": "folder", "project": ...}),
        ("POST", "/tokens", {"name": "t", "projects": [...]}),
        ("POST", "/webhooks/incoming", {"kind": "fetch", "name": "t", "project": ...}),
        ("POST", "/mcp", {"jsonrpc": "2.0", "id": 1, "method": "ping"}),
        ("GET", "/resources", None),
        ("GET", "/resources/facets", None),
        ("GET", "/resources/some-name", None),
    ],
)
def test_an_empty_project_is_neither_the_default_one_nor_all(
    server: Server, method: str, path: str, body: dict[str, Any] | None, project: str
) -> None:
    named = None if body is None else json.loads(json.dumps(body, default=lambda _: project))
    asked = "in_project" if path == "/resources/some-name" else "project"
    params = {asked: project} if body is None or path == "/mcp" else None
    response = server.client.request(method, path, json=named, params=params)
    _error(response, 422, "unnamed_project")
    assert "leave it out" in response.json()["error"]["message"]


def test_a_forms_empty_field_names_no_project_and_an_empty_header_is_refused(server: Server) -> None:
    without, empty = (server.upload("a.txt", _unique(), **given).json() for given in ({}, {"project": " "}))
    assert empty["project_ids"] == without["project_ids"]
    _error(server.client.get("/resources", headers={"X-Citewell-Project": ""}), 422, "unnamed_project")


@pytest.mark.parametrize("cursor", ["x", "WzFd", "W10", "bnVsbA", "é", "////"])
def test_a_cursor_that_is_not_ours(server: Server, cursor: str) -> None:
    _error(server.client.get("/resources", params={"cursor": cursor}), 400, "invalid_cursor")


@pytest.mark.parametrize(
    "key",
    [[10**60], [2**63], [-(2**63)], [10**60, "x"], [[[]]]],
    ids=lambda key: str(key)[:9],
)
@pytest.mark.parametrize("path", ["/resources", "/threads", "/resources/{id}/elements", "/resources/{id}/chunks"])
def test_a_cursor_with_what_no_database_compares_with(server: Server, path: str, key: list[object]) -> None:
    resource = server.add("cursor.txt", b"A text to page through.")
    cursor = base64.urlsafe_b64encode(json.dumps(key).encode()).decode().rstrip("=")
    response = server.client.get(path.format(id=resource["id"]), params={"cursor": cursor})
    _error(response, 400, "invalid_cursor")


@pytest.mark.parametrize("name", ["status", "category"])
@pytest.mark.parametrize("value", ["bogus", ""])
def test_a_list_by_what_no_file_can_be_says_what_there_is(server: Server, name: str, value: str) -> None:
    response = server.client.get("/resources", params={name: value})
    _error(response, 400, "invalid_input")
    allowed = response.json()["error"]["details"]["allowed"]
    assert {"status": "ready", "category": "video"}[name] in allowed
    for one in allowed:
        assert server.client.get("/resources", params={name: one}).is_success


@pytest.mark.parametrize("asked", [f"bytes={'9' * 5_000}-", f"bytes=-{'9' * 5_000}", "bytes=٣-٤", "bytes=-"])
def test_a_range_that_is_none_gives_the_whole_file(server: Server, asked: str) -> None:
    resource = server.add("range.txt", b"All of these words.")
    response = server.client.get(f"/resources/{resource['id']}/file", headers=[(b"range", asked.encode())])
    assert (response.status_code, response.content) == (200, b"All of these words.")


@pytest.mark.parametrize(
    "message",
    ["1" * 32_000, f"{'1' * 400}.5", f"{'9' * 400}k", "²²²²", "in march ²²²²", "paid on 9999-12-31", "march 0000"],
)
def test_a_number_that_no_number_can_hold_is_a_message_like_others(server: Server, message: str) -> None:
    server.add("amounts.csv", b"Branch,Amount,Paid\nAccra,5,2024-03-01\nKumasi,7,2024-04-01\nTema,9,2024-05-01\n")
    response = server.client.post("/chat", json={"message": message})
    assert response.status_code == 200, response.text


def test_halves_of_surrogate_pairs_are_replaced_wherever_they_stand(server: Server) -> None:
    half = '"a\\ud800b"'
    record = '{"id": %s, "text": %s, "title": %s, "metadata": {%s: [%s]}}' % ((half,) * 5)
    bodies = {
        "/search": f'{{"query": {half}}}',
        "/chat": f'{{"message": {half}}}',
        "/projects": f'{{"name": {half}}}',
        "/records": f'{{"records": [{record}]}}',
        "/v1/chat/completions": f'{{"model": "citewell", "messages": [{{"role": "user", "content": {half}}}]}}',
    }
    for path, body in bodies.items():
        response = server.client.post(path, content=body, headers={"Content-Type": "application/json"})
        assert response.status_code in (200, 201), response.text
    assert "a\ufffdb" in [p["name"] for p in server.client.get("/projects").json()["projects"]]
    found = server.client.get("/resources", params={"q": "a\ufffdb"}).json()["resources"]
    assert [r["extraction_metadata"] for r in found] == [{"a\ufffdb": ["a\ufffdb"]}]


@pytest.mark.parametrize("value", ["1e999", "NaN", "-Infinity", "[" * 1_000 + "]" * 1_000, "1" * 5_000, "[" * 100_000])
def test_json_that_cannot_be_kept_is_refused(server: Server, value: str) -> None:
    body = f'{{"records": [{{"id": "x", "text": "y", "metadata": {{"a": {value}}}}}]}}'
    response = server.client.post("/records", content=body, headers={"Content-Type": "application/json"})
    assert response.status_code in (400, 422), response.text
    assert len(response.json()["error"]["message"]) > 10


def test_a_token_whose_subject_is_no_name(tmp_path: Path) -> None:
    secret = "a secret of more than thirty-two bytes, to be sure"
    subjects: list[object] = ["\ud800", "a\x00", "", " ", 7, {"a": 1}, None]
    with InProcessServer(tmp_path / "accounts", CITEWELL_AUTH_SECRET=secret) as running:
        for subject in subjects:
            headers = {"Authorization": f"Bearer {_signed({'sub': subject, 'exp': time.time() + 600}, secret)}"}
            _error(httpx.get(f"{running.url}/resources", headers=headers), 401, "unauthorized")
        headers = {"Authorization": f"Bearer {_signed({'sub': 'Jürgen 😀', 'exp': time.time() + 600}, secret)}"}
        assert httpx.get(f"{running.url}/resources", headers=headers).status_code == 200


def _signed(claims: object, secret: str) -> str:
    """A JWT with these claims; halves of surrogate pairs stand in it as JSON escapes."""
    parts = [_base64(json.dumps(part).encode()) for part in ({"alg": "HS256", "typ": "JWT"}, claims)]
    signature = hmac.digest(secret.encode(), ".".join(parts).encode(), "sha256")
    return ".".join([*parts, _base64(signature)])


def _base64(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).decode().rstrip("=")


@pytest.mark.parametrize(
    ("sent", "kept"),
    [
        ("../../etc/passwd.txt", "passwd.txt"),
        ("..\\..\\windows\\win.txt", "win.txt"),
        ("/absolute/path.txt", "path.txt"),
        ("nul\x00byte.txt", "nulbyte.txt"),
        ("line\r\nbreak.txt", "linebreak.txt"),
        ("\u202etxt.exe.txt", "txt.exe.txt"),
        ("..", "unnamed"),
        ("a" * 300 + ".txt", "a" * 251 + ".txt"),
        ("naïve – файл 文.txt", "naïve – файл 文.txt"),
    ],
)
def test_hostile_names_are_made_harmless(server: Server, sent: str, kept: str) -> None:
    body, boundary = _multipart(sent.encode(), _unique())
    response = server.client.post(
        "/ingest", content=body, headers={"Content-Type": f"multipart/form-data; boundary={boundary}"}
    )
    assert response.status_code == 201, response.text
    assert response.json()["filename"] == kept


def test_a_name_that_is_not_utf8(server: Server) -> None:
    body, boundary = _multipart("Größe.txt".encode("latin-1"), _unique())
    response = server.client.post(
        "/ingest", content=body, headers={"Content-Type": f"multipart/form-data; boundary={boundary}"}
    )
    assert response.status_code == 201, response.text
    assert response.json()["filename"] == "Größe.txt"


def test_bodies_that_are_no_upload(server: Server) -> None:
    _error(server.client.post("/ingest", json={"file": "x"}), 400, "invalid_input")
    _error(server.client.post("/ingest", files={"other": ("a.txt", b"x")}), 422, "invalid_request")
    _error(server.client.post("/ingest", files={"file": (None, b"x")}), 400, "invalid_input")
    headers = {"Content-Type": "multipart/form-data; boundary=b"}
    _error(server.client.post("/ingest", content=b"garbage", headers=headers), 400, "invalid_input")
    _error(server.client.post("/ingest", content=b"", headers=headers), 400, "incomplete_upload")


def test_a_flag_that_is_neither_true_nor_false(server: Server) -> None:
    _error(server.upload("a.txt", _unique(), extract_tables="perhaps"), 400, "invalid_input")


def test_no_text_means_no_chunks_and_says_so(server: Server, blank_pdf: bytes) -> None:
    resource = server.add("blank.pdf", blank_pdf)
    assert resource["status"] == "indexed"
    assert resource["chunk_count"] == 0
    coverage = resource["coverage"]
    assert coverage["characters"] == 0
    assert coverage["empty_units"] == 2
    assert all(unit["warnings"] for unit in coverage["units"])


def test_the_same_file_twice_is_one_resource(server: Server) -> None:
    content = _unique("The same words twice")
    first = server.upload("one.txt", content)
    server.wait(first.json()["id"])
    second = server.upload("two.txt", content, project="Another project")
    assert (first.status_code, second.status_code) == (201, 200)
    assert first.json()["id"] == second.json()["id"]
    assert len(second.json()["project_ids"]) == 2
    stages = server.client.get(f"/resources/{first.json()['id']}").json()["stages"]
    assert [s["status"] for s in stages].count("indexing") == 1


def test_the_answer_to_a_known_file_says_what_is_done_for_it(server: Server) -> None:
    table = "<table><tr><th>Berth</th><th>Price</th></tr><tr><td>North</td><td>14</td></tr></table>"
    page = b"<h1>Harbour " + _unique("") + b"</h1>" + table.encode()
    first = server.upload("berths.html", page)
    assert (first.status_code, first.json()["outcome"]) == (201, "created")
    resource = server.wait(first.json()["id"])

    def again(outcome: str, **options: str) -> dict[str, Any]:
        response = server.upload("berths.html", page, **options)
        assert (response.status_code, response.json()["outcome"]) == (200, outcome), response.text
        return server.wait(resource["id"])

    assert again("unchanged")["coverage"]["tables"] == 1
    assert again("reread", extract_tables="false")["coverage"]["tables"] == 0
    assert again("unchanged")["options"]["extract_tables"] is False, "what is not named stays"
    assert again("unchanged", extract_tables="false")["coverage"]["tables"] == 0
    assert again("reread", extract_tables="true")["coverage"]["tables"] == 1
    chunked = again("reindexed", chunking='{"strategy": "characters", "size": 30, "overlap": 0}')
    assert chunked["options"]["chunking"] == {"strategy": "characters", "size": 30, "overlap": 0}
    path = f"/resources/{resource['id']}/reindex"
    changed = server.client.post(path, json={"chunking": {}, "extract_images": False})
    assert (changed.status_code, changed.json()["options"]["chunking"]) == (202, None)
    assert server.wait(resource["id"])["options"]["extract_images"] is False
    _error(server.upload("berths.html", page, chunking="tokens"), 400, "invalid_input")
    _error(server.upload("berths.html", page, chunking='{"strategy": "poems"}'), 400, "invalid_input")
    _error(server.client.post(path, json={"tables": True}), 422, "invalid_request")


def test_what_failed_is_tried_again_when_it_is_sent_again(server: Server, samples: Path) -> None:
    broken = (samples / "Growth Plan.docx").read_bytes()[:4_000] + _unique("")
    failed = server.add("broken.docx", broken, extract_images="false")
    assert failed["status"] == "failed"
    again = server.upload("broken.docx", broken)
    assert (again.status_code, again.json()["outcome"], again.json()["status"]) == (200, "retried", "uploaded")
    done = server.wait(failed["id"])
    assert [stage["status"] for stage in done["stages"]].count("failed") == 2
    assert done["options"]["extract_images"] is False, "a failure does not forget what was asked for"


def test_the_same_file_from_many_at_once_is_one_resource(server: Server) -> None:
    content = _unique("At once")
    responses: list[httpx.Response] = []

    def upload(name: str) -> None:
        responses.append(server.upload(name, content))

    threads = [threading.Thread(target=upload, args=(f"{n}.txt",)) for n in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(r.status_code for r in responses) == [200] * 5 + [201]
    assert len({r.json()["id"] for r in responses}) == 1


@pytest.fixture
def small_server(tmp_path: Path) -> Iterator[Server]:
    with InProcessServer(tmp_path / "small", CITEWELL_MAX_UPLOAD_BYTES="100000") as running:
        yield running


def test_a_body_over_the_limit_or_cut_off_leaves_nothing_behind(small_server: Server) -> None:
    before = _files(small_server.data / "uploads")
    _error(small_server.upload("big.txt", b"x" * 5_000_000), 413, "too_large")
    _cut_off(small_server)
    end = time.monotonic() + 60
    while _files(small_server.data / "uploads") != before and time.monotonic() < end:
        time.sleep(0.05)
    assert _files(small_server.data / "uploads") == before
    assert small_server.resources() == []
    assert [path.name for path in _files(small_server.data / "blobs")] == [".id"]


def test_the_active_model_needs_no_second_index(small_server: Server) -> None:
    response = small_server.client.post("/indexes", json={"provider": "builtin"})
    assert response.status_code == 409
    assert response.json()["error"]["code"] == "conflict"
    assert len(small_server.client.get("/indexes").json()["indexes"]) == 1


def _cut_off(server: Server) -> None:
    """Announce 90,000 bytes, send some, and hang up."""
    host, port = server.url.removeprefix("http://").split(":")
    token = server.client.headers["authorization"]
    body, boundary = _multipart(b"cut.txt", b"y" * 90_000)
    head = (
        f"POST /ingest HTTP/1.1\r\nHost: x\r\nAuthorization: {token}\r\nContent-Length: {len(body)}\r\n"
        f"Content-Type: multipart/form-data; boundary={boundary}\r\n\r\n"
    )
    with socket.create_connection((host, int(port))) as connection:
        connection.sendall(head.encode() + body[:40_000])
        time.sleep(0.3)


def _multipart(filename: bytes, content: bytes) -> tuple[bytes, str]:
    boundary = uuid.uuid4().hex
    quoted = filename.replace(b"\\", b"\\\\").replace(b'"', b"%22").replace(b"\r", b"%0D").replace(b"\n", b"%0A")
    head = f'--{boundary}\r\nContent-Disposition: form-data; name="file"; filename="'.encode() + quoted
    return head + b'"\r\n\r\n' + content + f"\r\n--{boundary}--\r\n".encode(), boundary


@pytest.fixture(scope="session")
def blank_pdf(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    from reportlab.pdfgen.canvas import Canvas

    path = tmp_path_factory.mktemp("blank") / "blank.pdf"
    canvas = Canvas(str(path))
    canvas.showPage()
    canvas.showPage()
    canvas.save()
    return path.read_bytes()
