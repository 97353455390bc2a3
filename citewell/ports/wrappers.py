"""Base classes that delegate to a model; counters, gates and caches override the method they concern."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from typing import TypeAlias

from citewell.ports.capability import Capability
from citewell.ports.chat import ChatDelta, ChatMessage, ChatModel, ImageInput, ToolSpec, VisionModel
from citewell.ports.embedding import (
    Embedder,
    Fingerprint,
    FloatMatrix,
    Pictured,
    Reranked,
    Reranker,
    TextKind,
    Tokenizer,
    capabilities_of,
    multimodal,
)
from citewell.types import JsonObject


async def close_connections(model: object) -> None:
    """Close a model's connections to its provider, if it has any."""
    if (close := getattr(model, "close", None)) is not None:
        await close()


class EmbedderWrapper:
    """Delegates everything to the embedder it wraps. reads_windows: texts longer than `max_tokens` get one vector from all their windows."""

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
        """The wrapped embedder's, if it declares any."""
        return capabilities_of(self.inner)

    async def embed_pictures(self, pictures: Sequence[Pictured]) -> FloatMatrix:
        """As `citewell.ports.MultimodalEmbedder.embed_pictures`. Raises `TypeError` if the wrapped embedder takes no pictures."""
        inner = multimodal(self.inner)
        if inner is None:
            raise TypeError(f"{self.fingerprint} takes no pictures")
        return await inner.embed_pictures(pictures)

    async def close(self) -> None:
        """Close the connections of the wrapped embedder, if it has any."""
        await close_connections(self.inner)


class RerankerWrapper:
    """Delegates everything to the reranker it wraps."""

    def __init__(self, inner: Reranker) -> None:
        self.inner = inner

    @property
    def model(self) -> str:
        """The wrapped reranker's."""
        return self.inner.model

    async def rerank(self, query: str, documents: Sequence[str], top_k: int) -> list[Reranked]:
        """As `citewell.ports.Reranker.rerank`."""
        return await self.inner.rerank(query, documents, top_k)

    async def close(self) -> None:
        """Close the connections of the wrapped reranker, if it has any."""
        await close_connections(self.inner)


class VisionModelWrapper:
    """Delegates everything to the vision model it wraps."""

    def __init__(self, inner: VisionModel) -> None:
        self.inner = inner

    @property
    def model(self) -> str:
        """The wrapped model's."""
        return self.inner.model

    async def describe(self, image: ImageInput, prompt: str) -> str:
        """As `citewell.ports.VisionModel.describe`."""
        return await self.inner.describe(image, prompt)

    async def close(self) -> None:
        """Close the connections of the wrapped model, if it has any."""
        await close_connections(self.inner)


Ask: TypeAlias = Callable[[], AsyncGenerator[ChatDelta]]
"""Starts the answer of a wrapped chat model; closing it ends the request."""


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
        """As `citewell.ports.ChatModel.stream`. Closing this stream first closes the wrapped model's."""

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
        """The deltas to pass on; `ask` starts the wrapped model's answer."""
        async with aclosing(ask()) as answer:
            async for delta in answer:
                yield delta
