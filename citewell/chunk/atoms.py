"""The smallest units that a cut keeps whole: sentences, lines of code, and parts of what is too long to be kept whole."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from citewell.chunk.flow import Flow, Part
from citewell.chunk.tokenizing import Tokenizer
from citewell.text.sentences import sentence_spans
from citewell.types import ElementType

# What it costs to cut before a unit, in units of (empty share of a chunk)²: half a chunk left empty costs 0.25.
BEFORE_PARAGRAPH = 0.0
BEFORE_LIST_ITEM = 0.05
BEFORE_SENTENCE = 0.3
AFTER_COLON = 0.5
INSIDE_SENTENCE = 1.0
AFTER_TITLE = 3.0

_WORD_START = re.compile(r"(?<=\s)\S")
_LINE = re.compile(r"^[^\S\n]*+\S[^\n]*+", re.M)


@dataclass(frozen=True, slots=True)
class Atom:
    """`flow.text[start:end]`, which holds `tokens` tokens; `penalty` is the cost of a cut before it."""

    start: int
    end: int
    penalty: float
    tokens: int


def atoms_of(flow: Flow, tokenizer: Tokenizer) -> list[Atom]:
    """The sentences of a flow in order, with their tokens. A cut between two of them divides no rectangle."""
    spans = list(_spans(flow))
    counts = tokenizer.count([flow.text[start:end] for start, end, _ in spans])
    return [Atom(start, end, penalty, count) for (start, end, penalty), count in zip(spans, counts, strict=True)]


def divide(flow: Flow, atoms: Sequence[Atom], limit: int, tokenizer: Tokenizer) -> list[Atom]:
    """The same atoms, those of more than `limit` tokens divided: between rectangles, else between words, else anywhere."""
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
            penalty = BEFORE_SENTENCE
        index = after


def _penalty_before(flow: Flow, index: int) -> float:
    if index == 0:
        return 0.0
    before = flow.parts[index - 1]
    if before.is_title:
        return AFTER_TITLE
    if before.element.text.rstrip().endswith((":", "：")):
        return AFTER_COLON
    return BEFORE_LIST_ITEM if flow.parts[index].element.type is ElementType.LIST_ITEM else BEFORE_PARAGRAPH


def _units(flow: Flow, parts: Sequence[Part]) -> list[tuple[int, int]]:
    """Spans in the flow of the sentences (lines of code) of one paragraph, joined where a cut would divide a rectangle."""
    base, text = parts[0].start, flow.text[parts[0].start : parts[-1].end]
    if parts[0].element.type is ElementType.CODE:
        spans = [match.span() for match in _LINE.finditer(text)]
    else:
        spans = sentence_spans(text)
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
    """Parts of an atom, each as long as fits."""
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
        start, penalty = end, INSIDE_SENTENCE
    return pieces


def _furthest(start: int, stop: int, tokens: list[int], limit: int, candidates: Sequence[list[int]]) -> int:
    """The last place to cut at so that at most `limit` tokens stand after `start`, by the first kind of place that has one."""
    index = bisect_left(tokens, start) + limit
    if index >= len(tokens):
        return stop
    reach = tokens[index]
    for places in candidates:
        place = bisect_left(places, reach + 1) - 1
        if place >= 0 and places[place] > start:
            return places[place]
    return max(reach, start + 1)
