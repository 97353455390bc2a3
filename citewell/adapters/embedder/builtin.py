"""The built-in embedder: all-MiniLM-L6-v2 or multilingual-e5-small in ONNX Runtime, on local CPUs, without a key or a download."""

from __future__ import annotations

import asyncio
import os
import sys
import threading
from collections import deque
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Protocol, TypeAlias

import numpy as np

from citewell.adapters.embedder.builtin_model import MODEL_FOLDER, MODEL_NAME, BuiltinModel
from citewell.adapters.embedder.multilingual import MULTILINGUAL_NAME, MultilingualModel
from citewell.adapters.reader.reading_model import END, START, ReadingModel
from citewell.errors import ConfigurationError
from citewell.ports import Fingerprint, FloatMatrix, TextKind, Tokenizer
from citewell.ports.metering import tokens_used
from citewell.settings import BuiltinEmbedding
from citewell.system.batching import Batcher
from citewell.text.language import detect_language

TOKENS_PER_RUN = 256
"""Maximum tokens of equally long texts in one session run: the fastest value measured, see `benchmarks/embedder.py`."""

_SPECIAL_TOKENS = 2
"""Special tokens per text: one at its start and one at its end."""

MAX_QUESTION_TOKENS = 64
"""Tokens of a question that the reading model reads."""
QUERIES_PER_STEP = 8
RUNS_PER_SLICE = 8
TEXTS_PER_SLICE = 64
_NICENESS = 5

_FAMILIES = (
    ("", MODEL_NAME),
    ("sentence-transformers/", MODEL_NAME),
    ("", MULTILINGUAL_NAME),
    ("intfloat/", MULTILINGUAL_NAME),
)
"""The models' names, as they are and as model hubs have them."""
TokenIds: TypeAlias = list[int]
Batch: TypeAlias = list[int]
Run: TypeAlias = Callable[[Batch], None]


class SentenceModel(Protocol):
    """A model on disk that gives texts vectors."""

    @property
    def name(self) -> str:
        """The published name."""
        ...

    @property
    def dimensions(self) -> int:
        """Numbers of a vector."""
        ...

    @property
    def max_tokens(self) -> int:
        """Tokens read per text."""
        ...

    @property
    def is_english(self) -> bool:
        """Whether it reads English alone."""
        ...

    @property
    def revision(self) -> str:
        """Which weights these are."""
        ...

    @property
    def tokenizer(self) -> Tokenizer:
        """Counts tokens as the model does."""
        ...

    def ids(self, texts: Sequence[str], kind: TextKind) -> list[list[int]]:
        """Token ids as model input."""
        ...

    def sentence_vectors(self, token_ids: Sequence[Sequence[int]]) -> FloatMatrix:
        """Unit vectors, shape (texts, dimensions), for texts with equally many tokens."""
        ...

    def token_vectors(self, token_ids: Sequence[Sequence[int]]) -> FloatMatrix:
        """Contextual unit vectors of tokens, shape (texts, tokens, dimensions), for texts with equally many tokens."""
        ...


