"""A mail server as far as a program that hands over mail sees one: RFC 5321, STARTTLS (RFC 3207) and AUTH PLAIN (RFC 4954)."""

from __future__ import annotations

import base64
import socketserver
import ssl
import threading
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from email import message_from_bytes, policy
from email.message import EmailMessage
from pathlib import Path


@dataclass
class Delivery:
    """A message that was taken: for whom, what, and whether the connection was safe."""

    recipients: list[str]
    message: EmailMessage
    was_over_tls: bool


@dataclass
class MailServer:
    """What a server requires and refuses, and what it has taken.

    certificate: for TLS, at once or with STARTTLS; login: the user and the password that it asks for; put_off: how many messages
    it refuses for now (451) before it takes one; unknown: recipients that it does not have (550).
    """

    certificate: Path | None = None
    at_once: bool = False
    login: tuple[str, str] | None = None
    put_off: int = 0
    unknown: frozenset[str] = frozenset()
    port: int = 0
    deliveries: list[Delivery] = field(default_factory=list[Delivery])
    came: threading.Condition = field(default_factory=threading.Condition)

    def to(self, recipient: str) -> list[Delivery]:
        """What was taken for a recipient."""
        return [one for one in self.deliveries if recipient in one.recipients]

    def wait(self, recipient: str, count: int = 1, seconds: float = 20.0) -> list[Delivery]:
        """The same, as soon as there is so much of it."""
        with self.came:
            assert self.came.wait_for(lambda: len(self.to(recipient)) >= count, seconds), f"no mail came to {recipient}"
            return self.to(recipient)

    def secured(self) -> ssl.SSLContext:
        """The server's side of TLS."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        assert self.certificate is not None
        context.load_cert_chain(self.certificate)
        return context


class _Session(socketserver.StreamRequestHandler):
    is_secure = is_known = False

    def handle(self) -> None:
        mail = self._mail()
        if mail.at_once:
            self._secure()
        self._say("220 mail.example ESMTP")
        recipients: list[str] = []
        while line := self.rfile.readline():
            verb, _, rest = line.decode().strip().partition(" ")
            match verb.upper():
                case "EHLO" | "HELO":
                    self._say(*self._offers())
                case "STARTTLS":
                    self._say("220 go ahead")
                    self._secure()
                case "AUTH":
                    _, user, password = base64.b64decode(rest.partition(" ")[2]).decode().split("\0")
                    self.is_known = (user, password) == mail.login
                    self._say("235 welcome" if self.is_known else "535 the password is wrong")
                case "MAIL":
                    recipients = []
                    self._say("250 ok" if mail.login is None or self.is_known else "530 log in first")
                case "RCPT":
                    recipients.append(rest.partition("<")[2].partition(">")[0])
                    self._say("550 no such user" if recipients[-1] in mail.unknown else "250 ok")
                case "DATA":
                    self._take(recipients)
                case "QUIT":
                    self._say("221 bye")
                    return
                case _:
                    self._say("250 ok")

    def _mail(self) -> MailServer:
        assert isinstance(self.server, _Listener)
        return self.server.mail

    def finish(self) -> None:
        super().finish()
        self.connection.close()  # with TLS it is another one than the listener closes

    def _offers(self) -> list[str]:
        mail = self._mail()
        offered = ["mail.example", "8BITMIME"]
        if mail.certificate is not None and not self.is_secure:
            offered.append("STARTTLS")
        if mail.login is not None:
            offered.append("AUTH PLAIN")
        return [f"250-{one}" for one in offered[:-1]] + [f"250 {offered[-1]}"]

    def _take(self, recipients: list[str]) -> None:
        mail = self._mail()
        self._say("354 end with a dot")
        lines: list[bytes] = []
        while (line := self.rfile.readline()) not in (b".\r\n", b""):
            lines.append(line.removeprefix(b".") if line.startswith(b"..") else line)
        if mail.put_off:
            mail.put_off -= 1
            self._say("451 try again later")
            return
        message = message_from_bytes(b"".join(lines), policy=policy.default)
        assert isinstance(message, EmailMessage)
        with mail.came:
            mail.deliveries.append(Delivery(recipients, message, self.is_secure))
            mail.came.notify_all()
        self._say("250 taken")

    def _secure(self) -> None:
        self.connection = self._mail().secured().wrap_socket(self.connection, server_side=True)
        self.rfile, self.wfile = self.connection.makefile("rb"), self.connection.makefile("wb", 0)
        self.is_secure = True

    def _say(self, *lines: str) -> None:
        self.wfile.write("".join(f"{line}\r\n" for line in lines).encode())


class _Listener(socketserver.ThreadingTCPServer):
    daemon_threads = True
    allow_reuse_address = True

    def __init__(self, mail: MailServer) -> None:
        super().__init__(("127.0.0.1", 0), _Session)
        self.mail = mail

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that leaves in the middle, or trusts the certificate not, is nothing to report."""


@contextmanager
def mail_server(mail: MailServer) -> Generator[MailServer]:
    """Have it listen on this machine until the block ends."""
    with _Listener(mail) as listener:
        mail.port = listener.server_address[1]
        thread = threading.Thread(target=listener.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
        thread.start()
        try:
            yield mail
        finally:
            listener.shutdown()
            thread.join()
