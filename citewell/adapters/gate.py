"""The gate before every call to a paid provider: rate and spending limits, shared by all processes on one database."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, field
from typing import Protocol

from citewell.errors import CallLimitReached, ProviderUnavailable
from citewell.ports import (
    Ask,
    ChatDelta,
    ChatMessage,
    ChatModel,
    ChatModelWrapper,
    Embedder,
    EmbedderWrapper,
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
from citewell.ports.metering import CHARACTERS_PER_TOKEN, picture_tokens, rerank_tokens, sent_tokens

Sleep = Callable[[float], Awaitable[None]]
_MIN_WAIT = 0.01
# Maximum duration of an admitted call, including the wait for a connection. Ledgers count unanswered calls for longer.
MAX_SECONDS = 110.0
QUERY_SECONDS = 5.0
"""How long a query waits for its turn: less than a search waits for its vector."""


class CallLedger(Protocol):
    """Records the last minute's calls and the month's spending, for all processes that share a database."""

    async def admit(
        self, provider: str, limits: MinuteLimits, tokens: int, *, is_query: bool = True
    ) -> tuple[float, int | None]:
        """Seconds until a call of `tokens` may fit; or 0 and the call's number: it is counted and may start now.

        Calls that are no queries leave a share of the limits to those that are.
        """
        ...

    async def answered(self, call: int) -> None:
        """Record that the call with this number has been answered."""
        ...

    async def reserve(self, dollars: float, limit: float) -> None:
        """Count dollars as spent this month.

        Raises `SpendingLimitReached`, counting nothing, if that would exceed the limit.
        """
        ...

    async def correct(self, dollars: float) -> None:
        """Adjust this month's spending; negative amounts release unspent reservations."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class MinuteLimits:
    """Maximum calls and tokens within any 60 seconds; 0 means no limit. names: the settings, for errors."""

    requests: int = 0
    tokens: int = 0
    names: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class Ticket:
    """An admitted call: the US dollars reserved for it, and its number in the ledger if calls are rate-limited."""

    cost: float
    call: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Gate:
    """Admits calls to one provider within the limits.

    input_price, output_price: US dollars per token
    max_spend:                 US dollars per calendar month (UTC) for all providers together; None means no limit
    require_quota:             raises `SpendQuotaReached` if the call's owner has used up their quota
    """

    ledger: CallLedger
    provider: str
    limits: MinuteLimits = MinuteLimits()
    input_price: float = 0.0
    output_price: float = 0.0
    max_spend: float | None = None
    require_quota: Callable[[], Awaitable[None]] | None = None
    sleep: Sleep = asyncio.sleep

    async def enter(self, tokens: int, *, is_query: bool = True, patience: float | None = None) -> Ticket:
        """Wait for admission, and reserve the cost. is_query: somebody waits for it.

        Raises `SpendingLimitReached` beyond the total limit or the owner's quota, and `CallLimitReached` if the wait
        would exceed `patience` seconds.
        """
        if self.require_quota is not None:
            await self.require_quota()
        cost = tokens * self.input_price
        if self.max_spend is not None:
            await self.ledger.reserve(cost, self.max_spend)
        if not (self.limits.requests or self.limits.tokens):
            return Ticket(cost)
        try:
            while True:
                wait, call = await self.ledger.admit(self.provider, self.limits, tokens, is_query=is_query)
                if not wait:
                    return Ticket(cost, call)
                if patience is not None and wait > patience:
                    raise CallLimitReached(
                        f"{self.limits.names} allows the next call in {wait:.0f} s. Wait, or raise the limit.",
                        retry_after=round(wait, 1),
                    )
                await self.sleep(max(_MIN_WAIT, wait) * random.uniform(1.0, 1.05))  # noqa: S311
        except BaseException:
            await self.refund(cost)
            raise

    @asynccontextmanager
    async def admitted(
        self, tokens: int, *, is_query: bool = True, patience: float | None = None
    ) -> AsyncGenerator[None]:
        """Run the block as an admitted call, as in `enter`; refunds it on failure.

        Under rate limits, raises `ProviderUnavailable` after 110 seconds.
        """
        ticket = await self.enter(tokens, is_query=is_query, patience=patience)
        try:
            async with asyncio.timeout(None if ticket.call is None else MAX_SECONDS):
                yield
        except TimeoutError as error:
            await self.refund(ticket.cost)
            raise ProviderUnavailable("The provider took too long to answer. Try again later.") from error
        except BaseException as error:
            await self.refund(ticket.cost)
            # A canceled call may still reach the provider.
            if isinstance(error, Exception):
                await self.answered(ticket)
            raise
        await self.answered(ticket)

    async def answered(self, ticket: Ticket) -> None:
        """Record that the call ended, with an answer or an error."""
        if ticket.call is not None:
            await self.ledger.answered(ticket.call)

    async def refund(self, cost: float) -> None:
        """Release the cost of a call that did not happen or was not charged."""
        if self.max_spend is not None and cost:
            await self.ledger.correct(-cost)

    async def charge(self, reserved: float, usage: TokenUsage) -> None:
        """Replace the reserved amount by the actual cost."""
        if self.max_spend is not None:
            cost = usage.input_tokens * self.input_price + usage.output_tokens * self.output_price
            await self.ledger.correct(cost - reserved)


