"""The embedding cache gives back the vectors that were put in, bit for bit, by model and text."""

from __future__ import annotations

import asyncio
import hashlib

import numpy as np
import pytest

from citewell.storage.database import Database
from citewell.storage.vectors.embeddings import EmbeddingCacheRepository


def _key(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


@pytest.fixture
def cache(database: Database) -> EmbeddingCacheRepository:
    return EmbeddingCacheRepository(database)


async def test_a_vector_comes_back_bit_for_bit(cache: EmbeddingCacheRepository) -> None:
    vector = np.array([0.1, -0.0, 1e-38, np.float32(1) / 3], np.float32)
    await cache.put("model", {_key("a"): vector})
    found = await cache.get("model", [_key("a"), _key("b")])
    assert list(found) == [_key("a")]
    assert found[_key("a")].tobytes() == vector.tobytes()


async def test_another_model_has_vectors_of_its_own(cache: EmbeddingCacheRepository) -> None:
    await cache.put("one", {_key("a"): np.zeros(2, np.float32)})
    await cache.put("two", {_key("a"): np.ones(3, np.float32)})
    assert (await cache.get("one", [_key("a")]))[_key("a")].shape == (2,)
    assert (await cache.get("two", [_key("a")]))[_key("a")].shape == (3,)
    assert await cache.get("three", [_key("a")]) == {}


async def test_what_is_known_stays_as_it_is(cache: EmbeddingCacheRepository) -> None:
    await cache.put("model", {_key("a"): np.zeros(2, np.float32)})
    await cache.put("model", {_key("a"): np.ones(2, np.float32), _key("b"): np.ones(2, np.float32)})
    found = await cache.get("model", [_key("a"), _key("b")])
    assert found[_key("a")].sum() == 0.0
    assert found[_key("b")].sum() == 2.0


async def test_more_keys_than_a_statement_takes_are_all_found(cache: EmbeddingCacheRepository) -> None:
    vectors = {_key(str(n)): np.full(2, n, np.float32) for n in range(1_203)}
    await cache.put("model", vectors)
    found = await cache.get("model", list(vectors))
    assert {key: float(vector[0]) for key, vector in found.items()} == {k: float(v[0]) for k, v in vectors.items()}


async def test_the_same_texts_from_many_at_once_are_no_conflict(cache: EmbeddingCacheRepository) -> None:
    vectors = {_key(str(n)): np.ones(2, np.float32) for n in range(20)}
    await asyncio.gather(*(cache.put("model", vectors) for _ in range(5)))
    assert len(await cache.get("model", list(vectors))) == 20


async def test_nothing_put_and_nothing_asked_for_is_nothing(cache: EmbeddingCacheRepository) -> None:
    await cache.put("model", {})
    assert await cache.get("model", []) == {}
