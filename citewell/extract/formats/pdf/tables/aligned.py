"""Tables without lines: rows that follow each other and share their columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from citewell.extract.formats.pdf.geometry import Rect
from citewell.extract.formats.pdf.tables.evidence import Evidence, is_caption, is_prose_row, weigh
from citewell.extract.formats.pdf.tables.model import is_numeric
from citewell.extract.formats.pdf.tables.text_grid import TextRow, WordGroup, text_rows
from citewell.extract.formats.pdf.words import Word, bounds


@dataclass(frozen=True, slots=True, kw_only=True)
class AlignedThresholds:
    """Thresholds of finding tables without lines; an em is the larger font size of the rows compared.

    Set on the tables of ICDAR 2013 (`benchmarks/tables.py`) and by hand on the development documents.

    singles:              lines in one piece (wrapped cells, group headings) that may come between two rows
    row_distance:         ems between the baselines of neighbouring lines of one table
    label:                characters of the longest cell without figures, and of the longest line between two rows
    header_lines:         lines above the first row that may be the header
    header_distance:      ems between their baselines
    caption_rows:         rows above the table in which a caption is looked for
    heading_size:         times the size of the row below from which a line between rows is a heading, after which edges must
                          agree
    rows_compared:        rows above with which the columns of a row are compared
    bridging:             share of pieces over two of the other row's from which two rows do not share columns
    bridged_rows:         share of the rows compared with which a row may not share columns
    same_edge:            points within which two pieces have a start, end or middle in common
    agreeing:             share of pieces that must, after a heading
    multi_share:          share of rows in several pieces that every table has
    leaders:              share of rows with dot leaders from which two columns are a table of contents
    captioned_filled:     share of squares with text that a table with a caption has
    figures:              share of figures from which few rows are enough:
    figures_filled:       then the share of squares with text,
    figures_rows:         the rows in three columns or more,
    figures_rows_of_two:  and the rows in two
    cell_length:          mean characters per piece beyond which only figures or a caption show a table
    wide:                 columns from which short texts are a table with
    wide_filled:          this share of squares with text and
    wide_figures:         this share of figures
    long_rows:            rows in several pieces from which they are in three columns, with
    long_filled:          this share of squares with text and
    long_figures:         this share of figures
    """

    singles: int = 3
    row_distance: float = 3.2
    label: int = 60
    header_lines: int = 4
    header_distance: float = 2.0
    caption_rows: int = 4
    heading_size: float = 1.1
    rows_compared: int = 4
    bridging: float = 0.34
    bridged_rows: float = 0.5
    same_edge: float = 3.0
    agreeing: float = 0.7
    multi_share: float = 0.4
    leaders: float = 0.5
    captioned_filled: float = 0.5
    figures: float = 0.4
    figures_filled: float = 0.6
    figures_rows: int = 3
    figures_rows_of_two: int = 4
    cell_length: int = 18
    wide: int = 4
    wide_filled: float = 0.85
    wide_figures: float = 0.15
    long_rows: int = 5
    long_filled: float = 0.7
    long_figures: float = 0.1


THRESHOLDS = AlignedThresholds()


def aligned_areas(words: Sequence[Word]) -> list[Rect]:
    """Areas of the tables among the words of one text column."""
    rows = text_rows(words)
    areas: list[Rect] = []
    for first, last in _stretches(rows):
        first = _with_header(rows, first, last)
        stretch = rows[first : last + 1]
        captioned = any(is_caption(row) for row in rows[max(0, first - THRESHOLDS.caption_rows) : first])
        if _is_table(weigh(stretch), captioned):
            areas.append(bounds([word for row in stretch for word in row.words]))
    return areas


def _stretches(rows: Sequence[TextRow]) -> list[tuple[int, int]]:
    """First and last row of runs in which rows with several pieces follow each other closely."""
    found: list[tuple[int, int]] = []
    first = last = -1
    for i, row in enumerate(rows):
        if _is_tabular(row):
            if first >= 0 and _joins(rows, first, last, i):
                last = i
            else:
                if last > first >= 0:
                    found.append((first, last))
                first = last = i
    if last > first >= 0:
        found.append((first, last))
    return found


def _is_tabular(row: TextRow) -> bool:
    if len(row.pieces) < 2 or is_prose_row(row):
        return False
    return (
        any(is_numeric(p.text) for p in row.pieces[1:]) or max(len(p.text) for p in row.pieces[1:]) <= THRESHOLDS.label
    )


def _joins(rows: Sequence[TextRow], first: int, last: int, i: int) -> bool:
    """Whether at most a few short lines are between two rows, and the later row keeps to the columns so far."""
    between = rows[last + 1 : i]
    if len(between) > THRESHOLDS.singles or any(is_caption(row) for row in between):
        return False
    if any(len(" ".join(p.text for p in row.pieces)) > THRESHOLDS.label for row in between):
        return False
    steps = rows[last : i + 1]
    if any(b.baseline - a.baseline > THRESHOLDS.row_distance * max(a.size, b.size) for a, b in pairwise(steps)):
        return False
    return _keeps_columns(
        [row for row in rows[first : last + 1] if len(row.pieces) > 1],
        rows[i],
        any(_is_heading(row, rows[i]) for row in between),
    )


def _is_heading(row: TextRow, below: TextRow) -> bool:
    return row.size > THRESHOLDS.heading_size * below.size or all(word.style.bold for word in row.words)


def _keeps_columns(above: Sequence[TextRow], row: TextRow, strict: bool) -> bool:
    """Whether few pieces of a row bridge two of those above, or the other way round; after a heading (`strict`), edges must agree."""
    near = above[-THRESHOLDS.rows_compared :]
    bridges = sum(_bridges(row, other) for other in near)
    if bridges > THRESHOLDS.bridged_rows * len(near):
        return False
    if not strict:
        return True
    edges = [(p.x0, p.x1, p.middle) for other in near for p in other.pieces]
    agreeing = sum(
        any(min(abs(p.x0 - a), abs(p.x1 - b), abs(p.middle - m)) <= THRESHOLDS.same_edge for a, b, m in edges)
        for p in row.pieces
    )
    return agreeing >= THRESHOLDS.agreeing * len(row.pieces)


def _bridges(row: TextRow, other: TextRow) -> bool:
    """Whether many pieces of either row lie over two or more of the other's."""
    over = sum(_over(piece, other) > 1 for piece in row.pieces) + sum(_over(piece, row) > 1 for piece in other.pieces)
    return over > THRESHOLDS.bridging * min(len(row.pieces), len(other.pieces))


