"""Wrappers for any embedder: split requests to the provider's limits, cache vectors, and retry while it is busy."""

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
from citewell.text.same_question import MAX_CHARACTERS as MAX_QUESTION
from citewell.text.same_question import form_of

_MAX_REJECTED = 4
# A preview of 1,568 × 1,568 pixels is 4,400 tokens at Voyage, which accepts 320,000 per call.
_PICTURES_IN_CALL = 32
_Input = TypeVar("_Input", str, Pictured)
Calls: TypeAlias = AsyncGenerator[tuple[Sequence[int], FloatMatrix]]
"""The vectors of each call in turn, with the positions of its inputs."""
_REMEMBERED = 8_192
_SPECIAL_TOKENS = 2
# Tokens shared by adjacent windows of a long text, so that a sentence is whole in one of them (decision 0012).
_WINDOW_OVERLAP = 32
_MAX_REMEMBERED_LENGTH = 2_000


class EmbeddingCache(Protocol):
    """Caches vectors by (fingerprint, key); a key is the SHA-256 of a text in hexadecimal."""

    async def get(self, fingerprint: str, keys: Sequence[str]) -> dict[str, FloatMatrix]:
        """The cached vectors by key, each of shape (dimensions,)."""
        ...

    async def put(self, fingerprint: str, vectors: Mapping[str, FloatMatrix]) -> None:
        """Store vectors."""
        ...


class BatchingEmbedder(EmbedderWrapper):
    """Splits requests into calls within the provider's limits on texts and tokens, in input order.

    A rejected call is halved repeatedly until the rejected texts are isolated; the others are embedded.
    """

    def __init__(self, inner: Embedder, limits: CallLimits | None = None) -> None:
        """limits: None sends everything in one call."""
        super().__init__(inner)
        self._limits = limits

    async def embed(self, texts: Sequence[str], kind: TextKind = "document") -> FloatMatrix:
        """As `citewell.ports.Embedder.embed`. Raises `TextsRejected` if the provider accepts only some of the texts."""
        rows: list[FloatMatrix] = [vectors async for _, vectors in self.calls(texts, kind)]
        return np.concatenate(rows) if rows else await self.inner.embed([], kind)

    async def embed_pictures(self, pictures: Sequence[Pictured]) -> FloatMatrix:
        """As `citewell.ports.MultimodalEmbedder.embed_pictures`."""
        rows: list[FloatMatrix] = [vectors async for _, vectors in self.picture_calls(pictures)]
        return np.concatenate(rows) if rows else await self.inner.embed([])

    def calls(self, texts: Sequence[str], kind: TextKind) -> Calls:
        """The vectors of each call in turn, with the positions of its texts.

        Raises `TextsRejected` at the end if any were rejected.
        """

        async def call(places: range) -> FloatMatrix:
            return await self.inner.embed([texts[i] for i in places], kind)

        return self._halving(self._planned(texts), call, len(texts))

    def picture_calls(self, pictures: Sequence[Pictured]) -> Calls:
        """As `calls`, for pictures."""

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
                # Nothing at all was accepted: the request is wrong, not the texts.
                if not accepted and (len(rejected) > _MAX_REJECTED or len(rejected) == count):
                    raise
                continue
            accepted += 1
            yield places, vectors
        if reason is not None and rejected:
            raise TextsRejected(reason.message, indices=sorted(rejected)) from reason

    def plan(self, texts: Sequence[str]) -> EmbeddingPlan:
        """The work of embedding these texts if none is rejected."""
        return EmbeddingPlan(
            texts=len(texts), tokens=sum(self._tokens(texts)), calls=sum(1 for _ in self._planned(texts))
        )

    def _planned(self, texts: Sequence[str]) -> Iterator[range]:
        """Ranges of consecutive positions that fit one call; a text that exceeds the limits gets its own call."""
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
    """Embeds a document longer than `max_tokens` as the normalized mean of the vectors of overlapping windows.

    Queries pass through unchanged; the embedder reads their beginning.
    """

    reads_windows = True

    async def embed(self, texts: Sequence[str], kind: TextKind = "document") -> FloatMatrix:
        """As `citewell.ports.Embedder.embed`, for texts of any length."""
        # A text has at most as many tokens as characters, special tokens aside.
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
        """The fewest windows of equal length that cover the text."""
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

    Around a `BatchingEmbedder`, each call's vectors are cached before the next call, so that interrupted work is not
    paid for twice.

    Queries, and the sentences compared with them, are not written to the cache; the most recent ones are kept in
    memory, because a conversation returns to its subject. A query that an owner has put in other words has their
    vector (`citewell.text.same_question`): it asks the same, so it must find the same.

    All owners share the cache, so cached texts are charged as if embedded now: otherwise an owner's usage would reveal
    that somebody else has the same text.
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
        """As `citewell.ports.PlanningEmbedder.plan`; cached and repeated texts cost nothing."""
        by_key = {text_key(text): text for text in texts}
        known = await self._cache.get(str(self.fingerprint), list(by_key))
        missing = [text for key, text in by_key.items() if key not in known]
        return await asyncio.to_thread(self._batching.plan, missing)

    async def _query(self, texts: Sequence[str]) -> FloatMatrix:
        known = {text: self._asked[text] for text in texts if text in self._asked}
        forms = await self._forms(texts)
        known |= {text: self._asked[form] for text, form in forms.items() if text not in known and form in self._asked}
        await self._charge(list(known))
        new = [text for text in dict.fromkeys(texts) if text not in known]
        if new:
            vectors = await self.inner.embed(new, "query")
            known |= {text: vector.copy() for text, vector in zip(new, vectors, strict=True)}
        kept = [*known.items(), *((form, known[text]) for text, form in forms.items())]
        for text, vector in kept:
            if len(text) <= _MAX_REMEMBERED_LENGTH:
                self._asked[text] = vector
                self._asked.move_to_end(text)
        while len(self._asked) > _REMEMBERED:
            self._asked.popitem(last=False)
        return np.stack([known[text] for text in texts])

    async def _forms(self, texts: Sequence[str]) -> dict[str, str]:
        """Under which key a single query of the present owner is also kept; sentences that it is compared with come in numbers."""
        tally = current_tally()
        if len(texts) != 1 or tally is None or tally.payer is None or len(texts[0]) > MAX_QUESTION:
            return {}
        form = await asyncio.to_thread(form_of, texts[0])
        return {texts[0]: f"\x1e{tally.payer}\x1e{form.key}"}


