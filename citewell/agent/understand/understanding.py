"""What a message wants and what to search for, without a chat model: the intent, and the message made standalone."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass

from citewell.agent.interface import MessageModel, TurnRequest, Vocabulary
from citewell.agent.offload import offload
from citewell.agent.understand.intent import TALK, Intent, intent_of
from citewell.agent.understand.rephrase import Rephrased, rephrase
from citewell.agent.understand.thresholds import THRESHOLDS
from citewell.types.message_reading import Act, MessageRead

_UNREAD = MessageRead(acts={Act.ASK: 1.0})
_REMEMBERED = 1_024
_CERTAIN_WHATEVER_FILES_HOLD = frozenset({Act.GREETING, Act.HOW_ARE_YOU, Act.THANKS, Act.BYE})


@dataclass(frozen=True, slots=True)
class Understood:
    """The intent, the message made standalone, and what the model that reads messages says of it."""

    intent: Intent
    rephrased: Rephrased
    read: MessageRead = _UNREAD


class MessageReader:
    """Reads messages with a model, in any language.

    model: without one, each message is a question that says all. vocabulary: the words of the files in a turn's scope; without it, none
    is known.
    """

    def __init__(self, model: MessageModel | None = None, vocabulary: Vocabulary | None = None) -> None:
        self._model = model
        self._vocabulary = vocabulary
        self._remembered: OrderedDict[tuple[str, str], MessageRead] = OrderedDict()

    async def prepare(self) -> None:
        """Load the model."""
        await self._read("ready", "")

    async def read(self, request: TurnRequest) -> Understood:
        """The intent; the message joined with what it refers to."""
        asked = [past.content for past in request.history if past.role == "user"][-THRESHOLDS.messages_read :]
        reads: dict[str, MessageRead] = {}
        for message, before in zip([*asked, request.message], ["", *asked], strict=True):
            if message not in reads:  # said again, it leans on no more than it did
                reads[message] = await self._read(message, before)
        read = reads[request.message]
        intent = await self._intent(request, read)
        if intent.kind == "general_conversation":
            message = request.message.strip()
            return Understood(intent, Rephrased(message, (message,)), read)
        leaning = frozenset(message for message, one in reads.items() if one.leans >= THRESHOLDS.leans)
        talk = frozenset(message for message, one in reads.items() if one.act in TALK)
        characters = len(request.message) + sum(len(past.content) for past in request.history)
        return Understood(
            intent, await offload(characters, rephrase, request.message, request.history, leaning, talk), read
        )

    async def _read(self, message: str, before: str) -> MessageRead:
        if self._model is None:
            return _UNREAD
        key = (message, before)
        if key not in self._remembered:
            self._remembered[key] = await self._model.read(message, before)
            while len(self._remembered) > _REMEMBERED:
                self._remembered.popitem(last=False)
        self._remembered.move_to_end(key)
        return self._remembered[key]

    async def _intent(self, request: TurnRequest, read: MessageRead) -> Intent:
        """Small talk, unless it names something that the files in its scope may be about."""
        intent = intent_of(request.message, read, request.history)
        if intent.kind == "document_query" or self._vocabulary is None or read.act in _CERTAIN_WHATEVER_FILES_HOLD:
            return intent
        named = tuple(word.lower() for word in read.content_of(request.message).split())
        if named and intent.confidence < THRESHOLDS.small_talk_about:
            return Intent("document_query", 1.0 - intent.confidence)
        if named and await self._vocabulary.holds_any(request.owner_id, request.scope, named):
            return Intent("document_query", 1.0 - intent.confidence)
        return intent
