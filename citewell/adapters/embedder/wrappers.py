"""Wrappers for any embedder: calls of the size that a provider takes, a cache of computed vectors, and retries while it is busy."""

from __future__ import annotations

import asyncio
import hashlib
import random
from collections import OrderedDict, deque
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias, TypeVar

import numpy as np

from citewell.errors import (
    ProviderModelGone,
    ProviderRateLimited,
    ProviderRejected,
    ProviderUnavailable,
    TextsRejected,
)
from citewell.ports import CallLimits, Embedder, EmbedderWrapper, EmbeddingPlan, FloatMatrix, Pictured, TextKind
from citewell.ports.metering import current_tally, embedding_tokens, embedding_usage, spend

_MAX_REJECTED = 4
# A preview of 1,568 pixels a side is 4,400 tokens to Voyage, which takes 320,000 in a call.
_PICTURES_IN_CALL = 32
_Input = TypeVar("_Input", str, Pictured)
Calls: TypeAlias = AsyncGenerator[tuple[Sequence[int], FloatMatrix]]
"""The vectors of one call after the other, each with the places of its inputs."""
_REMEMBERED = 8_192
_SPECIAL_TOKENS = 2
# Tokens that two windows of a long text share, so that a sentence is whole in one of them. By decision 0012.
_WINDOW_OVERLAP = 32
_MAX_REMEMBERED_LENGTH = 2_000


class EmbeddingCache(Protocol):
    """Caches vectors by (fingerprint, key); a key is the SHA-256 of a text in hexadecimal."""

    async def get(self, fingerprint: str, keys: Sequence[str]) -> dict[str, FloatMatrix]:
        """The cached ones, each of shape (dimensions,)."""
        ...

    async def put(self, fingerprint: str, vectors: Mapping[str, FloatMatrix]) -> None:
        """Remember vectors."""
        ...


class BatchingEmbedder(EmbedderWrapper):
    """Splits what is asked for into calls that the provider takes, by number of texts and by tokens, in the order given.

    A call that the provider rejects is split in halves until the texts that it rejects stand alone; the others are embedded.
    """

    def __init__(self, inner: Embedder, limits: CallLimits | None = None) -> None:
        """limits: None sends everything in one call."""
        super().__init__(inner)
        self._limits = limits

    async def embed(self, texts: Sequence[str], kind: TextKind = "document") -> FloatMatrix:
        """As `citewell.ports.Embedder.embed`; `TextsRejected` when the provider takes some of the texts only."""
        rows: list[FloatMatrix] = [vectors async for _, vectors in self.calls(texts, kind)]
        return np.concatenate(rows) if rows else await self.inner.embed([], kind)

    async def embed_pictures(self, pictures: Sequence[Pictured]) -> FloatMatrix:
        """As `citewell.ports.MultimodalEmbedder.embed_pictures`."""
        rows: list[FloatMatrix] = [vectors async for _, vectors in self.picture_calls(pictures)]
        return np.concatenate(rows) if rows else await self.inner.embed([])

    def calls(self, texts: Sequence[str], kind: TextKind) -> Calls:
        """The vectors of one call after the other, each with the places of its texts; at the end `TextsRejected` if any were."""

        async def call(places: range) -> FloatMatrix:
            return await self.inner.embed([texts[i] for i in places], kind)

        return self._halving(self._planned(texts), call, len(texts))

    def picture_calls(self, pictures: Sequence[Pictured]) -> Calls:
        """The same of pictures."""

        async def call(places: range) -> FloatMatrix:
            return await EmbedderWrapper.embed_pictures(self, [pictures[i] for i in places])

        count = len(pictures)
        planned = (range(start, min(start + _PICTURES_IN_CALL, count)) for start in range(0, count, _PICTURES_IN_CALL))
        return self._halving(planned, call, count)

    async def _halving(
        self, planned: Iterable[range], call: Callable[[range], Awaitable[FloatMatrix]], count: int
    ) -> Calls:
        rejected: list[int] = []
        reason: ProviderRejected | None = None
        waiting = deque(planned)
        accepted = 0
        while waiting:
            places = waiting.popleft()
            try:
                vectors = await call(places)
            except ProviderModelGone:
                raise
            except ProviderRejected as error:
                reason = error
                if len(places) > 1:
                    half = len(places) // 2
                    waiting.extendleft((places[half:], places[:half]))
                    continue
                rejected.extend(places)
                # Nothing was taken, whatever it was: it is the request that is wrong, not the texts.
                if not accepted and (len(rejected) > _MAX_REJECTED or len(rejected) == count):
                    raise
                continue
            accepted += 1
            yield places, vectors
        if reason is not None and rejected:
            raise TextsRejected(reason.message, indices=sorted(rejected)) from reason

    def plan(self, texts: Sequence[str]) -> EmbeddingPlan:
        """What embedding these takes when none is rejected."""
        return EmbeddingPlan(
            texts=len(texts), tokens=sum(self._tokens(texts)), calls=sum(1 for _ in self._planned(texts))
        )

    def _planned(self, texts: Sequence[str]) -> Iterator[range]:
        """Consecutive places that one call can hold; a text that is too large for any call gets one of its own."""
        if self._limits is None:
            yield from [range(len(texts))] if texts else []
            return
        start = used = 0
        for place, tokens in enumerate(self._tokens(texts)):
            if place > start and (place - start == self._limits.texts or used + tokens > self._limits.tokens):
                yield range(start, place)
                start, used = place, 0
            used += tokens
        if start < len(texts):
            yield range(start, len(texts))

    def _tokens(self, texts: Sequence[str]) -> list[int]:
        return [min(count, self.max_tokens) for count in self.tokenizer.count(texts)]


