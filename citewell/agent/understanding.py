"""What a message wants and what to search for: by rules, or with a chat model where the rules leave something open."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Protocol

from citewell.agent import prompts
from citewell.agent.context import TurnContext
from citewell.agent.intent import Intent, SmallTalk, detect_intent
from citewell.agent.memory import Memory
from citewell.agent.offload import offload
from citewell.agent.rephrase import Rephrased, needs_context, rephrase
from citewell.agent.turns import TurnRequest
from citewell.agent.window import TokenCounter
from citewell.errors import ProviderRejected
from citewell.ports import Capability, ChatMessage, ChatModel
from citewell.types.json import well_formed

_SURE = 0.9
_HISTORY_TOKENS = 1_500
_OUTPUT_TOKENS = 400
_MOST_TERMS = 12


@dataclass(frozen=True, slots=True)
class Understood:
    """The intent, and the message made standalone."""

    intent: Intent
    rephrased: Rephrased


class Understanding(Protocol):
    """Reads the last message of a thread."""

    async def read(self, context: TurnContext) -> Understood:
        """Costs no embedding and touches no index."""
        ...


class RuleUnderstanding:
    """By rules alone."""

    async def read(self, context: TurnContext) -> Understood:
        """The intent; the message joined with what it refers to."""
        request = context.request
        characters = len(request.message) + sum(len(past.content) for past in request.history)
        return await offload(characters, _by_rules, request)


class ModelUnderstanding:
    """Asks a chat model, with structured output, when the message leans on the thread or says little; else the rules do."""

    def __init__(self, model: ChatModel, counter: TokenCounter) -> None:
        self._model = model
        self._memory = Memory(model, counter)
        self._rules = RuleUnderstanding()

    async def read(self, context: TurnContext) -> Understood:
        """As the rules where they are sure, or where the model's answer cannot be used."""
        by_rules = await self._rules.read(context)
        request = context.request
        sure = by_rules.intent.kind == "general_conversation" and by_rules.intent.confidence >= _SURE
        stands_alone = not request.history and not needs_context(request.message)
        if sure or stands_alone or Capability.STRUCTURED_OUTPUT not in self._model.capabilities:
            return by_rules
        try:
            answer = await self._ask(context)
        except ProviderRejected as error:
            context.note("understanding_failed", error.message)
            return by_rules
        return _understood(answer, by_rules)

    async def _ask(self, context: TurnContext) -> str:
        request = context.request
        thread = await self._memory.recall(context, _HISTORY_TOKENS)
        lines = [f"{message.role}: {message.content}" for message in thread]
        content = "\n".join([*lines, f"user (last message): {request.message}"])
        messages = [
            ChatMessage(role="system", content=prompts.UNDERSTAND),
            ChatMessage(role="user", content=content),
        ]
        text = ""
        context.show_prompt("understanding", messages)
        context.meter.calls += 1
        with context.timed("model"):
            async for delta in self._model.stream(
                messages, response_schema=prompts.UNDERSTAND_SCHEMA, max_tokens=_OUTPUT_TOKENS
            ):
                text += delta.text
                if delta.usage is not None:
                    context.meter.add(delta.usage)
        return text


def _by_rules(request: TurnRequest) -> Understood:
    intent = detect_intent(request.message, request.history)
    if intent.kind == "general_conversation":
        message = request.message.strip()
        return Understood(intent, Rephrased(message, (message,)))
    return Understood(intent, rephrase(request.message, request.history))


def _understood(answer: str, by_rules: Understood) -> Understood:
    """The model's reading; the rules' where it is not what was asked for."""
    try:
        data: Any = json.loads(answer)
        kind, confidence = data["intent"], float(data["confidence"])
        question = well_formed(str(data["question"])).strip()
        terms = [well_formed(str(term)) for term in data["search_terms"]][:_MOST_TERMS]
    except (KeyError, RecursionError, TypeError, ValueError):
        return by_rules
    if kind not in ("document_query", "general_conversation") or not question:
        return by_rules
    confidence = min(max(confidence, 0.0), 1.0)
    if kind == "general_conversation":
        small_talk = by_rules.intent.small_talk or SmallTalk.ACKNOWLEDGEMENT
        return Understood(Intent("general_conversation", confidence, small_talk), by_rules.rephrased)
    searched = " ".join(terms)
    queries = (question, searched) if searched and searched.lower() not in question.lower() else (question,)
    return Understood(Intent("document_query", confidence), Rephrased(question, queries))
