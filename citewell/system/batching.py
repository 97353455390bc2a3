"""Batches questions that wait for a thread: under load, each thread switch costs as much as an answer."""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from typing import Generic, ParamSpec, TypeAlias, TypeVar

P = ParamSpec("P")
Q = TypeVar("Q")
A = TypeVar("A")
Answered: TypeAlias = tuple[int, A | BaseException]


def outcome(call: Callable[P, A], *args: P.args, **kwargs: P.kwargs) -> A | Exception:
    """Returns a call's result, or the exception it raised, to be re-raised where the answer is awaited."""
    try:
        return call(*args, **kwargs)
    except Exception as error:  # noqa: BLE001 - see above
        return error


class _Waiting(Generic[Q, A]):
    """A question and the future of its answer."""

    def __init__(self, question: Q, answer: asyncio.Future[A]) -> None:
        self.question = question
        self.answer = answer


class Batcher(Generic[Q, A]):
    """Answers questions in the threads of a pool. Questions that arrive while all threads are busy are batched.

    threads:    how many threads answer at once
    most:       maximum questions per batch
    answer_all: called in a thread with a batch. Yields lists of (question number, answer or error); each list is
                delivered as soon as it is yielded. An error that it raises goes to all questions still open.
    """

    def __init__(
        self,
        pool: ThreadPoolExecutor,
        threads: int,
        most: int,
        answer_all: Callable[[Sequence[Q]], Iterable[Sequence[Answered[A]]]],
    ) -> None:
        self._pool = pool
        self._threads = threads
        self._most = most
        self._answer_all = answer_all
        self._waiting: deque[_Waiting[Q, A]] = deque()
        self._busy = 0
        self._lock = threading.Lock()

    async def ask(self, question: Q) -> A:
        """Returns the answer. Raises the error of answering, or `RuntimeError` if the pool is shut down."""
        one: _Waiting[Q, A] = _Waiting(question, asyncio.get_running_loop().create_future())
        with self._lock:
            self._waiting.append(one)
            begins = self._busy < self._threads
            self._busy += begins
        if begins:
            try:
                self._pool.submit(self._work).add_done_callback(self._give_up_if_cancelled)
            except RuntimeError:
                self._give_up()
                raise
        return await one.answer

    def _work(self) -> None:
        while taken := self._next():
            wanted = [one for one in taken if not one.answer.done()]  # the others were canceled
            try:
                for part in self._answer_all([one.question for one in wanted]) if wanted else ():
                    _tell([(wanted[number], answer) for number, answer in part])
            except Exception as error:  # noqa: BLE001 - raised where the answers are awaited
                _tell([(one, error) for one in wanted])

    def _next(self) -> list[_Waiting[Q, A]]:
        """Takes this thread's share of the waiting questions; an empty list ends the thread's work."""
        with self._lock:
            share = min(self._most, -(-len(self._waiting) // self._threads))
            self._busy -= share == 0
            return [self._waiting.popleft() for _ in range(share)]

    def _give_up_if_cancelled(self, answered: Future[None]) -> None:
        if answered.cancelled():
            self._give_up()

    def _give_up(self) -> None:
        with self._lock:
            waiting = list(self._waiting)
            self._waiting.clear()
            self._busy -= 1
        _tell([(one, asyncio.CancelledError()) for one in waiting])


def _tell(answers: Sequence[tuple[_Waiting[Q, A], A | BaseException]]) -> None:
    """Delivers each answer or error in the event loop that awaits it, with one call per loop."""
    by_loop: dict[asyncio.AbstractEventLoop, list[tuple[_Waiting[Q, A], A | BaseException]]] = {}
    for one, answer in answers:
        by_loop.setdefault(one.answer.get_loop(), []).append((one, answer))
    for loop, some in by_loop.items():
        with suppress(RuntimeError):  # the loop is closed, so nothing awaits the answers
            loop.call_soon_threadsafe(_tell_here, some)


def _tell_here(answers: Sequence[tuple[_Waiting[Q, A], A | BaseException]]) -> None:
    for one, answer in answers:
        if one.answer.done():
            continue
        if isinstance(answer, asyncio.CancelledError):
            one.answer.cancel()
        elif isinstance(answer, BaseException):
            one.answer.set_exception(answer)
        else:
            one.answer.set_result(answer)
