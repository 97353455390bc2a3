"""All tables of a page: ruled ones first, then those between horizontal lines, then those that only their alignment shows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from citewell.extract.formats.pdf.columns import text_columns
from citewell.extract.formats.pdf.geometry import Rect
from citewell.extract.formats.pdf.lines import Line, build_runs
from citewell.extract.formats.pdf.tables.aligned import aligned_areas
from citewell.extract.formats.pdf.tables.evidence import has_dense_columns, is_plausible, weigh
from citewell.extract.formats.pdf.tables.frames import framed_areas
from citewell.extract.formats.pdf.tables.lattice import Lattice, lattice_cells, lattices, page_rules
from citewell.extract.formats.pdf.tables.model import FoundTable, TableCell, is_numeric
from citewell.extract.formats.pdf.tables.pieces import text_rows
from citewell.extract.formats.pdf.tables.rules import Rules
from citewell.extract.formats.pdf.tables.stream import stream_table
from citewell.extract.formats.pdf.words import Word

_MIN_FILLED = 3
_FEWEST_LINES = 2
_FEWEST_ROWS = 2
_SHORT_RUN = 34
_ROW_STEP = 3.0
_MARGIN = 2.0


def may_hold_tables(runs: Sequence[Line], lines: Sequence[Rect], fills: Sequence[Rect]) -> bool:
    """A quick look: some lines or areas are drawn, or several rows have short pieces side by side."""
    if len(lines) + len(fills) >= _FEWEST_LINES:
        return True
    short = [run for run in runs if run.characters <= _SHORT_RUN]
    if len(short) < 2 * _FEWEST_ROWS:
        return False
    places = Counter(round(run.baseline / _ROW_STEP) for run in short)
    return sum(1 for count in places.values() if count > 1) >= _FEWEST_ROWS


def find_tables(words: Sequence[Word], lines: Sequence[Rect], fills: Sequence[Rect]) -> list[FoundTable]:
    """The tables in upright text, from top to bottom. `lines` and `fills` are the page's drawing in the same frame."""
    rules = page_rules(lines, fills)
    tables: list[FoundTable] = []
    rest = list(words)
    for lattice in sorted(lattices(rules), key=lambda found: -found.rect.area):
        table = _ruled(lattice, _inside(rest, lattice.rect))
        if table is not None and is_plausible(table):
            tables.append(table)
            rest = _without(rest, table)
    for area in framed_areas(rest, rules):
        rest = _take(tables, rest, area, rules)
    for column in text_columns(build_runs(rest)):
        for area in aligned_areas([word for run in column for word in run.words]):
            rest = _take(tables, rest, area, rules, drawn=False)
    return sorted(tables, key=lambda table: (table.rect.y0, table.rect.x0))


def _take(tables: list[FoundTable], rest: list[Word], area: Rect, rules: Rules, drawn: bool = True) -> list[Word]:
    """Adds the table in an area, if there is one; returns the words outside of it."""
    inside = _inside(rest, area)
    table = stream_table(inside, area, rules) if inside else None
    if table is None or not is_plausible(table) or not (drawn or has_dense_columns(table)):
        return rest
    tables.append(table)
    return _without(rest, table)


def _inside(words: Sequence[Word], area: Rect) -> list[Word]:
    return [
        w
        for w in words
        if area.x0 - _MARGIN <= (w.x0 + w.x1) / 2 <= area.x1 + _MARGIN
        and area.y0 - _MARGIN <= (w.y0 + w.y1) / 2 <= area.y1 + _MARGIN
    ]


def _without(words: Sequence[Word], table: FoundTable) -> list[Word]:
    taken = {id(word) for word in table.words}
    return [word for word in words if id(word) not in taken]


def _ruled(lattice: Lattice, words: Sequence[Word]) -> FoundTable | None:
    cells = lattice_cells(lattice, words)
    width = len(lattice.xs) - 1
    if sum(1 for cell in cells if cell.words) < _MIN_FILLED:
        return None
    rows = _trimmed([[c for c in cells if c.row == r] for r in range(len(lattice.ys) - 1)], width)
    kept = [cell for row in rows for cell in row]
    filled = [cell for cell in kept if cell.words]
    if len(filled) < _MIN_FILLED:
        return None
    inner = _area(lattice, rows)
    if _needs_text_rows(kept, width):
        return stream_table([w for cell in kept for w in cell.words], inner, lattice.rules)
    if width < 2 or len(rows) < 2 or max(len([c for c in row if c.words]) for row in rows) < 2:
        return None
    return _compact(kept, inner)


def _trimmed(rows: list[list[TableCell]], width: int) -> list[list[TableCell]]:
    """Without a title or note inside the frame, above or below the grid proper."""
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


def _needs_text_rows(cells: Sequence[TableCell], width: int) -> bool:
    """Whether some row of the grid holds many rows of figures that no line parts, or some cell several columns."""
    for row in sorted({cell.row for cell in cells}):
        members = [c for c in cells if c.row == row and c.words]
        lines = text_rows([w for c in members for w in c.words]) if members else []
        if len(lines) < 2:
            continue
        evidence = weigh(lines)
        if len(evidence.columns) >= 2 and evidence.multi >= 2 and evidence.share >= 0.5 and evidence.numeric >= 0.5:
            return True
    return False


def _compact(cells: Sequence[TableCell], rect: Rect) -> FoundTable:
    """The cells renumbered without rows and columns that hold nothing."""
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
    """Leading rows that are set bold or hold no figure, when figures follow; at least one."""
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
