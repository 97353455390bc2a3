"""Who saw, changed and exported what is in the log before the answer is given, whoever asks and whatever comes of it."""

from __future__ import annotations

import csv
import io
import json
import sqlite3
import time
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from citewell.errors import DiskFull, Unavailable
from citewell.features.addresses import shortened
from citewell.features.audit import service as audit_service
from citewell.features.audit.service import AuditLog
from citewell.storage.accounts.audit import AuditRepository
from citewell.types.audit import AuditAction, AuditActor, AuditEntry, AuditOutcome
from tests.accounts.people import PASSWORD, Browser, signed_up
from tests.server.declared import AUDITED
from tests.server.in_process import InProcessServer
from tests.server.running import RunningServer, Server

pytestmark = pytest.mark.full

SECRET_WORDS = "The vault opens with 4711."


@pytest.fixture(scope="module", autouse=True)
def _first(administrator: Browser) -> None:
    """Whoever signs up first administers the server."""


def entries(browser: Browser, **wanted: str) -> list[dict[str, Any]]:
    """The browser's log, oldest first."""
    answer = browser.get("/audit", params={"limit": "500", **wanted})
    assert answer.status_code == 200, answer.text
    return answer.json()["entries"][::-1]


def actions(browser: Browser, **wanted: str) -> list[tuple[str, str]]:
    return [(one["action"], one["outcome"]) for one in entries(browser, **wanted)]


def add(browser: Browser, name: str = "a.txt", **form: str) -> str:
    answer = browser.call("POST", "/ingest", files={"file": (name, f"{name}: {SECRET_WORDS}".encode())}, data=form)
    assert answer.is_success, answer.text
    return answer.json()["id"]


def test_what_is_logged_names_a_subject_of_its_path_and_no_secret() -> None:
    assert len(AUDITED) > 60
    assert all(f"{{{row.subject}" in path for (_, path), row in AUDITED.items() if row.subject is not None)
    assert not any("{secret}" in path and row.subject for (_, path), row in AUDITED.items())


def test_what_somebody_does_is_in_their_log_with_what_and_how(accounts: Server) -> None:
    ada = signed_up(accounts.url, "audit-ada@example.org")
    made = ada.call("POST", "/tokens", json={"name": "key"}).json()
    file = add(ada)
    ada.call("PATCH", f"/resources/{file}", json={"metadata": {"a": 1}})
    ada.get(f"/resources/{file}/file")
    asked = ada.call("POST", "/chat", json={"message": f"{SECRET_WORDS}?"}).json()
    ada.get(f"/threads/{asked['thread_id']}/export")
    deleted = ada.call("DELETE", f"/resources/{file}")
    ada.call("DELETE", f"/tokens/{made['id']}")
    ada.call("DELETE", f"/tokens/{made['id']}")
    found = entries(ada)
    assert [(one["action"], one["outcome"], one["subject"]) for one in found] == [
        ("account.created", "done", None),
        ("token.created", "done", made["id"]),
        ("file.uploaded", "done", file),
        ("file.changed", "done", file),
        ("file.downloaded", "done", file),
        ("question.asked", "done", asked["thread_id"]),
        ("thread.exported", "done", asked["thread_id"]),
        ("file.deleted", "done", file),
        ("token.revoked", "done", made["id"]),
        ("token.revoked", "refused", made["id"]),
    ]
    assert {one["actor"] for one in found} == {"person"}
    assert {one["actor_id"] for one in found} == {one["owner_id"] for one in found} == {ada.owner}
    assert {one["network"] for one in found} == {"127.0.0.0/24"}
    assert deleted.headers["x-request-id"] == found[7]["request_id"]
    assert found[-1]["status"] == 404
    text = json.dumps(found)
    for secret in (made["token"], PASSWORD, "4711", "a.txt", ada.access_token):
        assert secret not in text


