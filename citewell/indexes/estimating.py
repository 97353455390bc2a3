"""Estimates time and cost of building a model's index, before anything is paid for."""

from __future__ import annotations

from dataclasses import dataclass

from citewell.indexes.writing import is_embedded
from citewell.ports import EmbeddingPlan, PlanningEmbedder
from citewell.storage.files.content import ContentRepository

SECONDS_PER_TOKEN, MULTILINGUAL_SECONDS = 250e-6, 450e-6
"""Of the built-in models on two cores without VNNI, measured for decisions 0004 and 0034."""
# A vendor's typical response time.
_REMOTE_SECONDS_PER_CALL = 0.5
_BYTES_PER_NUMBER = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddingRates:
    """An embedder's price and rate limits.

    price:                US dollars per token; None if unknown, 0 on this machine
    requests_per_minute, tokens_per_minute: 0 means no limit
    seconds_per_token:    on this machine
    """

    is_local: bool
    price: float | None
    requests_per_minute: int = 0
    tokens_per_minute: int = 0
    seconds_per_token: float = SECONDS_PER_TOKEN


@dataclass(frozen=True, slots=True, kw_only=True)
class BuildEstimate:
    """The estimated cost of a build; `left` is this month's remaining budget in US dollars, None without a limit; `dimensions` of a
    vector, 0 where nobody asks for megabytes."""

    fingerprint: str
    plan: EmbeddingPlan
    rates: EmbeddingRates
    left: float | None = None
    dimensions: int = 0

    @property
    def seconds(self) -> float:
        """The minimum duration, given the rate limits and the typical duration of a call."""
        plan, rates = self.plan, self.rates
        if rates.is_local:
            return plan.tokens * rates.seconds_per_token
        waits = [plan.calls * _REMOTE_SECONDS_PER_CALL]
        if rates.requests_per_minute:
            waits.append(60.0 * plan.calls / rates.requests_per_minute)
        if rates.tokens_per_minute:
            waits.append(60.0 * plan.tokens / rates.tokens_per_minute)
        return max(waits)

    @property
    def megabytes(self) -> float:
        """The least that the vectors take on disk."""
        return self.plan.texts * self.dimensions * _BYTES_PER_NUMBER / 1e6

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
