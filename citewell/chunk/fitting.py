"""Candidates into drafts: counts the tokens of what will be embedded, and shortens or divides what exceeds the limit."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from citewell.chunk.context import ContextLine
from citewell.chunk.flow import Flow
from citewell.chunk.pieces import locate
from citewell.chunk.tokenizing import Tokenizer
from citewell.types import ChunkDraft, ChunkType

BATCH = 256

Ranges: TypeAlias = Sequence[tuple[int, int]]
"""Character spans of a flow, ascending."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A chunk whose tokens are not yet counted.

    Its text are the ranges of the flow, one per line; those before the last one are a table's header, repeated.
    """

    type: ChunkType
    flow: Flow
    ranges: Ranges
    headings: tuple[str, ...]
    context: str

    @property
    def text(self) -> str:
        """What the chunk shows."""
        return "\n".join(self.flow.text[start:end] for start, end in self.ranges)

    @property
    def embedded(self) -> str:
        """What the embedder reads."""
        return f"{self.context}\n{self.text}" if self.context else self.text

    def draft(self, tokens: int) -> ChunkDraft:
        """The finished draft."""
        slices = [part for start, end in self.ranges for part in self.flow.slices(start, end)]
        return ChunkDraft(
            type=self.type,
            text=self.text,
            locator=locate(slices, self.headings),
            pieces=tuple(part.piece for part in slices),
            context=self.context,
            token_count=tokens,
        )

    def halves(self) -> list[Candidate]:
        """Two candidates for one: the header and the rest, or the text divided near its middle.

        That is done between rectangles, else between words, else anywhere.
        """
        if len(self.ranges) > 1:
            return [replace(self, ranges=self.ranges[:-1]), replace(self, ranges=self.ranges[-1:])]
        start, end = self.ranges[0]
        if end - start < 2:
            raise ValueError("A single character has more tokens than the embedder reads.")
        clean = self.flow.clean_cuts(start, end)
        centre = (start + end) // 2
        middle = (
            min(clean, key=lambda cut: abs(cut - centre)) if clean else _word_start_near(self.flow.text, start, end)
        )
        halves = (self.flow.trim(start, middle), self.flow.trim(middle, end))
        return [replace(self, ranges=(half,)) for half in halves if half[0] < half[1]]


class Fitter:
    """Turns candidates into drafts of at most `budget` tokens (special ones not counted), in order."""

    def __init__(self, tokenizer: Tokenizer, context: ContextLine, budget: int, special_tokens: int) -> None:
        self._tokenizer = tokenizer
        self._context = context
        self._budget = budget
        self._special = special_tokens

    def fit(self, candidates: Iterable[Candidate]) -> Iterator[ChunkDraft]:
        """Drafts for candidates; one that is too long has its context shortened, then its text divided."""
        batch: list[Candidate] = []
        for candidate in candidates:
            batch.append(candidate)
            if len(batch) == BATCH:
                yield from self._fit(batch)
                batch = []
        yield from self._fit(batch)

    def _fit(self, batch: Sequence[Candidate]) -> Iterator[ChunkDraft]:
        counts = self._tokenizer.count([candidate.embedded for candidate in batch]) if batch else []
        for candidate, tokens in zip(batch, counts, strict=True):
            if tokens <= self._budget:
                yield candidate.draft(tokens + self._special)
            else:
                yield from self._fit(self._smaller(candidate))

    def _smaller(self, candidate: Candidate) -> list[Candidate]:
        if candidate.context:
            own = self._tokenizer.count([candidate.text])[0]
            used = self._tokenizer.count([candidate.context])[0]
            shorter = self._context.shorten(candidate.context, max(0, min(self._budget - own, used - 1)))
            return [replace(candidate, context=shorter if len(shorter) < len(candidate.context) else "")]
        return candidate.halves()


def _word_start_near(text: str, start: int, end: int) -> int:
    """The start of a word nearest behind the middle of [start, end), or before it, or the middle itself."""
    middle = (start + end) // 2
    for position in (*range(middle, end), *range(middle - 1, start, -1)):
        if text[position - 1].isspace() and not text[position].isspace():
            return position
    return max(start + 1, middle)
