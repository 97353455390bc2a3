"""Atoms, the smallest units that cuts keep whole (sentences, lines of code), and their packing into chunks."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from citewell.chunk.flow import Flow, Part
from citewell.ports import Tokenizer
from citewell.text.sentences import running_spans
from citewell.types import ElementType


@dataclass(frozen=True, slots=True, kw_only=True)
class CutPenalties:
    """Cost of a cut, on the scale of (empty share of a chunk)²: a chunk left half empty costs 0.25.

    Set by hand on the development documents; only their order and their size relative to 0.25 and 1 matter
    (`docs/algorithms/chunking.md`).

    before_paragraph:  free, so paragraphs stay whole unless chunks would get too empty
    before_list_item:  a list stays together unless that leaves a fifth of a chunk empty
    before_sentence:   more than a half-empty chunk: a paragraph is split only to avoid an even emptier chunk
    after_colon:       an introductory line stays with the text it introduces
    inside_sentence:   as much as an empty chunk: only for sentences longer than a chunk
    after_title:       three empty chunks, so effectively never: a heading alone matches queries but has no content
    """

    before_paragraph: float = 0.0
    before_list_item: float = 0.05
    before_sentence: float = 0.3
    after_colon: float = 0.5
    inside_sentence: float = 1.0
    after_title: float = 3.0


_PENALTIES = CutPenalties()

_WORD_START = re.compile(r"(?<=\s)\S")
_LINE = re.compile(r"^[^\S\n]*+\S[^\n]*+", re.M)


@dataclass(frozen=True, slots=True)
class Atom:
    """`flow.text[start:end]`, of `tokens` tokens; `penalty` is the cost of a cut before it."""

    start: int
    end: int
    penalty: float
    tokens: int


def atoms_of(flow: Flow, tokenizer: Tokenizer) -> list[Atom]:
    """The sentences of a flow in order, with token counts. A cut between two of them splits no rectangle."""
    spans = list(_spans(flow))
    counts = tokenizer.count([flow.text[start:end] for start, end, _ in spans])
    return [Atom(start, end, penalty, count) for (start, end, penalty), count in zip(spans, counts, strict=True)]


def divide(flow: Flow, atoms: Sequence[Atom], limit: int, tokenizer: Tokenizer) -> list[Atom]:
    """Split atoms of more than `limit` tokens: between rectangles, else between words, else anywhere."""
    return [
        piece
        for atom in atoms
        for piece in ([atom] if atom.tokens <= limit else _divided(flow, atom, limit, tokenizer))
    ]


def _spans(flow: Flow) -> Iterator[tuple[int, int, float]]:
    """Start, end and penalty of every unit of the flow."""
    index = 0
    while index < len(flow.parts):
        after = index + 1
        while after < len(flow.parts) and flow.parts[after].joined:
            after += 1
        parts = flow.parts[index:after]
        penalty = _penalty_before(flow, index)
        for start, end in _units(flow, parts):
            yield start, end, penalty
            penalty = _PENALTIES.before_sentence
        index = after


def _penalty_before(flow: Flow, index: int) -> float:
    if index == 0:
        return 0.0
    before = flow.parts[index - 1]
    if before.is_title:
        return _PENALTIES.after_title
    if before.element.text.rstrip().endswith((":", "：")):
        return _PENALTIES.after_colon
    if flow.parts[index].element.type is ElementType.LIST_ITEM:
        return _PENALTIES.before_list_item
    return _PENALTIES.before_paragraph


def _units(flow: Flow, parts: Sequence[Part]) -> list[tuple[int, int]]:
    """Flow spans of one paragraph's sentences (or lines of code), joined where a cut would split a rectangle."""
    base, text = parts[0].start, flow.text[parts[0].start : parts[-1].end]
    if parts[0].element.type is ElementType.CODE:
        spans = [match.span() for match in _LINE.finditer(text)]
    else:
        spans = running_spans(text)
    if len(spans) < 2:
        return [(base + start, base + end) for start, end in spans]
    clean = [flow.rectangle_starts(part) for part in parts]
    units: list[tuple[int, int]] = []
    for start, end in spans:
        start, end = base + start, base + end
        if units and not _is_clean(start, parts, clean):
            units[-1] = (units[-1][0], end)
        else:
            units.append((start, end))
    return units


def _is_clean(position: int, parts: Sequence[Part], clean: Sequence[frozenset[int] | None]) -> bool:
    for part, starts in zip(parts, clean, strict=True):
        if part.start <= position < part.end:
            return starts is None or position in starts or position == part.start
    return True


def _divided(flow: Flow, atom: Atom, limit: int, tokenizer: Tokenizer) -> list[Atom]:
    """An atom split into the longest pieces that fit."""
    text = flow.text[atom.start : atom.end]
    tokens = [start for start, _ in tokenizer.offsets(text)]
    lines = [start - atom.start for start in flow.clean_cuts(atom.start, atom.end)]
    words = [match.start() for match in _WORD_START.finditer(text)]
    pieces: list[Atom] = []
    start, penalty = 0, atom.penalty
    while start < len(text):
        end = _furthest(start, len(text), tokens, limit, (lines, words))
        count = bisect_left(tokens, end) - bisect_left(tokens, start)
        low, high = flow.trim(atom.start + start, atom.start + end)
        if low < high:
            pieces.append(Atom(low, high, penalty, count))
        start, penalty = end, _PENALTIES.inside_sentence
    return pieces


def _furthest(start: int, stop: int, tokens: list[int], limit: int, candidates: Sequence[list[int]]) -> int:
    """The last cut position at most `limit` tokens after `start`, from the first list of candidates that has one."""
    index = bisect_left(tokens, start) + limit
    if index >= len(tokens):
        return stop
    reach = tokens[index]
    for places in candidates:
        place = bisect_left(places, reach + 1) - 1
        if place >= 0 and places[place] > start:
            return places[place]
    return max(reach, start + 1)


def pack(atoms: Sequence[Atom], limit: int) -> list[tuple[int, int]]:
    """Index ranges of `atoms`, each of at most `limit` tokens, with the least total cost: evenly filled, cheaply cut.

    A chunk costs its squared empty share, and a cut its atom's penalty: the dynamic program of Knuth and Plass,
    "Breaking paragraphs into lines" (1981), with chunks as lines.
    """
    count = len(atoms)
    best = [0.0] + [float("inf")] * count
    begin = [0] * (count + 1)
    for end in range(1, count + 1):
        tokens = 0
        for start in range(end - 1, -1, -1):
            tokens += atoms[start].tokens
            # A single atom over the limit still becomes a chunk; the `Fitter` splits it.
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


def overlap_start(flow: Flow, atoms: Sequence[Atom], first: int, overlap: int, tokenizer: Tokenizer) -> int:
    """Start of a chunk whose first new atom is `atoms[first]` and which repeats at most `overlap` preceding tokens.

    Repeats whole atoms if one fits, else the last words of the preceding atom.
    """
    tokens, start = 0, first
    while start and tokens + atoms[start - 1].tokens <= overlap:
        start -= 1
        tokens += atoms[start].tokens
    if start < first or not first or not overlap:
        return atoms[start].start
    before = atoms[first - 1]
    offsets = tokenizer.offsets(flow.text[before.start : before.end])
    position = before.start + offsets[max(0, len(offsets) - overlap)][0]
    while position < before.end and not flow.text[position - 1].isspace():
        position += 1
    return position if position < before.end else atoms[first].start
