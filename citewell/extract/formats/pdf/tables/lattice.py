"""Ruled tables: crossing lines form a grid; squares without a line between them are one cell."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from citewell.extract.formats.pdf.geometry import Rect
from citewell.extract.formats.pdf.tables.model import FoundTable, TableCell, is_numeric
from citewell.extract.formats.pdf.tables.rows import text_rows, weigh
from citewell.extract.formats.pdf.tables.rules import Rule, Rules, cluster, collect_rules
from citewell.extract.formats.pdf.tables.stream import stream_table
from citewell.extract.formats.pdf.tables.thresholds import THRESHOLDS
from citewell.extract.formats.pdf.words import Word


@dataclass(frozen=True, slots=True)
class Lattice:
    """Positions of the grid's lines, and the rules that form it."""

    xs: Sequence[float]
    ys: Sequence[float]
    rules: Rules

    @property
    def rect(self) -> Rect:
        """The outer rectangle."""
        return Rect(self.xs[0], self.ys[0], self.xs[-1], self.ys[-1])


def lattices(rules: Rules) -> list[Lattice]:
    """Returns grids of at least two squares, one per set of touching lines."""
    found: list[Lattice] = []
    for horizontal, vertical in _connected(rules):
        if len(horizontal) < 2 or not vertical:
            continue
        spans = [r.start for r in horizontal] + [r.end for r in horizontal]
        heights = [r.start for r in vertical] + [r.end for r in vertical]
        xs = cluster([r.at for r in vertical] + [min(spans), max(spans)])
        ys = cluster([r.at for r in horizontal] + [min(heights), max(heights)])
        xs, ys = _wide_enough(xs), _wide_enough(ys)
        if (len(xs) - 1) * (len(ys) - 1) >= 2:
            found.append(Lattice(xs, ys, Rules(horizontal, vertical)))
    return found


def page_rules(lines: Sequence[Rect], fills: Sequence[Rect]) -> Rules:
    """Returns the ruling lines of a page. Edges of fills count where no lines are drawn; shading inside a cell or a
    larger fill does not.
    """
    drawn = collect_rules(lines, ())
    grids = [lattice.rect for lattice in lattices(drawn)]
    # Programs draw shading slightly off the grid lines; its edges would double them.
    free = [
        fill for fill in fills if all(fill.overlap(grid) < THRESHOLDS.lattice.in_grid * fill.area for grid in grids)
    ]
    outer = _outermost(free)
    return collect_rules(lines, outer) if outer else drawn


def _outermost(fills: Sequence[Rect]) -> list[Rect]:
    if len(fills) > THRESHOLDS.lattice.max_fills:
        return []
    kept: list[Rect] = []
    for fill in sorted(fills, key=lambda f: -f.area):
        if all(fill.overlap(other) < THRESHOLDS.lattice.contained * fill.area for other in kept):
            kept.append(fill)
    return kept


def _wide_enough(values: list[float]) -> list[float]:
    kept = values[:1]
    for value in values[1:]:
        if value - kept[-1] >= THRESHOLDS.lattice.min_cell:
            kept.append(value)
    return kept


def _connected(rules: Rules) -> list[tuple[list[Rule], list[Rule]]]:
    """Returns sets of lines that touch, directly or through others."""
    horizontal, vertical = list(rules.horizontal), list(rules.vertical)
    parent = list(range(len(horizontal) + len(vertical)))

    def root(i: int) -> int:
        while parent[i] != i:
            parent[i] = parent[parent[i]]
            i = parent[i]
        return i

    for i, h in enumerate(horizontal):
        for j, v in enumerate(vertical):
            if (
                h.start - THRESHOLDS.rules.snap <= v.at <= h.end + THRESHOLDS.rules.snap
                and v.start - THRESHOLDS.rules.snap <= h.at <= v.end + THRESHOLDS.rules.snap
            ):
                parent[root(i)] = root(len(horizontal) + j)
    groups: dict[int, tuple[list[Rule], list[Rule]]] = {}
    for i, h in enumerate(horizontal):
        groups.setdefault(root(i), ([], []))[0].append(h)
    for j, v in enumerate(vertical):
        groups.setdefault(root(len(horizontal) + j), ([], []))[1].append(v)
    return list(groups.values())


