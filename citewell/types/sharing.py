"""Links to single answers, and what they show."""

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
    """A passage that an answer cites: its number there, where it is, and its words."""

    n: int
    label: str
    quote: str
    verdict: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownAnswer:
    """What a link shows: the answer, and the passages it cites."""

    text: str
    passages: tuple[ShownPassage, ...]
    answered_at: float
    expires_at: float


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenedAnswer:
    """An opened link: its owner, for the audit log, and what it shows."""

    owner_id: str
    share_id: str
    shown: ShownAnswer
