"""The wrappers around embedders: nothing is embedded twice, and a busy provider is given time."""

from __future__ import annotations

import asyncio
import hashlib
import re
from collections.abc import Mapping, Sequence

import numpy as np
import pytest

from citewell.adapters.embedder.wrappers import (
    BatchingEmbedder,
    CachingEmbedder,
    RetryingEmbedder,
    RetryPolicy,
    text_key,
)
from citewell.errors import (
    ProviderAuthError,
    ProviderModelGone,
    ProviderRateLimited,
    ProviderRejected,
    ProviderUnavailable,
    TextsRejected,
)
from citewell.ports import CallLimits, Embedder, Fingerprint, FloatMatrix, TextKind, Tokenizer
from citewell.ports.metering import MeteredEmbedder, tallied


def vector_of(text: str) -> FloatMatrix:
    """A unit vector that only this text has."""
    seed = int.from_bytes(hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()[:8], "big")
    vector = np.random.default_rng(seed).normal(size=8).astype(np.float32)
    return (vector / np.linalg.norm(vector)).astype(np.float32)


class WordCounter:
    def count(self, texts: Sequence[str]) -> list[int]:
        return [len(text.split()) for text in texts]

    def offsets(self, text: str) -> list[tuple[int, int]]:
        return [match.span() for match in re.finditer(r"\S+", text)]


class RecordingEmbedder:
    """Notes what it is asked; raises the errors it is given first, one per call."""

    def __init__(self, errors: Sequence[Exception] = (), revision: str = "1") -> None:
        self.fingerprint = Fingerprint("test", "recording", 8, revision)
        self.max_tokens = 100
        self.calls: list[list[str]] = []
        self._errors = list(errors)

    @property
    def tokenizer(self) -> Tokenizer:
        return WordCounter()

    async def embed(self, texts: Sequence[str], kind: TextKind = "document") -> FloatMatrix:
        self.calls.append(list(texts))
        if self._errors:
            raise self._errors.pop(0)
        return np.array([vector_of(text) for text in texts], np.float32).reshape(-1, 8)


class DictionaryCache:
    def __init__(self) -> None:
        self.vectors: dict[tuple[str, str], FloatMatrix] = {}

    async def get(self, fingerprint: str, keys: Sequence[str]) -> dict[str, FloatMatrix]:
        return {key: self.vectors[fingerprint, key] for key in keys if (fingerprint, key) in self.vectors}

    async def put(self, fingerprint: str, vectors: Mapping[str, FloatMatrix]) -> None:
        self.vectors.update({(fingerprint, key): vector for key, vector in vectors.items()})


class Clock:
    """Sleeps without waiting."""

    def __init__(self) -> None:
        self.waits: list[float] = []

    async def sleep(self, seconds: float) -> None:
        self.waits.append(seconds)


def expected(texts: Sequence[str]) -> FloatMatrix:
    return np.array([vector_of(text) for text in texts])


async def test_a_text_that_stands_twice_in_a_call_is_embedded_once() -> None:
    inner = RecordingEmbedder()
    texts = ["b", "a", "b", "b", "c", "a"]
    vectors = await CachingEmbedder(inner, DictionaryCache()).embed(texts)
    assert inner.calls == [["b", "a", "c"]]
    assert np.array_equal(vectors, expected(texts))
    assert vectors.dtype == np.float32


async def test_a_later_call_embeds_only_what_is_new_and_keeps_the_order() -> None:
    inner, cache = RecordingEmbedder(), DictionaryCache()
    await CachingEmbedder(inner, cache).embed(["a", "b"])
    vectors = await CachingEmbedder(inner, cache).embed(["new", "b", "a"])
    assert inner.calls == [["a", "b"], ["new"]]
    assert np.array_equal(vectors, expected(["new", "b", "a"]))
    await CachingEmbedder(inner, cache).embed(["b"])
    assert len(inner.calls) == 2


