"""Limits of calls and of spending: kept by all who share a database, and exactly."""

from __future__ import annotations

import asyncio
import heapq
import random
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import pytest
import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from citewell.adapters.gate import MAX_SECONDS, Gate, MinuteLimits
from citewell.errors import CallLimitReached, SpendingLimitReached
from citewell.ports import TokenUsage
from citewell.storage.accounts.owners import OwnerRepository
from citewell.storage.database import Database
from citewell.storage.spending.provider_calls import MAX_CALL_SECONDS, ProviderCallRepository
from citewell.storage.spending.usage import UsageRepository
from citewell.storage.tables import provider_calls
from citewell.types import Usage

pytestmark = pytest.mark.full


@pytest.fixture
def calls(database: Database) -> ProviderCallRepository:
    return ProviderCallRepository(database)


async def _age(database: Database, seconds: float) -> None:
    """Make every call so much older."""
    async with database.write() as connection:
        await connection.execute(sa.update(provider_calls).values(at=provider_calls.c.at - seconds))


async def _wait(calls: ProviderCallRepository, limits: MinuteLimits, tokens: int) -> float:
    return (await calls.admit("voyage", limits, tokens))[0]


async def _made(calls: ProviderCallRepository, limits: MinuteLimits, tokens: int) -> None:
    """A call that is admitted and answered at once."""
    wait, call = await calls.admit("voyage", limits, tokens)
    assert wait == 0.0
    assert call is not None
    await calls.answered(call)


async def test_calls_beyond_the_limit_wait_for_the_oldest_to_be_a_minute_old(
    calls: ProviderCallRepository, database: Database
) -> None:
    limits = MinuteLimits(requests=2)
    for _ in range(2):
        await _made(calls, limits, 10)
    assert 59 < await _wait(calls, limits, 10) <= 60.1
    await _age(database, 50)
    assert 9 < await _wait(calls, limits, 10) <= 10.1
    await _age(database, 11)
    assert await _wait(calls, limits, 10) == 0.0


async def test_files_that_are_indexed_leave_a_share_of_the_minute_to_questions(calls: ProviderCallRepository) -> None:
    limits = MinuteLimits(requests=4)
    for _ in range(3):
        assert (await calls.admit("voyage", limits, 1, is_query=False))[0] == 0.0
    assert (await calls.admit("voyage", limits, 1, is_query=False))[0] > 59
    assert (await calls.admit("voyage", limits, 1))[0] == 0.0
    assert (await calls.admit("voyage", limits, 1))[0] > 59


async def test_a_question_that_the_own_limit_would_delay_learns_which_setting_it_is(
    calls: ProviderCallRepository,
) -> None:
    gate = Gate(ledger=calls, provider="voyage", limits=MinuteLimits(requests=1, names="CITEWELL_CALLS"), max_spend=1.0)
    await gate.enter(1)
    with pytest.raises(CallLimitReached, match=r"CITEWELL_CALLS allows the next call in \d+ s"):
        await gate.enter(1, patience=5.0)


async def test_tokens_are_counted_too_and_a_large_call_goes_alone(
    calls: ProviderCallRepository, database: Database
) -> None:
    limits = MinuteLimits(tokens=100)
    await _made(calls, limits, 60)
    await _age(database, 30)
    await _made(calls, limits, 40)
    assert 29 < await _wait(calls, limits, 50) <= 30.1
    assert 59 < await _wait(calls, limits, 500) <= 60.1
    await _age(database, 61)
    assert await _wait(calls, limits, 500) == 0.0


async def test_another_provider_has_a_limit_of_its_own(calls: ProviderCallRepository) -> None:
    limits = MinuteLimits(requests=1)
    assert await _wait(calls, limits, 1) == 0.0
    assert (await calls.admit("openai", limits, 1))[0] == 0.0
    assert await _wait(calls, limits, 1) > 0


async def test_processes_that_share_a_database_stay_under_the_limit_together(database: Database) -> None:
    others = [Database(database.url) for _ in range(2)]
    repositories = [ProviderCallRepository(one) for one in (database, *others)]
    waits = await asyncio.gather(*(_wait(r, MinuteLimits(requests=7), 1) for r in repositories * 5))
    for other in others:
        await other.close()
    assert waits.count(0.0) == 7


@dataclass
class SetClock:
    """A clock that a test sets."""

    time: float = 1_000.0

    async def now(self, connection: AsyncConnection) -> float:
        assert connection is not None
        return self.time


@pytest.fixture
def clock() -> SetClock:
    return SetClock()


