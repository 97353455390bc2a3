"""Finds areas of tables without a grid: between horizontal lines of equal length, or from row alignment alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from citewell.extract.formats.pdf.geometry import Rect
from citewell.extract.formats.pdf.tables.model import is_numeric
from citewell.extract.formats.pdf.tables.rows import (
    CAPTION,
    Evidence,
    TextRow,
    WordGroup,
    is_caption,
    is_prose_row,
    text_rows,
    weigh,
)
from citewell.extract.formats.pdf.tables.rules import Rule, Rules, cluster
from citewell.extract.formats.pdf.tables.thresholds import THRESHOLDS
from citewell.extract.formats.pdf.words import Word, bounds


@dataclass(frozen=True, slots=True)
class _Rail:
    y: float
    x0: float
    x1: float


def framed_areas(words: Sequence[Word], rules: Rules) -> list[Rect]:
    """Returns areas from a table's first line to its last."""
    areas: list[Rect] = []
    captions = [row for row in text_rows(words) if any(CAPTION.match(piece.text) for piece in row.pieces)]
    for rails in _equal_rails(rules.horizontal):
        bands = [_band(words, a, b) for a, b in pairwise(rails)]
        short = sum(1 for rows in bands if 0 < len(rows) <= THRESHOLDS.frames.short_band)
        kinds = [_kind(rows, short >= THRESHOLDS.frames.short_bands) for rows in bands]
        # A caption between two lines belongs to the table below, so the lines belong to different tables.
        kinds = [
            "text" if _between(captions, a, b) else kind for kind, (a, b) in zip(kinds, pairwise(rails), strict=True)
        ]
        for first, last in _stretches(kinds):
            x0 = min(r.x0 for r in rails[first : last + 2])
            x1 = max(r.x1 for r in rails[first : last + 2])
            areas.append(Rect(x0, rails[first].y, x1, rails[last + 1].y))
    return _without_overlaps(areas)


def _equal_rails(rules: Sequence[Rule]) -> list[list[_Rail]]:
    """Groups lines with the same two ends, from top to bottom; pieces at one height count as one line."""
    rails = [
        rail
        for y in cluster([r.at for r in rules])
        for rail in _joined([r for r in rules if abs(r.at - y) <= THRESHOLDS.rules.snap], y)
    ]
    groups: list[list[_Rail]] = []
    for rail in rails:
        group = next(
            (
                g
                for g in groups
                if abs(g[0].x0 - rail.x0) <= THRESHOLDS.frames.same_edge
                and abs(g[0].x1 - rail.x1) <= THRESHOLDS.frames.same_edge
            ),
            None,
        )
        if group is None:
            groups.append([rail])
        else:
            group.append(rail)
    return [sorted(group, key=lambda r: r.y) for group in groups if len(group) > 1]


def _joined(pieces: Sequence[Rule], y: float) -> list[_Rail]:
    rails: list[_Rail] = []
    for piece in sorted(pieces, key=lambda r: r.start):
        if rails and piece.start - rails[-1].x1 <= THRESHOLDS.frames.join:
            rails[-1] = _Rail(y, rails[-1].x0, max(rails[-1].x1, piece.end))
        else:
            rails.append(_Rail(y, piece.start, piece.end))
    return [rail for rail in rails if rail.x1 - rail.x0 >= THRESHOLDS.frames.min_length]


def _band(words: Sequence[Word], upper: _Rail, lower: _Rail) -> list[TextRow]:
    x0, x1 = min(upper.x0, lower.x0) - THRESHOLDS.rules.snap, max(upper.x1, lower.x1) + THRESHOLDS.rules.snap
    inside = [w for w in words if upper.y < (w.y0 + w.y1) / 2 < lower.y and x0 <= (w.x0 + w.x1) / 2 <= x1]
    return text_rows(inside) if inside else []


def _between(captions: Sequence[TextRow], upper: _Rail, lower: _Rail) -> bool:
    """Whether a caption is between two lines."""
    return any(
        upper.y < (row.y0 + row.y1) / 2 < lower.y
        and any(
            CAPTION.match(p.text) and p.x1 > upper.x0 - THRESHOLDS.frames.caption_reach and p.x0 < upper.x1
            for p in row.pieces
        )
        for row in captions
    )


