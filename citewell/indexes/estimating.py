"""Estimates time and cost of building a model's index, before anything is paid for."""

from __future__ import annotations

from dataclasses import dataclass

from citewell.indexes.writing import is_embedded
from citewell.ports import EmbeddingPlan, PlanningEmbedder
from citewell.storage.files.content import ContentRepository

# Per token of the built-in model on two cores without VNNI, measured for decision 0004; a vendor's typical response
# time.
_LOCAL_SECONDS_PER_TOKEN = 250e-6
_REMOTE_SECONDS_PER_CALL = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddingRates:
    """An embedder's price and rate limits.

    price:                US dollars per token; None if unknown, 0 on this machine
    requests_per_minute, tokens_per_minute: 0 means no limit
    """

    is_local: bool
    price: float | None
    requests_per_minute: int = 0
    tokens_per_minute: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class BuildEstimate:
    """The estimated cost of a build; `left` is this month's remaining budget in US dollars, None without a limit."""

    fingerprint: str
    plan: EmbeddingPlan
    rates: EmbeddingRates
    left: float | None = None

    @property
    def seconds(self) -> float:
        """The minimum duration, given the rate limits and the typical duration of a call."""
        plan, rates = self.plan, self.rates
        if rates.is_local:
            return plan.tokens * _LOCAL_SECONDS_PER_TOKEN
        waits = [plan.calls * _REMOTE_SECONDS_PER_CALL]
        if rates.requests_per_minute:
            waits.append(60.0 * plan.calls / rates.requests_per_minute)
        if rates.tokens_per_minute:
            waits.append(60.0 * plan.tokens / rates.tokens_per_minute)
        return max(waits)

    @property
    def dollars(self) -> float | None:
        """The cost of the build; None if the settings give no price for the model."""
        return None if self.rates.price is None else self.plan.tokens * self.rates.price

    @property
    def exceeds(self) -> bool:
        """Whether the cost exceeds the remaining budget."""
        return self.left is not None and self.dollars is not None and self.dollars > self.left


async def plan_build(embedder: PlanningEmbedder, content: ContentRepository, max_dense_rows: int) -> EmbeddingPlan:
    """The work of embedding every stored chunk; equal texts count once, cached texts not at all."""
    seen: set[int] = set()
    total = EmbeddingPlan()
    async for batch in content.iterate_chunks():
        texts = [one.chunk.embedded_text for one in batch if is_embedded(one.chunk, one.rows_before, max_dense_rows)]
        new = [text for text in texts if hash(text) not in seen]
        seen.update(map(hash, new))
        total += await embedder.plan(new)
    return total