def test_a_token_a_link_and_a_trigger_are_told_apart(accounts: Server) -> None:
    ada = signed_up(accounts.url, "audit-kinds@example.org")
    made = ada.call("POST", "/tokens", json={"name": "key"}).json()
    file = add(ada, "vault.txt")
    ada.get(f"/resources/{file}/events")
    asked = ada.call("POST", "/chat", json={"message": "What does the vault open with?"}).json()
    path = f"/threads/{asked['thread_id']}/messages/{asked['message_id']}/share"
    share = ada.call("POST", path, json={}).json()
    trigger = ada.call("POST", "/webhooks/incoming", json={"kind": "result", "name": "t"}).json()
    with httpx.Client(base_url=accounts.url, timeout=60) as client:
        client.get(f"/resources/{file}/file", headers={"Authorization": f"Bearer {made['token']}"}).raise_for_status()
        assert client.get(share["path"]).status_code == 200
        assert client.get(f"/shared-answers/{share['path'].rpartition('/')[2]}").status_code == 200
        headers = {"Authorization": f"Bearer {trigger['secret']}"}
        called = client.post(
            f"/webhooks/incoming/{trigger['id']}/result", headers=headers, json={"message": "What opens the vault?"}
        )
        assert called.status_code == 200, called.text
    found = {(one["actor"], one["credential_id"], one["action"], one["subject"]) for one in entries(ada)}
    assert ("token", made["id"], "file.downloaded", file) in found
    assert ("link", share["id"], "share.opened", share["id"]) in found
    assert ("trigger", trigger["id"], "trigger.called", trigger["id"]) in found
    assert share["path"].rpartition("/")[2] not in json.dumps(sorted(map(str, found)))


def test_failed_sign_ins_are_in_the_log_of_whose_account_it_is(accounts: Server, administrator: Browser) -> None:
    ada = signed_up(accounts.url, "audit-sign-in@example.org")
    stranger = Browser(accounts.url)
    assert stranger.sign_in("audit-sign-in@example.org", "a wrong password").status_code == 401
    assert stranger.sign_in("audit-nobody@example.org", "a wrong password").status_code == 401
    assert stranger.sign_in("audit-sign-in@example.org").status_code == 200
    stranger.call("DELETE", "/session")
    found = entries(ada)[1:]
    assert [(one["action"], one["outcome"], one["actor"]) for one in found] == [
        ("session.started", "refused", "nobody"),
        ("session.started", "done", "person"),
        ("session.ended", "done", "person"),
    ]
    everybody = entries(administrator, owner="all", action="session.started", outcome="refused")
    assert any(one["owner_id"] is None for one in everybody)
    assert "audit-nobody" not in json.dumps(everybody)


def test_everybody_sees_their_own_log_and_administrators_all(accounts: Server, administrator: Browser) -> None:
    ada, ben = signed_up(accounts.url, "audit-own@example.org"), signed_up(accounts.url, "audit-other@example.org")
    file = add(ada)
    assert ben.call("DELETE", f"/resources/{file}").status_code == 404
    for owner in (ada.owner, "all"):
        for path in ("/audit", "/audit/export"):
            assert ben.get(path, params={"owner": owner}).status_code == 403
    assert {one["owner_id"] for one in entries(ben)} == {ben.owner}
    assert ("file.deleted", "refused") in actions(ben)
    assert ("file.deleted", "refused") not in actions(ada)
    assert entries(administrator, owner=ada.owner) == entries(ada)
    named = {one["actor_name"] for one in entries(administrator, owner=ada.owner)}
    assert named == {"audit-own"}


def test_what_a_member_does_with_a_file_is_in_the_log_of_whose_file_it_is(accounts: Server) -> None:
    ada, ben = signed_up(accounts.url, "audit-lender@example.org"), signed_up(accounts.url, "audit-reader@example.org")
    project = ada.call("POST", "/projects", json={"name": "Shared"}).json()["id"]
    file = add(ada, "shared.txt", project=project)
    secret = ada.call("POST", "/invitations", json={"project": project, "role": "viewer"}).json()["invitation"]
    assert ben.call("POST", "/invitations/accept", json={"invitation": secret}).status_code == 204
    assert ben.get(f"/resources/{file}/file").status_code == 200
    seen = entries(ada, action="file.downloaded")
    assert [(one["owner_id"], one["actor_id"], one["actor_name"]) for one in seen] == [
        (ada.owner, ben.owner, "audit-reader")
    ]
    assert entries(ben, action="file.downloaded") == []


