"""Passwords: requirements, and hashing with argon2id, which uses memory and time on purpose, so only a few run at once."""

from __future__ import annotations

import asyncio
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING

from citewell.features.requests import invalid_request

if TYPE_CHECKING:
    from argon2 import PasswordHasher

# NIST SP 800-63B: require length, not kinds of characters.
MIN_PASSWORD_LENGTH, MAX_PASSWORD_LENGTH = 12, 256
_MIN_DIFFERENT = 5
_MAX_AT_ONCE = 2  # 64 MiB each
_NOBODYS = "a password that nobody has"


@cache
def second_recommended() -> PasswordHasher:
    """Argon2id as RFC 9106, section 4, recommends for constrained memory: 3 passes over 64 MiB, 4 lanes; above OWASP's minimum."""
    from argon2 import PasswordHasher
    from argon2.profiles import RFC_9106_LOW_MEMORY

    return PasswordHasher.from_parameters(RFC_9106_LOW_MEMORY)


@dataclass(frozen=True, slots=True, kw_only=True)
class Passwords:
    """Hashes and checks passwords, off the event loop. hasher: makes what hashes; called first for the first password."""

    hasher: Callable[[], PasswordHasher] = second_recommended
    _turns: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(_MAX_AT_ONCE))
    _nobodys: list[str] = field(default_factory=list[str])

    async def hash(self, password: str) -> str:
        """The hash to store, with its parameters and a new salt."""
        return await self._run(_normal(password))

    async def matches(self, known: str | None, password: str) -> bool:
        """Whether the password matches the hash. Without a hash it takes as long and returns False."""
        if not self._nobodys:  # created by the first sign-in of any kind
            self._nobodys.append(await self._run(_NOBODYS))
        async with self._turns:
            fits = await asyncio.to_thread(_fits, self.hasher(), known or self._nobodys[0], _normal(password))
        return fits and known is not None

    def is_outdated(self, known: str) -> bool:
        """Whether a hash was made with other than the current parameters."""
        return self.hasher().check_needs_rehash(known)

    async def _run(self, password: str) -> str:
        async with self._turns:
            return await asyncio.to_thread(self.hasher().hash, password)


def check_password(password: str, email: str, field_name: str = "body.password") -> None:
    """Raise `InvalidRequest` for a password that is easily guessed."""
    problem = None
    if len(_normal(password)) < MIN_PASSWORD_LENGTH:
        problem = (
            f"must have at least {MIN_PASSWORD_LENGTH} characters; several words that do not belong together are best"
        )
    elif len(set(password)) < _MIN_DIFFERENT:
        problem = "repeats the same few characters; several words that do not belong together are best"
    elif password.casefold() in (email.casefold(), email.partition("@")[0].casefold()):
        problem = "must not be the e-mail address"
    if problem is not None:
        raise invalid_request([{"field": field_name, "problem": f"The password {problem}."}])


def _normal(password: str) -> str:
    """Normalise, so that the same characters typed on another keyboard are the same password."""
    return unicodedata.normalize("NFKC", password)


def _fits(hasher: PasswordHasher, known: str, password: str) -> bool:
    from argon2.exceptions import InvalidHashError, VerificationError

    try:
        return hasher.verify(known, password)
    except (VerificationError, InvalidHashError):
        return False
