"""What was spent: the one form in which providers' work is counted, priced, recorded and shown."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

UsageKind = Literal["chat", "embedding", "rerank", "vision"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """What one model was asked for.

    kind:  `context_stuffing` is no expense, but what sending every file in scope whole would have taken instead
    units: answers of a chat model, pictures described, texts embedded, or units of a reranker as providers bill them: one per query
           and up to a hundred texts
    cost:  in US dollars by the price table in the settings; None while unpriced, and for a model without a price
    """

    kind: UsageKind | Literal["context_stuffing"]
    provider: str
    model: str
    input_tokens: int = 0
    output_tokens: int = 0
    units: int = 0
    cost: float | None = None
