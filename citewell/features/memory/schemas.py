"""HTTP schemas for the search of earlier conversations."""

from __future__ import annotations

from pydantic import Field

from citewell.features.schemas import RequestBody, Schema, Timestamp
from citewell.retrieve.conversations import FoundExchange


class MemoryIn(RequestBody):
    """Whether earlier conversations are searched for answers."""

    enabled: bool


class MemoryOut(Schema):
    """Whether earlier conversations are searched for answers."""

    enabled: bool
    exchanges: int = Field(description="messages that can be searched, with their answers; at most the newest 1,000")


class ExchangeOut(Schema):
    """A message of an earlier conversation, and its answer."""

    thread_id: str
    message_id: str
    said: str
    answer: str
    asked_at: Timestamp
    score: float

    @staticmethod
    def of(found: FoundExchange) -> ExchangeOut:
        """The public form."""
        one = found.exchange
        said = {"said": one.said, "answer": one.answer, "asked_at": one.asked_at}
        place = {"thread_id": one.thread_id, "message_id": one.message_id}
        return ExchangeOut.model_validate({**place, **said, "score": round(found.score, 6)})


class ExchangeList(Schema):
    """Exchanges that were found, the best first."""

    exchanges: list[ExchangeOut]