class BuiltinEmbedder:
    """Implements `citewell.ports.Embedder`; `token_vectors` is for late interaction.

    Documents and queries have separate threads, and document threads run at low priority, so that searches do not wait
    for indexing. Threads get work in short slices, so a canceled call ends within one slice.
    """

    def __init__(self, model: SentenceModel, threads: int | None = None, reading: ReadingModel | None = None) -> None:
        """`threads`: how many batches are computed at once; default one per CPU available to this process."""
        self._model = model
        self._reading = reading or ReadingModel.open()
        self._threads = threads or usable_processors()
        self._documents = ThreadPoolExecutor(self._threads, "embed-documents", initializer=_yield_to_others)
        self._queries = ThreadPoolExecutor(self._threads, "embed-queries")
        self._asked = Batcher(self._queries, max(1, self._threads // 2), QUERIES_PER_STEP, self._embed_queries)
        self.fingerprint = Fingerprint("builtin", model.name, model.dimensions, model.revision)

    @classmethod
    def multilingual(cls, threads: int | None = None) -> BuiltinEmbedder:
        """Load the multilingual model. Raises `ConfigurationError` if it is damaged."""
        reading = ReadingModel.open()
        return cls(MultilingualModel(reading), threads, reading)

    @classmethod
    def load(cls, path: Path | None = None, threads: int | None = None) -> BuiltinEmbedder:
        """Load the model in folder `path` (default: the bundled one). Raises `ConfigurationError` if it is damaged."""
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
        """Shape (len(texts), 384), float32, unit rows, in input order. The same text always gets the same vector of a kind."""
        if len(texts) == 1 and kind == "query":
            return await self._asked.ask(texts[0])
        vectors = np.empty((len(texts), self._model.dimensions), np.float32)
        pool = self._queries if kind == "query" else self._documents
        token_ids = await self._token_ids(pool, texts, kind)
        tokens_used(sum(len(ids) - _SPECIAL_TOKENS for ids in token_ids))

        def run(batch: Batch) -> None:
            vectors[batch] = self._model.sentence_vectors([token_ids[index] for index in batch])

        def turn(batch: Batch) -> None:
            for row in batch:
                vectors[row] = self._across(texts[row], vectors[row])

        await self._run_all(pool, by_length(token_ids), run)
        if kind == "query" and self._model.is_english:
            await self._run_all(pool, [[row] for row in range(len(texts))], turn)
        return vectors

    async def token_vectors(self, texts: Sequence[str], kind: TextKind = "query") -> list[FloatMatrix]:
        """Per text, unit vectors of its tokens in their context: shape (tokens, 384), without special tokens.

        Row n is the token at `tokenizer.offsets(text)[n]`, up to the model's limit.
        """
        found: dict[int, FloatMatrix] = {}
        pool = self._queries if kind == "query" else self._documents
        token_ids = await self._token_ids(pool, texts, kind)

        def run(batch: Batch) -> None:
            vectors = self._model.token_vectors([token_ids[index] for index in batch])
            found.update(zip(batch, vectors[:, 1:-1], strict=True))

        await self._run_all(pool, by_length(token_ids), run)
        return [found[index] for index in range(len(texts))]

    async def aclose(self) -> None:
        """Stop the threads after their current slices; safe to call twice."""
        for pool in (self._documents, self._queries):
            await asyncio.to_thread(pool.shutdown, wait=True, cancel_futures=True)

    def _embed_queries(self, texts: Sequence[str]) -> Generator[list[tuple[int, FloatMatrix]]]:
        """The vector of each text, shape (1, dimensions).

        Four texts of equal length cost a quarter less than four separate runs.
        """
        token_ids = self._model.ids(texts, "query")
        for batch in by_length(token_ids):
            vectors = self._model.sentence_vectors([token_ids[index] for index in batch])
            yield [(index, self._across(texts[index], vectors[row : row + 1])) for row, index in enumerate(batch)]

    def _across(self, text: str, own: FloatMatrix) -> FloatMatrix:
        """A question's vector; of one that is not in English, between its own and where the reading model expects English passages."""
        if not self._model.is_english or detect_language(text) in (None, "en"):
            return own
        tokens = self._reading.tokens(text, MAX_QUESTION_TOKENS).ids
        both = own + self._reading.vector([START, *tokens, END])
        return np.asarray(both / np.linalg.norm(both), np.float32)

    async def _token_ids(self, pool: ThreadPoolExecutor, texts: Sequence[str], kind: TextKind) -> list[TokenIds]:
        loop = asyncio.get_running_loop()
        slices = [texts[start : start + TEXTS_PER_SLICE] for start in range(0, len(texts), TEXTS_PER_SLICE)]
        encoded = await asyncio.gather(*(loop.run_in_executor(pool, self._model.ids, part, kind) for part in slices))
        return [ids for part in encoded for ids in part]

    async def _run_all(self, pool: ThreadPoolExecutor, batches: Sequence[Batch], run: Run) -> None:
        waiting = deque(batches)

        async def drain() -> None:
            while waiting:
                await asyncio.get_running_loop().run_in_executor(pool, _run_slice, waiting, run)

        try:
            await asyncio.gather(*(drain() for _ in range(min(self._threads, len(batches)))))
        finally:
            waiting.clear()


def build(settings: BuiltinEmbedding) -> BuiltinEmbedder:
    """Build the built-in embedder.

    Raises `ConfigurationError` if the settings name another model or number of dimensions.
    """
    names = {f"{family}{name}": name for family, name in _FAMILIES}
    if settings.model is not None and settings.model not in names:
        raise ConfigurationError(
            f"The built-in embedder has the models {MODEL_NAME!r} and {MULTILINGUAL_NAME!r}, not {settings.model!r}. "
            f"Change {settings.name_of('model')}, or choose another provider."
        )
    is_multilingual = settings.model is not None and names[settings.model] == MULTILINGUAL_NAME
    embedder = BuiltinEmbedder.multilingual() if is_multilingual else BuiltinEmbedder.load()
    if settings.dimensions not in (None, embedder.fingerprint.dimensions):
        raise ConfigurationError(
            f"The built-in model's vectors have {embedder.fingerprint.dimensions} dimensions. "
            f"Remove {settings.name_of('dimensions')}."
        )
    return embedder


def by_length(token_ids: Sequence[TokenIds], most_tokens: int = TOKENS_PER_RUN) -> list[Batch]:
    """Text indices in batches of equal length, longest first, so that the last runs are short.

    A batch has at most `most_tokens` tokens, or a single text.
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
    """The number of CPUs available to this process."""
    if sys.platform == "linux":
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _yield_to_others() -> None:
    """Lower this thread's priority; only Linux has priorities per thread."""
    if sys.platform == "linux":
        thread = threading.get_native_id()
        os.setpriority(os.PRIO_PROCESS, thread, min(19, os.getpriority(os.PRIO_PROCESS, thread) + _NICENESS))
