"""What a message wants and what to search for, without a chat model: the intent, and the message made standalone."""

from __future__ import annotations

from dataclasses import dataclass

from citewell.agent.interface import TurnRequest, Vocabulary
from citewell.agent.offload import offload
from citewell.agent.understand.intent import Doubt, Intent, read_words
from citewell.agent.understand.likeness import SmallTalkLikeness
from citewell.agent.understand.rephrase import Rephrased, rephrase
from citewell.agent.understand.thresholds import THRESHOLDS
from citewell.ports import Embedder


@dataclass(frozen=True, slots=True)
class Understood:
    """The intent, and the message made standalone."""

    intent: Intent
    rephrased: Rephrased


class MessageReader:
    """Reads messages by rules, and a short one that they leave in doubt by its likeness to small talk.

    vocabulary: the words of the files in a turn's scope; without it, none is known.
    """

    def __init__(self, embedder: Embedder, vocabulary: Vocabulary | None = None) -> None:
        self._likeness = SmallTalkLikeness(embedder)
        self._vocabulary = vocabulary

    async def prepare(self) -> None:
        """Load what a message in doubt is compared with, and the embedder's model for it."""
        await self._likeness.prepare()

    async def read(self, request: TurnRequest) -> Understood:
        """The intent; the message joined with what it refers to."""
        characters = len(request.message) + sum(len(past.content) for past in request.history)
        read = await offload(characters, read_words, request.message, request.history)
        intent = read if isinstance(read, Intent) else await self.decide(request, read)
        if intent.kind == "general_conversation":
            message = request.message.strip()
            return Understood(intent, Rephrased(message, (message,)))
        return Understood(intent, await offload(characters, rephrase, request.message, request.history))

    async def decide(self, request: TurnRequest, doubt: Doubt) -> Intent:
        """Small talk when the message is like it, and says nothing that the files in its scope may be about.

        A message that all but repeats a phrase of small talk is taken for it whatever the files hold.
        """
        likeness, kind = await self._likeness.measure(doubt.text, about=doubt.about)
        if likeness < doubt.least:
            return Intent("document_query", THRESHOLDS.question)
        if likeness < THRESHOLDS.like_certain and await self._may_be_in_files(request, doubt):
            return Intent("document_query", THRESHOLDS.question)
        return Intent("general_conversation", THRESHOLDS.likened, kind)

    async def _may_be_in_files(self, request: TurnRequest, doubt: Doubt) -> bool:
        if self._vocabulary is None or not doubt.words:
            return False
        return await self._vocabulary.holds_any(request.owner_id, request.scope, doubt.words)
