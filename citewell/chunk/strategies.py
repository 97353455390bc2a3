"""The chunking strategies: one function per configurable strategy decides where a flow is cut.

`sections`, `tokens` and `semantic` pack whole sentences into the embedder's window and measure in tokens; `recursive` and
`characters` measure in characters. `citewell.chunk.tables` cuts data rows.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby, pairwise
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from citewell.chunk.atoms import Atom, atoms_of, divide, overlap_start, pack
from citewell.chunk.config import ChunkConfig
from citewell.chunk.fitting import ContextLine
from citewell.chunk.flow import Cut, Flow
from citewell.ports import Tokenizer

SentenceEmbedder: TypeAlias = Callable[[Sequence[str]], npt.NDArray[np.float32]]
"""Sentences to unit vectors, shape (len(texts), dimensions)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StrategyThresholds:
    """Constants of the strategies, set by hand on the development documents; see `docs/algorithms/chunking.md`.

    tiny_section_tokens:  a section with fewer tokens is merged with its tiny neighbors under the same parent: alone, it
                          would match queries by its shortness rather than its content
    topic_spread:         `semantic` begins a topic where the cosine distance of adjacent sentences exceeds the
                          mean of the flow by this many standard deviations
    topic_tokens:         `semantic` leaves at least this many tokens on either side of a topic boundary
    """

    tiny_section_tokens: int = 24
    topic_spread: float = 1.0
    topic_tokens: int = 32


_THRESHOLDS = StrategyThresholds()

# Separators of `recursive`, strongest first: empty lines, line ends, sentence ends, word ends.
_SEPARATORS = (re.compile(r"\n\s*\n\s*"), re.compile(r"\n\s*"), re.compile(r"(?<=[.!?。！？])\s*"), re.compile(r"\s+"))


@dataclass(frozen=True, slots=True)
class _Room:
    """Token limits of one chunk's text: `limit` in total, of which `overlap` repeat the previous chunk."""

    limit: int
    overlap: int

    @property
    def fresh(self) -> int:
        return self.limit - self.overlap


