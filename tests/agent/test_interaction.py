"""How near texts are to a question: by their tokens where the embedder has them, as wholes where it does not."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from citewell.adapters.embedder.builtin import BuiltinEmbedder
from citewell.agent.extractive.interaction import NearnessMeter
from citewell.ports import FloatMatrix, TextKind
from citewell.ports.metering import MeteredEmbedder, tallied
from tests.agent.fakes import WordEmbedder

QUESTION = "Who repairs the crane?"
TEXTS = ["The crane is repaired by the dockyard.", "Herring is sold on Fridays."]


class CountingEmbedder(WordEmbedder):
    """Gives each word as a token, and keeps what it was asked for."""

    def __init__(self) -> None:
        super().__init__()
        self.read: list[str] = []

    async def token_vectors(self, texts: Sequence[str], kind: TextKind = "document") -> list[FloatMatrix]:
        self.read.extend(texts)
        return [await self.embed(text.split(), kind) for text in texts]


async def test_the_nearer_text_is_nearer_token_by_token_and_as_a_whole() -> None:
    embedder = BuiltinEmbedder.load()
    near, far = await NearnessMeter(embedder).measure(QUESTION, TEXTS)
    await embedder.aclose()
    assert near.interaction > far.interaction
    assert near.similarity > far.similarity
    assert np.linalg.norm(near.vector) == pytest.approx(1.0, abs=1e-4)


async def test_part_of_a_question_is_measured_by_its_own_tokens() -> None:
    near, _ = await NearnessMeter(CountingEmbedder()).measure("crane herring", TEXTS)
    assert near.of_tokens(0, 1) == pytest.approx(1.0, abs=1e-5)
    assert near.of_tokens(1, 2) < 0.5
    assert near.of_tokens(7, 9) == near.interaction


async def test_without_tokens_the_whole_counts() -> None:
    (near,) = await NearnessMeter(WordEmbedder()).measure(QUESTION, TEXTS[:1])
    assert near.interaction == near.similarity == near.of_tokens(0, 2)


async def test_a_text_is_read_once_and_counted_as_spent() -> None:
    embedder = CountingEmbedder()
    meter = NearnessMeter(MeteredEmbedder(embedder))
    with tallied() as tally:
        await meter.measure(QUESTION, TEXTS)
        await meter.measure(QUESTION, TEXTS)
    assert embedder.read == [QUESTION, *TEXTS]
    assert sum(spent.units for spent in tally.of("embedding")) == 3
