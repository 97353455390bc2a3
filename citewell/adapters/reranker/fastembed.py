"""Hugging Face cross-encoders in local ONNX Runtime, through fastembed.

Nogueira and Cho, "Passage Re-ranking with BERT", 2019: the model reads query and text together and scores the match.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Sequence
from typing import Any

from fastembed.rerank.cross_encoder import TextCrossEncoder

from citewell.adapters.embedder.builtin_tokenizer import CHARACTERS_PER_TOKEN, WordPieceTokenizer
from citewell.adapters.embedder.remote import sendable
from citewell.adapters.hub_models import MODELS_FOLDER, chosen, opened, said, untruncated
from citewell.errors import ConfigurationError, ProviderUnavailable
from citewell.ports import Reranked
from citewell.settings import FastembedRerank

_TEXTS_AT_ONCE = 8


class FastembedReranker:
    """Implements `citewell.ports.Reranker`; scores are 0 to 1.

    Threads get texts in slices, so a canceled search ends within one slice.
    """

    def __init__(self, encoder: TextCrossEncoder, name: str, seconds: float) -> None:
        self.model = name
        self._encoder = encoder
        self._seconds = seconds
        tokenizer: Any = getattr(encoder.model, "tokenizer", None)
        self._max_tokens = int(tokenizer.truncation["max_length"])
        self._tokenizer = WordPieceTokenizer(untruncated(tokenizer), self._max_tokens)

    async def rerank(self, query: str, documents: Sequence[str], top_k: int) -> list[Reranked]:
        """As `citewell.ports.Reranker.rerank`. Raises `ProviderUnavailable` on a timeout or an ONNX Runtime error."""
        if top_k < 1:
            return []
        scores: list[float] = []
        try:
            async with asyncio.timeout(self._seconds):
                for start in range(0, len(documents), _TEXTS_AT_ONCE):
                    part = documents[start : start + _TEXTS_AT_ONCE]
                    scores += await asyncio.to_thread(self._run, query, part)
        except TimeoutError:
            raise ProviderUnavailable(
                f"{self.model} ranked {len(scores)} of {len(documents)} texts on this machine in {self._seconds:g} seconds. "
                "Choose a smaller model or fewer candidates."
            ) from None
        ranked = [Reranked(index, score) for index, score in enumerate(scores)]
        return sorted(ranked, key=lambda one: (-one.score, one.index))[:top_k]

    def _run(self, query: str, texts: Sequence[str]) -> list[float]:
        asked, *given = (self._cut(sendable(text)) for text in (query, *texts))
        try:
            found = list(self._encoder.rerank(asked, given, batch_size=len(given)))
        except Exception as error:  # the tokenizer and ONNX Runtime raise different errors
            raise ProviderUnavailable(f"{self.model} cannot rank: {said(error)}.") from error
        return [_share(logit) for logit in found]

    def _cut(self, text: str) -> str:
        """The text cut to the model's limit.

        The tokenizer's own truncation of a pair keeps every combination of cut-off parts.
        """
        text = text[: self._max_tokens * CHARACTERS_PER_TOKEN]
        if len(text) <= self._max_tokens:
            return text
        read = self._tokenizer.offsets(text)[: self._max_tokens]
        return text[: read[-1][1]] if read else text[: self._max_tokens]

    def check(self) -> None:
        """Rank one text. Raises `ProviderUnavailable` if the model outputs more than one number per pair."""
        session: Any = getattr(self._encoder.model, "model", None)
        shape: list[object] = session.get_outputs()[0].shape
        if isinstance(shape[-1], int) and shape[-1] != 1:
            raise ProviderUnavailable(f"it outputs {shape[-1]} numbers per text instead of one.")
        self._run("a", ["a"])


def build(settings: FastembedRerank) -> FastembedReranker:
    """Build the reranker, downloading its model if missing.

    Raises `ConfigurationError` for an unknown, damaged or unreachable model.
    """
    name = str(chosen(settings)["model"])
    reranker = FastembedReranker(opened(TextCrossEncoder, settings, name), name, settings.seconds)
    try:
        reranker.check()
    except ProviderUnavailable as error:
        place = settings.path or settings.data / MODELS_FOLDER
        raise ConfigurationError(
            f"The model {name} in {place} is not a reranker: {error.message} Put the files of a cross-encoder there."
        ) from error
    return reranker


def _share(logit: float) -> float:
    """The logistic function, in a form that cannot overflow."""
    return 0.5 * (1.0 + math.tanh(logit / 2.0))
