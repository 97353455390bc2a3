"""The `recursive` strategy: divide at empty lines, then lines, sentences, words, until the parts fit; then join them again."""

from __future__ import annotations

import re
from itertools import pairwise

from citewell.chunk.config import ChunkConfig
from citewell.chunk.flow import Cut, Flow

_SEPARATORS = (re.compile(r"\n\s*\n\s*"), re.compile(r"\n\s*"), re.compile(r"(?<=[.!?。！？])\s*"), re.compile(r"\s+"))


def cut_recursively(flow: Flow, config: ChunkConfig) -> list[Cut]:
    """Cuts of a flow: neighbouring parts up to the size, each cut repeating whole parts up to the overlap."""
    size, overlap = config.effective_size, config.effective_overlap
    parts = _divide(flow.text, 0, len(flow.text), size, 0)
    cuts: list[Cut] = []
    first = 0
    for index, (_, end) in enumerate(parts):
        if index + 1 < len(parts) and parts[index + 1][1] - parts[first][0] <= size:
            continue
        low, high = flow.trim(parts[first][0], end)
        if low < high:
            cuts.append(Cut(low, high, flow.headings_at(low)))
        first = index + 1
        while (
            first < len(parts)
            and first > 0
            and end - parts[first - 1][0] <= overlap
            and parts[index + 1][1] - parts[first - 1][0] <= size
        ):
            first -= 1
    return cuts


def _divide(text: str, start: int, end: int, size: int, level: int) -> list[tuple[int, int]]:
    """Consecutive spans that cover [start, end), none longer than `size`."""
    if end - start <= size:
        return [(start, end)]
    if level == len(_SEPARATORS):
        return [(low, min(low + size, end)) for low in range(start, end, size)]
    edges = [start, *(match.end() for match in _SEPARATORS[level].finditer(text, start, end)), end]
    parts: list[tuple[int, int]] = []
    for low, high in pairwise(edges):
        if low < high:
            parts.extend(_divide(text, low, high, size, level + 1))
    return parts
