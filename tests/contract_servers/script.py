"""What a contract server says next: answers, tool calls, and every way to fail."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Call:
    """A tool call; `arguments` as an object, or as the text to send in its place (malformed JSON)."""

    name: str
    arguments: dict[str, Any] | str = field(default_factory=dict)


@dataclass(frozen=True)
class Cited:
    """A piece of text with the indices of the search results it cites (Anthropic)."""

    text: str
    results: tuple[int, ...] = ()


@dataclass(frozen=True)
class Reply:
    """One answer.

    status, retry_after, message: an HTTP error instead of an answer
    drop_after:   the connection is cut after this many events
    error_after:  an error event is sent after this many events, of this type
    delay:        seconds before each piece of text
    """

    text: str = ""
    calls: tuple[Call, ...] = ()
    cited: tuple[Cited, ...] = ()
    refuse: bool = False
    status: int | None = None
    message: str = "scripted"
    retry_after: str | None = None
    drop_after: int | None = None
    error_after: int | None = None
    error_type: str = "overloaded_error"
    delay: float = 0.0
    pieces: int = 3

    def parts(self) -> list[str]:
        """The text in about `pieces` pieces."""
        size = max(1, -(-len(self.text) // self.pieces))
        return [self.text[i : i + size] for i in range(0, len(self.text), size)]


Script = Callable[[dict[str, Any]], Reply]


class Queue:
    """Replies in order; the last one is repeated."""

    def __init__(self, *replies: Reply) -> None:
        self._replies = list(replies) or [Reply(text="All right.")]

    def __call__(self, request: dict[str, Any]) -> Reply:
        return self._replies.pop(0) if len(self._replies) > 1 else self._replies[0]