@pytest.mark.parametrize("kind", ["document", "query"])
async def test_what_is_known_already_is_charged_like_what_is_new(kind: TextKind) -> None:
    texts = ["one", "two words", "one", "three more words"]
    for known in ([], ["two words"], texts):
        inner = RecordingEmbedder()
        embedder = CachingEmbedder(MeteredEmbedder(inner), DictionaryCache())
        if known:
            await embedder.embed(known, kind)
        with tallied() as tally:
            await embedder.embed(texts, kind)
        assert sum(map(len, inner.calls)) == 3, "each is embedded once"
        assert [(spent.input_tokens, spent.units) for spent in tally.spent] == [(6, 3)]


async def test_another_revision_of_the_model_shares_nothing() -> None:
    cache = DictionaryCache()
    later = RecordingEmbedder(revision="2")
    await CachingEmbedder(RecordingEmbedder(), cache).embed(["a"])
    await CachingEmbedder(later, cache).embed(["a"])
    assert later.calls == [["a"]]


async def test_queries_are_not_written_to_the_cache() -> None:
    inner, cache = RecordingEmbedder(), DictionaryCache()
    embedder = CachingEmbedder(inner, cache)
    await embedder.embed(["a"])
    await embedder.embed(["a", "q"], "query")
    assert inner.calls == [["a"], ["a", "q"]]
    assert set(cache.vectors) == {(str(inner.fingerprint), text_key("a"))}


async def test_a_query_asked_again_is_remembered_and_cannot_be_written_over() -> None:
    inner = RecordingEmbedder()
    embedder = CachingEmbedder(inner, DictionaryCache())
    first, again = await embedder.embed(["q"], "query"), await embedder.embed(["q"], "query")
    assert inner.calls == [["q"]]
    assert np.array_equal(first, expected(["q"]))
    assert np.array_equal(first, again)
    again[0] = 0.0
    assert np.array_equal(await embedder.embed(["q"], "query"), first)


async def test_of_sentences_compared_with_a_query_only_new_ones_are_embedded() -> None:
    inner = RecordingEmbedder()
    embedder = CachingEmbedder(inner, DictionaryCache())
    await embedder.embed(["q", "a", "b"], "query")
    assert np.array_equal(await embedder.embed(["b", "c", "q", "b"], "query"), expected(["b", "c", "q", "b"]))
    assert inner.calls == [["q", "a", "b"], ["c"]]


async def test_only_the_last_queries_are_remembered_and_long_ones_never() -> None:
    inner = RecordingEmbedder()
    embedder = CachingEmbedder(inner, DictionaryCache())
    await embedder.embed(["first"], "query")
    for start in range(0, 9_000, 100):
        await embedder.embed([f"q{start + number}" for number in range(100)], "query")
    asked = len(inner.calls)
    await embedder.embed(["q8999"], "query")
    assert len(inner.calls) == asked
    await embedder.embed(["first"], "query")
    assert len(inner.calls) == asked + 1
    for _ in range(2):
        await embedder.embed(["x" * 3_000], "query")
    assert len(inner.calls) == asked + 3


async def test_no_texts_and_texts_that_utf8_cannot_express() -> None:
    embedder = CachingEmbedder(RecordingEmbedder(), DictionaryCache())
    assert (await embedder.embed([])).shape == (0, 8)
    assert np.array_equal(await embedder.embed(["\ud800", "?"]), expected(["\ud800", "?"]))


async def test_what_failed_is_not_remembered() -> None:
    cache = DictionaryCache()
    with pytest.raises(ProviderUnavailable):
        await CachingEmbedder(RecordingEmbedder([ProviderUnavailable()]), cache).embed(["a"])
    assert cache.vectors == {}


def test_a_wrapper_is_an_embedder_with_the_properties_of_its_inner_one() -> None:
    inner = RecordingEmbedder()
    for wrapper in (CachingEmbedder(inner, DictionaryCache()), RetryingEmbedder(inner)):
        assert wrapper.fingerprint == inner.fingerprint
        assert wrapper.max_tokens == inner.max_tokens
        assert wrapper.tokenizer.count(["a b c"]) == [3]
        assert isinstance(wrapper, Embedder)


