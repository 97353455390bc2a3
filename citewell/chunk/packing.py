"""Units into chunks: the division that leaves chunks evenly full and cuts where it costs least."""

from __future__ import annotations

from collections.abc import Sequence

from citewell.chunk.atoms import Atom
from citewell.chunk.flow import Flow
from citewell.chunk.tokenizing import Tokenizer


def pack(atoms: Sequence[Atom], limit: int) -> list[tuple[int, int]]:
    """Index ranges of `atoms`, each of at most `limit` tokens, that have the least total cost.

    A chunk costs its empty share squared, and a cut its atom's penalty: the dynamic programme of Knuth and Plass,
    "Breaking paragraphs into lines" (1981), with chunks for lines.
    """
    count = len(atoms)
    best = [0.0] + [float("inf")] * count
    begin = [0] * (count + 1)
    for end in range(1, count + 1):
        tokens = 0
        for start in range(end - 1, -1, -1):
            tokens += atoms[start].tokens
            if tokens > limit and start < end - 1:
                break
            slack = max(0.0, 1 - tokens / limit)
            cost = best[start] + slack * slack + (atoms[start].penalty if start else 0.0)
            if cost < best[end]:
                best[end], begin[end] = cost, start
    ranges: list[tuple[int, int]] = []
    end = count
    while end:
        ranges.append((begin[end], end))
        end = begin[end]
    return ranges[::-1]


def overlap_start(flow: Flow, atoms: Sequence[Atom], first: int, overlap: int, floor: int, tokenizer: Tokenizer) -> int:
    """Where a chunk that begins with `atoms[first]` begins when it repeats at most `overlap` tokens of what stands before.

    Whole units are repeated where one fits, else the last words; nothing from before `floor`.
    """
    tokens, start = 0, first
    while start and atoms[start - 1].start >= floor and tokens + atoms[start - 1].tokens <= overlap:
        start -= 1
        tokens += atoms[start].tokens
    if start < first or not first or not overlap or atoms[first - 1].start < floor:
        return atoms[start].start
    before = atoms[first - 1]
    offsets = tokenizer.offsets(flow.text[before.start : before.end])
    position = before.start + offsets[max(0, len(offsets) - overlap)][0]
    while position < before.end and not flow.text[position - 1].isspace():
        position += 1
    return position if position < before.end else atoms[first].start