def _kind(rows: Sequence[TextRow], among_short: bool) -> str:
    """Classifies a band: `empty`, `table`, `text` (breaks a table) or `part` (belongs to an adjacent table)."""
    if not rows:
        return "empty"
    evidence = weigh(rows)
    if (
        len(evidence.columns) >= 2
        and evidence.share >= THRESHOLDS.frames.figures_share
        and evidence.numeric >= THRESHOLDS.frames.figures
    ):
        return "table"
    figures_or_labels = (
        evidence.numeric >= THRESHOLDS.frames.some_figures or evidence.length <= THRESHOLDS.frames.label_length
    )
    if (
        len(evidence.columns) >= 2
        and len(rows) >= 2
        and evidence.share >= THRESHOLDS.frames.labels_share
        and (figures_or_labels or (among_short and len(rows) <= THRESHOLDS.frames.short_band))
    ):
        return "table"
    prose = sum(is_prose_row(row) for row in rows)
    if prose >= THRESHOLDS.frames.prose * len(rows) and prose > 1:
        return "text"
    if len(rows) == 1 and len(rows[0].pieces) > 1:
        return "row"
    return "part" if len(rows) <= THRESHOLDS.frames.short_band else "text"


def _stretches(kinds: Sequence[str]) -> list[tuple[int, int]]:
    """Returns the first and last band of each table: at least one table band (or two single rows), plus its parts."""
    found: list[tuple[int, int]] = []
    start: int | None = None
    for i, kind in enumerate([*kinds, "text"]):
        if kind == "text":
            if start is not None:
                stretch = list(kinds[start:i])
                if "table" in stretch or stretch.count("row") >= 2:
                    first, last = _trimmed(stretch)
                    found.append((start + first, start + last))
            start = None
        elif start is None:
            start = i
    return found


def _trimmed(stretch: Sequence[str]) -> tuple[int, int]:
    """Trims bands without columns at the ends, except one right above the table, which is its header."""
    solid = [i for i, kind in enumerate(stretch) if kind in ("table", "row")]
    first, last = solid[0], solid[-1]
    if first and stretch[first - 1] == "part":
        first -= 1
    return first, last


def _without_overlaps(areas: Sequence[Rect]) -> list[Rect]:
    kept: list[Rect] = []
    for area in sorted(areas, key=lambda a: -a.area):
        if all(area.overlap(other) < THRESHOLDS.frames.overlap * area.area for other in kept):
            kept.append(area)
    return kept


def aligned_areas(words: Sequence[Word]) -> list[Rect]:
    """Returns the areas of tables among the words of one text column."""
    rows = text_rows(words)
    areas: list[Rect] = []
    for first, last in _tabular_runs(rows):
        first = _with_header(rows, first, last)
        stretch = rows[first : last + 1]
        captioned = any(is_caption(row) for row in rows[max(0, first - THRESHOLDS.aligned.caption_rows) : first])
        if _is_table(weigh(stretch), captioned):
            areas.append(bounds([word for row in stretch for word in row.words]))
    return areas


def _tabular_runs(rows: Sequence[TextRow]) -> list[tuple[int, int]]:
    """Returns the first and last row of runs in which rows of several pieces follow each other closely."""
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
        any(is_numeric(p.text) for p in row.pieces[1:])
        or max(len(p.text) for p in row.pieces[1:]) <= THRESHOLDS.aligned.label
    )


def _joins(rows: Sequence[TextRow], first: int, last: int, i: int) -> bool:
    """Whether at most a few short lines lie between two rows, and the later row fits the columns so far."""
    between = rows[last + 1 : i]
    if len(between) > THRESHOLDS.aligned.singles or any(is_caption(row) for row in between):
        return False
    if any(len(" ".join(p.text for p in row.pieces)) > THRESHOLDS.aligned.label for row in between):
        return False
    steps = rows[last : i + 1]
    if any(b.baseline - a.baseline > THRESHOLDS.aligned.row_distance * max(a.size, b.size) for a, b in pairwise(steps)):
        return False
    return _keeps_columns(
        [row for row in rows[first : last + 1] if len(row.pieces) > 1],
        rows[i],
        any(_is_heading(row, rows[i]) for row in between),
    )


