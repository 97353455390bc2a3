"""Texts longer than an embedder reads: every part of them counts, and what it reads whole stays as it was."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from citewell.adapters.embedder.wrappers import BatchingEmbedder, WindowedEmbedder
from citewell.ingest.chunking import reads_windows
from citewell.ports import FloatMatrix, TextKind
from citewell.testing.embedder import HashEmbedder

READS = 32
SHORT = "a harbour master counts boats"


class CuttingEmbedder(HashEmbedder):
    """Reads the first words of a text only, as real models do."""

    def __init__(self) -> None:
        super().__init__(max_tokens=READS + 2)
        self.asked: list[str] = []

    async def embed(self, texts: Sequence[str], kind: TextKind = "document") -> FloatMatrix:
        self.asked += texts
        return await super().embed([" ".join(text.split()[:READS]) for text in texts], kind)


async def test_a_short_text_has_the_vector_that_it_had() -> None:
    windowed = WindowedEmbedder(CuttingEmbedder())
    long = " ".join(f"word{number}" for number in range(90))
    alone, (beside, _) = await CuttingEmbedder().embed([SHORT]), await windowed.embed([SHORT, long])
    assert np.array_equal(alone[0], beside)
    assert (await windowed.embed([])).shape == (0, 64)


@pytest.mark.parametrize("words", [33, 60, 95, 400])
async def test_every_part_of_a_long_text_counts(words: int) -> None:
    cutting = CuttingEmbedder()
    windowed = WindowedEmbedder(cutting)
    text = " ".join(f"word{number}" for number in range(words))
    (vector,) = await windowed.embed([text])
    windows = cutting.asked
    assert {word for window in windows for word in window.split()} == set(text.split())
    assert {len(window.split()) for window in windows} == {READS}, (
        "windows are full, and no longer than the model reads"
    )
    mean = np.mean(await HashEmbedder().embed(windows), axis=0)
    assert np.allclose(vector, mean / np.linalg.norm(mean), atol=1e-5)


async def test_a_query_is_left_to_the_model() -> None:
    text = " ".join(f"word{number}" for number in range(90))
    asked = await WindowedEmbedder(CuttingEmbedder()).embed([text], "query")
    assert np.array_equal(asked, await CuttingEmbedder().embed([text], "query"))


def test_whether_windows_are_read_is_known_of_wrapped_embedders() -> None:
    assert reads_windows(BatchingEmbedder(WindowedEmbedder(HashEmbedder())))
    assert not reads_windows(BatchingEmbedder(HashEmbedder()))
    assert not reads_windows(HashEmbedder())