def test_a_file_that_is_asked_for_in_pieces_is_one_entry(accounts: Server) -> None:
    ada = signed_up(accounts.url, "audit-pieces@example.org")
    file, other = add(ada, "pieces.txt"), add(ada, "other.txt")
    for start in range(5):
        assert ada.get(f"/resources/{file}/file", headers={"Range": f"bytes={start}-{start}"}).status_code == 206
    ada.get(f"/resources/{other}/file")
    assert [one["subject"] for one in entries(ada, action="file.downloaded")] == [file, other]


def test_the_log_is_exported_as_lines_and_as_a_table(accounts: Server) -> None:
    ada = signed_up(accounts.url, "audit-export@example.org", name="=cmd|' /C calc'!A0")
    add(ada)
    lines = [json.loads(line) for line in ada.get("/audit/export").text.splitlines()]
    assert [one["action"] for one in lines] == ["audit.exported", "file.uploaded", "account.created"][-len(lines) :]
    answer = ada.get("/audit/export", params={"format": "csv", "action": "file.uploaded"})
    assert answer.headers["content-disposition"] == 'attachment; filename="audit.csv"'
    rows = list(csv.DictReader(io.StringIO(answer.text)))
    assert [(one["action"], one["owner_id"]) for one in rows] == [("file.uploaded", ada.owner)]
    assert rows[0]["actor_name"].startswith("'=")
    assert actions(ada)[-2:] == [("audit.exported", "done")] * 2
    archive = zipfile.ZipFile(io.BytesIO(ada.get("/export").content))
    handed = [json.loads(line) for line in archive.read("tables/audit_log.ndjson").splitlines()]
    assert {one["owner_id"] for one in handed} == {ada.owner}
    assert "file.uploaded" in {one["action"] for one in handed}


def test_erasing_everything_erases_the_log_and_leaves_that_it_was_erased(
    accounts: Server, administrator: Browser
) -> None:
    ada = signed_up(accounts.url, "audit-erased@example.org")
    ada.get(f"/resources/{add(ada)}/events")
    receipt = ada.call("POST", "/erasure", json={"confirm": "erase everything"}).json()
    places = {one["place"]: (one["before"], one["after"]) for one in receipt["removed"]}
    assert receipt["complete"], receipt
    assert places["table audit_log"] == (2, 0)
    left = [one for one in entries(administrator, owner="all") if ada.owner in json.dumps(one)]
    assert [(one["action"], one["owner_id"], one["subject"], one["actor_name"]) for one in left] == [
        ("data.erased", None, ada.owner, None)
    ]


@pytest.fixture
def alone(tmp_path: Path) -> Iterator[Server]:
    """A server of this test alone, whose database it may break."""
    with InProcessServer(tmp_path / "data") as running:
        yield running


def execute(server: Server, statement: str) -> None:
    with sqlite3.connect(server.data / "citewell.db", timeout=30) as connection:
        connection.execute(statement)
    connection.close()


def refuse(server: Server, table: str) -> None:
    execute(server, f"CREATE TRIGGER broken_{table} BEFORE INSERT ON {table} BEGIN SELECT RAISE(ABORT, 'broken'); END")


def own_log(server: Server, **wanted: str) -> list[tuple[str, str, str]]:
    found = server.client.get("/audit", params=wanted).raise_for_status().json()["entries"]
    return [(one["action"], one["outcome"], one["subject"]) for one in found]


def test_what_cannot_be_noted_before_it_is_done_is_not_done(alone: Server) -> None:
    file = alone.add("a.txt", b"The vault opens with 4711.")["id"]
    refuse(alone, "audit_begun")
    refused = alone.client.delete(f"/resources/{file}", headers={"Connection": "close"})
    assert refused.status_code == 500
    execute(alone, "DROP TRIGGER broken_audit_begun")
    assert alone.client.get(f"/resources/{file}").status_code == 200


