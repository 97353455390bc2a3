"""HTTP schemas for the ledger."""

from __future__ import annotations

from pydantic import Field

from citewell.features.schemas import Schema
from citewell.features.usage.service import UsageReport


class UsageRow(Schema):
    """Sums of one kind and model within a day, thread or message; cost in US dollars by the price table in the settings."""

    day: str | None = Field(default=None, description="UTC, as 2026-01-31")
    thread_id: str | None = None
    message_id: str | None = None
    kind: str = Field(description="chat, embedding or rerank")
    provider: str
    model: str
    input_tokens: int
    output_tokens: int
    units: int = Field(description="answers, texts embedded, or queries reranked")
    cost: float


class Totals(Schema):
    """Totals for the request."""

    input_tokens: int
    output_tokens: int
    cost: float


class Comparison(Schema):
    """What sending every file in scope with each of these questions would have used."""

    messages: int
    input_tokens: int
    cost: float


class UsageOut(Schema):
    """Sums per day (or thread, or message), kind and model, newest first."""

    usage: list[UsageRow]
    totals: Totals
    context_stuffing: Comparison

    @staticmethod
    def of(report: UsageReport) -> UsageOut:
        """The public form of a report."""
        return UsageOut(
            usage=[UsageRow.model_validate(row) for row in report.spent],
            totals=Totals(
                input_tokens=sum(row.input_tokens for row in report.spent),
                output_tokens=sum(row.output_tokens for row in report.spent),
                cost=sum(row.cost for row in report.spent),
            ),
            context_stuffing=Comparison(
                messages=sum(row.units for row in report.stuffing),
                input_tokens=sum(row.input_tokens for row in report.stuffing),
                cost=sum(row.cost for row in report.stuffing),
            ),
        )