class GatedEmbedder(EmbedderWrapper):
    """Asks the gate before each call."""

    def __init__(self, inner: Embedder, gate: Gate) -> None:
        super().__init__(inner)
        self._gate = gate

    async def embed(self, texts: Sequence[str], kind: TextKind = "document") -> FloatMatrix:
        """As `citewell.ports.Embedder.embed`."""
        if not texts:
            return await self.inner.embed(texts, kind)
        tokens = sum(min(count, self.max_tokens) for count in self.tokenizer.count(texts))
        is_query = kind == "query"
        patience = QUERY_SECONDS if is_query else None
        async with self._gate.admitted(tokens, is_query=is_query, patience=patience):
            return await self.inner.embed(texts, kind)

    async def embed_pictures(self, pictures: Sequence[Pictured]) -> FloatMatrix:
        """As `citewell.ports.MultimodalEmbedder.embed_pictures`."""
        async with self._gate.admitted(picture_tokens(pictures), is_query=False):
            return await super().embed_pictures(pictures)


class GatedReranker(RerankerWrapper):
    """Asks the gate before each call; estimates one token per four characters, counting the query once per text."""

    def __init__(self, inner: Reranker, gate: Gate) -> None:
        super().__init__(inner)
        self._gate = gate

    async def rerank(self, query: str, documents: Sequence[str], top_k: int) -> list[Reranked]:
        """As `citewell.ports.Reranker.rerank`."""
        async with self._gate.admitted(rerank_tokens(query, documents)):
            return await self.inner.rerank(query, documents, top_k)


class GatedVision(VisionModelWrapper):
    """Asks the gate before each picture."""

    def __init__(self, inner: VisionModel, gate: Gate, picture_tokens: int) -> None:
        super().__init__(inner)
        self._gate = gate
        self._tokens = picture_tokens

    async def describe(self, image: ImageInput, prompt: str) -> str:
        """As `citewell.ports.VisionModel.describe`."""
        async with self._gate.admitted(self._tokens + len(prompt) // CHARACTERS_PER_TOKEN):
            return await self.inner.describe(image, prompt)


class GatedChat(ChatModelWrapper):
    """Asks the gate before each answer; charges the actual cost at its end."""

    def __init__(self, inner: ChatModel, gate: Gate) -> None:
        super().__init__(inner)
        self._gate = gate

    async def around(self, messages: Sequence[ChatMessage], ask: Ask) -> AsyncGenerator[ChatDelta]:
        """As `citewell.ports.ChatModelWrapper.around`."""
        sent = sent_tokens(messages)
        ticket = await self._gate.enter(sent)
        said, usage, begun = 0, None, False
        try:
            async with aclosing(ask()) as answer:
                async for delta in answer:
                    begun = True
                    said += len(delta.text)
                    usage = delta.usage or usage
                    yield delta
        finally:
            cut_off = TokenUsage(sent, said // CHARACTERS_PER_TOKEN) if begun else TokenUsage()
            await self._gate.charge(ticket.cost, usage or cut_off)
            await self._gate.answered(ticket)
