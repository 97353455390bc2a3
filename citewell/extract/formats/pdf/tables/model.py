"""A table found on a page: its cells with their words, and the element made from them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from citewell.extract.core.cells import Cell, Grid, Table, build_table, markdown_cell
from citewell.extract.core.groups import parents
from citewell.extract.formats.pdf.geometry import Rect, Rotation
from citewell.extract.formats.pdf.ink import Ink, places, row_places
from citewell.extract.formats.pdf.lines import join_row, make_line, rows
from citewell.extract.formats.pdf.running_text import RunningText, Span, join_lines
from citewell.extract.formats.pdf.words import Word
from citewell.types import Box, CellPlace

_LEADERS = re.compile(r"(?:\s*[.…·_]){3,}\s*$|\s+\.(?:\s+\.)+\s*$")
_NUMERIC = re.compile(
    r"^[\s(\[<>≤≥~±*†‡+$€£¥#-]*[–—−]?\s*[$€£¥]?\d[\d,.\s’'/:%–—−()\[\]-]*\s*(?:%|[*†‡§a-d]{0,3})[)\]]*$"
)
_APART = 0.1
"""Ems between two words that a line between them parts."""
_NOTHING = re.compile(r"^(?:[$€£¥]\s?)?(?:[-–—−*.…]{1,6}|n/?a|na|\(?x\)?|nil|none|\.\.\.)$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class TableCell:
    """A cell: its first row and column (from 0), how many it spans, and its words."""

    row: int
    column: int
    words: Sequence[Word]
    rowspan: int = 1
    colspan: int = 1


@dataclass(frozen=True, slots=True)
class FoundTable:
    """A table in the upright frame of its text. `height` and `width` count rows and columns; `more` holds its parts on
    later pages.
    """

    rect: Rect
    cells: Sequence[TableCell]
    height: int
    width: int
    header_rows: int
    columns: Sequence[tuple[float, float]] = ()
    more: Sequence[TablePart] = ()

    @property
    def words(self) -> list[Word]:
        """All words in the table."""
        return [word for cell in self.cells for word in cell.words]


@dataclass(frozen=True, slots=True)
class TablePart:
    """The part of a table on a later page; its first `dropped` rows merely repeat the header."""

    page: int
    rotation: Rotation
    table: FoundTable
    dropped: int = 0
    ink: Ink | None = None


def cell_text(words: Sequence[Word], page_text: str = "") -> str:
    """Returns the words of a cell as text: line by line, hyphenation undone, dot leaders dropped."""
    return cell_content(words, page_text).text


def cell_content(words: Sequence[Word], page_text: str = "") -> RunningText:
    """Like `cell_text`, with spans."""
    if not words:
        return RunningText("", [])
    lines = [join_row(row) for row in rows([make_line([word]) for word in words])]
    spaced = [line._replace(words=_ordered(line.words)) for line in lines]
    whole = join_lines(spaced, page_text)
    text = _LEADERS.sub("", whole.text).strip()
    return whole if text == whole.text else RunningText(text, _within(whole.spans, len(text)))


def _within(spans: Sequence[Span], length: int) -> list[Span]:
    """Returns the spans whose words begin before `length`."""
    kept: list[Span] = []
    for span in spans:
        words: list[Word] = []
        offset = span.start
        for word in span.words:
            offset += bool(words) and word.space_before
            if offset >= length:
                break
            words.append(word)
            offset += len(word.text)
        if words:
            kept.append(Span(span.start, words))
    return kept


def _ordered(words: Sequence[Word]) -> list[Word]:
    """Clears `space_before` of words that the content stream wrote right after the previous one, and close to it."""
    return [word._replace(space_before=not (i and _touches(words[i - 1], word))) for i, word in enumerate(words)]


def _touches(before: Word, word: Word) -> bool:
    return before.end == word.start and word.x0 - before.x1 < _APART * word.style.size


def is_numeric(text: str) -> bool:
    """Whether a cell's text is a number, or a mark for a missing one."""
    stripped = text.strip()
    return bool(stripped) and (_NUMERIC.match(stripped) is not None or _NOTHING.match(stripped) is not None)


_BAR = len(" | ")
_FIRST_BAR = len("| ")
_LONG = 300
"""Characters of header and row that may exceed one chunk; from this size, columns are split over several chunks."""


@dataclass(frozen=True, slots=True)
class RenderedTable:
    """A table and, for each of its boxes, the offset in its Markdown at which the box's text begins.

    groups: for each row the row of the label that heads it, -1 for none (`core.groups`)
    cells:  one rectangle around the words of each filled cell
    """

    table: Table
    groups: Sequence[int]
    starts: tuple[int, ...]
    boxes: tuple[Box, ...]
    cells: tuple[CellPlace, ...]


