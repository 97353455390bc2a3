"""A substitute for a model that is no longer available because its key or package is missing."""

from __future__ import annotations

from collections.abc import Sequence

from citewell.errors import ProviderUnavailable
from citewell.ports import Embedder, Fingerprint, FloatMatrix, TextKind, Tokenizer


class AbsentEmbedder:
    """The embedder of an index whose model is unavailable: keyword search only, and new chunks get no vectors."""

    def __init__(self, fingerprint: Fingerprint, reason: str, counted_by: Embedder) -> None:
        """reason: why the model is unavailable, as a sentence; counted_by: an available model that counts tokens."""
        self.fingerprint = fingerprint
        self.reason = reason
        self._counted_by = counted_by

    @property
    def max_tokens(self) -> int:
        """The substitute model's."""
        return self._counted_by.max_tokens

    @property
    def tokenizer(self) -> Tokenizer:
        """The substitute model's."""
        return self._counted_by.tokenizer

    async def embed(self, texts: Sequence[str], kind: TextKind = "document") -> FloatMatrix:
        """Always raises `ProviderUnavailable`."""
        raise ProviderUnavailable(f"The index's model {self.fingerprint} is unavailable: {self.reason}")