async def test_a_busy_provider_is_asked_again_with_growing_waits() -> None:
    clock = Clock()
    inner = RecordingEmbedder([ProviderRateLimited(), ProviderUnavailable(), ProviderUnavailable()])
    vectors = await RetryingEmbedder(inner, RetryPolicy(first_wait=1.0), clock.sleep).embed(["a"])
    assert np.array_equal(vectors, expected(["a"]))
    for wait, most in zip(clock.waits, (1.0, 2.0, 4.0), strict=True):
        assert most / 2 <= wait <= most


async def test_the_wait_that_the_provider_asks_for_is_kept() -> None:
    clock = Clock()
    inner = RecordingEmbedder([ProviderRateLimited(retry_after=7.0), ProviderRateLimited(retry_after=0.0)])
    await RetryingEmbedder(inner, RetryPolicy(first_wait=0.1), clock.sleep).embed(["a"])
    assert 7.0 <= clock.waits[0] <= 7.7
    assert clock.waits[1] <= 0.2


async def test_waits_differ_so_that_workers_do_not_come_back_together() -> None:
    policy = RetryPolicy()
    assert len({policy.wait(3, None) for _ in range(20)}) > 10
    assert max(policy.wait(30, None) for _ in range(20)) <= policy.longest_wait


@pytest.mark.parametrize(("kind", "attempts"), [("document", 4), ("query", 2)])
async def test_after_the_last_attempt_the_error_passes_through(kind: TextKind, attempts: int) -> None:
    inner = RecordingEmbedder([ProviderUnavailable(str(number)) for number in range(10)])
    policy = RetryPolicy(attempts=4, query_attempts=2)
    with pytest.raises(ProviderUnavailable, match=str(attempts - 1)):
        await RetryingEmbedder(inner, policy, Clock().sleep).embed(["a"], kind)
    assert len(inner.calls) == attempts


@pytest.mark.parametrize("error", [ProviderAuthError(), ProviderRateLimited(retry_after=3600.0), ValueError("bug")])
async def test_what_waiting_cannot_help_is_raised_at_once(error: Exception) -> None:
    inner, clock = RecordingEmbedder([error]), Clock()
    with pytest.raises(type(error)):
        await RetryingEmbedder(inner, sleep=clock.sleep).embed(["a"])
    assert len(inner.calls) == 1
    assert clock.waits == []


class Unhurried(RecordingEmbedder):
    """Answers when it may."""

    def __init__(self) -> None:
        super().__init__()
        self.may = asyncio.Event()
        self.answered = 0

    async def embed(self, texts: Sequence[str], kind: TextKind = "document") -> FloatMatrix:
        await self.may.wait()
        self.answered += 1
        return await super().embed(texts, kind)


async def test_a_query_is_waited_for_so_long_and_its_call_goes_on() -> None:
    inner = Unhurried()
    embedder = RetryingEmbedder(inner, RetryPolicy(query_seconds=0.02))
    with pytest.raises(ProviderUnavailable, match=r"did not respond within 0\.02 s"):
        await embedder.embed(["a"], "query")
    inner.may.set()
    assert np.array_equal(await embedder.embed(["b"], "query"), expected(["b"]))
    await asyncio.sleep(0)
    assert inner.answered == 2, "as a server that loads its model only for calls that wait would not have it otherwise"


async def test_a_call_whose_query_is_taken_back_or_whose_embedder_is_closed_ends() -> None:
    inner = Unhurried()
    embedder = RetryingEmbedder(inner, RetryPolicy(query_seconds=0.02))
    asked = asyncio.create_task(embedder.embed(["a"], "query"))
    await asyncio.sleep(0)
    asked.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asked
    with pytest.raises(ProviderUnavailable):
        await embedder.embed(["b"], "query")
    await embedder.close()
    inner.may.set()
    await asyncio.sleep(0.05)
    assert inner.answered == 0


async def test_while_a_query_hangs_others_are_hurried_and_no_longer() -> None:
    inner = Unhurried()
    embedder = RetryingEmbedder(inner, RetryPolicy(query_seconds=0.2, hurried_seconds=0.01))
    for said in ("0.2", "0.01", "0.01"):
        with pytest.raises(ProviderUnavailable, match=f"within {said} s"):
            await embedder.embed(["a"], "query")
    inner.may.set()
    await asyncio.sleep(0.05)
    inner.may.clear()
    with pytest.raises(ProviderUnavailable, match=r"within 0\.2 s"):
        await embedder.embed(["b"], "query")
    await embedder.close()


