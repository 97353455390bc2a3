"""Earlier conversations of a person: what was said in one, and how an answer cites it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from citewell.types.json import JsonObject, JsonValue


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchange:
    """A message of an earlier conversation and the answer to it.

    message_id, answer_id: of the message, and of the answer; None if there is none
    answered: whether the answer says something, rather than that nothing was found
    scope:    what the message was about, as `citewell.types.threads.Thread.scope`
    cited:    the files that the answer cites
    asked_at: in seconds since 1970
    """

    message_id: str
    thread_id: str
    said: str
    answer: str = ""
    answer_id: str | None = None
    answered: bool = False
    scope: JsonObject
    cited: tuple[str, ...] = ()
    asked_at: float

    @property
    def text(self) -> str:
        """Both sides, as they are searched."""
        return f"{self.said}\n{self.answer}" if self.answered else self.said


@dataclass(frozen=True, slots=True, kw_only=True)
class Remembered:
    """What an answer quotes from an earlier conversation. It is no citation of a file: nothing of it counts as supported by one.

    label:   names the conversation to people, such as `chat of 12 November`
    said_by: who said the quoted words: the person (`you`) or the answer (`citewell`)
    about:   the message that began the exchange
    said_at: when that was, in seconds since 1970
    """

    thread_id: str
    message_id: str
    label: str
    quote: str
    said_by: Literal["you", "citewell"]
    about: str
    said_at: float

    def to_json(self) -> dict[str, JsonValue]:
        """The public and stored form."""
        return {
            "kind": "chat",
            "thread_id": self.thread_id,
            "message_id": self.message_id,
            "label": self.label,
            "quote": self.quote,
            "said_by": self.said_by,
            "about": self.about,
            "said_at": self.said_at,
        }

    @staticmethod
    def from_json(data: Mapping[str, Any]) -> Remembered:
        """The inverse of `to_json`."""
        return Remembered(**{name: value for name, value in data.items() if name != "kind"})


@dataclass(frozen=True, slots=True)
class AnsweredBefore:
    """The earlier answer that was given again: when it was first given, to which question, and where it is."""

    question: str
    thread_id: str
    message_id: str
    answered_at: float

    def to_json(self) -> dict[str, JsonValue]:
        """The public and stored form."""
        return {
            "question": self.question,
            "thread_id": self.thread_id,
            "message_id": self.message_id,
            "answered_at": self.answered_at,
        }
