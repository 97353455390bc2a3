"""Conversations: threads and their messages."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from citewell.types.answers import Citation
from citewell.types.conversations import Remembered
from citewell.types.json import JsonObject, JsonValue


@dataclass(frozen=True, slots=True, kw_only=True)
class Thread:
    """A conversation of an owner. `scope` is `{"project": id}`, `{"resource_ids": [...]}` or empty for everything."""

    id: str
    owner_id: str
    title: str
    scope: JsonObject
    created_at: float
    updated_at: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """A question or an answer. Citations belong to assistant messages and never change.

    remembered: what an answer quotes from earlier conversations; it ends with them
    """

    id: str
    thread_id: str
    role: Literal["user", "assistant"]
    content: str
    created_at: float
    citations: tuple[Citation, ...] = ()
    remembered: tuple[Remembered, ...] = ()
    details: JsonObject = field(default_factory=dict[str, JsonValue])
