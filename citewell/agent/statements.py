"""Cuts passages into statements: the sentences, list items and table rows that an answer can be made of."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from itertools import chain, groupby, pairwise, repeat

from citewell.system.characters import cut
from citewell.text.lines import leaders, line_ends
from citewell.text.sentences import running_spans, sentence_spans
from citewell.types import ChunkType, Hit

MAX_CHARACTERS = 600  # of a statement as shown; longer ones end in an ellipsis
_TABLE_RULE = re.compile(r"\s*+(?:\|\s*+)?:?--")
_BAR = re.compile(r"(?<!\\)\|")
_FIGURE = re.compile(r"(?!(?:19|20)\d\d\b)[^\w\s]?\d")
_LETTER_OR_DIGIT = re.compile(r"\w")
_ITEM_CHARACTERS = 50  # of a line; one of prose that was broken to fit a page is longer
_BEGINS_ITEM = re.compile(r"[A-ZÀ-ÖØ-Þ0-9\"“„«(]|[^\W\d_a-zß-öø-ÿ]")
_LABEL = re.compile(r"\w: |[.!?,:]\s*$")
_ENDED = re.compile(r"[.!?…:;。！？][\"'”’»)\]*_]*\s*$")
_PAGE = re.compile(r"(?<=[\s.…])(?:\d{1,4}|[ivxlc]{1,6})$", re.I)


@dataclass(frozen=True, slots=True)
class Statement:
    """A statement of a hit: `hit.chunk.text[start:end]`, and the text it is shown and judged as.

    rank:    the hit's place in the result list, 0 = best
    shown:   the statement as an answer shows it (a table row has its header joined in)
    heading: the innermost heading over the chunk, or ""
    row:     of a table row its cells alone; their header is shared by all rows and says nothing of this one
    item:    whether it is a line of a list without bullets, or one of the items that a statement before it announces
    """

    hit: Hit
    rank: int
    start: int
    end: int
    shown: str
    heading: str
    row: tuple[str, ...] = ()
    item: bool = False

    @property
    def judged(self) -> str:
        """What the embedder compares with the question: the statement under its heading."""
        return f"{self.heading}: {self.shown}" if self.heading and self.heading not in self.shown else self.shown

    @property
    def is_ended(self) -> bool:
        """Whether it ends as a sentence does, or a part of one; what does not is a title, an item or another bare phrase."""
        return _ENDED.search(self.shown) is not None


def cut_statements(hits: Sequence[Hit]) -> list[Statement]:
    """All statements of `hits`, best hit first, in reading order within a hit."""
    return [statement for rank, hit in enumerate(hits) for statement in _statements(hit, rank)]


def heading_over(hit: Hit) -> str:
    """The innermost heading over a passage; empty without any."""
    return hit.chunk.locator.headings[-1] if hit.chunk.locator.headings else ""


def under_headings(hit: Hit) -> str:
    """A passage with its headings and its context line, which tell what it is about."""
    return " ".join((*hit.chunk.locator.headings, hit.chunk.context, hit.chunk.text))


def _statements(hit: Hit, rank: int) -> Iterator[Statement]:
    heading = heading_over(hit)
    text = hit.chunk.text
    if hit.chunk.type is ChunkType.ROW:
        row = tuple(part.partition(": ")[2] or part for part in text.split(" | "))
        yield Statement(hit, rank, 0, len(text), _row(text), heading, row)
        return
    for kind, start, end in _blocks(text):
        block = text[start:end]
        if kind is _Kind.TABLE:
            yield from _table_rows(hit, rank, start, end, heading)
        elif kind is _Kind.TEXT:
            for first, last, item in _sentences(block):
                sentence = block[first:last]
                if len(_LETTER_OR_DIGIT.findall(sentence)) >= 3:
                    yield Statement(hit, rank, start + first, start + last, _named(sentence), heading, item=item)


def _sentences(text: str) -> Iterator[tuple[int, int, bool]]:
    """Spans of sentences, and of the lines of lists without bullets, with whether it is such a line."""
    ended = sentence_spans(text)
    for first, last in running_spans(text):
        if "\n" in text[first:last] and (lines := _list_lines(text[first:last])):
            for start, end in lines:
                yield first + start, first + end, True
        else:
            begun, beyond = bisect_left(ended, (first,)), bisect_left(ended, (last,))
            for start, end in ended[begun:beyond]:
                yield start, end, False


def _list_lines(text: str) -> list[tuple[int, int]]:
    """Spans of the lines of a list without bullets, none of which ends a sentence or names a value; [] of any other text.

    They are short and all begin as items do, or each was ended by its author.
    """
    lines: list[tuple[int, int]] = []
    position = 0
    short = True
    for line in text.splitlines(keepends=True):
        if _LABEL.search(line):
            return []
        short = short and len(line) <= _ITEM_CHARACTERS and _BEGINS_ITEM.match(line) is not None
        lines.append((position, position + len(line.rstrip())))
        position += len(line)
    return lines if len(lines) >= 2 and (short or len(line_ends(text)) == len(lines) - 1) else []


class _Kind(Enum):
    TEXT = auto()
    TABLE = auto()
    CONTENTS = auto()


def _blocks(text: str) -> Iterator[tuple[_Kind, int, int]]:
    """Spans of runs of lines of one kind."""
    position = 0
    lines_of = text.splitlines(keepends=True)
    kinds = list(map(_kind, lines_of))
    for number in range(1, len(kinds)):  # an empty line does not end a table of contents
        if not lines_of[number].strip() and kinds[number - 1] is _Kind.CONTENTS:
            kinds[number] = _Kind.CONTENTS
    for kind, group in groupby(zip(kinds, lines_of, strict=True), key=lambda pair: pair[0]):
        lines = [line for _, line in group]
        start, position = position, position + sum(map(len, lines))
        yield (_Kind.TEXT if kind is _Kind.CONTENTS and not _pages_rise(lines) else kind), start, position


def _kind(line: str) -> _Kind:
    if line.lstrip().startswith("|"):
        return _Kind.TABLE
    return _Kind.CONTENTS if _names_a_page(line.rstrip()) else _Kind.TEXT


def _pages_rise(lines: Sequence[str]) -> bool:
    """Whether lines that may be of a table of contents are in the order of their pages, as prices hardly are."""
    numbers = [int(page[0]) for line in lines if (page := _PAGE.search(line.rstrip())) and page[0].isdigit()]
    return all(first <= second for first, second in pairwise(numbers))


def _names_a_page(line: str) -> bool:
    """A line of a printed table of contents: a title, a row of dots, a page. It says where something is, and answers nothing."""
    page = _PAGE.search(line, max(0, len(line) - 7))
    if page is None:
        return False
    dots = line[len(line[: page.start()].rstrip(" \t.…")) : page.start()]
    return dots.count(".") + 3 * dots.count("…") >= 4


def _table_rows(hit: Hit, rank: int, start: int, end: int, heading: str) -> Iterator[Statement]:
    """The body rows of a Markdown table, each with the header's words."""
    position = start
    header: list[str] = []
    in_header = True
    text = hit.chunk.text
    for line in text[start:end].splitlines(keepends=True):
        cells = [cell.strip().replace("\\|", "|") for cell in _BAR.split(line.strip().strip("|"))]
        if not header:
            header = cells
        elif not _TABLE_RULE.match(line) and any(_LETTER_OR_DIGIT.search(cell) for cell in cells):
            in_header = in_header and _heads_below(header, cells)
            if in_header:
                header = [" ".join(dict.fromkeys(filter(None, names))) for names in zip(header, cells, strict=True)]
            else:
                stop = position + len(line.rstrip())
                row = tuple(cell for cell in cells if cell)
                yield Statement(hit, rank, position, stop, _with_header(header, cells), heading, row)
        position += len(line)


