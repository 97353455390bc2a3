"""The `sections` strategy: headings first, then paragraphs, then sentences."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from itertools import groupby

from citewell.chunk.atoms import Atom, atoms_of, divide
from citewell.chunk.config import ChunkConfig
from citewell.chunk.context import ContextLine
from citewell.chunk.flow import Cut, Flow
from citewell.chunk.packing import overlap_start, pack
from citewell.chunk.tokenizing import Tokenizer

_TINY = 24
"""Sections of fewer tokens are joined with their neighbours: alone they would match by being short, not by what they say."""


@dataclass(frozen=True, slots=True)
class _Section:
    """What stands under one heading; `title` is the heading's own unit, if it has one."""

    headings: tuple[str, ...]
    title: list[Atom] = field(default_factory=list[Atom])
    body: list[Atom] = field(default_factory=list[Atom])

    @property
    def atoms(self) -> list[Atom]:
        return self.title + self.body

    @property
    def tokens(self) -> int:
        return sum(atom.tokens for atom in self.atoms)


def cut_sections(
    flow: Flow,
    config: ChunkConfig,
    tokenizer: Tokenizer,
    context: ContextLine,
    named: Collection[tuple[str, ...]] = (),
) -> list[Cut]:
    """Cuts of a flow. A section's heading goes into the path; one that no chunk below it would name becomes text.

    named are the heading paths of chunks that do not come from the flow: tables, images and rows.
    """
    sections = _sections(flow, atoms_of(flow, tokenizer))
    cuts: list[Cut] = []
    index = 0
    while index < len(sections):
        after = _tiny_run(sections, index)
        if after - index > 1:
            headings = sections[index].headings[:-1]
            atoms = [atom for section in sections[index:after] for atom in section.atoms]
        else:
            headings, atoms = _own(sections, index, named)
        if atoms:
            cuts.extend(_cuts(flow, atoms, headings, config, tokenizer, context))
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


def _own(
    sections: Sequence[_Section], index: int, named: Collection[tuple[str, ...]]
) -> tuple[tuple[str, ...], Sequence[Atom]]:
    """The heading path and the text of a section: its body, or its heading when nothing else would carry that."""
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


def _tiny_run(sections: Sequence[_Section], index: int) -> int:
    """The end of the run of tiny sections under one parent that begins at `index`."""
    first = sections[index]
    after = index + 1
    while (
        first.title
        and sections[after - 1].tokens < _TINY
        and after < len(sections)
        and sections[after].title
        and sections[after].tokens < _TINY
        and sections[after].headings[:-1] == first.headings[:-1]
    ):
        after += 1
    return after


def _cuts(
    flow: Flow,
    atoms: Sequence[Atom],
    headings: tuple[str, ...],
    config: ChunkConfig,
    tokenizer: Tokenizer,
    context: ContextLine,
) -> list[Cut]:
    room = config.token_budget - context.of(headings)[1]
    limit = min(config.effective_size, room)
    overlap = min(config.effective_overlap, limit // 2)
    units = divide(flow, atoms, limit - overlap, tokenizer)
    cuts: list[Cut] = []
    for first, after in pack(units, limit - overlap):
        start = overlap_start(flow, units, first, overlap, units[0].start, tokenizer)
        cuts.append(Cut(start, units[after - 1].end, headings))
    return cuts