def lattice_cells(lattice: Lattice, words: Sequence[Word]) -> list[TableCell]:
    """Returns the cells of a grid, each with the words centered in it."""
    height, width = len(lattice.ys) - 1, len(lattice.xs) - 1
    owner = _merged_squares(lattice, height, width)
    members: dict[tuple[int, int], list[tuple[int, int]]] = {}
    for square, first in owner.items():
        members.setdefault(first, []).append(square)
    contents: dict[tuple[int, int], list[Word]] = {first: [] for first in members}
    for word in words:
        square = _square_of(lattice, (word.x0 + word.x1) / 2, (word.y0 + word.y1) / 2)
        if square is not None:
            contents[owner[square]].append(word)
    cells: list[TableCell] = []
    for (row, column), squares in sorted(members.items()):
        rowspan = max(r for r, _ in squares) - row + 1
        colspan = max(c for _, c in squares) - column + 1
        cells += _by_column(TableCell(row, column, contents[row, column], rowspan, colspan), lattice.xs)
    return cells


def _by_column(cell: TableCell, xs: Sequence[float]) -> list[TableCell]:
    """Splits a cell without inner lines into columns if its words are well apart in several of them."""
    if cell.colspan == 1 or len(cell.words) < 2:
        return [cell]
    edges = xs[cell.column : cell.column + cell.colspan + 1]
    parts: list[list[Word]] = [[] for _ in range(cell.colspan)]
    for row in text_rows(cell.words):
        for piece in row.pieces:
            place = next(
                (
                    i
                    for i, (a, b) in enumerate(pairwise(edges))
                    if a - THRESHOLDS.lattice.slack <= piece.x0 and piece.x1 <= b + THRESHOLDS.lattice.slack
                ),
                None,
            )
            if place is None:
                return [cell]
            parts[place].extend(piece.words)
    if sum(1 for part in parts if part) < 2:
        return [cell]
    return [TableCell(cell.row, cell.column + i, part, cell.rowspan) for i, part in enumerate(parts)]


def _square_of(lattice: Lattice, x: float, y: float) -> tuple[int, int] | None:
    row = next((i for i, (a, b) in enumerate(pairwise(lattice.ys)) if a <= y <= b), None)
    column = next((i for i, (a, b) in enumerate(pairwise(lattice.xs)) if a <= x <= b), None)
    return None if row is None or column is None else (row, column)


def _merged_squares(lattice: Lattice, height: int, width: int) -> dict[tuple[int, int], tuple[int, int]]:
    """Returns, for each square, the first square of its cell. Merges that would not form a rectangle are skipped."""
    owner: dict[tuple[int, int], tuple[int, int]] = {}
    for row in range(height):
        for column in range(width):
            if (row, column) in owner:
                continue
            right = column
            while right + 1 < width and (row, right + 1) not in owner and not _wall(lattice, row, right):
                right += 1
            bottom = row
            while (
                bottom + 1 < height
                and all(
                    (bottom + 1, c) not in owner and not _floor(lattice, bottom, c) for c in range(column, right + 1)
                )
                and all(not _wall(lattice, bottom + 1, c) for c in range(column, right))
            ):
                bottom += 1
            for r in range(row, bottom + 1):
                for c in range(column, right + 1):
                    owner[r, c] = (row, column)
    return owner


def _wall(lattice: Lattice, row: int, column: int) -> bool:
    """Whether a line runs along the right side of a square."""
    x, top, bottom = lattice.xs[column + 1], lattice.ys[row], lattice.ys[row + 1]
    covered = sum(r.covers(top, bottom) for r in lattice.rules.vertical if abs(r.at - x) <= THRESHOLDS.rules.snap)
    return covered >= THRESHOLDS.lattice.border * (bottom - top)


def _floor(lattice: Lattice, row: int, column: int) -> bool:
    """Whether a line runs along the bottom of a square."""
    y, left, right = lattice.ys[row + 1], lattice.xs[column], lattice.xs[column + 1]
    covered = sum(r.covers(left, right) for r in lattice.rules.horizontal if abs(r.at - y) <= THRESHOLDS.rules.snap)
    return covered >= THRESHOLDS.lattice.border * (right - left)


