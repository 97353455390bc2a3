"""Usage accounting: wrappers that count what models use, and the tally that collects the counts of a block of work."""

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
from citewell.system.tracing import model_span_name, open_span, span
from citewell.types import Usage, UsageKind

CHARACTERS_PER_TOKEN = 4
UNIT_TEXTS = 100
PICTURE_TOKENS = 1_500
_NO_COUNT = 2**31  # exceeds any real call and the ledger's integer column


OnSpent: TypeAlias = Callable[[str, Sequence[Usage]], Awaitable[None]]
"""Receives an owner and the usage of work done for them."""


class Tally:
    """Adds up usage per kind and model. payer: the owner it is charged to, if any."""

    def __init__(self, payer: str | None = None) -> None:
        self.payer = payer
        self._spent: dict[tuple[str, str, str], Usage] = {}

    def add(self, spent: Usage) -> None:
        """Add usage."""
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
    """Collect the usage of the block and the tasks it starts, in `tally` if given."""
    tally = tally if tally is not None else Tally()
    token = _current.set(tally)
    try:
        yield tally
    finally:
        _current.reset(token)


@asynccontextmanager
async def reported(owner_id: str, on_spent: OnSpent) -> AsyncGenerator[None]:
    """Report the block's usage for an owner, even if the block fails."""
    with tallied(Tally(owner_id)) as tally:
        try:
            yield
        finally:
            await on_spent(owner_id, tally.spent)


def current_tally() -> Tally | None:
    """The tally of the enclosing `tallied` block; None outside one."""
    return _current.get()


def spend(spent: Usage) -> None:
    """Add usage to the enclosing `tallied` block, if there is one."""
    tally = _current.get()
    if tally is not None:
        tally.add(spent)


def is_count(said: object) -> TypeGuard[int]:
    """Whether a provider's token count is possible for one call."""
    return isinstance(said, int) and 0 <= said < _NO_COUNT


def tokens_used(count: object) -> None:
    """Record the tokens that a provider reports for the current call.

    Called by adapters; impossible counts are ignored.
    """
    charged = _charged.get()
    if charged is not None and is_count(count):
        charged.append(count)


class MeteredEmbedder(EmbedderWrapper):
    """Counts the texts passed to the inner embedder and their tokens: as it reports them, else by its tokenizer.

    These counts differ from the vendor's bill: cached texts count too (`CachingEmbedder`), and vendors do not always
    bill the same text alike.
    """

    async def embed(self, texts: Sequence[str], kind: TextKind = "document") -> FloatMatrix:
        """As `citewell.ports.Embedder.embed`."""
        name, said = model_span_name("embeddings", self.fingerprint.provider, self.fingerprint.model)
        with span(name, {**said, "citewell.texts": len(texts)}, kind="client") as spanning:
            vectors, charged = await _charged_for(self.inner.embed(texts, kind))
            spanning.note(gen_ai__usage__input_tokens=charged)
        if _current.get() is not None and texts:
            spend(embedding_usage(self.fingerprint, charged or embedding_tokens(self, texts), len(texts)))
        return vectors

    async def embed_pictures(self, pictures: Sequence[Pictured]) -> FloatMatrix:
        """As `citewell.ports.MultimodalEmbedder.embed_pictures`."""
        vectors = await super().embed_pictures(pictures)
        spend(embedding_usage(self.fingerprint, picture_tokens(pictures), len(pictures)))
        return vectors


def embedding_usage(name: Fingerprint, tokens: int, units: int) -> Usage:
    """The usage of a model for embedding `units` texts or pictures."""
    return Usage(kind="embedding", provider=name.provider, model=name.model, input_tokens=tokens, units=units)


def embedding_tokens(embedder: Embedder, inputs: Sequence[str | Pictured]) -> int:
    """The tokens an embedder reads: counted for texts, estimated for pictures."""
    pictures = [one for one in inputs if isinstance(one, Pictured)]
    texts = [one for one in inputs if isinstance(one, str)]
    return picture_tokens(pictures) + sum(min(count, embedder.max_tokens) for count in embedder.tokenizer.count(texts))


async def _charged_for(call: Awaitable[FloatMatrix]) -> tuple[FloatMatrix, int]:
    """A call's result, and the tokens the provider reports for it; 0 if it reports none."""
    charged: list[int] = []
    token = _charged.set(charged)
    try:
        return await call, sum(charged)
    finally:
        _charged.reset(token)


def picture_tokens(pictures: Sequence[Pictured]) -> int:
    """Estimated tokens of pictures with their words: 1,500 per picture, and one per four characters."""
    return sum(PICTURE_TOKENS + len(one.text) // CHARACTERS_PER_TOKEN for one in pictures)


def rerank_tokens(query: str, documents: Sequence[str]) -> int:
    """Estimated tokens of a call to a reranker: one per four characters, with the query counted once per text."""
    return (sum(map(len, documents)) + len(query) * len(documents)) // CHARACTERS_PER_TOKEN


class MeteredReranker(RerankerWrapper):
    """Counts the inner reranker's calls and tokens: as the provider reports them, else by `rerank_tokens`."""

    def __init__(self, inner: Reranker, provider: str) -> None:
        super().__init__(inner)
        self._provider = provider

    async def rerank(self, query: str, documents: Sequence[str], top_k: int) -> list[Reranked]:
        """As `citewell.ports.Reranker.rerank`."""
        charged: list[int] = []
        token = _charged.set(charged)
        try:
            name, said = model_span_name("rerank", self._provider, self.model)
            with span(name, {**said, "citewell.texts": len(documents)}, kind="client"):
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
    """Counts the pictures the inner vision model describes. Tokens are estimated: 1,500 per picture, and one per four characters."""

    def __init__(self, inner: VisionModel, provider: str) -> None:
        super().__init__(inner)
        self._provider = provider

    async def describe(self, image: ImageInput, prompt: str) -> str:
        """As `citewell.ports.VisionModel.describe`."""
        name, attributes = model_span_name("chat", self._provider, self.model)
        with span(name, attributes, kind="client"):
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
    """Counts the usage that the inner chat model reports; if an answer is cut off, estimates it from its characters."""

    def __init__(self, inner: ChatModel, provider: str) -> None:
        super().__init__(inner)
        self._provider = provider

    async def around(self, messages: Sequence[ChatMessage], ask: Ask) -> AsyncGenerator[ChatDelta]:
        """As `citewell.ports.ChatModelWrapper.around`."""
        said, usage = 0, None
        spanning = open_span(*model_span_name("chat", self._provider, self.model))
        try:
            async with aclosing(ask()) as answer:
                async for delta in answer:
                    said += len(delta.text)
                    usage = delta.usage or usage
                    yield delta
        except Exception as error:
            spanning.failed(type(error).__name__)
            raise
        finally:
            usage = usage or TokenUsage(sent_tokens(messages), said // CHARACTERS_PER_TOKEN)
            spanning.note(
                gen_ai__usage__input_tokens=usage.input_tokens, gen_ai__usage__output_tokens=usage.output_tokens
            )
            spanning.end()
            self._spend(usage)

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
    """Estimated tokens of messages with their sources: one per four characters."""
    return sum(len(m.content) + sum(len(s.text) for s in m.sources) for m in messages) // CHARACTERS_PER_TOKEN
