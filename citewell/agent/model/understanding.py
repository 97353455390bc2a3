"""What a message wants and what to search for, asked of a chat model where the rules leave something open."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from citewell.agent.model import prompts
from citewell.agent.model.history import ThreadHistory
from citewell.agent.model.window import TokenCounter
from citewell.agent.turn.state import TurnState
from citewell.agent.understand.intent import Intent
from citewell.agent.understand.rephrase import Rephrased
from citewell.agent.understand.small_talk import SmallTalk
from citewell.agent.understand.thresholds import THRESHOLDS
from citewell.agent.understand.understanding import MessageReader, Understood
from citewell.errors import ProviderError, ProviderRejected, SpendQuotaReached
from citewell.ports import Capability, ChatMessage, ChatModel
from citewell.types.json import well_formed
from citewell.types.message_reading import MessageRead

_HISTORY_TOKENS = 1_500
_OUTPUT_TOKENS = 400
_MAX_TERMS = 12


class ModelUnderstanding:
    """Asks a chat model, with structured output, when the message leans on the thread or says little; else the rules do.

    needed: whether a message that leans on the thread is to be read in words of its own all the same, where the model decides on the
    first search, and so reads the message itself: for those who look at a question before the model does. None where it does not.
    """

    def __init__(
        self,
        model: ChatModel,
        reader: MessageReader,
        counter: TokenCounter,
        needed: Callable[[MessageRead], bool] | None = None,
    ) -> None:
        self._needed = needed
        self._reader = reader
        self._model = model
        self._history = ThreadHistory(model, counter)

    async def read(self, turn: TurnState) -> Understood:
        """As the rules where they are sure, or where the model's answer cannot be used."""
        by_rules = await self._reader.read(turn.request)
        request = turn.request
        sure = by_rules.intent.kind == "general_conversation" and by_rules.intent.confidence >= THRESHOLDS.sure
        complete = by_rules.read.leans < THRESHOLDS.leans
        stands_alone = (self._needed is not None or not request.history) and complete
        unneeded = self._needed is not None and not self._needed(by_rules.read)
        if sure or stands_alone or unneeded or Capability.STRUCTURED_OUTPUT not in self._model.capabilities:
            return by_rules
        try:
            answer = await self._ask(turn)
        except SpendQuotaReached:
            raise
        except ProviderError as error:
            turn.note("understanding_failed", error.message)
            if not isinstance(error, ProviderRejected):
                turn.dialogue.away = f"{self._model.model} did not answer: {error.message}"
            return by_rules
        return _understood(answer, by_rules)

    async def _ask(self, turn: TurnState) -> str:
        request = turn.request
        thread = await self._history.recall(turn, _HISTORY_TOKENS)
        lines = [f"{message.role}: {message.content}" for message in thread]
        content = "\n".join([*lines, f"user (last message): {request.message}"])
        messages = [
            ChatMessage(role="system", content=prompts.UNDERSTAND),
            ChatMessage(role="user", content=content),
        ]
        text = ""
        turn.show_prompt("understanding", messages)
        with turn.timed("model"):
            async for delta in self._model.stream(
                messages, response_schema=prompts.UNDERSTAND_SCHEMA, max_tokens=_OUTPUT_TOKENS
            ):
                text += delta.text
                if delta.usage is not None:
                    turn.dialogue.tokens += delta.usage.input_tokens + delta.usage.output_tokens
        return text


def _understood(answer: str, by_rules: Understood) -> Understood:
    """The model's reading; the rules' where it is not what was asked for."""
    try:
        data: Any = json.loads(answer)
        kind, confidence = data["intent"], float(data["confidence"])
        question = well_formed(str(data["question"])).strip()
        terms = [well_formed(str(term)) for term in data["search_terms"]][:_MAX_TERMS]
    except (KeyError, RecursionError, TypeError, ValueError):
        return by_rules
    if kind not in ("document_query", "general_conversation") or not question:
        return by_rules
    confidence = min(max(confidence, 0.0), 1.0)
    if kind == "general_conversation":
        small_talk = by_rules.intent.small_talk or SmallTalk.ACKNOWLEDGEMENT
        return replace(by_rules, intent=Intent("general_conversation", confidence, small_talk))
    searched = " ".join(terms)
    queries = (question, searched) if searched and searched.lower() not in question.lower() else (question,)
    return replace(by_rules, intent=Intent("document_query", confidence), rephrased=Rephrased(question, queries))