class WindowedEmbedder(EmbedderWrapper):
    """Gives a document longer than `max_tokens` the normalised mean of the vectors of its windows, which overlap a little.

    Queries are left to the embedder, which reads their beginning.
    """

    reads_windows = True

    async def embed(self, texts: Sequence[str], kind: TextKind = "document") -> FloatMatrix:
        """As `citewell.ports.Embedder.embed`, of texts of any length."""
        # No tokenizer makes more tokens than characters of a text, but for its special ones.
        if kind == "query" or all(len(text) <= self._budget for text in texts):
            return await self.inner.embed(texts, kind)
        windows = await asyncio.to_thread(lambda: [self._windows(text) for text in texts])
        vectors = await self.inner.embed([window for each in windows for window in each], kind)
        starts = np.cumsum([0, *map(len, windows)])[:-1]
        sums = np.add.reduceat(vectors, starts, axis=0)
        lengths = np.linalg.norm(sums, axis=1, keepdims=True)
        is_one = np.array([len(each) == 1 for each in windows])[:, None]
        return np.where(is_one, sums, sums / np.where(lengths > 0, lengths, 1.0)).astype(np.float32)

    @property
    def _budget(self) -> int:
        return self.max_tokens - _SPECIAL_TOKENS

    def _windows(self, text: str) -> list[str]:
        """Windows of equal length, as few as cover the text."""
        if len(text) <= self._budget:
            return [text]
        spans = self.tokenizer.offsets(text)
        left = len(spans) - self._budget
        if left <= 0:
            return [text]
        more = -(-left // (self._budget - min(_WINDOW_OVERLAP, self._budget // 2)))
        firsts = [round(number * left / more) for number in range(more + 1)]
        return [text[spans[first][0] : spans[first + self._budget - 1][1]] for first in firsts]


class CachingEmbedder(EmbedderWrapper):
    """Embeds each document text once per model: within a call, and across calls through the cache.

    Around a `BatchingEmbedder`, what each of its calls brings is written to the cache before the next one is made, so that
    nothing has to be paid for again when the work stops in between.

    Queries, and the sentences compared with them, are not written to the cache. The most recent ones are kept in this process,
    because a conversation returns to its subject.

    The cache serves all owners, so what it holds is charged as if it had been embedded now: otherwise an owner's usage would
    show that somebody else has the same text.
    """

    def __init__(self, inner: Embedder, cache: EmbeddingCache) -> None:
        super().__init__(inner)
        self._batching = inner if isinstance(inner, BatchingEmbedder) else BatchingEmbedder(inner)
        self._cache = cache
        self._asked: OrderedDict[str, FloatMatrix] = OrderedDict()

    async def embed(self, texts: Sequence[str], kind: TextKind = "document") -> FloatMatrix:
        """As `citewell.ports.Embedder.embed`."""
        if not texts:
            return await self.inner.embed(texts, kind)
        if kind == "query":
            return await self._query(texts)
        return await self._cached(texts, list(map(text_key, texts)), lambda new: self._batching.calls(new, kind))

    async def embed_pictures(self, pictures: Sequence[Pictured]) -> FloatMatrix:
        """As `citewell.ports.MultimodalEmbedder.embed_pictures`."""
        if not pictures:
            return await self.inner.embed([])
        return await self._cached(pictures, list(map(picture_key, pictures)), self._batching.picture_calls)

    async def _cached(
        self, inputs: Sequence[_Input], keys: Sequence[str], calls: Callable[[Sequence[_Input]], Calls]
    ) -> FloatMatrix:
        fingerprint = str(self.fingerprint)
        known = await self._cache.get(fingerprint, list(dict.fromkeys(keys)))
        await self._charge([one for key, one in dict(zip(keys, inputs, strict=True)).items() if key in known])
        missing = {key: one for key, one in zip(keys, inputs, strict=True) if key not in known}
        names = list(missing)
        try:
            async for places, vectors in calls(list(missing.values())):
                fresh = {names[place]: vector for place, vector in zip(places, vectors, strict=True)}
                await self._cache.put(fingerprint, fresh)
                known = {**known, **fresh}
        except TextsRejected as error:
            refused = {names[place] for place in error.indices}
            indices = [place for place, key in enumerate(keys) if key in refused]
            raise TextsRejected(error.message, indices=indices) from error
        return np.stack([known[key] for key in keys]).astype(np.float32, copy=False)

    async def _charge(self, known: Sequence[str | Pictured]) -> None:
        if known and current_tally() is not None:
            tokens = await asyncio.to_thread(embedding_tokens, self, known)
            spend(embedding_usage(self.fingerprint, tokens, len(known)))

    async def plan(self, texts: Sequence[str]) -> EmbeddingPlan:
        """As `citewell.ports.PlanningEmbedder.plan`: texts in the cache, and repeated ones, take nothing."""
        by_key = {text_key(text): text for text in texts}
        known = await self._cache.get(str(self.fingerprint), list(by_key))
        missing = [text for key, text in by_key.items() if key not in known]
        return await asyncio.to_thread(self._batching.plan, missing)

    async def _query(self, texts: Sequence[str]) -> FloatMatrix:
        known = {text: self._asked[text] for text in texts if text in self._asked}
        await self._charge(list(known))
        new = [text for text in dict.fromkeys(texts) if text not in known]
        if new:
            vectors = await self.inner.embed(new, "query")
            known |= {text: vector.copy() for text, vector in zip(new, vectors, strict=True)}
        for text, vector in known.items():
            if len(text) <= _MAX_REMEMBERED_LENGTH:
                self._asked[text] = vector
                self._asked.move_to_end(text)
        while len(self._asked) > _REMEMBERED:
            self._asked.popitem(last=False)
        return np.stack([known[text] for text in texts])


def text_key(text: str) -> str:
    """The cache key of a text; lone surrogates, which UTF-8 cannot express, are distinct from each other."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def picture_key(picture: Pictured) -> str:
    """The cache key of a picture with its words: both hashes, so that neither can be taken for a part of the other."""
    image = hashlib.sha256(picture.image.data).hexdigest()
    return text_key(f"picture {image} {text_key(picture.text)}")


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryPolicy:
    """How often to retry, and how many seconds to wait: twice as long each time, shortened at random by up to a half.

    Somebody is waiting for a query's answer, so a query is tried less often than a document, and its vector is waited for
    `query_seconds` with all attempts: less than a search of several indexes waits for each, so that there is time for its words.
    While a query hangs that was waited for so long, others are waited for `hurried_seconds`.
    """

    attempts: int = 6
    query_attempts: int = 3
    query_seconds: float = 8.0
    hurried_seconds: float = 1.0
    first_wait: float = 0.5
    longest_wait: float = 60.0

    def wait(self, attempt: int, retry_after: float | None) -> float:
        """Seconds after failed attempt number `attempt` (from 1); never less than the provider asked for."""
        backoff = min(self.longest_wait, self.first_wait * 2 ** (attempt - 1)) * random.uniform(0.5, 1.0)  # noqa: S311
        asked = (retry_after or 0.0) * random.uniform(1.0, 1.1)  # noqa: S311
        return max(backoff, asked)


class RetryingEmbedder(EmbedderWrapper):
    """Retries while the provider is busy or unavailable; other errors, and the last attempt's, pass through.

    When a provider asks for a wait beyond `longest_wait`, its error passes through at once, with `retry_after`. A query that
    is not answered in time is `ProviderUnavailable`. Its call goes on: a local model server that has to load its model first
    would give up with the call, and never have it loaded.
    """

    def __init__(
        self,
        inner: Embedder,
        policy: RetryPolicy | None = None,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        super().__init__(inner)
        self._policy = policy or RetryPolicy()
        self._sleep = sleep
        self._late: set[asyncio.Task[FloatMatrix]] = set()
        self._hanging: set[asyncio.Task[FloatMatrix]] = set()

    async def embed(self, texts: Sequence[str], kind: TextKind = "document") -> FloatMatrix:
        """As `citewell.ports.Embedder.embed`."""
        if kind == "document":
            return await self._patiently(lambda: self.inner.embed(texts, kind), self._policy.attempts)
        call = asyncio.create_task(self._patiently(lambda: self.inner.embed(texts, kind), self._policy.query_attempts))
        seconds = self._policy.hurried_seconds if self._hanging else self._policy.query_seconds
        try:
            await asyncio.wait({call}, timeout=seconds)
        except asyncio.CancelledError:
            call.cancel()
            raise
        if call.done():
            return call.result()
        self._late.add(call)
        if seconds == self._policy.query_seconds:  # slow ones that were hurried must not have others hurried, and so on
            self._hanging.add(call)
        call.add_done_callback(self._ended)
        raise ProviderUnavailable(f"The embedding model has not answered within {seconds:g} s.")

    async def embed_pictures(self, pictures: Sequence[Pictured]) -> FloatMatrix:
        """As `citewell.ports.MultimodalEmbedder.embed_pictures`."""
        return await self._patiently(lambda: EmbedderWrapper.embed_pictures(self, pictures), self._policy.attempts)

    async def close(self) -> None:
        """As `citewell.ports.RemoteEmbedder.close`, of calls that nobody waits for any more too."""
        for call in self._late:
            call.cancel()
        await super().close()

    def _ended(self, call: asyncio.Task[FloatMatrix]) -> None:
        self._late.discard(call)
        self._hanging.discard(call)
        if not call.cancelled():
            call.exception()  # it was told of when the time was over

    async def _patiently(self, call: Callable[[], Awaitable[FloatMatrix]], attempts: int) -> FloatMatrix:
        attempt = 1
        while True:
            try:
                return await call()
            except (ProviderRateLimited, ProviderUnavailable) as error:
                retry_after = error.retry_after if isinstance(error, ProviderRateLimited) else None
                if attempt >= attempts or (retry_after or 0.0) > self._policy.longest_wait:
                    raise
            await self._sleep(self._policy.wait(attempt, retry_after))
            attempt += 1
