"""Cuts tables (whole if they fit, else by rows under a repeated header, else by columns) and data rows."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeAlias

from citewell.chunk.assembling import Anchored
from citewell.chunk.config import ChunkConfig
from citewell.chunk.fitting import SEPARATOR, CandidateChunk, ContextLine, Ranges
from citewell.chunk.flow import Flow, Part
from citewell.ports import Tokenizer
from citewell.types import ChunkType, Element, JsonValue
from citewell.types.chunks import cell_words

_LINE = re.compile(r"^[^\S\n]*+\S[^\n]*+", re.M)
_RULE = re.compile(r"\s*+\|?\s*+:?-++:?\s*+(?:\|\s*+:?-++:?\s*+)*+\|?\s*+")
_CELL_EDGE = re.compile(r"(?<!\\)\|")


@dataclass(frozen=True, slots=True, kw_only=True)
class TableChunkThresholds:
    """Thresholds for tables and rows, set by hand on the development documents; see `docs/algorithms/chunking.md`.

    joint_tokens:   extra tokens that joining a line or cell to the next may cost: the bar or line end
    caption_share:  title, headings and caption together take at most 1/`caption_share` of the window
    header_share:   a header over 1/`header_share` of the remaining limit is not repeated above whole rows; the table is
                    split by columns instead
    figure_share:   a chunk of a table in a document may be this many times as long as what is embedded, which leaves out its figures
    key_share:      when a row is split, its first cell is repeated if it takes at most 1/`key_share` of the limit
    """

    joint_tokens: int = 1
    caption_share: int = 3
    header_share: int = 2
    figure_share: int = 2
    key_share: int = 4


_THRESHOLDS = TableChunkThresholds()

Span: TypeAlias = tuple[int, int]


@dataclass(frozen=True, slots=True)
class _Lines:
    """Spans of a Markdown table's lines: header (with its rule) and body; `tokens` per line in the same order.

    heads: for each body line, the body lines that label its groups, outermost first
    """

    header: list[Span]
    body: list[Span]
    header_tokens: int
    body_tokens: list[int]
    heads: list[list[int]]


class TableCutter:
    """Cuts the tables of one document into candidates."""

    def __init__(self, config: ChunkConfig, tokenizer: Tokenizer, context: ContextLine, *, by_row: bool) -> None:
        self._config = config
        self._tokenizer = tokenizer
        self._context = context
        self._by_row = by_row

    def is_whole(self, table: Anchored) -> bool:
        """Whether a data file's table fits one chunk, header included."""
        if table.element.metadata.get("table") is None:
            return False
        lines = self._lines(table.element)
        return bool(lines.body) and lines.header_tokens + sum(lines.body_tokens) <= self._limit(table)[1]

    def cut(self, table: Anchored) -> Iterator[CandidateChunk]:
        """Candidates for a table in Markdown."""
        flow = Flow(table.element.text, (Part(0, table.element, table.headings),))
        line, limit = self._limit(table)
        if self.is_whole(table):
            found: Iterable[Ranges] = [((0, len(flow.text)),)]
        else:
            found = self._ranges(flow.text, self._lines(table.element), limit)
        for ranges in found:
            yield CandidateChunk(type=ChunkType.TABLE, flow=flow, ranges=ranges, headings=table.headings, context=line)

    def _limit(self, table: Anchored) -> tuple[str, int]:
        """The context line, and the tokens it leaves for text."""
        line, used = self._line(table)
        return line, self._config.token_budget - used - _THRESHOLDS.joint_tokens

    def _line(self, table: Anchored) -> tuple[str, int]:
        """The context line (title, headings, caption) and its token count; at most a third of the window."""
        caption = " ".join((table.caption or str(table.element.metadata.get("title") or "")).split())
        known = _letters(caption)
        line, used = self._context.of(
            tuple(name for name in table.headings if not known or _letters(name) not in known)
        )
        if not caption:
            return line, used
        joined = self._context.shorten(
            f"{line}{SEPARATOR}{caption}" if line else caption, self._config.token_budget // _THRESHOLDS.caption_share
        )
        return joined, self._tokenizer.count([joined])[0]

    def _lines(self, table: Element) -> _Lines:
        text = table.text
        spans = [match.span() for match in _LINE.finditer(text)]
        counts = self._counts([text[low:high] for low, high in spans], of_data=table.metadata.get("table") is not None)
        rule = next((n for n, (low, high) in enumerate(spans) if _RULE.fullmatch(text, low, high)), -1)
        first = rule + max(1, table.header_rows) if rule >= 0 else 0
        heads = _heads(table.metadata.get("groups"), len(spans) - first)
        return _Lines(spans[:first], spans[first:], sum(counts[:first]), counts[first:], heads)

    def _counts(self, lines: Sequence[str], *, of_data: bool) -> list[int]:
        """The room that each line takes: its tokens or, of a table in a document, those that are embedded, if its figures are not many more."""
        counts = self._tokenizer.count(lines)
        if not of_data:
            read = self._tokenizer.count([cell_words(line) for line in lines])
            if any(read):  # where there are only figures, they are embedded
                least = [-(-count // _THRESHOLDS.figure_share) for count in counts]
                counts = [max(words, all_of_it) for words, all_of_it in zip(read, least, strict=True)]
        return [count + _THRESHOLDS.joint_tokens for count in counts]

    def _ranges(self, text: str, lines: _Lines, limit: int) -> Iterator[Ranges]:
        header, used = lines.header, lines.header_tokens
        if not lines.body:
            yield (_around(header),) if header else ((0, len(text)),)
            return
        if used > limit // _THRESHOLDS.header_share:
            yield from self._by_columns(text, header, lines, limit)
            return
        start, tokens, repeated = 0, used, used
        for index, count in enumerate(lines.body_tokens):
            full = tokens + count > limit or self._by_row
            if index > start and full:
                yield _chunk_of(lines, start, index, heads=repeated > used)
                grouped = used + sum(lines.body_tokens[head] for head in lines.heads[index])
                # Group labels are repeated only if they leave room for rows.
                repeated = grouped if grouped <= limit // _THRESHOLDS.header_share else used
                start, tokens = index, repeated
            if used + count > limit:
                yield from self._columns(text, header, lines.body[index], limit)
                start, tokens = index + 1, used
            else:
                tokens += count
        if start < len(lines.body):
            yield _chunk_of(lines, start, len(lines.body), heads=repeated > used)

    def _by_columns(self, text: str, header: Sequence[Span], lines: _Lines, limit: int) -> Iterator[Ranges]:
        for row in lines.body:
            yield from self._columns(text, header, row, limit)

    def _columns(self, text: str, header: Sequence[Span], row: Span, limit: int) -> Iterator[Ranges]:
        """Split a row that is too wide for one chunk: each piece has as many columns as fit, under their names."""
        names, cells = (_cells(text, header[0]) if header else []), _cells(text, row)
        if len(names) != len(cells):
            names = []
        counts = self._tokenizer.count([text[low:high] for low, high in (*names, *cells)])
        widths = [count + _THRESHOLDS.joint_tokens for count in counts[-len(cells) :]]
        if names:
            widths = [width + count for width, count in zip(widths, counts, strict=False)]
        start, tokens = 0, 0
        for index, width in enumerate(widths):
            if index > start and tokens + width > limit:
                yield from _columns_of(names, cells, start, index)
                start, tokens = index, 0
            tokens += width
        yield from _columns_of(names, cells, start, len(cells))


def _columns_of(names: Sequence[Span], cells: Sequence[Span], start: int, end: int) -> Iterator[Ranges]:
    """Column names above their cells; nothing if all cells are empty."""
    filled = [column for column in range(start, end) if cells[column][0] < cells[column][1]]
    if filled:
        first, last = filled[0], filled[-1]
        heads = [span for span in names[first : last + 1] if span[0] < span[1]]
        body = (cells[first][0], cells[last][1])
        yield (_around(heads), body) if heads else (body,)


def _chunk_of(lines: _Lines, start: int, end: int, *, heads: bool) -> Ranges:
    """Rows `start` to `end`, under the header and their group labels."""
    body = _around(lines.body[start:end])
    if start == 0:
        return ((lines.header[0][0], body[1]),) if lines.header else (body,)
    groups = [lines.body[head] for head in lines.heads[start]] if heads else []
    return (*([_around(lines.header)] if lines.header else []), *groups, body)


def _heads(groups: JsonValue, count: int) -> list[list[int]]:
    """`_Lines.heads` from an element's `groups`, whose rows include the header unless that is empty."""
    heads: list[list[int]] = [[] for _ in range(count)]
    if not isinstance(groups, list) or len(groups) < count:
        return heads
    header_rows = len(groups) - count
    for row, head in enumerate(groups[header_rows:]):
        above = head - header_rows if isinstance(head, int) else -1
        if 0 <= above < row:
            heads[row] = [*heads[above], above]
    return heads


def _letters(text: str) -> str:
    return "".join(filter(str.isalpha, text.casefold()))


def _around(spans: Sequence[Span]) -> Span:
    return spans[0][0], spans[-1][1]


def _cells(text: str, line: Span) -> list[Span]:
    """Spans of a Markdown line's cells, without bars and white space; empty spans for empty cells."""
    inner = text[slice(*line)].strip()
    start = line[0] + text[slice(*line)].index(inner)
    edges = [match.start() for match in _CELL_EDGE.finditer(text, start, start + len(inner))]
    if not inner.startswith("|"):
        edges.insert(0, start - 1)
    if not edges or edges[-1] != start + len(inner) - 1:
        edges.append(start + len(inner))
    return [_trimmed(text, low + 1, high) for low, high in pairwise(edges)]


def _trimmed(text: str, start: int, end: int) -> Span:
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    return start, end


_GAP = " | "
_CELL = re.compile(r"(?<=\S \| )")


def row_headings(element: Element, outline: tuple[str, ...]) -> tuple[str, ...]:
    """The heading path of a row, starting with the sheet's name unless the path contains it."""
    sheet = element.locator.sheet
    return outline if sheet is None or sheet in outline else (sheet, *outline)


class RowCutter:
    """Cuts the data rows of one document into candidates."""

    def __init__(self, config: ChunkConfig, tokenizer: Tokenizer, context: ContextLine) -> None:
        self._config = config
        self._tokenizer = tokenizer
        self._context = context

    def cut(self, rows: Sequence[tuple[Element, tuple[str, ...]]]) -> Iterator[CandidateChunk]:
        """One candidate per row; a row that is too long is split between cells, and its first cell repeated."""
        counts = self._tokenizer.count([element.text for element, _ in rows])
        for (element, headings), tokens in zip(rows, counts, strict=True):
            line, used = self._context.of(headings)
            limit = self._config.token_budget - used
            flow = Flow(element.text, (Part(0, element, headings),))
            whole = ((0, len(element.text)),)
            for ranges in [whole] if tokens <= limit else self._cells(element.text, limit):
                yield CandidateChunk(type=ChunkType.ROW, flow=flow, ranges=ranges, headings=headings, context=line)

    def _cells(self, text: str, limit: int) -> list[Ranges]:
        """Ranges of as many whole cells as fit; the `Fitter` splits a cell that alone exceeds the limit."""
        starts = [0, *(match.start() for match in _CELL.finditer(text)), len(text)]
        counts = self._tokenizer.count([text[low:high] for low, high in pairwise(starts)])
        key = ((0, starts[1] - len(_GAP)),) if len(counts) > 1 and counts[0] <= limit // _THRESHOLDS.key_share else ()
        found: list[Ranges] = []
        first, tokens = 0, 0
        for index, count in enumerate(counts):
            if index > first and tokens + count > limit:
                found.append((*(key if first else ()), (starts[first], starts[index] - len(_GAP))))
                first, tokens = index, counts[0] if key else 0
            tokens += count
        found.append((*(key if first else ()), (starts[first], len(text))))
        return found
