"""Chunking settings: the strategy, its sizes, and the embedder's limit."""

from __future__ import annotations

import hashlib
from dataclasses import astuple, dataclass

from citewell.types.chunking import MIN_CHUNK_SIZE, Strategy, chunk_sizes

VERSION = 5
"""Part of every fingerprint; increment it whenever the same settings would cut the same elements differently."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChunkConfig:
    """Settings of a chunker; invalid ones raise ValueError.

    strategy:        see `Strategy`
    size, overlap:   length of a chunk's text, and of the part repeated from the previous chunk; in characters for
                     `characters` and `recursive`, else in the embedder's tokens. None is the strategy's default.
                     `sections` has no overlap by default: it cuts at the end of paragraphs or sentences and puts the
                     heading path before every chunk, so an overlap would only waste the embedder's window and cite
                     passages twice.
    max_tokens:      tokens the embedder reads per text, special tokens included; no chunk exceeds it
    special_tokens:  how many special tokens the embedder adds
    """

    strategy: Strategy = Strategy.SECTIONS
    size: int | None = None
    overlap: int | None = None
    max_tokens: int = 256
    special_tokens: int = 2

    def __post_init__(self) -> None:
        if self.max_tokens - self.special_tokens < 16:
            raise ValueError("An embedder must read at least 16 tokens in addition to its special tokens.")
        if self.effective_size < MIN_CHUNK_SIZE:
            raise ValueError(f"A chunk's size must be at least {MIN_CHUNK_SIZE}.")
        if not 0 <= self.effective_overlap <= self.effective_size // 2:
            raise ValueError("A chunk's overlap must be between 0 and half its size.")

    @property
    def effective_size(self) -> int:
        """`size`, or the strategy's default."""
        return chunk_sizes(self.strategy, self.size, self.overlap)[0]

    @property
    def effective_overlap(self) -> int:
        """`overlap`, or the strategy's default (at most half the size)."""
        return chunk_sizes(self.strategy, self.size, self.overlap)[1]

    @property
    def token_budget(self) -> int:
        """Maximum tokens of context and text together."""
        return self.max_tokens - self.special_tokens

    @property
    def fingerprint(self) -> str:
        """Twelve hex digits, equal if the same elements and tokenizer yield the same chunks."""
        settings = (VERSION, *astuple(self)[:1], self.effective_size, self.effective_overlap, self.token_budget)
        return hashlib.sha256(repr(settings).encode()).hexdigest()[:12]
