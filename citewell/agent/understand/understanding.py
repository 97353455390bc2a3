"""What a message wants and what to search for, by rules: the intent, and the message made standalone."""

from __future__ import annotations

from dataclasses import dataclass

from citewell.agent.interface import TurnRequest
from citewell.agent.offload import offload
from citewell.agent.understand.intent import Intent, detect_intent
from citewell.agent.understand.rephrase import Rephrased, rephrase


@dataclass(frozen=True, slots=True)
class Understood:
    """The intent, and the message made standalone."""

    intent: Intent
    rephrased: Rephrased


async def understand(request: TurnRequest) -> Understood:
    """The intent; the message joined with what it refers to. Costs no embedding and touches no index."""
    characters = len(request.message) + sum(len(past.content) for past in request.history)
    return await offload(characters, _by_rules, request)


def _by_rules(request: TurnRequest) -> Understood:
    intent = detect_intent(request.message, request.history)
    if intent.kind == "general_conversation":
        message = request.message.strip()
        return Understood(intent, Rephrased(message, (message,)))
    return Understood(intent, rephrase(request.message, request.history))