@dataclass(frozen=True, slots=True)
class _Part:
    """The cells with text on one page, with rows counted from the table's first.

    `flows` are their texts; `indents` is where the labels in the first column begin.
    """

    page: int
    rotation: Rotation
    ink: Ink | None
    cells: Sequence[Cell]
    flows: Sequence[RunningText]
    indents: Mapping[int, float]

    def rows(self) -> Iterator[tuple[int, list[tuple[int, RunningText]]]]:
        """Yields each row number with the columns and texts of its cells."""
        found: dict[int, list[tuple[int, RunningText]]] = {}
        for cell, flow in zip(self.cells, self.flows, strict=True):
            if flow.text:
                found.setdefault(cell.row, []).append((cell.column, flow))
        for row in sorted(found):
            yield row, sorted(found[row], key=lambda item: item[0])


def render(
    found: FoundTable, page: int, rotation: Rotation, ink: Ink | None, page_text: str = ""
) -> RenderedTable | None:
    """Renders the table with the text of its cells, including those on later pages; None if no cell has text.

    A row has one rectangle, or several if one would include other text or its own text in a different order.
    """
    parts = [_part(found, 0, 0, page, rotation, ink, page_text)]
    height = found.height
    for more in found.more:
        parts.append(_part(more.table, more.dropped, height, more.page, more.rotation, more.ink, page_text))
        height += more.table.height - more.dropped
    cells = [cell for part in parts for cell in part.cells]
    table = build_table(cells, found.header_rows) if any(cell.text for cell in cells) else None
    return _placed(table, parts) if table else None


def _part(
    found: FoundTable, dropped: int, offset: int, page: int, rotation: Rotation, ink: Ink | None, page_text: str
) -> _Part:
    kept = [cell for cell in found.cells if cell.row >= dropped]
    flows = [cell_content(cell.words, page_text) for cell in kept]
    cells = [
        Cell(cell.row - dropped + offset, cell.column, flow.text, cell.rowspan, cell.colspan)
        for cell, flow in zip(kept, flows, strict=True)
    ]
    left = found.columns[0][0] if found.columns else found.rect.x0
    indents = {
        cell.row - dropped + offset: min(word.x0 for word in cell.words) - left
        for cell in kept
        if cell.column == 0 and cell.words
    }
    return _Part(page, rotation, ink, cells, flows, indents)


def _placed(table: Table, parts: Sequence[_Part]) -> RenderedTable:
    line_starts = _line_starts(table.markdown)
    long = max(b - a for a, b in pairwise(line_starts)) + line_starts[1] > _LONG
    starts: list[int] = []
    boxes: list[Box] = []
    placed: list[CellPlace] = []
    for part in parts:
        for row, cells in part.rows():
            line = line_starts[table.line_of(row)]
            columns = _column_starts(table.written, row, line)
            spans = [
                Span(columns[column] + _escaped(flow.text, span.start), span.words)
                for column, flow in cells
                for span in flow.spans
            ]
            for start, rect in row_places(spans, line, part.rotation, part.ink, by_cell=long):
                starts.append(start)
                boxes.append(_box(part, rect))
            placed += [CellPlace(row, column, _cell_box(part, flow)) for column, flow in cells]
    return RenderedTable(table, _groups(table, parts), tuple(starts), tuple(boxes), tuple(placed))


def _cell_box(part: _Part, flow: RunningText) -> Box:
    """Returns the rectangle around all words of a cell."""
    rects = [rect for _, rect in places(flow.spans, part.rotation, part.ink)]
    sides = Rect(min(r.x0 for r in rects), min(r.y0 for r in rects), max(r.x1 for r in rects), max(r.y1 for r in rects))
    return _box(part, sides)


def _box(part: _Part, rect: Rect) -> Box:
    return Box(part.page, rect.x0, rect.y0, rect.x1, rect.y1)


def _groups(table: Table, parts: Sequence[_Part]) -> list[int]:
    known = {row: indent for part in parts for row, indent in part.indents.items()}
    return parents(table.grid, [known.get(row, 0.0) for row in range(len(table.grid))], table.header_rows)


def _line_starts(text: str) -> list[int]:
    starts = [0]
    for line in text.split("\n"):
        starts.append(starts[-1] + len(line) + 1)
    return starts


def _column_starts(grid: Grid, row: int, line: int) -> list[int]:
    """Returns where, in the Markdown, the text of each cell of a row begins; the row's line begins at `line`."""
    starts = [line + _FIRST_BAR]
    for text in grid[row]:
        starts.append(starts[-1] + len(markdown_cell(text)) + _BAR)
    return starts


def _escaped(text: str, offset: int) -> int:
    """Converts an offset in a cell's text to one in its Markdown, which escapes each bar with a backslash."""
    return offset + text.count("|", 0, offset)
