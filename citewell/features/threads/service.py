"""Conversations as their owner may see them: a citation's words are shown while the file they come from is there and is the owner's."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from citewell.agent.citations.claims import keep_known
from citewell.storage.resources import ResourceRepository
from citewell.storage.threads import ThreadRepository
from citewell.types import Message


@dataclass(frozen=True, slots=True)
class ShownMessage:
    """A message, and which of the files that it cites are there."""

    message: Message
    available: frozenset[str]


@dataclass(frozen=True, slots=True)
class ThreadService:
    """Reads threads, checking access to what is cited each time."""

    threads: ThreadRepository
    resources: ResourceRepository

    async def messages(self, owner_id: str, thread_id: str) -> list[ShownMessage]:
        """All messages, oldest first; a citation of a file that is gone keeps its place but not its quotation."""
        found = await self.threads.messages(owner_id, thread_id)
        cited = {citation.resource_id for message in found for citation in message.citations}
        available = frozenset(await self.resources.owned(owner_id, sorted(cited)))
        return [ShownMessage(_without_gone(_agreeing(message), available), available) for message in found]


def markdown(title: str, messages: Sequence[ShownMessage]) -> str:
    """The thread as Markdown, each answer with the places it cites."""
    parts = [f"# {title}"]
    for shown in messages:
        message = shown.message
        parts.append(f"## {'Question' if message.role == 'user' else 'Answer'}\n\n{message.content}")
        seen = {citation.n: citation for citation in message.citations}
        lines = [
            f"- [{n}] {c.label}" + (f": “{' '.join(c.quote.split())}”" if c.quote else "") + f" ({c.verdict.value})"
            for n, c in sorted(seen.items())
        ]
        if lines:
            parts.append("\n".join(lines))
    return "\n\n".join(parts) + "\n"


def _agreeing(message: Message) -> Message:
    """An answer with only such `[n]` as have their citation: some of those that were stored earlier had lost it."""
    if message.role != "assistant":
        return message
    text, _ = keep_known(message.content, frozenset(citation.n for citation in message.citations))
    return replace(message, content=text)


def _without_gone(message: Message, available: frozenset[str]) -> Message:
    if all(citation.resource_id in available for citation in message.citations):
        return message
    cited = tuple(c if c.resource_id in available else replace(c, quote="") for c in message.citations)
    return replace(message, citations=cited)
