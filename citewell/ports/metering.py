"""What providers are used for a piece of work: wrappers that count, and the tally that a block of work collects its counts in."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable, Generator, Sequence
from contextlib import aclosing, asynccontextmanager, contextmanager
from contextvars import ContextVar
from dataclasses import replace
from typing import TypeAlias, TypeGuard

from citewell.ports import (
    Ask,
    ChatDelta,
    ChatMessage,
    ChatModel,
    ChatModelWrapper,
    Embedder,
    EmbedderWrapper,
    Fingerprint,
    FloatMatrix,
    ImageInput,
    Pictured,
    Reranked,
    Reranker,
    RerankerWrapper,
    TextKind,
    TokenUsage,
    VisionModel,
    VisionModelWrapper,
)
from citewell.types import Usage, UsageKind

CHARACTERS_PER_TOKEN = 4
UNIT_TEXTS = 100
PICTURE_TOKENS = 1_500
_NO_COUNT = 2**31  # tokens that no call has, nor a column of the ledger


OnSpent: TypeAlias = Callable[[str, Sequence[Usage]], Awaitable[None]]
"""Takes what a piece of work has spent, and the owner it was done for."""


class Tally:
    """Adds up what is spent, per kind and model. payer: the owner for whom it is, where that is one."""

    def __init__(self, payer: str | None = None) -> None:
        self.payer = payer
        self._spent: dict[tuple[str, str, str], Usage] = {}

    def add(self, spent: Usage) -> None:
        """Count this too."""
        key = (spent.kind, spent.provider, spent.model)
        known = self._spent.get(key)
        if known is not None:
            spent = replace(
                known,
                input_tokens=known.input_tokens + spent.input_tokens,
                output_tokens=known.output_tokens + spent.output_tokens,
                units=known.units + spent.units,
            )
        self._spent[key] = spent

    @property
    def spent(self) -> tuple[Usage, ...]:
        """One entry per kind and model."""
        return tuple(self._spent.values())

    def of(self, kind: UsageKind) -> list[Usage]:
        """The entries of one kind."""
        return [spent for spent in self._spent.values() if spent.kind == kind]


_current: ContextVar[Tally | None] = ContextVar("citewell_tally", default=None)
_charged: ContextVar[list[int] | None] = ContextVar("citewell_charged", default=None)


@contextmanager
def tallied(tally: Tally | None = None) -> Generator[Tally]:
    """Collect what the block and the tasks that it starts spend; added to `tally` where one is given."""
    tally = tally if tally is not None else Tally()
    token = _current.set(tally)
    try:
        yield tally
    finally:
        _current.reset(token)


@asynccontextmanager
async def reported(owner_id: str, on_spent: OnSpent) -> AsyncGenerator[None]:
    """Report what the block spends for an owner, also when it fails."""
    with tallied(Tally(owner_id)) as tally:
        try:
            yield
        finally:
            await on_spent(owner_id, tally.spent)


def current_tally() -> Tally | None:
    """What the enclosing `tallied` block has spent so far; None outside of one."""
    return _current.get()


def spend(spent: Usage) -> None:
    """Count towards the enclosing `tallied` block, if there is one."""
    tally = _current.get()
    if tally is not None:
        tally.add(spent)


def is_count(said: object) -> TypeGuard[int]:
    """Whether what a provider says of tokens is a count that a call can have."""
    return isinstance(said, int) and 0 <= said < _NO_COUNT


def tokens_used(count: object) -> None:
    """Called by an adapter with what the provider says that the call under way has used. What is no count is as if nothing was said."""
    charged = _charged.get()
    if charged is not None and is_count(count):
        charged.append(count)


class MeteredEmbedder(EmbedderWrapper):
    """Counts the texts that the embedder within is asked for and their tokens, as the embedder says that it has read them, else by its tokenizer.

    A vendor's bill is no measure: what a cache holds has to be charged alike (`CachingEmbedder`), and no vendor bills a text twice alike.
    """

    async def embed(self, texts: Sequence[str], kind: TextKind = "document") -> FloatMatrix:
        """As `citewell.ports.Embedder.embed`."""
        vectors, charged = await _charged_for(self.inner.embed(texts, kind))
        if _current.get() is not None and texts:
            spend(embedding_usage(self.fingerprint, charged or embedding_tokens(self, texts), len(texts)))
        return vectors

    async def embed_pictures(self, pictures: Sequence[Pictured]) -> FloatMatrix:
        """As `citewell.ports.MultimodalEmbedder.embed_pictures`."""
        vectors = await super().embed_pictures(pictures)
        spend(embedding_usage(self.fingerprint, picture_tokens(pictures), len(pictures)))
        return vectors


def embedding_usage(name: Fingerprint, tokens: int, units: int) -> Usage:
    """What embedding so many texts or pictures takes of a model."""
    return Usage(kind="embedding", provider=name.provider, model=name.model, input_tokens=tokens, units=units)


def embedding_tokens(embedder: Embedder, inputs: Sequence[str | Pictured]) -> int:
    """Tokens that an embedder reads of texts, by its tokenizer, or of pictures, by estimate."""
    pictures = [one for one in inputs if isinstance(one, Pictured)]
    texts = [one for one in inputs if isinstance(one, str)]
    return picture_tokens(pictures) + sum(min(count, embedder.max_tokens) for count in embedder.tokenizer.count(texts))


async def _charged_for(call: Awaitable[FloatMatrix]) -> tuple[FloatMatrix, int]:
    """What a call brings, and the tokens that the provider reports for it; 0 where it does not say."""
    charged: list[int] = []
    token = _charged.set(charged)
    try:
        return await call, sum(charged)
    finally:
        _charged.reset(token)


def picture_tokens(pictures: Sequence[Pictured]) -> int:
    """Tokens of pictures with their words before anybody has counted them: 1,500 each, and four characters as one."""
    return sum(PICTURE_TOKENS + len(one.text) // CHARACTERS_PER_TOKEN for one in pictures)


def rerank_tokens(query: str, documents: Sequence[str]) -> int:
    """Tokens of a call to a reranker at four characters each, the query once per text."""
    return (sum(map(len, documents)) + len(query) * len(documents)) // CHARACTERS_PER_TOKEN


class MeteredReranker(RerankerWrapper):
    """Counts the queries that the reranker within is given, and the tokens that the provider reports, else four characters as one, the query once per text."""

    def __init__(self, inner: Reranker, provider: str) -> None:
        super().__init__(inner)
        self._provider = provider

    async def rerank(self, query: str, documents: Sequence[str], top_k: int) -> list[Reranked]:
        """As `citewell.ports.Reranker.rerank`."""
        charged: list[int] = []
        token = _charged.set(charged)
        try:
            ranked = await self.inner.rerank(query, documents, top_k)
        finally:
            _charged.reset(token)
        spend(
            Usage(
                kind="rerank",
                provider=self._provider,
                model=self.model,
                input_tokens=sum(charged) or rerank_tokens(query, documents),
                units=-(-len(documents) // UNIT_TEXTS),
            )
        )
        return ranked


class MeteredVision(VisionModelWrapper):
    """Counts the pictures that the vision model within describes; tokens at four characters each, a picture as 1,500."""

    def __init__(self, inner: VisionModel, provider: str) -> None:
        super().__init__(inner)
        self._provider = provider

    async def describe(self, image: ImageInput, prompt: str) -> str:
        """As `citewell.ports.VisionModel.describe`."""
        said = await self.inner.describe(image, prompt)
        spend(
            Usage(
                kind="vision",
                provider=self._provider,
                model=self.model,
                input_tokens=PICTURE_TOKENS + len(prompt) // CHARACTERS_PER_TOKEN,
                output_tokens=len(said) // CHARACTERS_PER_TOKEN,
                units=1,
            )
        )
        return said


class MeteredChat(ChatModelWrapper):
    """Counts what the chat model within reports; an answer that was cut off counts by its characters."""

    def __init__(self, inner: ChatModel, provider: str) -> None:
        super().__init__(inner)
        self._provider = provider

    async def around(self, messages: Sequence[ChatMessage], ask: Ask) -> AsyncGenerator[ChatDelta]:
        """As `citewell.ports.ChatModelWrapper.around`."""
        said, usage = 0, None
        try:
            async with aclosing(ask()) as answer:
                async for delta in answer:
                    said += len(delta.text)
                    usage = delta.usage or usage
                    yield delta
        finally:
            self._spend(usage or TokenUsage(sent_tokens(messages), said // CHARACTERS_PER_TOKEN))

    def _spend(self, usage: TokenUsage) -> None:
        spend(
            Usage(
                kind="chat",
                provider=self._provider,
                model=self.model,
                input_tokens=usage.input_tokens,
                output_tokens=usage.output_tokens,
                units=1,
            )
        )


def sent_tokens(messages: Sequence[ChatMessage]) -> int:
    """Tokens of messages with their sources, at four characters each."""
    return sum(len(m.content) + sum(len(s.text) for s in m.sources) for m in messages) // CHARACTERS_PER_TOKEN
