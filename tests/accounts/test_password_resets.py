"""A forgotten password is reset with a link that is sent to the account's address, or made on the server; and nobody else learns or gains anything."""

from __future__ import annotations

import json
import logging
import re
import subprocess
import sys
import time
import uuid
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import httpx
import pytest

from citewell.composition.accounts import open_password_resets
from citewell.errors import ConfigurationError, Forbidden, NotFound
from citewell.features.accounts.resets import MAX_MAILS, VALID_SECONDS, PasswordResetService
from citewell.features.accounts.service import From
from citewell.settings import Settings, load_settings
from citewell.storage.accounts import password_resets
from tests.accounts.people import PASSWORD, Browser, signed_up
from tests.contract_servers.smtp import MailServer, mail_server
from tests.server.in_process import InProcessServer
from tests.server.running import Server

pytestmark = pytest.mark.full

FRESH = "a different set of words"
SOMEBODY = From(agent="", address="127.0.0.1", is_here=True)


def address() -> str:
    return f"{uuid.uuid4().hex[:12]}@example.org"


@pytest.fixture(scope="module")
def mail() -> Iterator[MailServer]:
    with mail_server(MailServer(login=("citewell", "mail-password-1"))) as running:
        yield running


@pytest.fixture(scope="module")
def server(mail: MailServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server that sends mail."""
    environment = {
        "CITEWELL_ACCOUNTS": "on",
        "CITEWELL_SIGN_UP": "open",
        "CITEWELL_SMTP_URL": f"smtp://127.0.0.1:{mail.port}",
        "CITEWELL_SMTP_USER": "citewell",
        "CITEWELL_SMTP_PASSWORD": "mail-password-1",
        "CITEWELL_MAIL_FROM": "citewell@example.org",
        "CITEWELL_PUBLIC_URL": "https://files.example.org",
    }
    with InProcessServer(tmp_path_factory.mktemp("mail") / "data", **environment) as running:
        signed_up(running.url, "first@example.org")
        yield running


def asked(server: Server, email: str) -> httpx.Response:
    return Browser(server.url).call("POST", "/account/password-reset", json={"email": email})


def secret_for(server: Server, mail: MailServer, email: str) -> str:
    """The secret of the link that comes."""
    recipient = email.strip().lower()
    before = len(mail.to(recipient))
    assert asked(server, email).status_code == 202
    text = "\n".join(mail.wait(recipient, before + 1)[-1].message.get_content().splitlines())
    found = re.search(r"^https://files\.example\.org/#reset=([\w-]{43})$", text, re.MULTILINE)
    assert found is not None
    return found[1]


def set_with(server: Server, secret: str, password: str = FRESH) -> httpx.Response:
    return Browser(server.url).call("POST", "/account/password", json={"reset": secret, "password": password})


@pytest.mark.slow(20)
def test_the_link_sets_another_password_once_and_signs_out_everywhere(server: Server, mail: MailServer) -> None:
    email = address()
    ada = signed_up(server.url, email)
    assert ada.get("/session").json()["sends_mail"] is True
    secret, other = secret_for(server, mail, f" {email.upper()} "), secret_for(server, mail, email)
    assert set_with(server, secret).status_code == 204
    assert Browser(server.url).sign_in(email).status_code == 401
    assert Browser(server.url).sign_in(email, FRESH).status_code == 200
    end = time.monotonic() + 5
    while ada.get("/account").status_code != 401:
        assert time.monotonic() < end
        time.sleep(0.1)
    for used in (secret, other):
        assert set_with(server, used, PASSWORD).json()["error"]["code"] == "forbidden"
    assert Browser(server.url).sign_in(email, FRESH).status_code == 200


@pytest.mark.slow(20)
def test_an_unknown_address_gets_the_same_answer_and_no_mail(server: Server, mail: MailServer) -> None:
    email, nobody = address(), address()
    signed_up(server.url, email)
    unknown, known = asked(server, nobody), asked(server, email)
    assert (unknown.status_code, unknown.content) == (known.status_code, known.content)
    assert unknown.headers.keys() == known.headers.keys()
    mail.wait(email)
    assert mail.to(nobody) == []


@pytest.mark.slow(20)
def test_what_is_asked_for_is_limited_for_known_and_unknown_addresses_alike(server: Server) -> None:
    email, unknown = address(), address()
    signed_up(server.url, email)
    for one in (email, unknown):
        statuses = [asked(server, one).status_code for _ in range(MAX_MAILS + 1)]
        assert statuses == [202] * MAX_MAILS + [429]


@pytest.mark.slow(20)
def test_a_password_that_is_easily_guessed_leaves_the_link_valid(server: Server, mail: MailServer) -> None:
    email = address()
    signed_up(server.url, email)
    secret = secret_for(server, mail, email)
    response = set_with(server, secret, "short")
    assert [one["field"] for one in response.json()["error"]["details"]["fields"]] == ["body.password"]
    assert set_with(server, secret).status_code == 204


@pytest.mark.slow(20)
def test_another_password_and_a_suspension_end_the_link(server: Server, mail: MailServer) -> None:
    email, suspended = address(), address()
    ada, ben = signed_up(server.url, email), signed_up(server.url, suspended)
    secrets = secret_for(server, mail, email), secret_for(server, mail, suspended)
    ada.call("PATCH", "/account", json={"current_password": PASSWORD, "password": "yet another set of words"})
    administrator = Browser(server.url)
    administrator.sign_in("first@example.org")
    person = ben.get("/account").json()["id"]
    assert administrator.call("PATCH", f"/people/{person}", json={"state": "suspended"}).status_code == 200
    assert [set_with(server, secret).status_code for secret in secrets] == [403, 403]


@pytest.mark.slow(20)
def test_the_log_says_that_it_was_asked_for_and_done_and_has_no_secret(
    server: Server, mail: MailServer, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    email = address()
    signed_up(server.url, email)
    secret = secret_for(server, mail, email)
    assert set_with(server, secret).status_code == 204
    ada = Browser(server.url)
    ada.sign_in(email, FRESH)
    log = ada.get("/audit").text
    actions = [one["action"] for one in json.loads(log)["entries"]]
    assert {"account.password_reset_requested", "account.password_reset"} <= set(actions)
    assert secret not in log
    assert secret not in caplog.text


@pytest.mark.slow(20)
@pytest.mark.parametrize("path", ["/account/password-reset", "/account/password"])
def test_another_sites_page_asks_for_nothing(server: Server, path: str) -> None:
    body = {"email": address()} if path.endswith("reset") else {"reset": "x", "password": FRESH}
    response = httpx.post(f"{server.url}{path}", json=body, headers={"Sec-Fetch-Site": "cross-site"})
    assert response.json()["error"]["code"] == "foreign_request"


@pytest.mark.slow(20)
def test_a_server_without_mail_says_who_makes_a_link(accounts: Server, administrator: Browser) -> None:
    email = address()
    ada = signed_up(accounts.url, email)
    assert ada.get("/session").json()["sends_mail"] is False
    assert "reset-password" in asked(accounts, email).json()["error"]["message"]
    command = [sys.executable, "-m", "citewell.cli", "accounts", "reset-password", email, "--data", str(accounts.data)]
    made = subprocess.run([*command, "--json"], capture_output=True, text=True, check=True, timeout=120)
    link = json.loads(made.stdout)["link"]
    assert set_with(accounts, link.partition("#reset=")[2]).status_code == 204
    assert Browser(accounts.url).sign_in(email, FRESH).status_code == 200


@pytest.fixture
async def settings(tmp_path: Path) -> Settings:
    return load_settings(data=tmp_path, accounts=True, sign_up="open")


async def ready(resets: PasswordResetService, email: str = "ada@example.org") -> str:
    """Somebody has an account there."""
    await resets.accounts.sign_up("first@example.org", "", PASSWORD, None, SOMEBODY)
    await resets.accounts.sign_up(email, "", PASSWORD, None, SOMEBODY)
    return email


async def test_a_link_is_good_for_an_hour(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    async with open_password_resets(settings) as resets:
        email = await ready(resets)
        secret = (await resets.link(email)).partition("#reset=")[2]
        now = time.time()
        monkeypatch.setattr(password_resets.time, "time", lambda: now + VALID_SECONDS + 1)
        with pytest.raises(Forbidden, match="no longer valid"):
            await resets.reset(secret, FRESH, SOMEBODY)


async def test_a_link_is_made_for_nobody_who_may_not_sign_in(settings: Settings) -> None:
    async with open_password_resets(settings) as resets:
        await ready(resets)
        with pytest.raises(NotFound):
            await resets.link("nobody@example.org")


async def test_a_message_that_is_put_off_is_sent_again(settings: Settings) -> None:
    with mail_server(MailServer(put_off=2)) as mail:
        fields = {"smtp_url": f"smtp://127.0.0.1:{mail.port}", "mail_from": "c@example.org"}
        sends = load_settings(
            data=settings.data, accounts=True, sign_up="open", public_url="http://127.0.0.1:8000", **fields
        )
        async with open_password_resets(sends) as opened:
            resets = replace(opened, pauses=(0.01, 0.01), delays=(0.0, 0.0))
            email = await ready(resets)
            await resets.ask(email, SOMEBODY)
            await resets.sent()
        assert [one.recipients for one in mail.deliveries] == [[email]]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"mail_from": "c@example.org"}, "SMTP_URL.*must be set too"),
        ({"smtp_url": "smtp://localhost"}, "MAIL_FROM.*PUBLIC_URL.*must be set too"),
        ({"smtp_url": "smtp://localhost", "mail_from": "Citewell <c@example.org>"}, "without a name"),
        ({"smtp_url": "smtp://ada:secret@localhost"}, "without a user and a password"),
        ({"smtp_url": "http://localhost"}, "smtp://"),
        ({"smtp_user": "ada"}, "SMTP_URL"),
        ({"public_url": "http://files.example.org"}, "https://"),
        ({"public_url": "https://files.example.org/path"}, "must end with the host"),
        ({"accounts": False}, "must be on"),
    ],
    ids=["no server", "no sender", "a name", "credentials", "http", "a user alone", "no tls", "a path", "no accounts"],
)
def test_settings_that_send_no_mail_are_refused(tmp_path: Path, given: dict[str, object], said: str) -> None:
    complete = {"smtp_url": "smtp://localhost", "mail_from": "c@example.org", "public_url": "https://files.example.org"}
    with_others = given.keys() & {"public_url", "accounts"}
    with pytest.raises(ConfigurationError, match=said):
        load_settings(data=tmp_path, **{"accounts": True} | (complete if with_others else {}) | given)
