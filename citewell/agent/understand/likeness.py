"""How much a message is like small talk: its meaning beside those of a handful of phrases, and of questions."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

import numpy as np

from citewell.agent.understand.small_talk import PROTOTYPES, QUESTION_PROTOTYPES, SmallTalk
from citewell.agent.understand.thresholds import THRESHOLDS
from citewell.ports import Embedder, FloatMatrix
from citewell.ports.metering import tallied


@dataclass(frozen=True, slots=True)
class _Prototypes:
    """Vectors of the phrases, shape (phrases, dimensions); `kinds` has one entry per phrase of small talk."""

    kinds: tuple[SmallTalk, ...]
    small_talk: FloatMatrix
    questions: FloatMatrix


class SmallTalkLikeness:
    """Compares messages with prototypes, which are embedded at the first message that needs it."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._prototypes: _Prototypes | None = None
        self._preparing = asyncio.Lock()

    async def measure(self, text: str, *, about: bool) -> tuple[float, SmallTalk]:
        """The likeness of a short text to small talk, in about -0.7..1, and the kind of the nearest phrase.

        about: whether it may be a question about the assistant; if not, it is not compared with those. The likeness is the mean cosine with the nearest phrases of small talk, less a share of that with the nearest questions: several of
        each, because one phrase may share a word with the text by chance.
        """
        prototypes = self._prototypes or await self.prepare()
        vector = (await self._embedder.embed([text], "query"))[0]
        allowed = [i for i, kind in enumerate(prototypes.kinds) if about or kind is not SmallTalk.ABOUT_ASSISTANT]
        cosines = prototypes.small_talk[allowed] @ vector
        likeness = _nearest(cosines) - THRESHOLDS.question_share * _nearest(prototypes.questions @ vector)
        return likeness, prototypes.kinds[allowed[int(np.argmax(cosines))]]

    async def prepare(self) -> _Prototypes:
        """Embed the prototypes, if that was not done yet; who asks meanwhile waits for it."""
        async with self._preparing:
            if self._prototypes is None:
                phrases = [(kind, phrase) for kind, of_kind in PROTOTYPES.items() for phrase in of_kind]
                with tallied():  # nobody's turn pays for what all turns use
                    vectors = await self._embedder.embed([*(p for _, p in phrases), *QUESTION_PROTOTYPES], "query")
                self._prototypes = _Prototypes(
                    tuple(kind for kind, _ in phrases), vectors[: len(phrases)], vectors[len(phrases) :]
                )
            return self._prototypes


def _nearest(cosines: FloatMatrix) -> float:
    """The mean of the greatest cosines."""
    return float(np.sort(cosines)[-THRESHOLDS.nearest_phrases :].mean())