def _heads_below(header: Sequence[str], cells: Sequence[str]) -> bool:
    """Whether a row is a second one of the header: it tells columns under one name apart, and repeats the other names.

    Markdown has one header row; a name over several columns, or beside two rows, is in each of its cells.
    """
    if len(cells) != len(header):
        return False
    shared = [bool(name) and header.count(name) > 1 for name in header]
    told = [cell for cell, is_shared in zip(cells, shared, strict=True) if is_shared]
    rest = [(name, cell) for name, cell, is_shared in zip(header, cells, shared, strict=True) if not is_shared]
    repeats = bool(rest) and all(cell == name or not name or not cell for name, cell in rest)
    return repeats and all(told) and len(set(told)) > 1 and not any(map(_FIGURE.match, told))


def _with_header(header: Sequence[str], cells: Sequence[str]) -> str:
    pairs = [
        f"{name}: {cell}" if name else cell
        for name, cell in zip(chain(header, repeat("")), cells, strict=False)
        if cell
    ]
    return _line("; ".join(pairs))


def _named(text: str) -> str:
    """A sentence or line as shown: a label and its value without the row of dots between them."""
    for start, end in reversed(leaders(text)):
        text = f"{text[:start].rstrip(':')}: {text[end:]}"
    return _line(text)


def _row(text: str) -> str:
    return _line("; ".join(part.strip() for part in text.split(" | ")))


def _line(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= MAX_CHARACTERS else cut(line, MAX_CHARACTERS - 1).rsplit(" ", 1)[0] + "…"