def test_an_entry_that_cannot_be_written_is_written_once_it_can(alone: Server) -> None:
    file = alone.add("a.txt", b"The vault opens with 4711.")["id"]
    refuse(alone, "audit_log")
    assert alone.client.get(f"/resources/{file}/file").status_code == 200
    assert alone.client.delete(f"/resources/{file}").status_code == 200
    assert own_log(alone, action="file.deleted") == []
    execute(alone, "DROP TRIGGER broken_audit_log")
    for _ in range(600):
        if own_log(alone, action="file.deleted"):
            break
        time.sleep(0.1)
    assert own_log(alone, action="file.deleted") == [("file.deleted", "done", file)]
    assert own_log(alone, action="file.downloaded") == [("file.downloaded", "done", file)]


@pytest.mark.full
def test_a_server_that_dies_before_it_could_say_what_came_of_a_change_leaves_that_it_was_begun(tmp_path: Path) -> None:
    with RunningServer(tmp_path / "data") as server:
        file = server.add("a.txt", b"The vault opens with 4711.")["id"]
        refuse(server, "audit_log")
        assert server.client.delete(f"/resources/{file}").status_code == 200
        server.kill()
        execute(server, "DROP TRIGGER broken_audit_log")
        server.start()
        assert own_log(server, action="file.deleted") == [("file.deleted", "interrupted", file)]


class Flaky(AuditRepository):
    """Writes when it can."""

    def __init__(self) -> None:
        self.is_away = True
        self.tried = 0
        self.written: list[AuditEntry] = []

    async def add(self, entries: Any) -> None:
        self.tried += 1
        if self.is_away:
            raise DiskFull
        self.written += entries

    async def finish_interrupted(self) -> int:
        return 0

    async def prune(self, before: float) -> int:
        return 0


def an_entry(name: str) -> AuditEntry:
    return AuditEntry(
        at=0.0,
        owner_id=None,
        actor=AuditActor.NOBODY,
        action=AuditAction.FILE_READ,
        outcome=AuditOutcome.DONE,
        request_id=name,
    )


async def test_entries_of_a_failed_write_are_kept_and_written_later(monkeypatch: pytest.MonkeyPatch) -> None:
    store = Flaky()
    audit = AuditLog(repository=store, days=1, pause_seconds=0.001)
    await audit.start()
    for name in "abc":
        await audit.write(an_entry(name), is_noted=False)
    assert store.tried > 0
    assert store.written == []
    monkeypatch.setattr(audit_service, "MAX_WAITING", 3)
    with pytest.raises(Unavailable):
        await audit.write(an_entry("d"), is_noted=False)
    await audit.write(an_entry("e"), is_noted=True)  # on disk already
    store.is_away = False
    await audit.stop()
    assert [one.request_id for one in store.written] == ["a", "b", "c"]


async def test_entries_that_can_never_be_written_are_told_to_the_servers_log(caplog: pytest.LogCaptureFixture) -> None:
    audit = AuditLog(repository=Flaky(), days=1, pause_seconds=0.001)
    await audit.start()
    await audit.write(an_entry("kept"), is_noted=False)
    await audit.stop()
    told = [record.getMessage() for record in caplog.records if record.getMessage().startswith("audit {")]
    assert [json.loads(line.removeprefix("audit "))["request_id"] for line in told] == ["kept"]


async def test_what_is_written_is_written_when_write_returns() -> None:
    store = Flaky()
    store.is_away = False
    audit = AuditLog(repository=store, days=1)
    await audit.start()
    await audit.write(an_entry("a"), is_noted=False)
    assert [one.request_id for one in store.written] == ["a"]
    await audit.stop()


@pytest.mark.parametrize(
    ("address", "network"),
    [("203.0.113.77", "203.0.113.0/24"), ("2001:db8:1:2:3::4", "2001:db8:1::/48"), ("testclient", ""), ("", "")],
)
def test_addresses_are_kept_as_networks(address: str, network: str) -> None:
    assert shortened(address) == network
