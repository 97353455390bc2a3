"""Fits chunks to the embedder: counts tokens, builds the context line, and shortens or splits chunks over the limit."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TypeAlias

from citewell.chunk.flow import Flow, locate
from citewell.ports import Tokenizer
from citewell.types import ChunkDraft, ChunkType, JsonObject, Locator

_SPAN = re.compile(" (?:row|col)span=")

_MEMO_CHARACTERS = 4_000_000
"""Total characters of memoized words at which a `WordCounter` clears its memo; bounds memory."""

BATCH = 256
"""Candidates counted in one tokenizer call; more gains nothing, fewer is slower."""


class WordCounter:
    """Estimates token counts as sums over words, each counted once; exact if the tokenizer splits at white space first.

    Many times faster than tokenizing whole texts: texts are measured this way before cutting, finished chunks exactly.
    """

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._tokenizer = tokenizer
        self._memo: dict[str, int] = {}
        self._characters = 0

    def count(self, texts: Sequence[str]) -> list[int]:
        """Tokens per text."""
        words = [text.split() for text in texts]
        self._learn({word for each in words for word in each if word not in self._memo})
        counts = [sum(map(self._memo.__getitem__, each)) for each in words]
        if self._characters > _MEMO_CHARACTERS:
            self._memo.clear()
            self._characters = 0
        return counts

    def _learn(self, unknown: set[str]) -> None:
        if unknown:
            listed = sorted(unknown)
            self._memo.update(zip(listed, self._tokenizer.count(listed), strict=True))
            self._characters += sum(map(len, listed))

    def offsets(self, text: str) -> list[tuple[int, int]]:
        """Exact character span of each token."""
        return self._tokenizer.offsets(text)


SEPARATOR = " > "
CONTEXT_SHARE = 4
"""The context line takes at most 1/`CONTEXT_SHARE` of the embedder's window; the rest is for text."""


class ContextLine:
    """Builds the line that precedes a chunk's text for embedding: the title and the heading path, shortened to fit.

    The title, or the last of the names in it, is omitted if the path begins with it. A line takes at most a quarter of `budget` tokens.
    """

    def __init__(self, title: str, tokenizer: Tokenizer, budget: int) -> None:
        self._titles = [" ".join(name.split()) for name in title.split(SEPARATOR) if name.strip()]
        self._tokenizer = tokenizer
        self._limit = budget // CONTEXT_SHARE
        self._cached = lru_cache(maxsize=1024)(self._fitted)

    def of(self, headings: tuple[str, ...]) -> tuple[str, int]:
        """The line for a heading path, and its token count."""
        return self._cached(headings)

    def shorten(self, line: str, limit: int) -> str:
        """The line cut to at most `limit` tokens: drops middle names, a long first name, then the end of the last."""
        names = line.split(SEPARATOR) if line else []
        while len(names) > 2 and self._count([SEPARATOR.join(names)]) > limit:
            del names[-2]
        line = SEPARATOR.join(names)
        if len(names) == 2 and self._count([line]) > limit:
            first = names[0] + SEPARATOR
            line = line if self._count([first]) <= limit // 2 else names[1]
        return self._clipped(line, limit)

    def _fitted(self, headings: tuple[str, ...]) -> tuple[str, int]:
        names = [" ".join(name.split()) for name in headings]
        repeated = bool(names and self._titles and names[0].casefold() == self._titles[-1].casefold())
        names[:0] = self._titles[:-1] if repeated else self._titles
        line = self.shorten(SEPARATOR.join(name for name in names if name), self._limit)
        return line, self._count([line])

    def _count(self, texts: Sequence[str]) -> int:
        return sum(self._tokenizer.count(texts))

    def _clipped(self, name: str, limit: int) -> str:
        """The first words of a name, up to `limit` tokens."""
        tokens = self._tokenizer.offsets(name)
        if len(tokens) <= limit:
            return name
        clipped = name[: tokens[limit][0]] if limit > 0 else ""
        whole_words = clipped if clipped.endswith(" ") else clipped.rpartition(" ")[0]
        return (whole_words or clipped).rstrip(" >")


