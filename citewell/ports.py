"""What Citewell needs from the outside world. Adapters implement these protocols; the core calls nothing else.

All methods are async and may be called from several tasks at once. Errors are those of `citewell.errors`
(`Provider…` from vendors, `Unavailable` from stores); no vendor exception passes an adapter.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, aclosing
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Literal, Protocol, TypeAlias, cast, runtime_checkable

import numpy as np
import numpy.typing as npt

from citewell.types import BlobLink, Filter, JsonObject, Point, ScoredId, VectorQuery

FloatMatrix: TypeAlias = npt.NDArray[np.float32]
TextKind: TypeAlias = Literal["document", "query"]


class Capability(StrEnum):
    """A capability that an implementation declares; the conformance suite tests each one declared."""

    SPARSE = "sparse"
    FILTERS = "filters"
    PERSISTENT = "persistent"
    EVENTUAL = "eventual"
    """What was written is found a little later; `settle` waits until it is."""
    SERVER_SIDE_EMBEDDING = "server_side_embedding"
    MULTIMODAL = "multimodal"
    TOOLS = "tools"
    STRUCTURED_OUTPUT = "structured_output"
    SEARCH_RESULT_BLOCKS = "search_result_blocks"


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


async def close_connections(model: object) -> None:
    """Close a model's connections to its provider, if it has any."""
    if (close := getattr(model, "close", None)) is not None:
        await close()


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


class EmbedderWrapper:
    """Delegates everything to the embedder it wraps. reads_windows: texts longer than `max_tokens` get a vector of all their windows."""

    reads_windows = False

    def __init__(self, inner: Embedder) -> None:
        self.inner = inner

    @property
    def fingerprint(self) -> Fingerprint:
        """The wrapped embedder's."""
        return self.inner.fingerprint

    @property
    def max_tokens(self) -> int:
        """The wrapped embedder's."""
        return self.inner.max_tokens

    @property
    def tokenizer(self) -> Tokenizer:
        """The wrapped embedder's."""
        return self.inner.tokenizer

    async def embed(self, texts: Sequence[str], kind: TextKind = "document") -> FloatMatrix:
        """As `citewell.ports.Embedder.embed`."""
        return await self.inner.embed(texts, kind)

    @property
    def capabilities(self) -> frozenset[Capability]:
        """The wrapped embedder's; none where it declares none."""
        return capabilities_of(self.inner)

    async def embed_pictures(self, pictures: Sequence[Pictured]) -> FloatMatrix:
        """As `citewell.ports.MultimodalEmbedder.embed_pictures`; `TypeError` where the wrapped embedder takes none."""
        inner = multimodal(self.inner)
        if inner is None:
            raise TypeError(f"{self.fingerprint} takes no pictures")
        return await inner.embed_pictures(pictures)

    async def close(self) -> None:
        """Close the connections of the wrapped embedder, if it has any."""
        await close_connections(self.inner)


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


@dataclass(frozen=True, slots=True)
class ImageInput:
    """An image for a vision model."""

    data: bytes
    mime_type: str


@runtime_checkable
class VisionModel(Protocol):
    """Describes images."""

    @property
    def model(self) -> str:
        """The model's name, as the provider has it."""
        ...

    async def describe(self, image: ImageInput, prompt: str) -> str:
        """A description in plain text."""
        ...


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A model's request to call a tool; `extra` is what its provider wants back with the call, as it came."""

    id: str
    name: str
    arguments: JsonObject
    extra: JsonObject = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """A tool as a model sees it; `parameters` is a JSON Schema object."""

    name: str
    description: str
    parameters: JsonObject


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceBlock:
    """A numbered passage handed to a model as data; the adapter may pass it as the vendor's own search-result block.

    source: the id of the passage, never the name of a file, which two files may share and anybody may choose
    """

    n: int
    title: str
    source: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatMessage:
    """One message. `role="tool"` answers the call `tool_call_id`, with the `sources` that the tool found and the `images` that it shows."""

    role: Literal["system", "user", "assistant", "tool"]
    content: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str | None = None
    sources: tuple[SourceBlock, ...] = ()
    images: tuple[ImageInput, ...] = ()


@dataclass(frozen=True, slots=True)
class TokenUsage:
    """The tokens that a call cost, as the provider reports them."""

    input_tokens: int = 0
    output_tokens: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatDelta:
    """A step of a streamed answer: text, a finished tool call, a native citation, or (last) the usage."""

    text: str = ""
    tool_call: ToolCall | None = None
    cited_source: int | None = None
    cited_text: str | None = None
    usage: TokenUsage | None = None
    stop_reason: str | None = None


@runtime_checkable
class ChatModel(Protocol):
    """A chat model with tools and structured output."""

    @property
    def model(self) -> str:
        """The model's name, as the provider has it."""
        ...

    @property
    def capabilities(self) -> frozenset[Capability]:
        """What this implementation declares."""
        ...

    def stream(
        self,
        messages: Sequence[ChatMessage],
        *,
        tools: Sequence[ToolSpec] = (),
        response_schema: JsonObject | None = None,
        max_tokens: int | None = None,
        temperature: float = 0.0,
    ) -> AsyncIterator[ChatDelta]:
        """The answer as it comes; with `response_schema` the text is one JSON object of that schema."""
        ...


