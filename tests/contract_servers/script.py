"""What a contract server says next: answers, tool calls, and every way to fail."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace
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
    too_long:     the error for a context that is too long, in the vendor's words
    body:         these bytes with status 200, in place of an answer
    usage:        what is said of tokens, in place of their counts
    at_limit:     it ended where the request's limit of tokens is
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
    too_long: bool = False
    body: bytes | None = None
    at_limit: bool = False
    usage: object = None

    def parts(self) -> list[str]:
        """The text in about `pieces` pieces."""
        size = max(1, -(-len(self.text) // self.pieces))
        return [self.text[i : i + size] for i in range(0, len(self.text), size)]

    def within(self, tokens: int | None) -> Reply:
        """As much of it as the request allows; a word is a token."""
        words = list(re.finditer(r"\S+", self.text))
        if tokens is None or len(words) <= tokens:
            return self
        return replace(self, text=self.text[: words[tokens - 1].end()], at_limit=True)


Script = Callable[[dict[str, Any]], Reply]


class Queue:
    """Replies in order; the last one is repeated."""

    def __init__(self, *replies: Reply) -> None:
        self._replies = list(replies) or [Reply(text="All right.")]

    def __call__(self, request: dict[str, Any]) -> Reply:
        return self._replies.pop(0) if len(self._replies) > 1 else self._replies[0]
