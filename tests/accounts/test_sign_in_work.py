"""A failed sign-in and a forgotten password are the same work whether or not there is such an account, so that their time does not tell; and neither
can fill the audit log."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
import sqlalchemy as sa
from sqlalchemy import event

from citewell.app import build
from citewell.features.accounts import service as accounts_service
from citewell.settings import load_settings
from citewell.storage.accounts.audit_tables import audit_log
from citewell.storage.database import Database
from tests.accounts.people import PASSWORD

pytestmark = pytest.mark.full

ADA = "ada@example.org"


@dataclass(frozen=True)
class Door:
    """The sign-in of a server in this process, and its database."""

    client: httpx.AsyncClient
    database: Database

    async def try_as(self, email: str, status: int = 401) -> None:
        body = {"email": email, "password": "not the right one"}
        response = await self.client.post("/session/password", json=body)
        assert response.status_code == status, response.text

    @contextmanager
    def statements(self) -> Generator[list[str]]:
        """What is executed within the block."""
        found: list[str] = []

        def note(_connection: Any, _cursor: Any, statement: str, *_others: Any) -> None:
            found.append(statement)

        engine = self.database._engine.sync_engine  # pyright: ignore[reportPrivateUsage]
        reader = self.database._reader  # pyright: ignore[reportPrivateUsage]
        assert reader is not None
        for one in (engine, reader):
            event.listen(one, "before_cursor_execute", note)
        yield found
        for one in (engine, reader):
            event.remove(one, "before_cursor_execute", note)

    async def failures(self) -> int:
        """Entries of refused sign-ins in the log."""
        refused = audit_log.c.outcome == "refused"
        query = sa.select(sa.func.count().label("entries")).select_from(audit_log).where(refused)
        return (await self.database.rows(query))[0]["entries"]


@pytest.fixture
async def door(tmp_path: Path) -> AsyncIterator[Door]:
    mail = {"smtp_url": "smtp://127.0.0.1:1", "mail_from": "c@example.org", "public_url": "http://127.0.0.1:8000"}
    app = build(load_settings(data=tmp_path / "data", accounts=True, sign_up="open", workers=0, **mail))
    transport = httpx.ASGITransport(app)
    async with (
        app.router.lifespan_context(app),
        httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1", timeout=60) as client,
    ):
        made = await client.post("/account", json={"email": ADA, "password": PASSWORD})
        assert made.status_code == 201, made.text
        client.cookies.clear()
        database = app.state.services.accounts.people._database
        yield Door(client, database)


async def test_the_same_statements_run_for_an_account_and_for_none(door: Door) -> None:
    for email in (ADA, "nobody@example.org"):
        await door.try_as(email)
    executed: dict[str, list[str]] = {}
    for email in (ADA, "nobody@example.org", "nobody@example.org", ADA, "else@example.org"):
        before = await door.failures()
        with door.statements() as found:
            await door.try_as(email)
        assert await door.failures() == before + 1
        executed.setdefault(email, found)
        assert found == executed[email]
    assert any("audit_log" in statement for statement in executed[ADA])
    assert executed[ADA] == executed["nobody@example.org"] == executed["else@example.org"]


async def test_the_same_statements_run_when_a_reset_is_asked_for_an_account_and_for_none(door: Door) -> None:
    """Until the message is sent, which is seconds later."""
    executed: list[tuple[int, list[str]]] = []
    for email in ("nobody@example.org", "else@example.org", ADA, "other@example.org", ADA):
        before = door.database.writes
        with door.statements() as found:
            response = await door.client.post("/account/password-reset", json={"email": email})
            assert response.status_code == 202, response.text
            await asyncio.sleep(0.2)  # whatever the request has left to be done
        executed.append((door.database.writes - before, found))
    assert any("INTO password_resets" in statement for statement in executed[0][1])
    assert executed[1:] == executed[1:2] * 4


async def test_guessing_from_one_network_does_not_fill_the_log(door: Door, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(accounts_service, "MAX_PER_NETWORK", 3)
    for n in range(3):
        await door.try_as(f"guess-{n}@example.org")
    kept = await door.failures()
    for email in ("another@example.org", ADA):
        await door.try_as(email, 429)
    assert await door.failures() == kept == 3
