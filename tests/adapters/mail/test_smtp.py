"""Mail is handed over safely or not at all, and to nobody but whom it is for."""

from __future__ import annotations

from pathlib import Path

import pytest

from citewell.adapters.mail.smtp import SmtpMailer
from citewell.doctor.probing import probe_providers
from citewell.errors import ProviderAuthError, ProviderError, ProviderRejected, ProviderUnavailable
from citewell.settings import load_settings
from tests.contract_servers.certificates import write_certificate
from tests.contract_servers.smtp import MailServer, mail_server

SENDER, ADA = "citewell@example.org", "ada@example.org"
SECRET = "a long password that no log may have"


def mailer(
    mail: MailServer, *, is_tls: bool = False, is_local: bool = False, credentials: tuple[str, str] | None = None
) -> SmtpMailer:
    return SmtpMailer(
        host="127.0.0.1", port=mail.port, is_tls=is_tls, is_local=is_local, sender=SENDER, credentials=credentials
    )


@pytest.fixture
def trusted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A certificate that this machine trusts."""
    certificate = write_certificate(tmp_path)
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    return certificate


@pytest.mark.parametrize("at_once", [False, True], ids=["starttls", "tls"])
async def test_a_message_arrives_over_tls_with_all_that_a_message_must_have(trusted: Path, at_once: bool) -> None:
    with mail_server(MailServer(certificate=trusted, at_once=at_once, login=("ada", SECRET))) as mail:
        await mailer(mail, is_tls=at_once, credentials=("ada", SECRET)).send(ADA, "Grüße", "Zwölf\n.\nZeilen")
        (delivery,) = mail.wait(ADA)
    message = delivery.message
    assert delivery.was_over_tls
    assert delivery.recipients == [ADA]
    assert (message["From"], message["To"], message["Subject"]) == (SENDER, ADA, "Grüße")
    assert message["Auto-Submitted"] == "auto-generated"
    assert message["Message-ID"].endswith("@example.org>")
    assert message["Date"]
    assert message.get_content().splitlines() == ["Zwölf", ".", "Zeilen"]


async def test_nothing_is_said_to_a_server_elsewhere_that_offers_no_tls() -> None:
    with mail_server(MailServer()) as mail:
        with pytest.raises(ProviderRejected, match="STARTTLS"):
            await mailer(mail).send(ADA, "x", "y")
        assert mail.deliveries == []


async def test_a_server_on_this_machine_needs_no_tls() -> None:
    with mail_server(MailServer()) as mail:
        await mailer(mail, is_local=True).send(ADA, "x", "y")
        assert [one.was_over_tls for one in mail.wait(ADA)] == [False]


async def test_a_certificate_that_nobody_vouches_for_is_refused(tmp_path: Path) -> None:
    with mail_server(MailServer(certificate=write_certificate(tmp_path))) as mail:
        with pytest.raises(ProviderUnavailable, match="cannot be trusted"):
            await mailer(mail).send(ADA, "x", "y")
        assert mail.deliveries == []


@pytest.mark.parametrize(
    ("mail", "kind", "said"),
    [
        (MailServer(login=("ada", "another password")), ProviderAuthError, "password .535."),
        (MailServer(unknown=frozenset({ADA})), ProviderRejected, "rejected the recipient .550."),
        (MailServer(put_off=1), ProviderUnavailable, "not accept the message .451."),
    ],
    ids=["login", "recipient", "later"],
)
async def test_a_refusal_says_why_and_repeats_neither_the_password_nor_the_address(
    mail: MailServer, kind: type[ProviderError], said: str
) -> None:
    credentials = ("ada", SECRET) if mail.login else None
    with mail_server(mail), pytest.raises(kind, match=said) as caught:
        await mailer(mail, is_local=True, credentials=credentials).send(ADA, "x", "y")
    assert SECRET not in str(caught.value)
    assert ADA not in str(caught.value)


async def test_a_server_that_is_not_there_is_an_error_and_no_traceback() -> None:
    with mail_server(MailServer()) as mail:
        pass
    with pytest.raises(ProviderUnavailable, match="cannot be reached"):
        await mailer(mail, is_local=True).send(ADA, "x", "y")


@pytest.mark.parametrize(
    "address", ["ada,ben@example.org", "<ada@example.org>", "ada@example.org\nBcc: ben@example.org"]
)
async def test_an_address_cannot_name_others(address: str) -> None:
    with mail_server(MailServer()) as mail:
        with pytest.raises(ProviderRejected):
            await mailer(mail, is_local=True).send(address, "x", "y")
        assert mail.deliveries == []


@pytest.mark.parametrize("password", [SECRET, "another one"], ids=["right", "wrong"])
async def test_the_doctor_logs_in_and_sends_nothing(password: str, tmp_path: Path) -> None:
    with mail_server(MailServer(login=("ada", SECRET))) as mail:
        settings = load_settings(
            data=tmp_path,
            accounts=True,
            smtp_url=f"smtp://127.0.0.1:{mail.port}",
            smtp_user="ada",
            smtp_password=password,
            mail_from=SENDER,
            public_url="https://files.example.org",
        )
        (found,) = [one for one in await probe_providers(settings) if one.part == "mail"]
    assert mail.deliveries == []
    expected = ("ok", f"127.0.0.1: works ({SENDER}") if password == SECRET else ("error", "127.0.0.1: wrong key")
    assert (found.level, found.text[: len(expected[1])]) == expected
