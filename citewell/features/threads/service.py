"""Conversations as their owner may see them: a citation's words are shown only while its file exists and is the owner's or shared with them."""

from __future__ import annotations

from dataclasses import dataclass, replace

from citewell.agent.citations.claims import keep_known
from citewell.features.detached import DetachedTurns
from citewell.storage.accounts.members import MemberRepository
from citewell.storage.conversations.threads import ThreadRepository
from citewell.storage.files.resources import ResourceRepository
from citewell.types import Message, Thread


@dataclass(frozen=True, slots=True)
class ShownMessage:
    """A message, and which of its cited files exist."""

    message: Message
    available: frozenset[str]


@dataclass(frozen=True, slots=True)
class ShownThread:
    """A conversation with all its messages, oldest first. answering: whether an answer is under way that goes on without its reader."""

    thread: Thread
    messages: tuple[ShownMessage, ...]
    answering: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ThreadService:
    """An owner's conversations. Access to cited files is checked each time a thread is read. members: None if nothing is shared."""

    repository: ThreadRepository
    detached: DetachedTurns
    resources: ResourceRepository
    members: MemberRepository | None = None

    async def create(self, owner_id: str, title: str) -> Thread:
        """Create an empty thread."""
        return await self.repository.create(owner_id, _clean(title), {})

    async def get(self, owner_id: str, thread_id: str) -> ShownThread:
        """A thread with its messages. A citation of a deleted file keeps its place, but not its quotation or the file's annotations, and the answer loses its chart."""
        thread = await self.repository.get(owner_id, thread_id)
        found = await self.repository.messages(owner_id, thread_id)
        cited = {citation.resource_id for message in found for citation in message.citations}
        available = frozenset(await self._readable(owner_id, cited))
        shown = (ShownMessage(_without_gone(_agreeing(message), available), available) for message in found)
        return ShownThread(thread, tuple(shown), self.detached.is_running(owner_id, thread_id))

    async def _readable(self, owner_id: str, cited: set[str]) -> set[str]:
        owned = await self.resources.owned(owner_id, sorted(cited))
        others = sorted(cited - owned)
        return owned | await self.members.readable(owner_id, others) if others and self.members else owned

    async def rename(self, owner_id: str, thread_id: str, title: str) -> Thread:
        """Rename a thread."""
        return await self.repository.update(owner_id, thread_id, title=_clean(title))

    async def stop(self, owner_id: str, thread_id: str) -> None:
        """End the detached answer under way in a thread, if this process runs it. Raises `NotFound` for a thread that is not the owner's."""
        await self.repository.get(owner_id, thread_id)
        await self.detached.stop(owner_id, thread_id)


def markdown(shown: ShownThread) -> str:
    """The thread as Markdown, with each answer's cited places."""
    parts = [f"# {shown.thread.title}"]
    for message in (one.message for one in shown.messages):
        parts.append(f"## {'Question' if message.role == 'user' else 'Answer'}\n\n{message.content}")
        seen = {citation.n: citation for citation in message.citations}
        lines = [
            f"- [{n}] {c.label}" + (f": “{' '.join(c.quote.split())}”" if c.quote else "") + f" ({c.verdict.value})"
            for n, c in sorted(seen.items())
        ]
        lines += [f"- {one.label}: “{' '.join(one.quote.split())}”" for one in message.remembered]
        if lines:
            parts.append("\n".join(lines))
    return "\n\n".join(parts) + "\n"


def _clean(title: str) -> str:
    """Databases do not store null characters."""
    return title.replace("\x00", "")


def _agreeing(message: Message) -> Message:
    """An answer without any `[n]` that has no citation, as in some answers stored by earlier versions."""
    if message.role != "assistant":
        return message
    text, _ = keep_known(message.content, frozenset(citation.n for citation in message.citations))
    return replace(message, content=text)


def _without_gone(message: Message, available: frozenset[str]) -> Message:
    if all(citation.resource_id in available for citation in message.citations):
        return message
    cited = tuple(c if c.resource_id in available else c.emptied() for c in message.citations)
    # A chart contains values of the rows that the answer cites.
    details = {key: value for key, value in message.details.items() if key != "picture"}
    return replace(message, citations=cited, details=details)
