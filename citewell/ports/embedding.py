"""Texts and pictures as vectors, and the order of texts by a model: `Embedder`, what some can do besides, and `Reranker`."""

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
    """Which vectors these are. Two embedders with equal fingerprints may share an index and a cache."""

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
    """The most that one call to a provider may hold."""

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
    """Texts to unit vectors."""

    @property
    def fingerprint(self) -> Fingerprint:
        """Which vectors these are."""
        ...

    @property
    def max_tokens(self) -> int:
        """The number of tokens read of each text, special tokens included; text beyond is not embedded."""
        ...

    @property
    def tokenizer(self) -> Tokenizer:
        """Counts tokens as this embedder does."""
        ...

    async def embed(self, texts: Sequence[str], kind: TextKind = "document") -> FloatMatrix:
        """Shape (len(texts), dimensions), float32, L2-normalised rows, in the order given."""
        ...


@runtime_checkable
class RemoteEmbedder(Embedder, Protocol):
    """An embedder that is called over a network, with so much at once at most."""

    @property
    def limits(self) -> CallLimits:
        """The most that one call may hold."""
        ...

    async def close(self) -> None:
        """Close the connections of this event loop."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddingPlan:
    """What embedding texts would take: those that are not known yet, their tokens, and the calls that they fit into."""

    texts: int = 0
    tokens: int = 0
    calls: int = 0

    def __add__(self, other: EmbeddingPlan) -> EmbeddingPlan:
        return EmbeddingPlan(
            texts=self.texts + other.texts, tokens=self.tokens + other.tokens, calls=self.calls + other.calls
        )


@runtime_checkable
class PlanningEmbedder(Embedder, Protocol):
    """An embedder that can say beforehand what documents would take."""

    async def plan(self, texts: Sequence[str]) -> EmbeddingPlan:
        """What embedding these would take now; nothing is embedded."""
        ...


@runtime_checkable
class TokenEmbedder(Protocol):
    """An embedder that also gives the vectors of a text's tokens, for late interaction."""

    async def token_vectors(self, texts: Sequence[str], kind: TextKind = "document") -> list[FloatMatrix]:
        """Per text, unit vectors of its tokens in their context: shape (tokens, dimensions), without special tokens."""
        ...


@dataclass(frozen=True, slots=True)
class Pictured:
    """A picture with the words that belong to it, which may be none: one input of a multimodal embedder."""

    image: ImageInput
    text: str = ""


@runtime_checkable
class MultimodalEmbedder(Embedder, Protocol):
    """An embedder whose vectors of pictures and of texts can be compared, where it declares `MULTIMODAL`."""

    @property
    def capabilities(self) -> frozenset[Capability]:
        """What this implementation declares."""
        ...

    async def embed_pictures(self, pictures: Sequence[Pictured]) -> FloatMatrix:
        """As `embed`, of documents that are pictures. `TextsRejected` when the provider takes some of them only."""
        ...


def multimodal(embedder: Embedder) -> MultimodalEmbedder | None:
    """The embedder where it takes pictures; else None."""
    return cast(MultimodalEmbedder, embedder) if Capability.MULTIMODAL in capabilities_of(embedder) else None


def capabilities_of(embedder: Embedder) -> frozenset[Capability]:
    """What an embedder declares, if anything. Wrappers ask it of each other: an `isinstance` of a protocol would take long."""
    return getattr(embedder, "capabilities", frozenset())


@dataclass(frozen=True, slots=True)
class Reranked:
    """A document's place after reranking: its index in the input, and its relevance (higher is better)."""

    index: int
    score: float


@runtime_checkable
class Reranker(Protocol):
    """Orders texts by how well they answer a query."""

    @property
    def model(self) -> str:
        """The model's name, as the provider has it."""
        ...

    async def rerank(self, query: str, documents: Sequence[str], top_k: int) -> list[Reranked]:
        """At most `top_k`, best first."""
        ...
