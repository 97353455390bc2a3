"""The ledger: what was spent, priced by the table in the settings."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from citewell.metering import Spent
from citewell.storage.usage import UsageRepository
from citewell.types import Usage

Prices = dict[str, tuple[float, float]]
STUFFING = "context_stuffing"
_LOCAL = frozenset({"builtin", "fastembed"})


@dataclass(frozen=True, slots=True)
class Ledger:
    """Prices what is spent and writes it down.

    prices: US dollars by model, per million input and output tokens; of a reranker per million tokens and per thousand units.
    """

    usage: UsageRepository
    prices: Prices = field(default_factory=dict[str, tuple[float, float]])

    def cost(self, spent: Spent) -> float:
        """In US dollars; 0 for a model without a price."""
        first, second = self.prices.get(spent.model, (0.0, 0.0))
        if spent.kind == "rerank":
            return spent.input_tokens * first / 1e6 + spent.units * second / 1e3
        return (spent.input_tokens * first + spent.output_tokens * second) / 1e6

    async def record(
        self,
        owner_id: str,
        spent: Iterable[Spent],
        thread_id: str | None = None,
        message_id: str | None = None,
        stuffing: Spent | None = None,
    ) -> None:
        """Write entries down; they count for the message, its thread and the day. `stuffing` is no expense but what to compare with."""
        entries = [self._entry(owner_id, one, one.kind, thread_id, message_id) for one in spent]
        if stuffing is not None:
            entries.append(self._entry(owner_id, stuffing, STUFFING, thread_id, message_id))
        await self.usage.add(entries)

    async def record_paid(self, owner_id: str, spent: Iterable[Spent]) -> None:
        """As `record`, without what models on this machine did: for work so frequent that each entry would be felt."""
        await self.record(owner_id, [one for one in spent if one.provider not in _LOCAL])

    def _entry(self, owner_id: str, spent: Spent, kind: str, thread_id: str | None, message_id: str | None) -> Usage:
        return Usage(
            owner_id=owner_id,
            kind=kind,
            provider=spent.provider,
            model=spent.model,
            input_tokens=spent.input_tokens,
            output_tokens=spent.output_tokens,
            units=spent.units,
            cost=self.cost(spent),
            thread_id=thread_id,
            message_id=message_id,
        )
