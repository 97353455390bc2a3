"""Header rows of a table: multi-line column titles joined, and titles that span several columns found."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from citewell.extract.pdf.tables.columns import Interval, boundaries
from citewell.extract.pdf.tables.model import TableCell
from citewell.extract.pdf.tables.pieces import Piece, TextRow, make_piece
from citewell.extract.pdf.tables.rules import Rules
from citewell.extract.pdf.words import Word

_UNDERLINE = 0.9
_OVERLAP = 0.3
_WORD_GAP = 0.45


@dataclass(slots=True)
class _Title:
    """A column title in the making: columns first..last, and its words line by line."""

    first: int
    last: int
    y0: float
    y1: float
    words: list[Word] = field(default_factory=list[Word])
    level: int = 0

    def covers(self, other: _Title) -> bool:
        return self.first <= other.first and other.last <= self.last


def header_cells(rows: Sequence[TextRow], columns: Sequence[Interval], rules: Rules) -> tuple[list[TableCell], int]:
    """Cells of the header, and how many rows it has."""
    if not rows:
        return [], 0
    titles: list[_Title] = []
    for row in rows:
        for piece in row.pieces:
            for part in _by_column(piece, columns, rules, row.size):
                _add(titles, part, columns, rules, row)
    spanners = [t for t in titles if t.last > t.first]
    for title in sorted(titles, key=lambda t: (t.y0, t.first - t.last)):
        above = [s for s in spanners if s is not title and s.covers(title) and s.y1 <= title.y1 and s.y0 < title.y0]
        title.level = 1 + max((s.level for s in above), default=-1)
    depth = 1 + max(t.level for t in titles)
    cells = [_cell(title, titles, depth) for title in titles]
    return cells + _empty(cells, depth, len(columns)), depth


def _by_column(piece: Piece, columns: Sequence[Interval], rules: Rules, size: float) -> list[Piece]:
    """A piece cut between columns where its words stand further apart than in a title that spans them."""
    if _underline(piece, rules) is not None:
        return [piece]
    middles = boundaries(columns)
    groups: list[list[Word]] = [[piece.words[0]]]
    for word in piece.words[1:]:
        last = groups[-1][-1]
        crosses = any(last.x1 <= m + 1 and m - 1 <= word.x0 for m in middles)
        if crosses and word.x0 - last.x1 > _WORD_GAP * size:
            groups.append([])
        groups[-1].append(word)
    return [make_piece(group) for group in groups]


def _underline(piece: Piece, rules: Rules) -> tuple[float, float] | None:
    """The part of a line right under a piece that also runs beyond it."""
    reach = _UNDERLINE * (piece.y1 - piece.y0)
    below = [
        r
        for r in rules.horizontal
        if (piece.y0 + piece.y1) / 2 < r.at <= piece.y1 + reach and r.start - 3 <= piece.middle <= r.end + 3
    ]
    if not below:
        return None
    nearest = min(below, key=lambda r: r.at)
    return nearest.start, nearest.end


def _span(piece: Piece, columns: Sequence[Interval], rules: Rules) -> tuple[int, int]:
    line = _underline(piece, rules)
    reach = (piece.x0, piece.x1)
    if line is not None and line[1] - line[0] < 0.9 * (columns[-1][1] - columns[0][0]):
        reach = (min(line[0], piece.x0), max(line[1], piece.x1))
    touched = [
        i
        for i, (a, b) in enumerate(columns)
        if min(reach[1], b) - max(reach[0], a) > _OVERLAP * min(b - a, reach[1] - reach[0])
    ]
    if touched:
        return touched[0], touched[-1]
    column = sum(1 for middle in boundaries(columns) if piece.middle > middle)
    return column, column


def _add(titles: list[_Title], piece: Piece, columns: Sequence[Interval], rules: Rules, row: TextRow) -> None:
    """Joins the piece to the title right above it, unless a line stands between them."""
    first, last = _span(piece, columns, rules)
    for title in reversed(titles):
        if title.last < first or last < title.first:
            continue
        between = any(
            title.y1 - 0.4 * row.size < r.at < piece.y0 + 0.4 * row.size and r.covers(piece.x0, piece.x1) > 0
            for r in rules.horizontal
        )
        near = piece.y0 - title.y1 < 1.5 * row.size
        same = (title.first, title.last) == (first, last)
        if (
            not between
            and near
            and (same or (title.first == title.last and first <= title.first <= last and not _spans(first, last)))
        ):
            title.words.extend(piece.words)
            title.y1 = piece.y1
            return
        break
    titles.append(_Title(first, last, piece.y0, piece.y1, list(piece.words)))


def _spans(first: int, last: int) -> bool:
    return last > first


def _cell(title: _Title, titles: Sequence[_Title], depth: int) -> TableCell:
    below = [
        t
        for t in titles
        if t is not title and t.level > title.level and t.first <= title.last and title.first <= t.last
    ]
    bottom = min((t.level for t in below), default=depth)
    return TableCell(title.level, title.first, title.words, bottom - title.level, title.last - title.first + 1)


def _empty(cells: Sequence[TableCell], depth: int, width: int) -> list[TableCell]:
    taken = {
        (r, c)
        for cell in cells
        for r in range(cell.row, cell.row + cell.rowspan)
        for c in range(cell.column, cell.column + cell.colspan)
    }
    return [TableCell(r, c, ()) for r in range(depth) for c in range(width) if (r, c) not in taken]
