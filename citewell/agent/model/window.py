"""Fits passages into a model's context: which, and in which order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Protocol

from citewell.agent.citations.bracketed import space_markers
from citewell.agent.citations.provenance import passage_text, passage_title, provenance_words
from citewell.agent.interface import Source
from citewell.ports import ChatMessage, SourceBlock
from citewell.retrieve.context import best_at_the_ends

_FRAME_TOKENS = 24


class TokenCounter(Protocol):
    """Counts tokens; an embedder's tokenizer does."""

    def count(self, texts: Sequence[str]) -> list[int]:
        """Tokens per text."""
        ...


def best_last(sources: Sequence[Source], counter: TokenCounter, budget: int) -> tuple[SourceBlock, ...]:
    """The best sources that fit into `budget` tokens, the best last, next to the question; a part of the best where none fits."""
    chosen = _fitting(sources, counter, budget)
    if not chosen and sources:
        block = _block(sources[0])
        share = budget / max(counter.count([block.text])[0], 1)
        chosen = [replace(block, text=block.text[: int(len(block.text) * min(share, 1.0))])]
    return tuple(reversed(chosen))


def source_blocks(sources: Sequence[Source], counter: TokenCounter, budget: int) -> tuple[SourceBlock, ...]:
    """The best sources that fit into `budget` tokens, the best first and second best last: models read the ends closest."""
    return tuple(best_at_the_ends(_fitting(sources, counter, budget)))


def block_tokens(sources: Sequence[Source], counter: TokenCounter) -> list[int]:
    """Tokens that each source takes with its frame."""
    texts = [f"{provenance_words(source.hit.provenance)}\n{passage_text(source.hit)}" for source in sources]
    return [count + _FRAME_TOKENS for count in counter.count(texts)]


def _fitting(sources: Sequence[Source], counter: TokenCounter, budget: int) -> list[SourceBlock]:
    chosen: list[SourceBlock] = []
    left = budget
    for source, count in zip(sources, block_tokens(sources, counter), strict=True):
        if count <= left:
            chosen.append(_block(source))
            left -= count
    return chosen


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
    return SourceBlock(n=source.n, title=passage_title(hit), source=hit.chunk.id, text=space_markers(passage_text(hit)))
