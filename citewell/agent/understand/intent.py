"""Tells small talk from what is to be looked up, by what the model that reads messages says."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from citewell.agent.interface import PastMessage
from citewell.agent.understand.small_talk import SmallTalk
from citewell.agent.understand.thresholds import THRESHOLDS
from citewell.types.message_reading import Act, MessageRead

IntentKind = Literal["document_query", "general_conversation"]

TALK: Mapping[Act, SmallTalk] = {
    Act.GREETING: SmallTalk.GREETING,
    Act.HOW_ARE_YOU: SmallTalk.GREETING,
    Act.THANKS: SmallTalk.THANKS,
    Act.BYE: SmallTalk.GOODBYE,
    Act.FEEDBACK: SmallTalk.FEEDBACK,
    Act.CHITCHAT: SmallTalk.ABOUT_ASSISTANT,
    Act.HELP: SmallTalk.ABOUT_ASSISTANT,
}
"""The acts that nothing is looked up for. `OUTSIDE` is none of them: files may hold that, too."""
_WORD = re.compile(r"[^\W_]")


@dataclass(frozen=True, slots=True)
class Intent:
    """What a message wants. `small_talk` says which kind when `kind` is `general_conversation`; confidence in 0..1."""

    kind: IntentKind
    confidence: float
    small_talk: SmallTalk | None = None


def intent_of(message: str, read: MessageRead, history: Sequence[PastMessage]) -> Intent:
    """Small talk where its acts together are likelier than all others.

    What is only said back ("yes") after the assistant asked something is an answer to that, so it counts as a query.
    """
    if not _WORD.search(message):
        return Intent("general_conversation", 1.0, SmallTalk.ACKNOWLEDGEMENT)
    talk = sum(read.acts.get(act, 0.0) for act in TALK)
    if talk < THRESHOLDS.small_talk:
        return Intent("document_query", 1.0 - talk)
    kind = TALK[max(TALK, key=lambda act: read.acts.get(act, 0.0))]
    asked_back = history and history[-1].role == "assistant" and history[-1].content.rstrip().endswith("?")
    if kind is SmallTalk.FEEDBACK and asked_back:
        return Intent("document_query", THRESHOLDS.answered_back)
    return Intent("general_conversation", talk, kind)
