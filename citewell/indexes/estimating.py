"""What building the index of a model would take, told before anything is paid for."""

from __future__ import annotations

from dataclasses import dataclass

from citewell.indexes.writing import is_embedded
from citewell.ports import EmbeddingPlan, PlanningEmbedder
from citewell.storage.files.content import ContentRepository

# One text token of the built-in model on two cores without VNNI, as measured for decision 0004; and a vendor's usual answer.
_LOCAL_SECONDS_PER_TOKEN = 250e-6
_REMOTE_SECONDS_PER_CALL = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddingRates:
    """What an embedder costs, and how fast it may be asked.

    price:                US dollars per token; None where it is not known, 0 on this machine
    requests_per_minute, tokens_per_minute: 0 is no limit
    """

    is_local: bool
    price: float | None
    requests_per_minute: int = 0
    tokens_per_minute: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class BuildEstimate:
    """What a build would take; `left` is what may still be spent this month, in US dollars, None without a limit."""

    fingerprint: str
    plan: EmbeddingPlan
    rates: EmbeddingRates
    left: float | None = None

    @property
    def seconds(self) -> float:
        """The least time that the limits per minute and the usual speed of a call allow."""
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
        """What it costs; None where the model has no price in the settings."""
        return None if self.rates.price is None else self.plan.tokens * self.rates.price

    @property
    def exceeds(self) -> bool:
        """Whether it costs more than may still be spent."""
        return self.left is not None and self.dollars is not None and self.dollars > self.left


async def plan_build(embedder: PlanningEmbedder, content: ContentRepository, max_dense_rows: int) -> EmbeddingPlan:
    """What embedding every stored chunk would take; equal texts count once, and so do those in the cache not at all."""
    seen: set[int] = set()
    total = EmbeddingPlan()
    async for batch in content.iterate_chunks():
        texts = [one.chunk.embedded_text for one in batch if is_embedded(one.chunk, one.rows_before, max_dense_rows)]
        new = [text for text in texts if hash(text) not in seen]
        seen.update(map(hash, new))
        total += await embedder.plan(new)
    return total