Ask: TypeAlias = Callable[[], AsyncGenerator[ChatDelta]]
"""Begins the answer of a wrapped chat model; closing it ends the request."""


class ChatModelWrapper:
    """Delegates everything to the chat model it wraps; a wrapper overrides `around`."""

    def __init__(self, inner: ChatModel) -> None:
        self.inner = inner

    @property
    def model(self) -> str:
        """The wrapped model's."""
        return self.inner.model

    @property
    def capabilities(self) -> frozenset[Capability]:
        """The wrapped model's."""
        return self.inner.capabilities

    async def stream(
        self,
        messages: Sequence[ChatMessage],
        *,
        tools: Sequence[ToolSpec] = (),
        response_schema: JsonObject | None = None,
        max_tokens: int | None = None,
        temperature: float = 0.0,
    ) -> AsyncGenerator[ChatDelta]:
        """As `citewell.ports.ChatModel.stream`; leaving it closes the wrapped model's stream before anything else happens."""

        async def ask() -> AsyncGenerator[ChatDelta]:
            answer = self.inner.stream(
                messages, tools=tools, response_schema=response_schema, max_tokens=max_tokens, temperature=temperature
            )
            try:
                async for delta in answer:
                    yield delta
            finally:
                close = getattr(answer, "aclose", None)
                if close is not None:
                    await close()

        async with aclosing(self.around(messages, ask)) as answer:
            async for delta in answer:
                yield delta

    async def close(self) -> None:
        """Close the connections of the wrapped model, if it has any."""
        await close_connections(self.inner)

    async def around(self, messages: Sequence[ChatMessage], ask: Ask) -> AsyncGenerator[ChatDelta]:
        """What is passed on of the answer that `ask` begins."""
        async with aclosing(ask()) as answer:
            async for delta in answer:
                yield delta


@runtime_checkable
class VectorIndex(Protocol):
    """All chunks embedded by one model. A view: it can be rebuilt from SQL at any time."""

    @property
    def capabilities(self) -> frozenset[Capability]:
        """What this implementation declares."""
        ...

    async def upsert(self, points: Sequence[Point]) -> None:
        """Written durably (`PERSISTENT`) when this returns; a point with a known id is replaced."""
        ...

    async def search(self, query: VectorQuery) -> list[ScoredId]:
        """At most `query.limit`, best first; only points that the filter admits.

        A lexical score weighs terms by their inverse document frequency among the points of `query.filter.owner_id` alone, so that no other owner's data affects it or leaks into it.
        """
        ...

    async def vectors(self, ids: Sequence[str]) -> dict[str, FloatMatrix]:
        """Stored dense vectors, shape (dimensions,), of those ids that exist."""
        ...

    async def set_payload(self, filter: Filter, payload: JsonObject) -> None:
        """Set these fields of the payload of every point that the filter admits, whole; vectors and other fields stay as they are.

        Durable (`PERSISTENT`) when this returns. None and an empty list or object leave a field without a value.
        """
        ...

    async def delete(self, filter: Filter) -> None:
        """Remove every point that the filter admits."""
        ...

    async def delete_ids(self, ids: Sequence[str]) -> None:
        """Remove these points; unknown ids are ignored."""
        ...

    async def count(self, filter: Filter | None = None) -> int:
        """How many points the filter admits (all owners' without one): exact, also where what was written is found later."""
        ...

    async def close(self) -> None:
        """Flush and release; calling it twice is harmless."""
        ...


@runtime_checkable
class BlobStore(Protocol):
    """Bytes by key. Keys are ours (never a user's file name): `[a-z0-9/_.-]+`."""

    @property
    def backend(self) -> str:
        """`local`, `s3`, `gcs`, `azure` or `memory`."""
        ...

    async def put_file(self, key: str, path: Path, name: str | None = None) -> None:
        """Move the file at `path` into the store (it is gone afterwards), durably and atomically: after an error `key` is unchanged. A `link` calls it `name`."""
        ...

    def local_copy(self, key: str) -> AbstractAsyncContextManager[Path]:
        """A local file with the bytes, to read only, valid within the block; `NotFound` when there is nothing under `key`."""
        ...

    def get(self, key: str, start: int = 0, end: int | None = None) -> AsyncIterator[bytes]:
        """The bytes [start, end) in pieces; `NotFound` when there is nothing under `key`."""
        ...

    async def link(self, key: str, size: int) -> BlobLink | None:
        """Where a browser can save these `size` bytes without credentials; None where the store gives no such address. As `get`, but `DamagedFile` for another size."""
        ...

    async def delete(self, key: str) -> None:
        """Remove; an unknown key is ignored."""
        ...

    async def list(self, prefix: str) -> list[str]:
        """All keys that begin with `prefix`."""
        ...
