"""Fits a turn into a model's context: which passages, in which order, and how much of the thread."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from citewell.agent import prompts
from citewell.agent.claims import strip_markers
from citewell.agent.turns import PastMessage, Scope, Source
from citewell.ports import ChatMessage, SourceBlock

CHARACTERS_PER_TOKEN = 4
_FRAME_TOKENS = 24
_SUMMARISED = 12
_SUMMARY_CHARACTERS = 160


class TokenCounter(Protocol):
    """Counts tokens; an embedder's tokenizer does."""

    def count(self, texts: Sequence[str]) -> list[int]:
        """Tokens per text."""
        ...


def source_blocks(sources: Sequence[Source], counter: TokenCounter, budget: int) -> tuple[SourceBlock, ...]:
    """The best sources that fit into `budget` tokens, the best first and second best last: models read the ends closest."""
    chosen: list[SourceBlock] = []
    left = budget
    tokens = counter.count([source.hit.chunk.text for source in sources])
    for source, count in zip(sources, tokens, strict=True):
        if count + _FRAME_TOKENS <= left:
            chosen.append(_block(source))
            left -= count + _FRAME_TOKENS
    return (*chosen[::2], *reversed(chosen[1::2]))


def past_messages(
    history: Sequence[PastMessage], scope: Scope, counter: TokenCounter, budget: int
) -> list[ChatMessage]:
    """The thread as far as `budget` tokens reach, newest kept; of what is cut off, the user's questions in a list.

    Answers given under another scope are left out: nothing may be answered from their passages.
    """
    usable = [past for past in history if past.role == "user" or past.scope == scope]
    tokens = counter.count([past.content for past in usable])
    kept, left = len(usable), budget
    while kept > 0 and tokens[kept - 1] <= left:
        kept -= 1
        left -= tokens[kept]
    cut = [past.content[:_SUMMARY_CHARACTERS] for past in usable[:kept] if past.role == "user"][-_SUMMARISED:]
    messages = [_message(past) for past in usable[kept:]]
    if cut:
        messages.insert(0, ChatMessage(role="user", content=prompts.earlier_prompt(cut)))
    return alternating(messages)


def alternating(messages: Sequence[ChatMessage]) -> list[ChatMessage]:
    """Neighbours of one role joined, the user first: what every vendor accepts."""
    out: list[ChatMessage] = []
    for message in messages:
        if out and out[-1].role == message.role:
            out[-1] = ChatMessage(role=message.role, content=f"{out[-1].content}\n\n{message.content}")
        elif out or message.role == "user":
            out.append(message)
    return out


def _block(source: Source) -> SourceBlock:
    hit = source.hit
    label = hit.chunk.locator.label(hit.filename)
    return SourceBlock(n=source.n, title=label, source=hit.filename, text=hit.chunk.text)


def _message(past: PastMessage) -> ChatMessage:
    """Numbers of an earlier answer mean other passages now, so they are taken out."""
    content = past.content if past.role == "user" else strip_markers(past.content)
    return ChatMessage(role=past.role, content=content or "…")
