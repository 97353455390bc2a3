"""The ledger: usage, priced by the table in the settings."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from citewell.storage.spending.usage import UsageRepository
from citewell.types import Usage

Prices = dict[str, tuple[float, float]]
_LOCAL = frozenset({"builtin", "fastembed"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Ledger:
    """Prices usage and records it.

    prices: US dollars by model, per million input and output tokens; for rerankers, per million tokens and per thousand units
    """

    usage: UsageRepository
    prices: Prices = field(default_factory=dict[str, tuple[float, float]])

    def price(self, usage: Usage) -> Usage:
        """Usage with its cost; None for a model without a price."""
        if usage.model not in self.prices:
            return usage
        first, second = self.prices[usage.model]
        if usage.kind == "rerank":
            return replace(usage, cost=usage.input_tokens * first / 1e6 + usage.units * second / 1e3)
        return replace(usage, cost=(usage.input_tokens * first + usage.output_tokens * second) / 1e6)

    async def record(
        self,
        owner_id: str,
        spent: Iterable[Usage],
        thread_id: str | None = None,
        message_id: str | None = None,
    ) -> tuple[Usage, ...]:
        """Price entries and record them for the message, its thread and the day."""
        priced = tuple(self.price(one) for one in spent)
        await self.usage.add(owner_id, priced, thread_id, message_id)
        return priced

    async def record_paid(self, owner_id: str, spent: Iterable[Usage]) -> None:
        """Like `record`, without models on this machine: for work so frequent that each entry would be noticeable."""
        await self.record(owner_id, [one for one in spent if one.provider not in _LOCAL])


@dataclass(frozen=True, slots=True, kw_only=True)
class UsageSum:
    """Sums of one kind and model within a day, thread or message, as requested; cost in US dollars."""

    kind: str
    provider: str
    model: str
    input_tokens: int
    output_tokens: int
    units: int
    cost: float
    day: str | None = None
    thread_id: str | None = None
    message_id: str | None = None


@dataclass(frozen=True, slots=True)
class UsageReport:
    """Usage, and what context stuffing would have used for the same questions; newest first."""

    spent: tuple[UsageSum, ...]
    stuffing: tuple[UsageSum, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class UsageService:
    """Reads the ledger."""

    usage: UsageRepository

    async def report(
        self,
        owner_id: str,
        since: float,
        thread_id: str | None,
        message_id: str | None,
        by: Literal["day", "thread", "message"],
    ) -> UsageReport:
        """Sums since a time (seconds since 1970): in total, in one thread or for one message."""
        rows: list[dict[str, Any]] = [*await self.usage.totals(owner_id, since, thread_id, message_id, by)]
        sums = [UsageSum(**row) for row in rows]
        return UsageReport(
            spent=tuple(row for row in sums if row.kind != "context_stuffing"),
            stuffing=tuple(row for row in sums if row.kind == "context_stuffing"),
        )
