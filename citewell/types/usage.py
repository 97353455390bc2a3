"""The usage of models, as it is counted, priced, recorded and shown."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

UsageKind = Literal["chat", "embedding", "rerank", "vision"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """One model's usage.

    kind:  `context_stuffing` is not an expense, but the usage of sending every file in scope in full instead
    units: answers by a chat model, pictures described, texts embedded, or reranker units as providers bill them: one per query and
           up to a hundred texts
    cost:  in US dollars, from the price table in the settings; None before pricing, and for a model without a price
    """

    kind: UsageKind | Literal["context_stuffing"]
    provider: str
    model: str
    input_tokens: int = 0
    output_tokens: int = 0
    units: int = 0
    cost: float | None = None
