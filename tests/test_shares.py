"""How much costly work an owner may do at once."""

from __future__ import annotations

import asyncio
from collections import Counter

import pytest

from citewell.errors import RateLimited
from citewell.system.shares import Shares


async def test_an_owner_does_so_much_at_once_and_the_rest_waits_in_order() -> None:
    shares, running, most, ended = Shares("exports", each=2, waiting=8), Counter[str](), Counter[str](), list[int]()

    async def work(owner: str, number: int) -> None:
        async with shares.hold(owner):
            running[owner] += 1
            most[owner] = max(most[owner], running[owner])
            await asyncio.sleep(0)
            running[owner] -= 1
            ended.append(number)

    await asyncio.gather(*(work("ada", number) for number in range(10)))
    assert most["ada"] == 2
    assert ended == list(range(10))


async def test_another_owner_does_not_wait_for_one_with_a_long_queue() -> None:
    shares, held = Shares("exports", each=2, waiting=8, altogether=4), asyncio.Event()

    async def work() -> None:
        async with shares.hold("ada"):
            await held.wait()

    many = [asyncio.create_task(work()) for _ in range(10)]
    await asyncio.sleep(0)
    async with asyncio.timeout(5), shares.hold("bob"):
        held.set()
    await asyncio.gather(*many)


async def test_all_owners_together_do_no_more_than_so_much() -> None:
    shares, running, most = Shares("exports", each=2, altogether=3), 0, 0

    async def work(owner: str) -> None:
        nonlocal running, most
        async with shares.hold(owner):
            running += 1
            most = max(most, running)
            await asyncio.sleep(0.01)
            running -= 1

    await asyncio.gather(*(work(f"owner {number}") for number in range(12)))
    assert most == 3


async def test_beyond_what_may_wait_is_refused_with_a_time_to_come_back_until_something_ends() -> None:
    shares = Shares("exports", each=1)
    async with shares.hold("ada"):
        with pytest.raises(RateLimited, match="1 exports in progress") as refused:
            async with shares.hold("ada"):
                raise AssertionError
        assert refused.value.retry_after > 0
    async with shares.hold("ada"):
        pass


async def test_who_gives_up_waiting_leaves_the_place_to_others() -> None:
    shares = Shares("exports", each=1, waiting=1)

    async def work() -> None:
        async with shares.hold("ada"):
            raise AssertionError

    async with shares.hold("ada"):
        for _ in range(3):
            waiting = asyncio.create_task(work())
            await asyncio.sleep(0)
            waiting.cancel()
            await asyncio.gather(waiting, return_exceptions=True)
    async with shares.hold("ada"):
        pass