def _over(piece: WordGroup, row: TextRow) -> int:
    return sum(1 for other in row.pieces if other.x0 < piece.x1 and piece.x0 < other.x1)


def _with_header(rows: Sequence[TextRow], first: int, last: int) -> int:
    """The index of the first row, moved up over the titles above the later columns."""
    columns = weigh(rows[first : last + 1]).columns
    if len(columns) < 2:
        return first
    for _ in range(THRESHOLDS.header_lines):
        if first == 0:
            break
        above, row = rows[first - 1], rows[first]
        inset = above.pieces[0].x0 > columns[0][1]
        if is_caption(above) or not inset or row.baseline - above.baseline > THRESHOLDS.header_distance * row.size:
            break
        first -= 1
    return first


def _is_table(evidence: Evidence, captioned: bool) -> bool:
    """Whether rows that share columns are a table: the fewer columns and figures, the more rows it takes."""
    width, filled, figures = len(evidence.columns), evidence.filled, evidence.numeric
    if width < 2 or evidence.multi < 2 or evidence.share < THRESHOLDS.multi_share:
        return False
    # A table of contents.
    if width == 2 and evidence.leaders > THRESHOLDS.leaders:
        return False
    if captioned and filled >= THRESHOLDS.captioned_filled:
        return True
    # Figures in columns are hardly ever anything else.
    fewest = THRESHOLDS.figures_rows_of_two if width == 2 else THRESHOLDS.figures_rows
    if figures >= THRESHOLDS.figures and filled >= THRESHOLDS.figures_filled and evidence.multi >= fewest:
        return True
    if evidence.length > THRESHOLDS.cell_length or width < 3:
        return False
    # Words: only where the grid is wide and nearly full, or long.
    if width >= THRESHOLDS.wide and filled >= THRESHOLDS.wide_filled and figures >= THRESHOLDS.wide_figures:
        return True
    return (
        evidence.multi >= THRESHOLDS.long_rows
        and filled >= THRESHOLDS.long_filled
        and figures >= THRESHOLDS.long_figures
    )
