"""An embedder for tests that tells texts apart: vectors from the hashes of words, so texts that share words are near."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence

import numpy as np

from citewell.ports import Fingerprint, FloatMatrix, TextKind

_WORD = re.compile(r"\w+")


class WordTokenizer:
    """One token per word."""

    def count(self, texts: Sequence[str]) -> list[int]:
        """Words per text."""
        return [len(_WORD.findall(text)) for text in texts]

    def offsets(self, text: str) -> list[tuple[int, int]]:
        """Character span of each word."""
        return [match.span() for match in _WORD.finditer(text)]


class HashEmbedder:
    """Implements `citewell.ports.Embedder`. Different `model` names give unrelated vectors."""

    def __init__(self, model: str = "words", dimensions: int = 64, max_tokens: int = 256) -> None:
        self.fingerprint = Fingerprint("hash", model, dimensions)
        self.max_tokens = max_tokens
        self.tokenizer = WordTokenizer()
        self.calls = 0

    async def embed(self, texts: Sequence[str], kind: TextKind = "document") -> FloatMatrix:
        """The normalised sum of the words' vectors; counts its calls."""
        self.calls += 1
        rows = [self._vector(text) for text in texts]
        return np.stack(rows) if rows else np.zeros((0, self.fingerprint.dimensions), np.float32)

    def _vector(self, text: str) -> FloatMatrix:
        words = _WORD.findall(text.lower()) or [""]
        total = np.sum([self._word(word) for word in words], axis=0)
        return (total / (np.linalg.norm(total) or 1.0)).astype(np.float32)

    def _word(self, word: str) -> FloatMatrix:
        seed = hashlib.sha256(f"{self.fingerprint.model}/{word}".encode()).digest()
        generator = np.random.default_rng(int.from_bytes(seed[:8], "little"))
        return generator.standard_normal(self.fingerprint.dimensions).astype(np.float32)
