"""Questions that wait for a thread are answered together, each with its own answer or error."""

import asyncio
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor

import pytest

from citewell.system.batching import Batcher


class Doubler:
    """Doubles numbers; the first step waits until it may go on. Negative numbers fail alone, zero fails the whole step."""

    def __init__(self) -> None:
        self.steps: list[list[int]] = []
        self.has_begun = threading.Event()
        self.may_go_on = threading.Event()

    def answer(self, numbers: Sequence[int]) -> Iterator[list[tuple[int, int | BaseException]]]:
        self.steps.append(list(numbers))
        self.has_begun.set()
        self.may_go_on.wait(10)
        if 0 in numbers:
            raise ValueError("zero")
        for place, number in enumerate(numbers):
            yield [(place, 2 * number if number > 0 else ArithmeticError(str(number)))]


async def _asked(together: Batcher[int, int], doubler: Doubler, numbers: Sequence[int]) -> list[asyncio.Task[int]]:
    """The first number's step has begun when the others are asked."""
    tasks = [asyncio.create_task(together.ask(numbers[0]))]
    await asyncio.to_thread(doubler.has_begun.wait, 10)
    tasks += [asyncio.create_task(together.ask(number)) for number in numbers[1:]]
    await asyncio.sleep(0)
    return tasks


async def test_what_waits_goes_together_and_everybody_gets_an_answer() -> None:
    doubler = Doubler()
    with ThreadPoolExecutor(1) as pool:
        together: Batcher[int, int] = Batcher(pool, 1, 4, doubler.answer)
        tasks = await _asked(together, doubler, range(1, 11))
        doubler.may_go_on.set()
        assert await asyncio.gather(*tasks) == [2 * number for number in range(1, 11)]
    assert doubler.steps == [[1], [2, 3, 4, 5], [6, 7, 8, 9], [10]]


async def test_errors_of_one_and_of_a_step() -> None:
    doubler = Doubler()
    with ThreadPoolExecutor(1) as pool:
        together: Batcher[int, int] = Batcher(pool, 1, 3, doubler.answer)
        tasks = await _asked(together, doubler, [1, 2, -3, 4, 5, 0, 6])
        doubler.may_go_on.set()
        found = await asyncio.gather(*tasks, return_exceptions=True)
    assert doubler.steps == [[1], [2, -3, 4], [5, 0, 6]]
    assert [found[place] for place in (0, 1, 3)] == [2, 4, 8]
    assert isinstance(found[2], ArithmeticError)
    assert [type(one) for one in found[4:]] == [ValueError] * 3


async def test_nobody_answers_what_was_given_up() -> None:
    doubler = Doubler()
    with ThreadPoolExecutor(1) as pool:
        together: Batcher[int, int] = Batcher(pool, 1, 8, doubler.answer)
        tasks = await _asked(together, doubler, [1, 2, 3])
        tasks[1].cancel()
        await asyncio.sleep(0)
        doubler.may_go_on.set()
        assert await tasks[2] == 6
        with pytest.raises(asyncio.CancelledError):
            await tasks[1]
    assert doubler.steps == [[1], [3]]


async def test_a_pool_that_is_shut_down_says_so() -> None:
    pool = ThreadPoolExecutor(1)
    together: Batcher[int, int] = Batcher(pool, 1, 8, Doubler().answer)
    pool.shutdown()
    with pytest.raises(RuntimeError, match="shutdown"):
        await together.ask(1)