@pytest.fixture
def timed(database: Database, clock: SetClock) -> ProviderCallRepository:
    return ProviderCallRepository(database, clock)


async def test_a_minute_is_counted_from_the_answer_since_a_call_may_arrive_long_after_it_was_admitted(
    timed: ProviderCallRepository, clock: SetClock
) -> None:
    limits = MinuteLimits(requests=1)
    _, call = await timed.admit("voyage", limits, 1)
    assert call is not None
    clock.time += 61
    assert await _wait(timed, limits, 1) == pytest.approx(60.1), "it is under way, and may be answered now"
    clock.time += 9
    await timed.answered(call)
    clock.time += 60
    assert await _wait(timed, limits, 1) == pytest.approx(0.1)
    clock.time += 0.2
    assert await _wait(timed, limits, 1) == 0.0


async def test_a_call_of_a_process_that_died_counts_until_nobody_would_have_waited_for_its_answer(
    timed: ProviderCallRepository, clock: SetClock
) -> None:
    limits = MinuteLimits(requests=1)
    assert await _wait(timed, limits, 1) == 0.0
    clock.time += MAX_CALL_SECONDS + 60
    assert await _wait(timed, limits, 1) == pytest.approx(0.1)
    clock.time += 0.2
    assert await _wait(timed, limits, 1) == 0.0
    assert MAX_SECONDS < MAX_CALL_SECONDS, "who makes a call gives up before it counts no more"


async def test_a_clock_that_begins_anew_costs_a_minute_at_most(timed: ProviderCallRepository, clock: SetClock) -> None:
    limits = MinuteLimits(requests=1)
    clock.time = 5_000_000.0
    await _made(timed, limits, 1)
    clock.time = 10.0
    assert await _wait(timed, limits, 1) == pytest.approx(60.1)
    clock.time += 60.2
    assert await _wait(timed, limits, 1) == 0.0


@dataclass
class Callers:
    """Workers that call as often as they may, each with delays before its calls arrive and are answered, on a clock of their own."""

    repositories: list[ProviderCallRepository]
    clock: SetClock
    limits: MinuteLimits
    chance: random.Random
    arrived: list[float] = field(default_factory=list)

    async def run(self, calls: int) -> None:
        """Until so many calls have arrived."""
        queue = [(self.clock.time, worker, 0) for worker in range(len(self.repositories))]
        begun: dict[int, Iterator[float]] = {}
        while len(self.arrived) < calls:
            self.clock.time, worker, call = heapq.heappop(queue)
            repository = self.repositories[worker]
            if not call:
                wait, admitted = await repository.admit("voyage", self.limits, 1)
                if admitted is not None:
                    begun[admitted] = iter((self.chance.choice([0.0, 0.01, 4.0, 30.0]), self.chance.uniform(0, 5)))
                    call, wait = admitted, next(begun[admitted])
                heapq.heappush(queue, (self.clock.time + wait, worker, call))
            elif (left := next(begun[call], None)) is not None:
                self.arrived.append(self.clock.time)
                heapq.heappush(queue, (self.clock.time + left, worker, call))
            else:
                # Now and then a worker dies with its answer.
                if self.chance.random() > 0.05:
                    await repository.answered(call)
                heapq.heappush(queue, (self.clock.time, worker, 0))


@pytest.mark.parametrize("seed", range(3))
async def test_no_minute_has_more_calls_than_the_limit_however_late_they_arrive(
    database: Database, clock: SetClock, seed: int
) -> None:
    others = [Database(database.url) for _ in range(2)]
    repositories = [ProviderCallRepository(one, clock) for one in (database, *others)] * 3
    callers = Callers(repositories, clock, MinuteLimits(requests=5), random.Random(seed))
    await callers.run(60)
    for other in others:
        await other.close()
    arrived = sorted(callers.arrived)
    busiest = max(sum(0 <= later - first < 60 for later in arrived) for first in arrived)
    assert busiest <= 5
    assert busiest >= 4, "and the limit is used"


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
    await UsageRepository(database).add(owner, [replace(entry, kind="context_stuffing", cost=9.0)])
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
    first = await gate.enter(100)
    assert first.cost == pytest.approx(1.0)
    await gate.answered(first)
    second = await gate.enter(100)
    assert 59 < waits[0] < 64
    await gate.refund(second.cost)
    await gate.charge(1.0, TokenUsage(50, 25))
    assert await calls.spent() == pytest.approx(1.0)
    with pytest.raises(SpendingLimitReached):
        await gate.enter(201)
    assert await calls.spent() == pytest.approx(1.0)
