"""Header rows of a table: joins multi-line column titles, and finds titles that span several columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from citewell.extract.formats.pdf.tables.model import TableCell
from citewell.extract.formats.pdf.tables.rows import Interval, TextRow, WordGroup, boundaries, make_piece
from citewell.extract.formats.pdf.tables.rules import Rules
from citewell.extract.formats.pdf.tables.thresholds import THRESHOLDS
from citewell.extract.formats.pdf.words import Word


@dataclass(slots=True)
class _Title:
    """A column title being assembled: columns first..last, and its words line by line."""

    first: int
    last: int
    y0: float
    y1: float
    words: list[Word] = field(default_factory=list[Word])
    level: int = 0

    def covers(self, other: _Title) -> bool:
        return self.first <= other.first and other.last <= self.last


def header_cells(rows: Sequence[TextRow], columns: Sequence[Interval], rules: Rules) -> tuple[list[TableCell], int]:
    """Returns the cells of the header, and how many rows it has."""
    if not rows:
        return [], 0
    titles: list[_Title] = []
    inner = Rules([r for r in rules.horizontal if r.at < (rows[-1].y0 + rows[-1].y1) / 2], rules.vertical)
    for index, row in enumerate(rows):
        below = rows[index + 1].pieces if index + 1 < len(rows) else ()
        walls = [v.at for v in rules.vertical if v.start <= (row.y0 + row.y1) / 2 <= v.end]
        parts = [part for piece in row.pieces for part in _by_column(piece, columns, walls, row.size)]
        # A title of the label column does not show how many columns the others span.
        more = _beside_labels(below, columns) > _beside_labels(parts, columns)
        fresh: list[_Title] = []
        for part in parts:
            span = _span(part, parts, columns, inner)
            wider = _centred_span(part, parts, columns, below, row.size) if more else None
            if wider and wider[0] <= span[0] and span[1] <= wider[1]:
                span = wider
            _add(titles, fresh, part, span, inner, row)
        titles += fresh
    spanners = [t for t in titles if t.last > t.first]
    for title in sorted(titles, key=lambda t: (t.y0, t.first - t.last)):
        above = [s for s in spanners if s is not title and s.covers(title) and s.y1 <= title.y1 and s.y0 < title.y0]
        title.level = 1 + max((s.level for s in above), default=-1)
    depth = 1 + max(t.level for t in titles)
    cells = _apart([_cell(title, titles, depth) for title in titles])
    return cells + _empty(cells, depth, len(columns)), depth


def _beside_labels(pieces: Sequence[WordGroup], columns: Sequence[Interval]) -> int:
    return sum(piece.middle > columns[0][1] for piece in pieces)


def _by_column(piece: WordGroup, columns: Sequence[Interval], walls: Sequence[float], size: float) -> list[WordGroup]:
    """Cuts a piece between column titles: at walls, wide gaps, or where the parts fit their columns."""
    cut = [make_piece(group) for group in _at_boundaries(piece, columns, walls, THRESHOLDS.header.word_gap * size)]
    parts = [make_piece(group) for part in cut for group in _at_boundaries(part, columns, (), 0.0)]
    if len(parts) > len(cut) and all(_fits(part, columns, THRESHOLDS.header.fit * size) for part in parts):
        return parts
    return cut


def _at_boundaries(
    piece: WordGroup, columns: Sequence[Interval], walls: Sequence[float], least_gap: float
) -> list[list[Word]]:
    middles = boundaries(columns)
    groups: list[list[Word]] = [[piece.words[0]]]
    for word in piece.words[1:]:
        last = groups[-1][-1]
        at_wall = any(
            last.x1 <= wall + THRESHOLDS.header.wall_slack and wall - THRESHOLDS.header.wall_slack <= word.x0
            for wall in walls
        )
        crosses = any(
            last.x1 <= m + THRESHOLDS.header.wall_slack and m - THRESHOLDS.header.wall_slack <= word.x0 for m in middles
        )
        if at_wall or (crosses and word.x0 - last.x1 > least_gap):
            groups.append([])
        groups[-1].append(word)
    return groups


def _fits(piece: WordGroup, columns: Sequence[Interval], tolerance: float) -> bool:
    """Whether a piece is in one column, aligned to its left, right or center."""
    a, b = columns[sum(1 for middle in boundaries(columns) if piece.middle > middle)]
    return min(abs(piece.x0 - a), abs(piece.x1 - b), abs(piece.middle - (a + b) / 2)) <= tolerance


def _underline(
    piece: WordGroup, row: Sequence[WordGroup], columns: Sequence[Interval], rules: Rules
) -> tuple[float, float] | None:
    """Returns the part of the line under a piece that belongs to it: up to crossing lines, and halfway to its
    neighbors.

    None if there is no line, or if it underlines several column titles.
    """
    reach = THRESHOLDS.header.underline * (piece.y1 - piece.y0)
    below = [
        r
        for r in rules.horizontal
        if (piece.y0 + piece.y1) / 2 < r.at <= piece.y1 + reach
        and r.start - THRESHOLDS.header.underline_slack <= piece.middle <= r.end + THRESHOLDS.header.underline_slack
    ]
    if not below:
        return None
    nearest = min(below, key=lambda r: r.at)
    crossing = [v.at for v in rules.vertical if v.start <= (piece.y0 + piece.y1) / 2 <= v.end]
    start = max([nearest.start, *(x for x in crossing if x < piece.middle)])
    end = min([nearest.end, *(x for x in crossing if x > piece.middle)])
    beside = [other for other in row if start <= other.middle <= end]
    if len(beside) > 1 and 2 * len(beside) > sum(1 for a, b in columns if start <= (a + b) / 2 <= end):
        return None
    if len(beside) == 1 and _is_apart(piece, start, end):
        return None
    left = [(other.x1 + piece.x0) / 2 for other in row if other.x1 <= piece.x0 and other.x1 > start]
    right = [(other.x0 + piece.x1) / 2 for other in row if other.x0 >= piece.x1 and other.x0 < end]
    return max([start, *left]), min([end, *right])


def _is_apart(piece: WordGroup, start: float, end: float) -> bool:
    """Whether a lone piece over a line is neither centered nor at its ends: the line closes adjacent titles too."""
    offsets = (piece.x0 - start, end - piece.x1, abs(piece.middle - (start + end) / 2))
    return min(offsets) > THRESHOLDS.header.astray * (piece.y1 - piece.y0)


def _span(piece: WordGroup, row: Sequence[WordGroup], columns: Sequence[Interval], rules: Rules) -> tuple[int, int]:
    line = _underline(piece, row, columns, rules)
    reach = (piece.x0, piece.x1)
    if line is not None and line[1] - line[0] < THRESHOLDS.header.full_line * (columns[-1][1] - columns[0][0]):
        reach = (min(line[0], piece.x0), max(line[1], piece.x1))
    touched = [
        i
        for i, (a, b) in enumerate(columns)
        if min(reach[1], b) - max(reach[0], a) > THRESHOLDS.header.overlap * min(b - a, reach[1] - reach[0])
    ]
    if touched:
        return touched[0], touched[-1]
    column = sum(1 for middle in boundaries(columns) if piece.middle > middle)
    return column, column


def _centred_span(
    piece: WordGroup, row: Sequence[WordGroup], columns: Sequence[Interval], below: Sequence[WordGroup], size: float
) -> tuple[int, int] | None:
    """Returns the most columns, each with a title below, that a title is centered over; None if fewer than two."""
    leaves = {id(o) for o in row if not any(p.x0 < o.x1 and o.x0 < p.x1 for p in below)}
    left = max(
        [o.x1 if id(o) in leaves else (o.x1 + piece.x0) / 2 for o in row if o.x1 <= piece.x0],
        default=columns[0][0] - size,
    )
    right = min(
        [o.x0 if id(o) in leaves else (o.x0 + piece.x1) / 2 for o in row if o.x0 >= piece.x1],
        default=columns[-1][1] + size,
    )
    titled = {i for i, (a, b) in enumerate(columns) if any(p.x0 < b and a < p.x1 for p in below)}
    within = [i for i, (a, b) in enumerate(columns) if left <= (a + b) / 2 <= right and i in titled]
    best: tuple[int, int] | None = None
    for first in within:
        for last in within:
            middle = (columns[first][0] + columns[last][1]) / 2
            contiguous = last > first and all(i in within for i in range(first, last + 1))
            if contiguous and abs(middle - piece.middle) <= THRESHOLDS.header.centred * size:
                best = (first, last) if best is None or last - first > best[1] - best[0] else best
    return best


def _add(
    titles: Sequence[_Title], fresh: list[_Title], piece: WordGroup, span: tuple[int, int], rules: Rules, row: TextRow
) -> None:
    """Joins the piece to the title right above it unless a line is between them; otherwise it becomes a new title."""
    first, last = span
    for title in reversed(titles):
        if title.last < first or last < title.first:
            continue
        between = any(
            title.y1 - THRESHOLDS.header.between * row.size < r.at < piece.y0 + THRESHOLDS.header.between * row.size
            and r.covers(piece.x0, piece.x1) > 0
            for r in rules.horizontal
        )
        same = (title.first, title.last) == span
        if not between and same and piece.y0 - title.y1 < THRESHOLDS.header.line_gap * row.size:
            title.words.extend(piece.words)
            title.y1 = piece.y1
            return
        break
    fresh.append(_Title(first, last, piece.y0, piece.y1, list(piece.words)))


def _cell(title: _Title, titles: Sequence[_Title], depth: int) -> TableCell:
    below = [
        t
        for t in titles
        if t is not title and t.level > title.level and t.first <= title.last and title.first <= t.last
    ]
    bottom = min((t.level for t in below), default=depth)
    return TableCell(title.level, title.first, title.words, bottom - title.level, title.last - title.first + 1)


def _apart(cells: Sequence[TableCell]) -> list[TableCell]:
    """Returns the cells, with overlapping ones joined into the first of them."""
    kept: list[TableCell] = []
    for cell in cells:
        clash = next((i for i, other in enumerate(kept) if _overlap(cell, other)), None)
        if clash is None:
            kept.append(cell)
        else:
            kept[clash] = replace(kept[clash], words=[*kept[clash].words, *cell.words])
    return kept


def _overlap(a: TableCell, b: TableCell) -> bool:
    return (
        a.row < b.row + b.rowspan
        and b.row < a.row + a.rowspan
        and a.column < b.column + b.colspan
        and b.column < a.column + a.colspan
    )


def _empty(cells: Sequence[TableCell], depth: int, width: int) -> list[TableCell]:
    taken = {
        (r, c)
        for cell in cells
        for r in range(cell.row, cell.row + cell.rowspan)
        for c in range(cell.column, cell.column + cell.colspan)
    }
    return [TableCell(r, c, ()) for r in range(depth) for c in range(width) if (r, c) not in taken]
