"""Passages cut into the sentences, list items and table rows that an answer can be made of."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from citewell.text.sentences import sentence_spans
from citewell.types import ChunkType, Hit

MAX_CHARACTERS = 600
_TABLE_RULE = re.compile(r"^\s*\|?\s*:?-{2,}.*$")
_LETTER_OR_DIGIT = re.compile(r"\w")


@dataclass(frozen=True, slots=True)
class Candidate:
    """A statement of a hit: `hit.chunk.text[start:end]`, and the text it is shown and judged as.

    rank:    the hit's place in the result list, 0 = best
    shown:   the statement as it stands in an answer (a table row has its header joined in)
    heading: the innermost heading over the chunk, or ""
    row:     of a table row its cells alone; their header is shared by all rows and says nothing of this one
    """

    hit: Hit
    rank: int
    start: int
    end: int
    shown: str
    heading: str
    row: tuple[str, ...] = ()

    @property
    def judged(self) -> str:
        """What the embedder compares with the question: the statement under its heading."""
        return f"{self.heading}: {self.shown}" if self.heading and self.heading not in self.shown else self.shown


def candidates(hits: Sequence[Hit]) -> list[Candidate]:
    """All statements of `hits`, best hit first, in reading order within a hit."""
    return [statement for rank, hit in enumerate(hits) for statement in _statements(hit, rank)]


def _statements(hit: Hit, rank: int) -> Iterator[Candidate]:
    heading = hit.chunk.locator.headings[-1] if hit.chunk.locator.headings else ""
    text = hit.chunk.text
    if hit.chunk.type is ChunkType.ROW:
        row = tuple(part.partition(": ")[2] or part for part in text.split(" | "))
        yield Candidate(hit, rank, 0, len(text), _row(text), heading, row)
        return
    for start, end in _blocks(text):
        block = text[start:end]
        if block.lstrip().startswith("|"):
            yield from _table_rows(hit, rank, start, end, heading)
        else:
            for first, last in sentence_spans(block):
                sentence = block[first:last]
                if len(_LETTER_OR_DIGIT.findall(sentence)) >= 3:
                    yield Candidate(hit, rank, start + first, start + last, _line(sentence), heading)


def _blocks(text: str) -> Iterator[tuple[int, int]]:
    """Spans of runs of lines that are all table (begin with `|`) or all not."""
    position, start, in_table = 0, 0, None
    for line in text.splitlines(keepends=True):
        table = line.lstrip().startswith("|")
        if in_table is not None and table != in_table:
            yield start, position
            start = position
        in_table = table
        position += len(line)
    if position > start:
        yield start, position


def _table_rows(hit: Hit, rank: int, start: int, end: int, heading: str) -> Iterator[Candidate]:
    """The body rows of a Markdown table, each with the header's words."""
    position = start
    header: list[str] = []
    text = hit.chunk.text
    for line in text[start:end].splitlines(keepends=True):
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if not header:
            header = cells
        elif not _TABLE_RULE.match(line) and any(_LETTER_OR_DIGIT.search(cell) for cell in cells):
            stop = position + len(line.rstrip())
            row = tuple(cell for cell in cells if cell)
            yield Candidate(hit, rank, position, stop, _with_header(header, cells), heading, row)
        position += len(line)


def _with_header(header: Sequence[str], cells: Sequence[str]) -> str:
    pairs = [
        f"{name}: {cell}" if name else cell
        for name, cell in zip(list(header) + [""] * len(cells), cells, strict=False)
        if cell
    ]
    return _line("; ".join(pairs))


def _row(text: str) -> str:
    return _line("; ".join(part.strip() for part in text.split(" | ")))


def _line(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= MAX_CHARACTERS else line[: MAX_CHARACTERS - 1].rsplit(" ", 1)[0] + "…"