def _room(config: ChunkConfig, context_tokens: int) -> _Room:
    limit = min(config.effective_size, config.token_budget - context_tokens)
    return _Room(limit, min(config.effective_overlap, limit // 2))


def _room_under_any_heading(flow: Flow, config: ChunkConfig, context: ContextLine) -> _Room:
    """The room left by the longest context line in the flow, because a chunk may span headings."""
    return _room(
        config, max((context.of(headings)[1] for headings in {part.headings for part in flow.parts}), default=0)
    )


def _packed(
    flow: Flow, units: Sequence[Atom], room: _Room, tokenizer: Tokenizer, edges: Sequence[int] | None = None
) -> Iterator[tuple[int, int]]:
    """Spans of chunks: units packed between consecutive `edges` (unit indexes), each chunk preceded by its overlap."""
    for edge, next_edge in pairwise(edges or (0, len(units))):
        for first, after in pack(units[edge:next_edge], room.fresh):
            start = overlap_start(flow, units, edge + first, room.overlap, tokenizer)
            yield start, units[edge + after - 1].end


# sections


@dataclass(frozen=True, slots=True)
class _Section:
    """The text under one heading; `title` holds the heading's own atoms, if the flow contains it."""

    headings: tuple[str, ...]
    title: list[Atom] = field(default_factory=list[Atom])
    body: list[Atom] = field(default_factory=list[Atom])

    @property
    def atoms(self) -> list[Atom]:
        return self.title + self.body

    @property
    def is_tiny(self) -> bool:
        return bool(self.title) and sum(atom.tokens for atom in self.atoms) < _THRESHOLDS.tiny_section_tokens


def cut_sections(
    flow: Flow,
    config: ChunkConfig,
    tokenizer: Tokenizer,
    context: ContextLine,
    named: Collection[tuple[str, ...]] = (),
) -> list[Cut]:
    """`sections`: cuts at headings first, then between paragraphs, then between sentences.

    A section's heading becomes part of the heading path; a heading that is in no chunk's path becomes text. `named`
    holds the heading paths of chunks from outside the flow: tables, images and rows.
    """
    sections = _sections(flow, atoms_of(flow, tokenizer))
    cuts: list[Cut] = []
    index = 0
    while index < len(sections):
        after = _tiny_run(sections, index, named)
        if after - index > 1:
            headings = sections[index].headings[:-1]
            atoms = [atom for section in sections[index:after] for atom in section.atoms]
        else:
            headings, atoms = _own_text(sections, index, named)
        if atoms:
            room = _room(config, context.of(headings)[1])
            units = divide(flow, atoms, room.fresh, tokenizer)
            cuts.extend(Cut(start, end, headings) for start, end in _packed(flow, units, room, tokenizer))
        index = after
    return cuts


def _sections(flow: Flow, atoms: Sequence[Atom]) -> list[_Section]:
    sections: list[_Section] = []
    for index, group in groupby(atoms, key=lambda atom: flow.index_at(atom.start)):
        part = flow.parts[index]
        if part.is_title:
            sections.append(_Section(part.headings, title=list(group)))
            continue
        if not sections or sections[-1].headings != part.headings:
            sections.append(_Section(part.headings))
        sections[-1].body.extend(group)
    return sections


def _own_text(
    sections: Sequence[_Section], index: int, named: Collection[tuple[str, ...]]
) -> tuple[tuple[str, ...], Sequence[Atom]]:
    """The heading path and the text of a section: its body, or its heading if no other chunk would include it."""
    section = sections[index]
    if section.body:
        return section.headings, section.body
    depth = len(section.headings)
    below = sections[index + 1].headings if index + 1 < len(sections) else ()
    if len(below) > depth and below[:depth] == section.headings:
        return (), ()
    if any(path[:depth] == section.headings for path in named):
        return (), ()
    return section.headings[:-1], section.title


def _tiny_run(sections: Sequence[_Section], index: int, named: Collection[tuple[str, ...]]) -> int:
    """The end of the run of tiny sections under one parent that begins at `index`.

    A heading with nothing under it but a table or an image is in that one's heading path, not in the text before it.
    """

    def is_small(section: _Section) -> bool:
        depth = len(section.headings)
        return section.is_tiny and (bool(section.body) or all(path[:depth] != section.headings for path in named))

    first = sections[index]
    after = index + 1
    while (
        is_small(first)
        and after < len(sections)
        and is_small(sections[after])
        and sections[after].headings[:-1] == first.headings[:-1]
    ):
        after += 1
    return after


# tokens


def cut_tokens(flow: Flow, config: ChunkConfig, tokenizer: Tokenizer, context: ContextLine) -> list[Cut]:
    """`tokens`: chunks of a fixed number of tokens with overlap, cut at a nearby paragraph end, else between sentences.

    Headings stay in the text; each chunk gets the heading path at its start.
    """
    room = _room_under_any_heading(flow, config, context)
    units = divide(flow, atoms_of(flow, tokenizer), room.fresh, tokenizer)
    return [Cut(start, end, flow.headings_at(start)) for start, end in _packed(flow, units, room, tokenizer)]


# semantic


def cut_semantically(
    flow: Flow, config: ChunkConfig, tokenizer: Tokenizer, context: ContextLine, embed: SentenceEmbedder
) -> list[Cut]:
    """`semantic`: cuts where adjacent sentences diverge in meaning.

    A topic longer than a chunk is split as by `tokens`.
    """
    room = _room_under_any_heading(flow, config, context)
    units = divide(flow, atoms_of(flow, tokenizer), room.fresh, tokenizer)
    edges = [0, *_topic_starts(units, _distances(flow, units, embed)), len(units)]
    return [Cut(start, end, flow.headings_at(start)) for start, end in _packed(flow, units, room, tokenizer, edges)]


def _distances(flow: Flow, units: Sequence[Atom], embed: SentenceEmbedder) -> npt.NDArray[np.float32]:
    """Cosine distance across each gap, shape (len(units) - 1,); each side is the mean of two sentences."""
    if len(units) < 2:
        return np.zeros(0, dtype=np.float32)
    vectors = embed([flow.text[unit.start : unit.end] for unit in units])
    before = vectors.copy()
    before[1:] += vectors[:-1]
    after = vectors.copy()
    after[:-1] += vectors[1:]
    left, right = _normalised(before[:-1]), _normalised(after[1:])
    return (1.0 - np.einsum("ij,ij->i", left, right)).astype(np.float32)


def _normalised(rows: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    return rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9)


def _topic_starts(units: Sequence[Atom], distances: npt.NDArray[np.float32]) -> list[int]:
    """Indexes of the units that begin a topic."""
    if not distances.size:
        return []
    threshold = float(distances.mean() + _THRESHOLDS.topic_spread * distances.std())
    least = _THRESHOLDS.topic_tokens
    found: list[int] = []
    tokens = 0
    rest = sum(unit.tokens for unit in units)
    for index, distance in enumerate(distances, start=1):
        tokens += units[index - 1].tokens
        rest -= units[index - 1].tokens
        if distance > threshold and tokens >= least and rest >= least:
            found.append(index)
            tokens = 0
    return found


# recursive


def cut_recursively(flow: Flow, config: ChunkConfig) -> list[Cut]:
    """`recursive`: splits at empty lines, lines, sentences, then words until all spans fit; then merges up to the size.

    Each chunk repeats whole spans up to the overlap.
    """
    size, overlap = config.effective_size, config.effective_overlap
    spans = _divide(flow.text, 0, len(flow.text), size, 0)
    cuts: list[Cut] = []
    first = 0
    for index, (_, end) in enumerate(spans):
        if index + 1 < len(spans) and spans[index + 1][1] - spans[first][0] <= size:
            continue
        low, high = flow.trim(spans[first][0], end)
        if low < high:
            cuts.append(Cut(low, high, flow.headings_at(low)))
        first = index + 1
        while (
            first < len(spans)
            and first > 0
            and end - spans[first - 1][0] <= overlap
            and spans[index + 1][1] - spans[first - 1][0] <= size
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
    spans: list[tuple[int, int]] = []
    for low, high in pairwise(edges):
        if low < high:
            spans.extend(_divide(text, low, high, size, level + 1))
    return spans


# characters


def cut_characters(flow: Flow, config: ChunkConfig) -> list[Cut]:
    """`characters`: windows of a fixed number of characters, each repeating the end of the previous one.

    A word split by one window is whole in the next if the overlap is longer than the word. The flow knows the page of
    each character (`Flow.slices`), so a window's pages are exact.
    """
    size, overlap = config.effective_size, config.effective_overlap
    cuts: list[Cut] = []
    for start in range(0, max(1, len(flow.text) - overlap), size - overlap):
        low, high = flow.trim(start, min(start + size, len(flow.text)))
        if low < high:
            cuts.append(Cut(low, high, flow.headings_at(low)))
    return cuts
