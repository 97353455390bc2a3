"""Forgotten passwords: a link for setting a new one, sent to the account's address or created on the server."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import dataclass, field
from random import SystemRandom
from typing import Protocol

from citewell.errors import Forbidden, NotFound, ProviderError, ProviderUnavailable
from citewell.features.accounts.passwords import check_password
from citewell.features.accounts.service import MAX_PER_ADDRESS, MAX_PER_NETWORK, AccountService, From, checked_email
from citewell.features.addresses import network_of, shortened
from citewell.storage.accounts.password_resets import PasswordResetRepository
from citewell.types.accounts import Person, PersonState
from citewell.types.audit import AuditAction

log = logging.getLogger(__name__)
VALID_SECONDS = 3_600.0
"""How long a link is valid."""
MAX_MAILS = 3
"""Requests for one address in a quarter of an hour."""
_OFF = "This server does not send e-mail. Ask its operator for a link from `citewell accounts reset-password`."
_OVER = "This link is no longer valid. Request another one."
# Mail servers defer messages from unknown senders (RFC 5321, section 4.5.4.1).
_PAUSES = (5.0, 60.0)
_DELAYS = (1.0, 3.0)
_random = SystemRandom()
_SUBJECT = "Set a new password for Citewell"
_TEXT = """\
Somebody has asked for a new password for your account at {server}.

If it was you, set it here within an hour:

{link}

It signs you out everywhere. If it was not you, ignore this message: your password stays as it is.
"""


class Mailer(Protocol):
    """Sends mail."""

    async def send(self, recipient: str, subject: str, text: str) -> None:
        """Send a plain-text message to one address. Raises `ProviderError`."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class PasswordResetService:
    """Resets forgotten passwords. mailer: None if this server sends no e-mail; public_url: the prefix of links.

    delays: the range of seconds before a message is sent, so that the timing of this and later requests reveals nothing.
    """

    accounts: AccountService
    resets: PasswordResetRepository
    public_url: str
    mailer: Mailer | None = None
    pauses: Sequence[float] = _PAUSES
    delays: tuple[float, float] = _DELAYS
    _sending: set[asyncio.Task[None]] = field(default_factory=set[asyncio.Task[None]])

    async def ask(self, email: str, sender: From) -> str | None:
        """Send a link to the account with this address, if there is one, after returning, so that the response reveals nothing.

        Returns the account's owner, for the audit log. Raises `NotFound` if this server sends no e-mail.
        """
        self.accounts.require()
        if self.mailer is None:
            raise NotFound(_OFF)
        email = checked_email(email)
        await self.accounts.count("reset network", shortened(sender.address), MAX_PER_NETWORK)
        await self.accounts.count("reset address", network_of(sender.address), MAX_PER_ADDRESS)
        await self.accounts.count("reset", email, MAX_MAILS)
        person, known = await self.accounts.people.by_email(email) or (None, None)
        recipient = person if known is not None and person is not None and person.state is PersonState.ACTIVE else None
        link = await self._link(recipient)
        if recipient is not None:
            task = asyncio.create_task(self._send(self.mailer, recipient, link))
            self._sending.add(task)
            task.add_done_callback(self._sending.discard)
        return person and person.owner_id

    async def reset(self, secret: str, password: str, sender: From) -> Person:
        """Set the password of a link's account. Raises `Forbidden` if the link was used or expired, or its account may not sign in."""
        self.accounts.require()
        await self.accounts.count("reset use", network_of(sender.address), MAX_PER_ADDRESS)
        person = await self.resets.person(secret)
        if person is None:
            raise Forbidden(_OVER)
        check_password(password, person.email)
        if await self.resets.use(secret, await self.accounts.passwords.hash(password)) is None:
            raise Forbidden(_OVER)
        await self.accounts.attempts.forget("account", person.email)
        self.accounts.auth.forget()
        return person

    async def link(self, email: str) -> str:
        """A link for the person with this address, for the command line. Raises `NotFound`, and `Forbidden` for a suspended person."""
        found = await self.accounts.people.by_email(checked_email(email))
        if found is None:
            raise NotFound("No account has this address.")
        if found[0].state is not PersonState.ACTIVE:
            raise Forbidden("This person is suspended. Reinstate them first.")
        link = await self._link(found[0])
        await self.accounts.note_here(AuditAction.RESET_ASKED, found[0])
        return link

    async def sent(self) -> None:
        """Wait until all messages are sent."""
        await asyncio.gather(*self._sending, return_exceptions=True)

    async def close(self) -> None:
        """Drop unsent messages: people can request them again."""
        for task in self._sending:
            task.cancel()
        await self.sent()

    async def _link(self, person: Person | None) -> str:
        """A link with its secret after #, which stays in the browser and out of logs. Without a person it takes as long and is invalid."""
        secret = await self.resets.create(person and person.id, VALID_SECONDS)
        return f"{self.public_url.rstrip('/')}/#reset={secret}"

    async def _send(self, mailer: Mailer, person: Person, link: str) -> None:
        await asyncio.sleep(_random.uniform(*self.delays))
        try:
            text = _TEXT.format(server=self.public_url, link=link)
            for pause in (*self.pauses, None):
                try:
                    await mailer.send(person.email, _SUBJECT, text)
                    return
                except ProviderError as error:
                    log.warning("a link to reset a password was not sent to %s: %s", person.id, error.message)
                    if not isinstance(error, ProviderUnavailable):  # a later attempt would fail too
                        return
                if pause is not None:
                    await asyncio.sleep(pause)
        except Exception:  # nobody awaits this task, so the log is the only place to report it
            log.exception("a link to reset a password was not sent to %s", person.id)
