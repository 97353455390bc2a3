"""What the servers of vectors share: vectors that tell texts apart, and a count of tokens of their own."""

from __future__ import annotations

import hashlib
import re
from functools import lru_cache

import numpy as np

from citewell.ports import FloatMatrix

_TOKEN = re.compile(r"\w{1,8}|[^\w\s]")
_WORD = re.compile(r"\w+")


def vector(text: str, kind: str | None, dimensions: int, length: float = 1.0) -> list[float]:
    """A vector of this length: texts that share words are near, and the two kinds of one text are not the same."""
    words = set(_WORD.findall(text.lower())) or {""}
    total = np.sum([_word(word, dimensions) for word in sorted(words)], axis=0)
    turned = total / np.linalg.norm(total) + 0.05 * _word(f"as a {kind}", dimensions) / dimensions**0.5
    return [float(value) for value in length * turned / np.linalg.norm(turned)]


def tokens_of(text: str) -> int:
    """About what byte-pair encodings make of it."""
    return len(_TOKEN.findall(text))


@lru_cache(maxsize=20_000)
def _word(word: str, dimensions: int) -> FloatMatrix:
    seed = int.from_bytes(hashlib.sha256(word.encode("utf-8", "replace")).digest()[:8], "little")
    return np.random.default_rng(seed).standard_normal(dimensions).astype(np.float32)
