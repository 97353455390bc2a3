"""Stands in for a model that can no longer be asked, because its key or its package is gone."""

from __future__ import annotations

from collections.abc import Sequence

from citewell.errors import ProviderUnavailable
from citewell.ports import Embedder, Fingerprint, FloatMatrix, TextKind, Tokenizer


class AbsentEmbedder:
    """The embedder of an index whose model cannot be asked: its index is searched by words, and takes new chunks without vectors."""

    def __init__(self, fingerprint: Fingerprint, reason: str, counted_by: Embedder) -> None:
        """reason: why, as a sentence; counted_by: a model that can be asked, for the lengths of texts."""
        self.fingerprint = fingerprint
        self.reason = reason
        self._counted_by = counted_by

    @property
    def max_tokens(self) -> int:
        """The other model's."""
        return self._counted_by.max_tokens

    @property
    def tokenizer(self) -> Tokenizer:
        """The other model's."""
        return self._counted_by.tokenizer

    async def embed(self, texts: Sequence[str], kind: TextKind = "document") -> FloatMatrix:
        """Raises `ProviderUnavailable`, always."""
        raise ProviderUnavailable(f"The index's model {self.fingerprint} cannot be asked: {self.reason}")
