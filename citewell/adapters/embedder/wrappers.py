"""Wrappers for any embedder: a cache of computed vectors, and retries while a provider is busy."""

from __future__ import annotations

import asyncio
import hashlib
import random
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from citewell.errors import ProviderRateLimited, ProviderUnavailable
from citewell.ports import Embedder, EmbedderWrapper, FloatMatrix, TextKind

_REMEMBERED = 8_192
_MAX_REMEMBERED_LENGTH = 2_000


class EmbeddingCache(Protocol):
    """Caches vectors by (fingerprint, key); a key is the SHA-256 of a text in hexadecimal."""

    async def get(self, fingerprint: str, keys: Sequence[str]) -> dict[str, FloatMatrix]:
        """The cached ones, each of shape (dimensions,)."""
        ...

    async def put(self, fingerprint: str, vectors: Mapping[str, FloatMatrix]) -> None:
        """Remember vectors."""
        ...


class CachingEmbedder(EmbedderWrapper):
    """Embeds each document text once per model: within a call, and across calls through the cache.

    Queries, and the sentences compared with them, are not written to the cache. The most recent ones are kept in this process,
    because a conversation returns to its subject.
    """

    def __init__(self, inner: Embedder, cache: EmbeddingCache) -> None:
        super().__init__(inner)
        self._cache = cache
        self._asked: OrderedDict[str, FloatMatrix] = OrderedDict()

    async def embed(self, texts: Sequence[str], kind: TextKind = "document") -> FloatMatrix:
        """As `citewell.ports.Embedder.embed`."""
        if not texts:
            return await self.inner.embed(texts, kind)
        if kind == "query":
            return await self._query(texts)
        fingerprint = str(self.fingerprint)
        keys = [text_key(text) for text in texts]
        known = await self._cache.get(fingerprint, list(dict.fromkeys(keys)))
        missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in known}
        if missing:
            vectors = await self.inner.embed(list(missing.values()), kind)
            fresh = dict(zip(missing, vectors, strict=True))
            await self._cache.put(fingerprint, fresh)
            known = {**known, **fresh}
        return np.stack([known[key] for key in keys]).astype(np.float32, copy=False)

    async def _query(self, texts: Sequence[str]) -> FloatMatrix:
        known = {text: self._asked[text] for text in texts if text in self._asked}
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


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryPolicy:
    """How often to retry, and how many seconds to wait: twice as long each time, shortened at random by up to a half.

    Somebody is waiting for a query's answer, so a query is tried less often than a document.
    """

    attempts: int = 6
    query_attempts: int = 3
    first_wait: float = 0.5
    longest_wait: float = 60.0

    def wait(self, attempt: int, retry_after: float | None) -> float:
        """Seconds after failed attempt number `attempt` (from 1); never less than the provider asked for."""
        backoff = min(self.longest_wait, self.first_wait * 2 ** (attempt - 1)) * random.uniform(0.5, 1.0)  # noqa: S311
        asked = (retry_after or 0.0) * random.uniform(1.0, 1.1)  # noqa: S311
        return max(backoff, asked)


class RetryingEmbedder(EmbedderWrapper):
    """Retries while the provider is busy or unavailable; other errors, and the last attempt's, pass through.

    When a provider asks for a wait beyond `longest_wait`, its error passes through at once, with `retry_after`.
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

    async def embed(self, texts: Sequence[str], kind: TextKind = "document") -> FloatMatrix:
        """As `citewell.ports.Embedder.embed`."""
        attempt, attempts = 1, self._policy.query_attempts if kind == "query" else self._policy.attempts
        while True:
            try:
                return await self.inner.embed(texts, kind)
            except (ProviderRateLimited, ProviderUnavailable) as error:
                retry_after = error.retry_after if isinstance(error, ProviderRateLimited) else None
                if attempt >= attempts or (retry_after or 0.0) > self._policy.longest_wait:
                    raise
            await self._sleep(self._policy.wait(attempt, retry_after))
            attempt += 1
