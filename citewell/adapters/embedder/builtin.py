"""The built-in embedder: all-MiniLM-L6-v2 in ONNX Runtime, on this machine's processors, without a key or a download."""

from __future__ import annotations

import asyncio
import os
import sys
import threading
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

import numpy as np

from citewell.adapters.embedder.builtin_model import MODEL_FOLDER, MODEL_NAME, BuiltinModel
from citewell.errors import ConfigurationError
from citewell.metering import tokens_used
from citewell.ports import Fingerprint, FloatMatrix, TextKind, Tokenizer
from citewell.settings import BuiltinEmbedding

TOKENS_PER_RUN = 256
"""Texts of one length go to the session together, up to this many tokens: measured best, see `benchmarks/embedder.py`."""

_SPECIAL_TOKENS = 2
"""Of each text: one at its beginning and one at its end."""

QUERIES_PER_STEP = 8
RUNS_PER_SLICE = 8
TEXTS_PER_SLICE = 64
_NICENESS = 5

TokenIds: TypeAlias = list[int]
Batch: TypeAlias = list[int]
Run: TypeAlias = Callable[[Batch], None]


class BuiltinEmbedder:
    """Implements `citewell.ports.Embedder`; `token_vectors` is for late interaction.

    Documents and queries have separate threads, and document threads yield to everything else, so that a search does not
    wait for a file that is being indexed. Work goes to the threads in short slices, so cancelling a call ends it within one.
    """

    def __init__(self, model: BuiltinModel, threads: int | None = None) -> None:
        """`threads`: how many texts are computed at once; default one per processor that this process may use."""
        self._model = model
        self._threads = threads or usable_processors()
        self._documents = ThreadPoolExecutor(self._threads, "embed-documents", initializer=_yield_to_others)
        self._queries = ThreadPoolExecutor(self._threads, "embed-queries")
        self._asked = _Asked(model, self._queries, self._threads)
        self.fingerprint = Fingerprint("builtin", MODEL_NAME, model.dimensions, model.revision)

    @classmethod
    def load(cls, path: Path | None = None, threads: int | None = None) -> BuiltinEmbedder:
        """The model in folder `path` (default: the one that comes with Citewell); `ConfigurationError` when it is damaged."""
        return cls(BuiltinModel.open(path or MODEL_FOLDER), threads)

    @property
    def max_tokens(self) -> int:
        """Tokens read of each text, special tokens included."""
        return self._model.max_tokens

    @property
    def tokenizer(self) -> Tokenizer:
        """Counts tokens as the model does."""
        return self._model.tokenizer

    async def embed(self, texts: Sequence[str], kind: TextKind = "document") -> FloatMatrix:
        """Shape (len(texts), 384), float32, unit rows, in the order given. The same text always gets the same vector."""
        if len(texts) == 1 and kind == "query":
            return await self._asked.embed(texts[0])
        vectors = np.empty((len(texts), self._model.dimensions), np.float32)
        pool = self._queries if kind == "query" else self._documents
        token_ids = await self._token_ids(pool, texts)
        tokens_used(sum(len(ids) - _SPECIAL_TOKENS for ids in token_ids))

        def run(batch: Batch) -> None:
            vectors[batch] = self._model.sentence_vectors([token_ids[index] for index in batch])

        await self._run_all(pool, by_length(token_ids), run)
        return vectors

    async def token_vectors(self, texts: Sequence[str], kind: TextKind = "query") -> list[FloatMatrix]:
        """Per text, unit vectors of its tokens in their context: shape (tokens, 384), without special tokens.

        Row n belongs to `tokenizer.offsets(text)[n]`, as far as the model reads.
        """
        found: dict[int, FloatMatrix] = {}
        pool = self._queries if kind == "query" else self._documents
        token_ids = await self._token_ids(pool, texts)

        def run(batch: Batch) -> None:
            vectors = self._model.token_vectors([token_ids[index] for index in batch])
            found.update(zip(batch, vectors[:, 1:-1], strict=True))

        await self._run_all(pool, by_length(token_ids), run)
        return [found[index] for index in range(len(texts))]

    async def aclose(self) -> None:
        """End the threads, after the slices that are running; calling it twice is harmless."""
        for pool in (self._documents, self._queries):
            await asyncio.to_thread(pool.shutdown, wait=True, cancel_futures=True)

    async def _token_ids(self, pool: ThreadPoolExecutor, texts: Sequence[str]) -> list[TokenIds]:
        loop = asyncio.get_running_loop()
        slices = [texts[start : start + TEXTS_PER_SLICE] for start in range(0, len(texts), TEXTS_PER_SLICE)]
        encoded = await asyncio.gather(*(loop.run_in_executor(pool, self._encode, part) for part in slices))
        return [ids for part in encoded for ids in part]

    def _encode(self, texts: Sequence[str]) -> list[TokenIds]:
        return self._model.tokenizer.ids(texts)

    async def _run_all(self, pool: ThreadPoolExecutor, batches: Sequence[Batch], run: Run) -> None:
        waiting = deque(batches)

        async def drain() -> None:
            while waiting:
                await asyncio.get_running_loop().run_in_executor(pool, _run_slice, waiting, run)

        try:
            await asyncio.gather(*(drain() for _ in range(min(self._threads, len(batches)))))
        finally:
            waiting.clear()


