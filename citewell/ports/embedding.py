"""`Embedder`, its optional capabilities, and `Reranker`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, TypeAlias, cast, runtime_checkable

import numpy as np
import numpy.typing as npt

from citewell.ports.capability import Capability
from citewell.ports.chat import ImageInput

FloatMatrix: TypeAlias = npt.NDArray[np.float32]
TextKind: TypeAlias = Literal["document", "query"]


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """Identifies a vector space. Embedders with equal fingerprints may share an index and a cache."""

    provider: str
    model: str
    dimensions: int
    revision: str = ""
    normalisation: Literal["l2", "none"] = "l2"

    def __str__(self) -> str:
        revision = f"@{self.revision}" if self.revision else ""
        raw = "" if self.normalisation == "l2" else f"~{self.normalisation}"
        return f"{self.provider}/{self.model}/{self.dimensions}{revision}{raw}"


@dataclass(frozen=True, slots=True, kw_only=True)
class CallLimits:
    """The limits of one call to a provider."""

    texts: int
    tokens: int


class Tokenizer(Protocol):
    """Counts tokens as an embedder does."""

    def count(self, texts: Sequence[str]) -> list[int]:
        """Tokens per text, special tokens not included."""
        ...

    def offsets(self, text: str) -> list[tuple[int, int]]:
        """Character span of each token of `text`, special tokens not included."""
        ...


@runtime_checkable
class Embedder(Protocol):
    """Turns texts into unit vectors."""

    @property
    def fingerprint(self) -> Fingerprint:
        """Identifies the vector space."""
        ...

    @property
    def max_tokens(self) -> int:
        """Tokens embedded per text, special tokens included; the rest of a text is ignored."""
        ...

    @property
    def tokenizer(self) -> Tokenizer:
        """Counts tokens as this embedder does."""
        ...

    async def embed(self, texts: Sequence[str], kind: TextKind = "document") -> FloatMatrix:
        """Shape (len(texts), dimensions), float32, L2-normalized rows, in input order."""
        ...


@runtime_checkable
class RemoteEmbedder(Embedder, Protocol):
    """An embedder called over the network, with limits per call."""

    @property
    def limits(self) -> CallLimits:
        """The limits of one call."""
        ...

    async def close(self) -> None:
        """Close the connections of this event loop."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddingPlan:
    """The work of embedding texts: how many are not cached, their tokens, and the number of calls."""

    texts: int = 0
    tokens: int = 0
    calls: int = 0

    def __add__(self, other: EmbeddingPlan) -> EmbeddingPlan:
        return EmbeddingPlan(
            texts=self.texts + other.texts, tokens=self.tokens + other.tokens, calls=self.calls + other.calls
        )


@runtime_checkable
class PlanningEmbedder(Embedder, Protocol):
    """An embedder that can estimate its work in advance."""

    async def plan(self, texts: Sequence[str]) -> EmbeddingPlan:
        """Estimate the work without embedding anything."""
        ...


@runtime_checkable
class TokenEmbedder(Protocol):
    """An embedder that also gives the vectors of a text's tokens, for late interaction."""

    async def token_vectors(self, texts: Sequence[str], kind: TextKind = "document") -> list[FloatMatrix]:
        """Per text, unit vectors of its tokens in their context: shape (tokens, dimensions), without special tokens."""
        ...


@dataclass(frozen=True, slots=True)
class Pictured:
    """A picture and the words that belong to it, if any: one input of a multimodal embedder."""

    image: ImageInput
    text: str = ""


@runtime_checkable
class MultimodalEmbedder(Embedder, Protocol):
    """An embedder that, if it declares `MULTIMODAL`, embeds pictures and texts into one space."""

    @property
    def capabilities(self) -> frozenset[Capability]:
        """The capabilities this implementation declares."""
        ...

    async def embed_pictures(self, pictures: Sequence[Pictured]) -> FloatMatrix:
        """Like `embed`, for pictures. Raises `TextsRejected` if the provider rejects some of them."""
        ...


def multimodal(embedder: Embedder) -> MultimodalEmbedder | None:
    """The embedder if it takes pictures, else None."""
    return cast(MultimodalEmbedder, embedder) if Capability.MULTIMODAL in capabilities_of(embedder) else None


def capabilities_of(embedder: Embedder) -> frozenset[Capability]:
    """The capabilities an embedder declares, if any. Avoids `isinstance` on a protocol, which is slow."""
    return getattr(embedder, "capabilities", frozenset())


@dataclass(frozen=True, slots=True)
class Reranked:
    """A reranked document: its index in the input, and its relevance (higher is better)."""

    index: int
    score: float


@runtime_checkable
class Reranker(Protocol):
    """Orders texts by how well they answer a query."""

    @property
    def model(self) -> str:
        """The provider's name for the model."""
        ...

    async def rerank(self, query: str, documents: Sequence[str], top_k: int) -> list[Reranked]:
        """At most `top_k` documents, best first."""
        ...