Ranges: TypeAlias = Sequence[tuple[int, int]]
"""Character spans of a flow, ascending."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CandidateChunk:
    """A chunk whose tokens are not yet counted.

    Its text is the ranges of the flow, one per line; all but the last are a repeated table header and the group labels
    of the rows.
    """

    type: ChunkType
    flow: Flow
    ranges: Ranges
    headings: tuple[str, ...]
    context: str

    @property
    def text(self) -> str:
        """The text that the chunk shows."""
        return "\n".join(self.flow.text[start:end] for start, end in self.ranges)

    @property
    def embedded(self) -> str:
        """The text that the embedder reads."""
        return ChunkDraft(type=self.type, text=self.text, context=self.context, locator=Locator()).embedded_text

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
            metadata=self._form(),
        )

    def _form(self) -> JsonObject:
        """The HTML of a whole table with merged cells, for chat models: Markdown cannot express these."""
        html = self.flow.parts[0].element.html if self.type is ChunkType.TABLE else None
        is_whole = len(self.ranges) == 1 and self.text.strip() == self.flow.text.strip()
        return {"html": html} if html is not None and is_whole and _SPAN.search(html) else {}

    def halves(self) -> list[CandidateChunk]:
        """This candidate split in two: header and rest, or the text near its middle.

        The cut falls between rectangles, else between words, else anywhere.
        """
        if len(self.ranges) > 1:
            return [replace(self, ranges=self.ranges[:-1]), replace(self, ranges=self.ranges[-1:])]
        start, end = self.ranges[0]
        if end - start < 2:
            raise ValueError("A single character has more tokens than the embedder can read.")
        clean = self.flow.clean_cuts(start, end)
        centre = (start + end) // 2
        middle = (
            min(clean, key=lambda cut: abs(cut - centre)) if clean else _word_start_near(self.flow.text, start, end)
        )
        halves = (self.flow.trim(start, middle), self.flow.trim(middle, end))
        return [replace(self, ranges=(half,)) for half in halves if half[0] < half[1]]


class Fitter:
    """Turns candidates into drafts of at most `budget` tokens (without special tokens), in order."""

    def __init__(self, tokenizer: Tokenizer, context: ContextLine, budget: int, special_tokens: int) -> None:
        self._tokenizer = tokenizer
        self._context = context
        self._budget = budget
        self._special = special_tokens

    def fit(self, candidates: Iterable[CandidateChunk]) -> Iterator[ChunkDraft]:
        """Drafts for candidates; one that is too long first gets a shorter context, then is split."""
        batch: list[CandidateChunk] = []
        for candidate in candidates:
            batch.append(candidate)
            if len(batch) == BATCH:
                yield from self._fit(batch)
                batch = []
        yield from self._fit(batch)

    def _fit(self, batch: Sequence[CandidateChunk]) -> Iterator[ChunkDraft]:
        counts = self._tokenizer.count([candidate.embedded for candidate in batch]) if batch else []
        for candidate, tokens in zip(batch, counts, strict=True):
            if tokens <= self._budget:
                yield candidate.draft(tokens + self._special)
            else:
                yield from self._fit(self._smaller(candidate))

    def _smaller(self, candidate: CandidateChunk) -> list[CandidateChunk]:
        if candidate.context:
            own = self._tokenizer.count([candidate.text])[0]
            used = self._tokenizer.count([candidate.context])[0]
            shorter = self._context.shorten(candidate.context, max(0, min(self._budget - own, used - 1)))
            return [replace(candidate, context=shorter if len(shorter) < len(candidate.context) else "")]
        return candidate.halves()


def _word_start_near(text: str, start: int, end: int) -> int:
    """The first word start after the middle of [start, end), else the last one before it, else the middle."""
    middle = (start + end) // 2
    for position in (*range(middle, end), *range(middle - 1, start, -1)):
        if text[position - 1].isspace() and not text[position].isspace():
            return position
    return max(start + 1, middle)