@dataclass(frozen=True, slots=True)
class _Question:
    """A text whose vector somebody waits for."""

    text: str
    vector: asyncio.Future[FloatMatrix]


class _Asked:
    """Single queries, each embedded in one step of one thread. Those that come while all threads are busy go together.

    Four of a length cost a quarter less than each alone, and each switch between threads costs as much as some tokens.
    """

    def __init__(self, model: BuiltinModel, pool: ThreadPoolExecutor, threads: int) -> None:
        self._model = model
        self._pool = pool
        self._threads = threads
        self._waiting: deque[_Question] = deque()
        self._busy = 0
        self._lock = threading.Lock()

    async def embed(self, text: str) -> FloatMatrix:
        """The vector of a query, shape (1, dimensions)."""
        question = _Question(text, asyncio.get_running_loop().create_future())
        with self._lock:
            self._waiting.append(question)
            begins = self._busy < self._threads
            self._busy += begins
        if begins:
            try:
                self._pool.submit(self._answer_all).add_done_callback(self._give_up_if_cancelled)
            except RuntimeError:
                self._give_up()
                raise
        return await question.vector

    def _answer_all(self) -> None:
        while taken := self._next():
            questions = [question for question in taken if not question.vector.done()]  # nobody waits for the others
            try:
                token_ids = self._model.tokenizer.ids([question.text for question in questions])
                for batch in by_length(token_ids):
                    vectors = self._model.sentence_vectors([token_ids[index] for index in batch])
                    _tell([(questions[index], vectors[row : row + 1]) for row, index in enumerate(batch)])
            except Exception as error:  # noqa: BLE001 - raised where the vectors are awaited
                _tell([(question, error) for question in questions])

    def _next(self) -> list[_Question]:
        """This thread's share of those that wait; none when it is done."""
        with self._lock:
            share = min(QUERIES_PER_STEP, -(-len(self._waiting) // self._threads))
            self._busy -= share == 0
            return [self._waiting.popleft() for _ in range(share)]

    def _give_up_if_cancelled(self, answered: Future[None]) -> None:
        if answered.cancelled():
            self._give_up()

    def _give_up(self) -> None:
        with self._lock:
            questions = list(self._waiting)
            self._waiting.clear()
            self._busy -= 1
        _tell([(question, asyncio.CancelledError()) for question in questions])


def _tell(answers: Sequence[tuple[_Question, FloatMatrix | BaseException]]) -> None:
    """Give each its vector, or the reason why there is none, in the event loop in which it was asked for: all in one step."""
    by_loop: dict[asyncio.AbstractEventLoop, list[tuple[_Question, FloatMatrix | BaseException]]] = {}
    for question, answer in answers:
        by_loop.setdefault(question.vector.get_loop(), []).append((question, answer))
    for loop, some in by_loop.items():
        with suppress(RuntimeError):  # nobody waits in a loop that is closed
            loop.call_soon_threadsafe(_tell_here, some)


def _tell_here(answers: Sequence[tuple[_Question, FloatMatrix | BaseException]]) -> None:
    for question, answer in answers:
        if question.vector.done():
            continue
        if isinstance(answer, asyncio.CancelledError):
            question.vector.cancel()
        elif isinstance(answer, BaseException):
            question.vector.set_exception(answer)
        else:
            question.vector.set_result(answer)


def build(settings: BuiltinEmbedding) -> BuiltinEmbedder:
    """The built-in embedder; `ConfigurationError` when the settings name another model or size."""
    if settings.model not in (None, MODEL_NAME, f"sentence-transformers/{MODEL_NAME}"):
        raise ConfigurationError(
            f"The built-in embedder has the model {MODEL_NAME!r}, not {settings.model!r}. "
            f"Remove {settings.name_of('model')}, or choose another provider."
        )
    embedder = BuiltinEmbedder.load()
    if settings.dimensions not in (None, embedder.fingerprint.dimensions):
        raise ConfigurationError(
            f"The built-in model's vectors have {embedder.fingerprint.dimensions} dimensions. "
            f"Remove {settings.name_of('dimensions')}."
        )
    return embedder


def by_length(token_ids: Sequence[TokenIds], most_tokens: int = TOKENS_PER_RUN) -> list[Batch]:
    """Indices of the texts in batches of one length, the longest first, so that the last runs to finish are short.

    A batch has at most `most_tokens` tokens, or one text.
    """
    batches: list[Batch] = []
    for index in sorted(range(len(token_ids)), key=lambda index: -len(token_ids[index])):
        length = len(token_ids[index])
        batch = batches[-1] if batches else []
        if batch and len(token_ids[batch[0]]) == length and (len(batch) + 1) * length <= most_tokens:
            batch.append(index)
        else:
            batches.append([index])
    return batches


def _run_slice(waiting: deque[Batch], run: Run) -> None:
    for _ in range(RUNS_PER_SLICE):
        try:
            batch = waiting.popleft()
        except IndexError:
            return
        run(batch)


def usable_processors() -> int:
    """The processors that this process may use."""
    if sys.platform == "linux":
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _yield_to_others() -> None:
    """Lower this thread's priority. Linux alone gives each thread its own."""
    if sys.platform == "linux":
        thread = threading.get_native_id()
        os.setpriority(os.PRIO_PROCESS, thread, min(19, os.getpriority(os.PRIO_PROCESS, thread) + _NICENESS))
