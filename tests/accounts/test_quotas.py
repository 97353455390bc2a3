"""Quotas over HTTP: administrators set them for people, and every way in keeps to them."""

from __future__ import annotations

import json
import threading
import uuid
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from tests.accounts.people import Browser, signed_up
from tests.server.running import Server

pytestmark = [pytest.mark.full, pytest.mark.slow(20)]


class Person:
    """Somebody new, and what the administrator lets them have."""

    def __init__(self, server: Server, administrator: Browser) -> None:
        email = f"{uuid.uuid4().hex[:12]}@example.org"
        self.browser = signed_up(server.url, email)
        self._administrator = administrator
        people = administrator.get("/people").json()["people"]
        [self.id] = [one["id"] for one in people if one["email"] == email]

    def may(self, **quotas: float | None) -> None:
        changed = self._administrator.call("PUT", f"/people/{self.id}/quotas", json=quotas)
        assert changed.status_code == 200, changed.text

    def upload(self, content: bytes, **request: Any) -> httpx.Response:
        return self.browser.call("POST", "/ingest", files={"file": ("note.txt", content)}, **request)

    def used(self) -> dict[str, float]:
        return {one["quota"]: one["used"] for one in self.browser.get("/quotas").json()["quotas"]}


@pytest.fixture
def ada(accounts: Server, administrator: Browser) -> Person:
    return Person(accounts, administrator)


@pytest.fixture
def ben(accounts: Server, administrator: Browser) -> Person:
    return Person(accounts, administrator)


def _refused(response: httpx.Response, status: int, code: str) -> dict[str, Any]:
    assert (response.status_code, response.json()["error"]["code"]) == (status, code), response.text
    return response.json()["error"]


def test_without_a_limit_everybody_is_told_so(ada: Person) -> None:
    quotas = ada.browser.get("/quotas").json()["quotas"]
    assert [(one["quota"], one["limit"], one["own"]) for one in quotas] == [
        (name, None, False) for name in ("files", "bytes", "questions", "spend")
    ]
    assert [one["resets_at"] is None for one in quotas] == [True, True, False, False]


def test_only_administrators_see_and_set_what_others_may(ada: Person, ben: Person, administrator: Browser) -> None:
    for method, body in (("GET", None), ("PUT", {"files": 1})):
        _refused(ada.browser.call(method, f"/people/{ben.id}/quotas", json=body), 403, "forbidden")
        _refused(ada.browser.call(method, f"/people/{ada.id}/quotas", json=body), 403, "forbidden")
        _refused(administrator.call(method, "/people/nobody/quotas", json=body), 404, "not_found")
    ben.may(files=7, spend=None)
    shown = administrator.get(f"/people/{ben.id}/quotas").json()["quotas"]
    assert {one["quota"]: (one["limit"], one["own"]) for one in shown} == {
        "files": (7, True),
        "bytes": (None, False),
        "questions": (None, False),
        "spend": (None, True),
    }
    for wrong in ({"files": -1}, {"files": 1.5}, {"bytes": 2**60}, {"spend": "much"}, {"pages": 1}):
        refused = administrator.call("PUT", f"/people/{ben.id}/quotas", json=wrong)
        assert refused.status_code == 422, refused.text
    assert administrator.get(f"/people/{ben.id}/quotas").json()["quotas"] == shown


def test_a_change_is_in_the_audit_log(ada: Person, administrator: Browser) -> None:
    ada.may(files=1)
    [entry] = administrator.get("/audit", params={"action": "person.quota_changed", "subject": ada.id}).json()[
        "entries"
    ]
    assert (entry["outcome"], entry["actor_id"]) == ("done", administrator.owner)


def test_a_file_too_many_is_refused_by_every_way_in_and_deleting_one_gives_room(ada: Person, ben: Person) -> None:
    ada.may(files=1)
    first = ada.upload(b"The first file.")
    assert first.status_code == 201
    error = _refused(ada.upload(b"The second file."), 413, "quota_files")
    assert error["details"] == {"quota": "files", "used": 1, "limit": 1}
    assert "administrator" in error["message"]
    assert ada.upload(b"The first file.").status_code == 200, "what is there takes no room"
    records = {"records": [{"id": "r", "text": "A text."}]}
    _refused(ada.browser.call("POST", "/records", json=records), 413, "quota_files")
    assert ada.browser.call("PUT", "/sources/papers", json={"kind": "folder"}).is_success
    item = {"data": {"item": json.dumps({"key": "a", "stamp": "1"})}, "files": {"file": ("a.txt", b"An item.")}}
    _refused(ada.browser.call("POST", "/sources/papers/items", **item), 413, "quota_files")
    made = ada.browser.call("POST", "/webhooks/incoming", json={"kind": "fetch", "name": "n8n"}).json()
    headers = {"Authorization": f"Bearer {made['secret']}"}
    _refused(httpx.post(f"{ada.browser.url}{made['path']}", json=records, headers=headers), 413, "quota_files")
    assert ada.used()["files"] == 1
    assert ben.upload(b"The second file.").status_code == 201
    assert ada.browser.call("DELETE", f"/resources/{first.json()['id']}").is_success
    assert ada.upload(b"The second file.").status_code == 201


