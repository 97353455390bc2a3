"""What the model that reads messages says of one: what it wants, whether it leans on the thread, and which of its words say what it is about."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum


class Act(StrEnum):
    """What a message wants. The order is that of the model's outputs."""

    ASK = "ask"
    SUMMARY = "summary"
    ABOUT = "about"
    FILES = "files"
    MENTIONS = "mentions"
    LIST_ALL = "listall"
    PICTURE = "picture"
    TRANSLATE = "translate"
    GREETING = "greeting"
    THANKS = "thanks"
    BYE = "bye"
    HOW_ARE_YOU = "howareyou"
    CHITCHAT = "chitchat"
    FEEDBACK = "feedback"
    HELP = "help"
    OUTSIDE = "outside"


@dataclass(frozen=True, slots=True)
class MessageRead:
    """acts: the probability of each, 1 in sum; leans: that it cannot be understood alone; content: where its words that say what it is about
    begin and end, in characters."""

    acts: Mapping[Act, float]
    leans: float = 0.0
    content: tuple[tuple[int, int], ...] = ()

    @property
    def act(self) -> Act:
        """The most probable one."""
        return max(self.acts, key=lambda act: self.acts[act])

    def content_of(self, message: str) -> str:
        """The words of the message that say what it is about, as written."""
        words: list[str] = []
        end = -1
        for start, stop in self.content:
            if start == end:
                words[-1] += message[start:stop]
            else:
                words.append(message[start:stop])
            end = stop
        return " ".join(words)
