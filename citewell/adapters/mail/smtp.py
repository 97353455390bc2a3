"""Sends mail through an SMTP server (RFC 5321), with TLS unless the server is this machine."""

from __future__ import annotations

import asyncio
import smtplib
import ssl
from dataclasses import dataclass
from email.errors import HeaderParseError
from email.headerregistry import Address
from email.message import EmailMessage
from email.policy import SMTP
from email.utils import formatdate, make_msgid

from citewell.errors import Unavailable

_SECONDS = 20.0
SUBMISSION, SUBMISSION_OVER_TLS = 587, 465
"""The ports that RFC 6409 and RFC 8314 give to servers that take mail from programs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SmtpMailer:
    """Implements `citewell.features.accounts.resets.Mailer`.

    is_tls: the connection begins with TLS; otherwise it is turned to TLS before anything is said (STARTTLS), unless `is_local`, where
    only this machine can listen. credentials: user and password, for servers that ask for them.
    """

    host: str
    port: int
    is_tls: bool
    is_local: bool
    sender: str
    credentials: tuple[str, str] | None = None

    async def send(self, recipient: str, subject: str, text: str) -> None:
        """Hand over a message in plain text to one address. Raises `Unavailable` when the server does not take it."""
        message = self._message(recipient, subject, text)
        try:
            await asyncio.to_thread(self._hand_over, message, recipient)
        except (OSError, smtplib.SMTPException) as error:
            raise Unavailable(f"The mail server has not taken the message: {_reason(error)}.") from error

    def _message(self, recipient: str, subject: str, text: str) -> EmailMessage:
        message = EmailMessage(policy=SMTP)
        message["From"] = self.sender
        try:
            message["To"] = Address(addr_spec=recipient)
        except (ValueError, IndexError, HeaderParseError) as error:
            raise Unavailable("The address cannot be written in the header of a message.") from error
        message["Subject"] = subject
        message["Date"] = formatdate()
        message["Message-ID"] = make_msgid(domain=self.sender.partition("@")[2])
        message["Auto-Submitted"] = "auto-generated"  # RFC 3834: no program answers it
        message.set_content(text)
        return message

    def _hand_over(self, message: EmailMessage, recipient: str) -> None:
        with self._connected() as server:
            if self.credentials is not None:
                server.login(*self.credentials)
            server.send_message(message, from_addr=self.sender, to_addrs=[recipient])

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


def _reason(error: OSError | smtplib.SMTPException) -> str:
    """What the server said, without the addresses and the login that its words may repeat."""
    if isinstance(error, smtplib.SMTPRecipientsRefused):
        codes = sorted({str(code) for code, _ in error.recipients.values()})
        return f"it refuses the recipient ({', '.join(codes)})"
    if isinstance(error, smtplib.SMTPResponseException):
        return f"it answers {error.smtp_code}"
    if isinstance(error, ssl.SSLError):
        return f"its TLS cannot be trusted ({error.reason or 'unknown reason'})"
    if isinstance(error, smtplib.SMTPNotSupportedError):
        return str(error).rstrip(".")
    return (
        type(error).__name__ if isinstance(error, smtplib.SMTPException) else (error.strerror or type(error).__name__)
    )
