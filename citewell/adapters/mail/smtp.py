"""Sends mail through an SMTP server (RFC 5321), with TLS unless the server is this machine."""

from __future__ import annotations

import asyncio
import smtplib
import ssl
from collections.abc import Callable
from dataclasses import dataclass
from email.message import EmailMessage
from email.policy import SMTP
from email.utils import formatdate, make_msgid
from urllib.parse import urlsplit

from citewell.errors import ProviderAuthError, ProviderError, ProviderRejected, ProviderUnavailable
from citewell.settings import MailSettings
from citewell.settings.values import is_loopback, parsed_address

_SECONDS = 20.0
# The ports for mail submission (RFC 6409, RFC 8314).
_SUBMISSION, _SUBMISSION_OVER_TLS = 587, 465
_FOR_GOOD = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class SmtpMailer:
    """Implements `citewell.features.accounts.resets.Mailer`.

    is_tls: whether the connection starts with TLS; otherwise it is upgraded before anything is sent (STARTTLS), unless
    `is_local`, where only this machine can listen. credentials: user and password, if the server requires them.
    """

    host: str
    port: int
    is_tls: bool
    is_local: bool
    sender: str
    credentials: tuple[str, str] | None = None

    async def send(self, recipient: str, subject: str, text: str) -> None:
        """Send a plain-text message to one address. Raises `ProviderError` if the server does not accept it."""
        message = self._message(recipient, subject, text)
        await self._with_server(lambda server: server.send_message(message, self.sender, [recipient]))

    async def check(self) -> None:
        """Log in and disconnect. Raises `ProviderError` on failure."""
        await self._with_server(lambda server: server.noop())

    async def _with_server(self, say: Callable[[smtplib.SMTP], object]) -> None:
        def work() -> None:
            with self._connected() as server:
                if self.credentials is not None:
                    server.login(*self.credentials)
                say(server)

        try:
            await asyncio.to_thread(work)
        except (OSError, smtplib.SMTPException) as error:
            raise _typed(error) from error

    def _message(self, recipient: str, subject: str, text: str) -> EmailMessage:
        message = EmailMessage(policy=SMTP)
        message["From"] = self.sender
        try:
            message["To"] = parsed_address(recipient)
        except ValueError as error:
            raise ProviderRejected("The address is not valid in a message header.") from error
        message["Subject"] = subject
        message["Date"] = formatdate()
        message["Message-ID"] = make_msgid(domain=self.sender.partition("@")[2])
        message["Auto-Submitted"] = "auto-generated"  # RFC 3834: suppresses automatic replies
        message.set_content(text)
        return message

    def _connected(self) -> smtplib.SMTP:
        trusted = ssl.create_default_context()
        if self.is_tls:
            return smtplib.SMTP_SSL(self.host, self.port, timeout=_SECONDS, context=trusted)
        server = smtplib.SMTP(self.host, self.port, timeout=_SECONDS)
        try:
            if not self.is_local:
                server.starttls(context=trusted)
        except BaseException:
            server.close()
            raise
        return server


def build(settings: MailSettings) -> SmtpMailer:
    """The mailer for the configured server."""
    assert settings.smtp_url is not None
    assert settings.sender is not None
    parts = urlsplit(settings.smtp_url)
    host, is_tls = parts.hostname or "", parts.scheme == "smtps"
    user, password = settings.user, settings.password
    return SmtpMailer(
        host=host,
        port=parts.port or (_SUBMISSION_OVER_TLS if is_tls else _SUBMISSION),
        is_tls=is_tls,
        is_local=is_loopback(host),
        sender=settings.sender,
        credentials=None if user is None or password is None else (user, password.get_secret_value()),
    )


def _typed(error: OSError | smtplib.SMTPException) -> ProviderError:
    """Our error for a server's reply, without the addresses and credentials that its text may repeat."""
    match error:
        case smtplib.SMTPAuthenticationError():
            return ProviderAuthError(f"The mail server rejected the user or password ({error.smtp_code}).")
        case smtplib.SMTPRecipientsRefused():
            codes = [code for code, _ in error.recipients.values()]
            return _refused("rejected the recipient", max(codes))
        case smtplib.SMTPResponseException():
            return _refused("did not accept the message", error.smtp_code)
        case smtplib.SMTPNotSupportedError():
            return ProviderRejected(f"The mail server lacks a required feature: {str(error).rstrip('.')}.")
        case ssl.SSLError():
            return ProviderUnavailable(
                f"The mail server's TLS certificate cannot be trusted ({error.reason or 'no reason'})."
            )
        case OSError():
            return ProviderUnavailable(f"The mail server cannot be reached: {error.strerror or type(error).__name__}.")
        case _:
            return ProviderUnavailable("The mail server closed the connection.")


def _refused(what: str, code: int) -> ProviderError:
    """The error for a reply code; codes 4xx may be retried (RFC 5321, section 4.2.1)."""
    kind = ProviderUnavailable if code < _FOR_GOOD else ProviderRejected
    return kind(f"The mail server {what} ({code}).")
