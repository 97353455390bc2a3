"""Links to single answers, and the content they show."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedAnswer:
    """A link to one answer, as its owner sees it; without the secret."""

    id: str
    thread_id: str
    message_id: str
    created_at: float
    expires_at: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownPassage:
    """A passage that an answer cites: its number in the answer, its place, and its text."""

    n: int
    label: str
    quote: str
    verdict: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownAnswer:
    """The content of a link: the answer, and the passages it cites."""

    text: str
    passages: tuple[ShownPassage, ...]
    answered_at: float
    expires_at: float


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenedAnswer:
    """An opened link: its owner, for the audit log, and its content."""

    owner_id: str
    share_id: str
    shown: ShownAnswer
