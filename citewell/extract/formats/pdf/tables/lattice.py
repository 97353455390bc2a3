"""Ruled tables: crossing lines make a grid, and where a line between two squares is missing they are one cell."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from citewell.extract.formats.pdf.geometry import Rect
from citewell.extract.formats.pdf.tables.model import TableCell
from citewell.extract.formats.pdf.tables.pieces import text_rows
from citewell.extract.formats.pdf.tables.rules import SNAP, Rule, Rules, cluster, collect_rules
from citewell.extract.formats.pdf.words import Word

_BORDER = 0.6
_MIN_CELL = 4.0
_MAX_FILLS = 600
_CONTAINED = 0.9


@dataclass(frozen=True, slots=True)
class Lattice:
    """Positions of the grid's lines, and the rules that make it."""

    xs: Sequence[float]
    ys: Sequence[float]
    rules: Rules

    @property
    def rect(self) -> Rect:
        """The outer rectangle."""
        return Rect(self.xs[0], self.ys[0], self.xs[-1], self.ys[-1])


def lattices(rules: Rules) -> list[Lattice]:
    """Grids of at least two squares, one per set of lines that touch each other."""
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
    """The ruling lines of a page. Edges of fills count where no lines are drawn; shading inside of a cell or a larger fill does not."""
    drawn = collect_rules(lines, ())
    grids = [lattice.rect for lattice in lattices(drawn)]
    free = [fill for fill in fills if all(fill.overlap(grid) < 0.5 * fill.area for grid in grids)]
    outer = _outermost(free)
    return collect_rules(lines, outer) if outer else drawn


def _outermost(fills: Sequence[Rect]) -> list[Rect]:
    if len(fills) > _MAX_FILLS:
        return []
    kept: list[Rect] = []
    for fill in sorted(fills, key=lambda f: -f.area):
        if all(fill.overlap(other) < _CONTAINED * fill.area for other in kept):
            kept.append(fill)
    return kept


def _wide_enough(values: list[float]) -> list[float]:
    kept = values[:1]
    for value in values[1:]:
        if value - kept[-1] >= _MIN_CELL:
            kept.append(value)
    return kept


def _connected(rules: Rules) -> list[tuple[list[Rule], list[Rule]]]:
    """Sets of lines that touch, directly or through others."""
    horizontal, vertical = list(rules.horizontal), list(rules.vertical)
    parent = list(range(len(horizontal) + len(vertical)))

    def root(i: int) -> int:
        while parent[i] != i:
            parent[i] = parent[parent[i]]
            i = parent[i]
        return i

    for i, h in enumerate(horizontal):
        for j, v in enumerate(vertical):
            if h.start - SNAP <= v.at <= h.end + SNAP and v.start - SNAP <= h.at <= v.end + SNAP:
                parent[root(i)] = root(len(horizontal) + j)
    groups: dict[int, tuple[list[Rule], list[Rule]]] = {}
    for i, h in enumerate(horizontal):
        groups.setdefault(root(i), ([], []))[0].append(h)
    for j, v in enumerate(vertical):
        groups.setdefault(root(len(horizontal) + j), ([], []))[1].append(v)
    return list(groups.values())


def lattice_cells(lattice: Lattice, words: Sequence[Word]) -> list[TableCell]:
    """The cells of a grid with the words whose middle lies in them."""
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
    """A cell without inner lines cut into columns, when its words stand well apart in several of them."""
    if cell.colspan == 1 or len(cell.words) < 2:
        return [cell]
    edges = xs[cell.column : cell.column + cell.colspan + 1]
    parts: list[list[Word]] = [[] for _ in range(cell.colspan)]
    for row in text_rows(cell.words):
        for piece in row.pieces:
            place = next(
                (i for i, (a, b) in enumerate(pairwise(edges)) if a - 1 <= piece.x0 and piece.x1 <= b + 1), None
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
    """First square of the cell that each square belongs to. Cells are rectangles: a merge that would not be one is not made."""
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
    """Whether a line stands to the right of a square."""
    x, top, bottom = lattice.xs[column + 1], lattice.ys[row], lattice.ys[row + 1]
    covered = sum(r.covers(top, bottom) for r in lattice.rules.vertical if abs(r.at - x) <= SNAP)
    return covered >= _BORDER * (bottom - top)


def _floor(lattice: Lattice, row: int, column: int) -> bool:
    """Whether a line runs below a square."""
    y, left, right = lattice.ys[row + 1], lattice.xs[column], lattice.xs[column + 1]
    covered = sum(r.covers(left, right) for r in lattice.rules.horizontal if abs(r.at - y) <= SNAP)
    return covered >= _BORDER * (right - left)