def ruled_table(lattice: Lattice, words: Sequence[Word]) -> FoundTable | None:
    """Returns the table in a grid; None if the grid is a frame, a form or a drawing."""
    cells = lattice_cells(lattice, words)
    width = len(lattice.xs) - 1
    if sum(1 for cell in cells if cell.words) < THRESHOLDS.lattice.min_filled:
        return None
    rows = _trimmed([[c for c in cells if c.row == r] for r in range(len(lattice.ys) - 1)], width)
    kept = [cell for row in rows for cell in row]
    filled = [cell for cell in kept if cell.words]
    if len(filled) < THRESHOLDS.lattice.min_filled:
        return None
    inner = _area(lattice, rows)
    if _needs_text_rows(kept):
        return stream_table([w for cell in kept for w in cell.words], inner, lattice.rules)
    if width < 2 or len(rows) < 2 or max(len([c for c in row if c.words]) for row in rows) < 2:
        return None
    return _compact(kept, inner)


def _trimmed(rows: list[list[TableCell]], width: int) -> list[list[TableCell]]:
    """Drops a title or note inside the frame, above or below the grid proper."""
    rows = [row for row in rows if row]
    while len(rows) > 2 and width > 1 and _spans_all(rows[0], width):
        rows = rows[1:]
    while len(rows) > 2 and width > 1 and _spans_all(rows[-1], width):
        rows = rows[:-1]
    return rows


def _spans_all(row: Sequence[TableCell], width: int) -> bool:
    return len(row) == 1 and row[0].colspan == width and row[0].rowspan == 1


def _area(lattice: Lattice, rows: Sequence[Sequence[TableCell]]) -> Rect:
    first = min(cell.row for row in rows for cell in row)
    last = max(cell.row + cell.rowspan for row in rows for cell in row)
    return Rect(lattice.xs[0], lattice.ys[first], lattice.xs[-1], lattice.ys[last])


def _needs_text_rows(cells: Sequence[TableCell]) -> bool:
    """Whether a grid row holds many rows of figures without lines between them, or a cell holds several columns."""
    for row in sorted({cell.row for cell in cells}):
        members = [c for c in cells if c.row == row and c.words]
        lines = text_rows([w for c in members for w in c.words]) if members else []
        if len(lines) < 2:
            continue
        evidence = weigh(lines)
        least, share = THRESHOLDS.lattice.text_rows, THRESHOLDS.lattice.text_share
        if min(len(evidence.columns), evidence.multi) >= least and min(evidence.share, evidence.numeric) >= share:
            return True
    return False


def _compact(cells: Sequence[TableCell], rect: Rect) -> FoundTable:
    """Renumbers the cells without empty rows and columns."""
    used_rows = sorted({cell.row for cell in cells if cell.words})
    used_columns = sorted({cell.column for cell in cells if cell.words})
    row_of = {row: i for i, row in enumerate(used_rows)}
    column_of = {column: i for i, column in enumerate(used_columns)}
    renumbered: list[TableCell] = []
    for cell in cells:
        if cell.row in row_of and cell.column in column_of:
            rowspan = sum(1 for row in used_rows if cell.row <= row < cell.row + cell.rowspan)
            colspan = sum(1 for column in used_columns if cell.column <= column < cell.column + cell.colspan)
            renumbered.append(TableCell(row_of[cell.row], column_of[cell.column], cell.words, rowspan, colspan))
    height, width = len(used_rows), len(used_columns)
    return FoundTable(rect, renumbered, height, width, _header_rows(renumbered, height), _intervals(renumbered, width))


def _header_rows(cells: Sequence[TableCell], height: int) -> int:
    """Returns the number of leading rows that are bold or without figures, if figures follow; at least one."""
    for row in range(height):
        members = [c for c in cells if c.row == row and c.words]
        figures = any(is_numeric(" ".join(w.text for w in c.words)) for c in members if c.column > 0)
        bold = bool(members) and all(w.style.bold for c in members for w in c.words)
        if figures and not bold:
            return max(1, row) if row < height else 1
    return 1


def _intervals(cells: Sequence[TableCell], width: int) -> list[tuple[float, float]]:
    found: list[tuple[float, float]] = []
    for column in range(width):
        words = [w for c in cells if c.column == column and c.colspan == 1 for w in c.words]
        found.append((min((w.x0 for w in words), default=0.0), max((w.x1 for w in words), default=0.0)))
    return found
