"""Rows of data: a chunk for each, with its header."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from citewell.chunk.config import ChunkConfig
from citewell.chunk.context import ContextLine
from citewell.chunk.fitting import Candidate, Ranges
from citewell.chunk.flow import Flow, Part
from citewell.chunk.tokenizing import Tokenizer
from citewell.types import ChunkType, Element

_GAP = " | "
_CELL = re.compile(r"(?<=\S \| )")


def row_headings(element: Element, outline: tuple[str, ...]) -> tuple[str, ...]:
    """The path of a row: headings, and the sheet where they do not name it."""
    sheet = element.locator.sheet
    return outline if sheet is None or sheet in outline else (sheet, *outline)


class RowCutter:
    """Candidates for rows; `config` and `context` are those of the document."""

    def __init__(self, config: ChunkConfig, tokenizer: Tokenizer, context: ContextLine) -> None:
        self._config = config
        self._tokenizer = tokenizer
        self._context = context

    def cut(self, rows: Sequence[tuple[Element, tuple[str, ...]]]) -> Iterator[Candidate]:
        """One candidate per row; a row that is too long is divided between cells, its first cell repeated."""
        counts = self._tokenizer.count([element.text for element, _ in rows])
        for (element, headings), tokens in zip(rows, counts, strict=True):
            line, used = self._context.of(headings)
            limit = self._config.token_budget - used
            flow = Flow(element.text, (Part(0, element, headings),))
            whole = ((0, len(element.text)),)
            for ranges in [whole] if tokens <= limit else self._cells(element.text, limit):
                yield Candidate(type=ChunkType.ROW, flow=flow, ranges=ranges, headings=headings, context=line)

    def _cells(self, text: str, limit: int) -> list[Ranges]:
        """Ranges of as many whole cells as fit; a cell that is too long alone is left to the fitter."""
        starts = [0, *(match.start() for match in _CELL.finditer(text)), len(text)]
        counts = self._tokenizer.count([text[low:high] for low, high in pairwise(starts)])
        key = ((0, starts[1] - len(_GAP)),) if len(counts) > 1 and counts[0] <= limit // 4 else ()
        found: list[Ranges] = []
        first, tokens = 0, 0
        for index, count in enumerate(counts):
            if index > first and tokens + count > limit:
                found.append((*(key if first else ()), (starts[first], starts[index] - len(_GAP))))
                first, tokens = index, counts[0] if key else 0
            tokens += count
        found.append((*(key if first else ()), (starts[first], len(text))))
        return found
