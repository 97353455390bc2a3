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
