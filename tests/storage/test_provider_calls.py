"""Limits of calls and of spending: kept by all who share a database, and exactly."""

from __future__ import annotations

import asyncio

import pytest
import sqlalchemy as sa

from citewell.adapters.gate import Gate, MinuteLimits
from citewell.errors import SpendingLimitReached
from citewell.ports import TokenUsage
from citewell.storage.database import Database
from citewell.storage.owners import OwnerRepository
from citewell.storage.provider_calls import ProviderCallRepository
from citewell.storage.tables import provider_calls
from citewell.storage.usage import UsageRepository
from citewell.types import Usage


@pytest.fixture
def calls(database: Database) -> ProviderCallRepository:
    return ProviderCallRepository(database)


async def _age(database: Database, seconds: float) -> None:
    """Make every call so much older."""
    async with database.write() as connection:
        await connection.execute(sa.update(provider_calls).values(at=provider_calls.c.at - seconds))


async def test_calls_beyond_the_limit_wait_for_the_oldest_to_be_a_minute_old(
    calls: ProviderCallRepository, database: Database
) -> None:
    limits = MinuteLimits(requests=2)
    assert [await calls.admit("voyage", limits, 10) for _ in range(2)] == [0.0, 0.0]
    assert 59 < await calls.admit("voyage", limits, 10) <= 60
    await _age(database, 50)
    assert 9 < await calls.admit("voyage", limits, 10) <= 10
    await _age(database, 11)
    assert await calls.admit("voyage", limits, 10) == 0.0


async def test_tokens_are_counted_too_and_a_large_call_goes_alone(
    calls: ProviderCallRepository, database: Database
) -> None:
    limits = MinuteLimits(tokens=100)
    assert await calls.admit("voyage", limits, 60) == 0.0
    await _age(database, 30)
    assert await calls.admit("voyage", limits, 40) == 0.0
    assert 29 < await calls.admit("voyage", limits, 50) <= 30
    assert 59 < await calls.admit("voyage", limits, 500) <= 60
    await _age(database, 61)
    assert await calls.admit("voyage", limits, 500) == 0.0


async def test_another_provider_has_a_limit_of_its_own(calls: ProviderCallRepository) -> None:
    limits = MinuteLimits(requests=1)
    assert await calls.admit("voyage", limits, 1) == 0.0
    assert await calls.admit("openai", limits, 1) == 0.0
    assert await calls.admit("voyage", limits, 1) > 0


async def test_processes_that_share_a_database_stay_under_the_limit_together(database: Database) -> None:
    others = [Database(database.url) for _ in range(2)]
    repositories = [ProviderCallRepository(one) for one in (database, *others)]
    waits = await asyncio.gather(*(r.admit("voyage", MinuteLimits(requests=7), 1) for r in repositories * 5))
    for other in others:
        await other.close()
    assert waits.count(0.0) == 7


async def test_what_is_reserved_never_exceeds_the_limit(calls: ProviderCallRepository) -> None:
    results = await asyncio.gather(*(calls.reserve(0.25, 1.0) for _ in range(6)), return_exceptions=True)
    assert [type(result) for result in results].count(SpendingLimitReached) == 2
    assert await calls.spent() == pytest.approx(1.0)
    await calls.correct(-0.5)
    await calls.reserve(0.5, 1.0)
    with pytest.raises(SpendingLimitReached, match="CITEWELL_MAX_SPEND"):
        await calls.reserve(0.0, 1.0)


async def test_the_month_begins_with_what_its_ledger_has(calls: ProviderCallRepository, database: Database) -> None:
    owner = await OwnerRepository(database).ensure("somebody")
    entry = Usage(kind="chat", provider="openai", model="m", input_tokens=1, output_tokens=1, units=1, cost=0.75)
    await UsageRepository(database).add(owner, [entry])
    await UsageRepository(database).add(owner, [entry], at=0.0)
    assert await calls.spent() == pytest.approx(0.75)


async def test_a_gate_waits_for_its_turn_and_gives_back_what_was_not_spent(
    calls: ProviderCallRepository, database: Database
) -> None:
    waits: list[float] = []

    async def sleep(seconds: float) -> None:
        waits.append(seconds)
        await _age(database, seconds)

    gate = Gate(
        ledger=calls,
        provider="voyage",
        limits=MinuteLimits(requests=1),
        input_price=0.01,
        output_price=0.02,
        max_spend=3.0,
        sleep=sleep,
    )
    assert await gate.enter(100) == pytest.approx(1.0)
    cost = await gate.enter(100)
    assert 59 < waits[0] < 64
    await gate.refund(cost)
    await gate.charge(1.0, TokenUsage(50, 25))
    assert await calls.spent() == pytest.approx(1.0)
    with pytest.raises(SpendingLimitReached):
        await gate.enter(201)
    assert await calls.spent() == pytest.approx(1.0)