async def test_a_document_has_more_time_than_a_query() -> None:
    inner = Unhurried()
    asked = asyncio.create_task(RetryingEmbedder(inner, RetryPolicy(query_seconds=0.01)).embed(["a"]))
    await asyncio.sleep(0.05)
    inner.may.set()
    assert np.array_equal(await asked, expected(["a"]))


class Picky(RecordingEmbedder):
    """Takes no more texts than a provider would, and none that it dislikes."""

    def __init__(
        self, texts: int = 100, disliked: Sequence[str] = (), error: type[ProviderRejected] = ProviderRejected
    ) -> None:
        super().__init__()
        self.limits = CallLimits(texts=texts, tokens=10)
        self._disliked = set(disliked)
        self._error = error

    async def embed(self, texts: Sequence[str], kind: TextKind = "document") -> FloatMatrix:
        vectors = await super().embed(texts, kind)
        if len(texts) > self.limits.texts or self._disliked & set(texts):
            raise self._error("These texts are refused.")
        return vectors


async def test_calls_hold_no_more_texts_and_tokens_than_the_provider_takes() -> None:
    inner = Picky(texts=3)
    texts = ["a", "b", "c", "d", "e f g h", "i j k l m n o", "p"]
    vectors = await BatchingEmbedder(inner, inner.limits).embed(texts)
    assert inner.calls == [["a", "b", "c"], ["d", "e f g h"], ["i j k l m n o", "p"]]
    assert np.array_equal(vectors, expected(texts))


async def test_a_text_beyond_every_limit_has_a_call_of_its_own() -> None:
    inner = Picky()
    await BatchingEmbedder(inner, inner.limits).embed(["a", "w " * 50, "b"])
    assert [len(call) for call in inner.calls] == [1, 1, 1]


async def test_a_rejected_text_stands_alone_and_the_others_are_kept() -> None:
    cache, inner = DictionaryCache(), Picky(disliked=["t5", "t6"])
    texts = [f"t{n}" for n in range(10)]
    embedder = CachingEmbedder(BatchingEmbedder(inner, inner.limits), cache)
    with pytest.raises(TextsRejected, match="are refused") as raised:
        await embedder.embed(texts)
    assert raised.value.indices == (5, 6)
    calls = len(inner.calls)
    good = [text for text in texts if text not in ("t5", "t6")]
    assert np.array_equal(await embedder.embed(good), expected(good))
    assert len(inner.calls) == calls


async def test_a_request_that_is_wrong_altogether_is_not_tried_text_by_text() -> None:
    texts = [f"t{n}" for n in range(64)]
    inner = Picky(disliked=texts)
    with pytest.raises(ProviderRejected) as raised:
        await BatchingEmbedder(inner, CallLimits(texts=64, tokens=1_000)).embed(texts)
    assert not isinstance(raised.value, TextsRejected)
    assert len(inner.calls) < 20
    gone = Picky(disliked=texts, error=ProviderModelGone)
    with pytest.raises(ProviderModelGone):
        await BatchingEmbedder(gone, CallLimits(texts=64, tokens=1_000)).embed(texts)
    assert len(gone.calls) == 1


async def test_what_one_call_brought_is_kept_when_the_next_one_fails() -> None:
    cache, inner = DictionaryCache(), Picky(texts=2)
    embedder = CachingEmbedder(BatchingEmbedder(inner, inner.limits), cache)
    answers: list[Exception | None] = [None, ProviderAuthError()]

    async def failing(texts: Sequence[str], kind: TextKind = "document") -> FloatMatrix:
        error = answers.pop(0)
        if error is not None:
            raise error
        return await Picky.embed(inner, texts, kind)

    inner.embed = failing
    with pytest.raises(ProviderAuthError):
        await embedder.embed(["a", "b", "c", "d"])
    assert {key for _, key in cache.vectors} == {text_key("a"), text_key("b")}