def text_key(text: str) -> str:
    """The cache key of a text; different lone surrogates, which UTF-8 cannot encode, give different keys."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def picture_key(picture: Pictured) -> str:
    """The cache key of a picture with its text, from both hashes, so that the boundary between them is unambiguous."""
    image = hashlib.sha256(picture.image.data).hexdigest()
    return text_key(f"picture {image} {text_key(picture.text)}")


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryPolicy:
    """How often to retry, and how many seconds to wait: doubling each time, shortened at random by up to half.

    Somebody waits for a query's answer, so queries have fewer attempts than documents and a total timeout of
    `query_seconds`, below the timeout per index in a search of several, which leaves time for keyword search. While a
    query that timed out still hangs, other queries get `hurried_seconds`.
    """

    attempts: int = 6
    query_attempts: int = 3
    query_seconds: float = 8.0
    hurried_seconds: float = 1.0
    first_wait: float = 0.5
    longest_wait: float = 60.0

    def wait(self, attempt: int, retry_after: float | None) -> float:
        """Seconds to wait after failed attempt number `attempt` (from 1); never less than the provider asked for."""
        backoff = min(self.longest_wait, self.first_wait * 2 ** (attempt - 1)) * random.uniform(0.5, 1.0)  # noqa: S311
        asked = (retry_after or 0.0) * random.uniform(1.0, 1.1)  # noqa: S311
        return max(backoff, asked)


class RetryingEmbedder(EmbedderWrapper):
    """Retries while the provider is busy or unavailable; other errors, and the last attempt's, pass through.

    If a provider asks for a wait beyond `longest_wait`, its error passes through at once, with `retry_after`. A query
    that times out raises `ProviderUnavailable`, but its call continues: a local model server that is still loading its
    model would otherwise abort with the call and never finish loading.
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
        if seconds == self._policy.query_seconds:  # a query with the short timeout must not cause it for others
            self._hanging.add(call)
        call.add_done_callback(self._ended)
        raise ProviderUnavailable(f"The embedding model did not respond within {seconds:g} s.")

    async def embed_pictures(self, pictures: Sequence[Pictured]) -> FloatMatrix:
        """As `citewell.ports.MultimodalEmbedder.embed_pictures`."""
        return await self._patiently(lambda: EmbedderWrapper.embed_pictures(self, pictures), self._policy.attempts)

    async def close(self) -> None:
        """As `citewell.ports.RemoteEmbedder.close`; also cancels calls that timed out."""
        for call in self._late:
            call.cancel()
        await super().close()

    def _ended(self, call: asyncio.Task[FloatMatrix]) -> None:
        self._late.discard(call)
        self._hanging.discard(call)
        if not call.cancelled():
            call.exception()  # already reported as a timeout

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