def _is_heading(row: TextRow, below: TextRow) -> bool:
    return row.size > THRESHOLDS.aligned.heading_size * below.size or all(word.style.bold for word in row.words)


def _keeps_columns(above: Sequence[TextRow], row: TextRow, strict: bool) -> bool:
    """Whether few pieces of a row bridge two above, or vice versa; after a heading (`strict`), edges must agree."""
    near = above[-THRESHOLDS.aligned.rows_compared :]
    bridges = sum(_bridges(row, other) for other in near)
    if bridges > THRESHOLDS.aligned.bridged_rows * len(near):
        return False
    if not strict:
        return True
    edges = [(p.x0, p.x1, p.middle) for other in near for p in other.pieces]
    agreeing = sum(
        any(min(abs(p.x0 - a), abs(p.x1 - b), abs(p.middle - m)) <= THRESHOLDS.aligned.same_edge for a, b, m in edges)
        for p in row.pieces
    )
    return agreeing >= THRESHOLDS.aligned.agreeing * len(row.pieces)


def _bridges(row: TextRow, other: TextRow) -> bool:
    """Whether many pieces of either row overlap two or more of the other's."""
    over = sum(_over(piece, other) > 1 for piece in row.pieces) + sum(_over(piece, row) > 1 for piece in other.pieces)
    return over > THRESHOLDS.aligned.bridging * min(len(row.pieces), len(other.pieces))


def _over(piece: WordGroup, row: TextRow) -> int:
    return sum(1 for other in row.pieces if other.x0 < piece.x1 and piece.x0 < other.x1)


def _with_header(rows: Sequence[TextRow], first: int, last: int) -> int:
    """Returns the index of the first row, moved up past the titles above the later columns."""
    columns = weigh(rows[first : last + 1]).columns
    if len(columns) < 2:
        return first
    for _ in range(THRESHOLDS.aligned.header_lines):
        if first == 0:
            break
        above, row = rows[first - 1], rows[first]
        inset = above.pieces[0].x0 > columns[0][1]
        if (
            is_caption(above)
            or not inset
            or row.baseline - above.baseline > THRESHOLDS.aligned.header_distance * row.size
        ):
            break
        first -= 1
    return first


def _is_table(evidence: Evidence, captioned: bool) -> bool:
    """Whether rows that share columns are a table: the fewer columns and figures, the more rows it takes."""
    width, filled, figures = len(evidence.columns), evidence.filled, evidence.numeric
    if width < 2 or evidence.multi < 2 or evidence.share < THRESHOLDS.aligned.multi_share:
        return False
    # A table of contents.
    if width == 2 and evidence.leaders > THRESHOLDS.aligned.leaders:
        return False
    if captioned and filled >= THRESHOLDS.aligned.captioned_filled:
        return True
    # Figures in columns are almost always a table.
    fewest = THRESHOLDS.aligned.figures_rows_of_two if width == 2 else THRESHOLDS.aligned.figures_rows
    if (
        figures >= THRESHOLDS.aligned.figures
        and filled >= THRESHOLDS.aligned.figures_filled
        and evidence.multi >= fewest
    ):
        return True
    if evidence.length > THRESHOLDS.aligned.cell_length or width < 3:
        return False
    # Words need a grid that is wide and nearly full, or long.
    if (
        width >= THRESHOLDS.aligned.wide
        and filled >= THRESHOLDS.aligned.wide_filled
        and figures >= THRESHOLDS.aligned.wide_figures
    ):
        return True
    return (
        evidence.multi >= THRESHOLDS.aligned.long_rows
        and filled >= THRESHOLDS.aligned.long_filled
        and figures >= THRESHOLDS.aligned.long_figures
    )