def test_bytes_are_refused_where_they_are_announced_and_where_they_are_not(ada: Person) -> None:
    ada.may(bytes=1_000)
    assert ada.upload(b"1" * 600).status_code == 201
    error = _refused(ada.upload(b"2" * 401), 413, "quota_bytes")
    assert error["details"] == {"quota": "bytes", "used": 600, "limit": 1_000}
    _refused(ada.upload(b"2" * 40_000_000), 413, "quota_bytes")
    boundary = "edge"
    sent = 0

    def pieces() -> Iterator[bytes]:
        nonlocal sent
        head = f'--{boundary}\r\nContent-Disposition: form-data; name="file"; filename="long.txt"\r\n\r\n'
        yield head.encode()
        for _ in range(1_000):
            sent += 1
            yield b"3" * 50_000
        yield f"\r\n--{boundary}--\r\n".encode()

    content_type = {"Content-Type": f"multipart/form-data; boundary={boundary}"}
    _refused(ada.browser.call("POST", "/ingest", content=pieces(), headers=content_type), 413, "quota_bytes")
    assert ada.upload(b"2" * 400).status_code == 201
    assert ada.used() == {"files": 2, "bytes": 1_000, "questions": 0, "spend": 0}


def test_a_new_version_takes_room_for_its_bytes(ada: Person) -> None:
    ada.may(files=1, bytes=1_000)
    resource = ada.upload(b"1" * 600).json()["id"]
    path = f"/resources/{resource}/file"
    _refused(ada.browser.call("PUT", path, files={"file": ("a.txt", b"2" * 500)}), 413, "quota_bytes")
    assert ada.browser.call("PUT", path, files={"file": ("a.txt", b"2" * 400)}).json()["version"] == 2
    assert ada.used()["bytes"] == 1_000


def test_of_two_uploads_for_the_last_place_one_gets_in(ada: Person) -> None:
    ada.may(files=1)
    start, statuses = threading.Barrier(2), list[int]()

    def upload(content: bytes) -> None:
        start.wait()
        statuses.append(ada.upload(content).status_code)

    threads = [threading.Thread(target=upload, args=(content,)) for content in (b"One file.", b"Another file.")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(statuses) == [201, 413]
    assert len(ada.browser.get("/resources").json()["resources"]) == 1


def test_questions_are_refused_until_the_month_ends_however_they_are_asked(ada: Person, ben: Person) -> None:
    ada.may(questions=1)
    question = {"message": "What is in my files?", "stream": False}
    assert ada.browser.call("POST", "/chat", json=question).status_code == 200
    threads = ada.browser.get("/threads").json()["threads"]
    response = ada.browser.call("POST", "/chat", json=question)
    error = _refused(response, 429, "quota_questions")
    assert error["details"] | {"retry_after": 0} == {"quota": "questions", "used": 1, "limit": 1, "retry_after": 0}
    assert 0 < int(response.headers["retry-after"]) <= 31 * 86_400
    completion = {"model": "citewell", "messages": [{"role": "user", "content": "What is in my files?"}]}
    openai = ada.browser.call("POST", "/v1/chat/completions", json=completion)
    assert openai.status_code == 429, openai.text
    made = ada.browser.call("POST", "/webhooks/incoming", json={"kind": "result", "name": "n8n"}).json()
    headers = {"Authorization": f"Bearer {made['secret']}"}
    asked = httpx.post(f"{ada.browser.url}{made['path']}", json={"message": "What is there?"}, headers=headers)
    _refused(asked, 429, "quota_questions")
    assert ada.browser.get("/threads").json()["threads"] == threads, "a refused question leaves nothing"
    assert ada.used()["questions"] == 1
    assert ben.browser.call("POST", "/chat", json=question).status_code == 200
    ada.may()
    assert ada.browser.call("POST", "/chat", json=question).status_code == 200


def test_when_nothing_may_be_spent_questions_are_refused_and_files_are_taken(ada: Person) -> None:
    ada.may(spend=0)
    error = _refused(ada.browser.call("POST", "/chat", json={"message": "What is there?"}), 402, "quota_spend")
    assert error["details"] == {"quota": "spend", "used": 0, "limit": 0}
    assert ada.upload(b"A file for which no model is paid.").status_code == 201


@pytest.mark.parametrize(("limit", "code"), [({"files": 1}, "quota_files"), ({"bytes": 40}, "quota_bytes")])
def test_who_is_kept_to_a_project_is_refused_without_the_owners_figures(
    ada: Person, limit: dict[str, float], code: str
) -> None:
    assert ada.browser.call("POST", "/projects", json={"name": "Kitchen"}).status_code == 201
    key = ada.browser.call("POST", "/tokens", json={"name": "k", "projects": ["Kitchen"]}).json()["token"]
    ada.may(**limit)
    assert ada.upload(b"The owner has one file elsewhere.").status_code == 201
    files = {"file": ("note.txt", b"Another file, of somebody else.")}
    headers = {"Authorization": f"Bearer {key}"}
    response = httpx.post(f"{ada.browser.url}/ingest", files=files, headers=headers, timeout=60)
    error = _refused(response, 413, code)
    assert (error["details"], any(map(str.isdigit, error["message"]))) == ({}, False)
