"""The built-in reranker, on the model that ships."""

from collections.abc import Sequence

import numpy as np
import pytest

from citewell.adapters.embedder.builtin import BuiltinEmbedder
from citewell.adapters.reranker.builtin import LateInteractionReranker
from citewell.ports import FloatMatrix, Reranker, TextKind

_DOCUMENTS = (
    "The office closes at noon on Fridays.",
    "A first-time borrower may take a loan of at most 5,000.",
    "Trees are planted every spring.",
)


class Counting:
    """Token vectors of words, with a note of how many texts were asked for."""

    def __init__(self) -> None:
        self.texts = 0

    async def token_vectors(self, texts: Sequence[str], kind: TextKind = "query") -> list[FloatMatrix]:
        self.texts += len(texts)
        return [self._vectors(text) for text in texts]

    def _vectors(self, text: str) -> FloatMatrix:
        rows = [np.eye(26, dtype=np.float32)[ord(word[0]) - ord("a")] for word in text.split()]
        return np.stack(rows) if rows else np.empty((0, 26), dtype=np.float32)


async def test_puts_the_document_that_answers_first() -> None:
    reranker = LateInteractionReranker(BuiltinEmbedder.load(threads=1))
    assert isinstance(reranker, Reranker)
    ranked = await reranker.rerank("How much money can new borrowers get?", _DOCUMENTS, 3)
    assert ranked[0].index == 1
    assert ranked[0].score > ranked[1].score


async def test_the_score_is_the_mean_of_the_greatest_cosines() -> None:
    ranked = await LateInteractionReranker(Counting()).rerank("apple banana", ["cherry", "almond", "bean avocado"], 10)
    assert [(item.index, item.score) for item in ranked] == [(2, 1.0), (1, 0.5), (0, 0.0)]


async def test_at_most_top_k_and_nothing_for_nothing() -> None:
    reranker = LateInteractionReranker(Counting())
    assert len(await reranker.rerank("a", ["a", "b", "c"], 2)) == 2
    assert await reranker.rerank("a", [], 5) == []
    assert [item.score for item in await reranker.rerank("", ["a", ""], 5)] == [-1.0, -1.0]


async def test_documents_seen_before_are_not_computed_again() -> None:
    embedder = Counting()
    reranker = LateInteractionReranker(embedder)
    first = await reranker.rerank("a", ["x y", "z", "x y"], 3)
    assert embedder.texts == 1 + 2
    assert await reranker.rerank("a", ["x y", "z", "x y"], 3) == first
    assert embedder.texts == 1 + 2 + 1


@pytest.mark.parametrize("count", [300, 600])
async def test_what_is_remembered_is_bounded(count: int) -> None:
    reranker = LateInteractionReranker(Counting())
    ranked = await reranker.rerank("a", [f"a {'b ' * n}" for n in range(count)], count)
    assert len(ranked) == count
    assert len(reranker._remembered) <= 256
