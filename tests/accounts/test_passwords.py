"""Passwords are hashed with today's parameters, and nobody learns from the time which addresses have an account."""

from __future__ import annotations

from typing import Any

import pytest
from argon2 import PasswordHasher, extract_parameters
from argon2.low_level import Type

from citewell.features.accounts.passwords import Passwords, second_recommended

CHEAP = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)


def test_the_parameters_are_those_of_rfc_9106_and_more_than_owasps_minimum() -> None:
    used = extract_parameters(second_recommended().hash("x"))
    assert (used.type, used.time_cost, used.memory_cost, used.parallelism) == (Type.ID, 3, 64 * 1024, 4)


async def test_a_hash_fits_its_password_only_and_two_are_never_the_same() -> None:
    passwords = Passwords(hasher=lambda: CHEAP)
    known = await passwords.hash("zwölf Boxkämpfer")
    assert known != await passwords.hash("zwölf Boxkämpfer")
    assert await passwords.matches(known, "zwo\u0308lf Boxka\u0308mpfer")
    assert not await passwords.matches(known, "zwolf Boxkampfer")
    assert not await passwords.matches("no hash", "zwölf Boxkämpfer")


async def test_an_unknown_address_costs_the_same_work_as_a_wrong_password(monkeypatch: pytest.MonkeyPatch) -> None:
    passwords, verified = Passwords(hasher=lambda: CHEAP), []
    known = await passwords.hash("right")
    verify = PasswordHasher.verify

    def noting(self: PasswordHasher, hash: str, password: str) -> Any:
        verified.append(extract_parameters(hash))
        return verify(self, hash, password)

    monkeypatch.setattr(PasswordHasher, "verify", noting)
    assert not await passwords.matches(None, "a password that nobody has")
    assert not await passwords.matches(known, "wrong")
    assert len(verified) == 2
    assert verified[0] == verified[1]


async def test_a_hash_of_other_parameters_is_outdated() -> None:
    known = await Passwords(hasher=lambda: CHEAP).hash("right")
    assert Passwords().is_outdated(known)
    assert not Passwords(hasher=lambda: CHEAP).is_outdated(known)
