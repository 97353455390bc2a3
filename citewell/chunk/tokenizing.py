"""What chunkers ask of an embedder's tokenizer and of an embedder."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol, TypeAlias

import numpy as np
import numpy.typing as npt


class Tokenizer(Protocol):
    """Counts tokens as the embedder does; `citewell.ports.Tokenizer` has this shape."""

    def count(self, texts: Sequence[str]) -> list[int]:
        """Tokens per text, special tokens not included."""
        ...

    def offsets(self, text: str) -> list[tuple[int, int]]:
        """Character span of each token of `text`, special tokens not included."""
        ...


SentenceEmbedder: TypeAlias = Callable[[Sequence[str]], npt.NDArray[np.float32]]
"""Sentences to unit vectors, shape (len(texts), dimensions)."""


_MEMO_CHARACTERS = 4_000_000


class WordCounter:
    """Estimates tokens as the sum over words, each counted once; exact where a tokenizer divides at white space first.

    Many times faster than counting, so that texts can be measured before they are cut; what was cut is then counted.
    """

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._tokenizer = tokenizer
        self._memo: dict[str, int] = {}
        self._characters = 0

    def count(self, texts: Sequence[str]) -> list[int]:
        """Tokens per text."""
        words = [text.split() for text in texts]
        self._learn({word for each in words for word in each if word not in self._memo})
        counts = [sum(map(self._memo.__getitem__, each)) for each in words]
        if self._characters > _MEMO_CHARACTERS:
            self._memo.clear()
            self._characters = 0
        return counts

    def _learn(self, unknown: set[str]) -> None:
        if unknown:
            listed = sorted(unknown)
            self._memo.update(zip(listed, self._tokenizer.count(listed), strict=True))
            self._characters += sum(map(len, listed))

    def offsets(self, text: str) -> list[tuple[int, int]]:
        """Character span of each token, exact."""
        return self._tokenizer.offsets(text)
