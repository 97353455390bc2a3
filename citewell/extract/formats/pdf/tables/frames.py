"""Tables between horizontal lines of equal length: the style of journals and statistical offices, without vertical lines."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from citewell.extract.formats.pdf.geometry import Rect
from citewell.extract.formats.pdf.tables.evidence import CAPTION, is_prose_row, weigh
from citewell.extract.formats.pdf.tables.rules import THRESHOLDS as RULES
from citewell.extract.formats.pdf.tables.rules import Rule, Rules, cluster
from citewell.extract.formats.pdf.tables.text_grid import TextRow, text_rows
from citewell.extract.formats.pdf.words import Word


@dataclass(frozen=True, slots=True, kw_only=True)
class FrameThresholds:
    """Thresholds of finding tables between horizontal lines. A band is the text between two lines that follow each other.

    Set on the tables of ICDAR 2013 (`benchmarks/tables.py`) and by hand on the development documents.

    join:           points of the gap between pieces of one line: lines are often drawn column by column
    min_length:     points of the shortest line that frames a table
    same_edge:      points by which the ends of a table's lines may differ
    short_band:     rows of a short band, as tables have that part every few rows by a line
    short_bands:    short bands from which text in columns is a table even without figures or short labels
    figures:        share of figures from which a band in columns is a table
    figures_share:  share of its rows with several pieces that this takes
    labels_share:   the same for a band of labels
    some_figures:   share of figures from which a band of labels is a table
    label_length:   or mean characters per piece up to which it is
    prose:          share of rows of running text from which a band ends the table
    caption_reach:  points left of the lines at which the caption of another table may end
    overlap:        share of an area inside of a larger one from which it is dropped
    """

    join: float = 26.0
    min_length: float = 60.0
    same_edge: float = 6.0
    short_band: int = 7
    short_bands: int = 3
    figures: float = 0.5
    figures_share: float = 0.3
    labels_share: float = 0.5
    some_figures: float = 0.3
    label_length: float = 24
    prose: float = 0.5
    caption_reach: float = 150.0
    overlap: float = 0.3


THRESHOLDS = FrameThresholds()


@dataclass(frozen=True, slots=True)
class _Rail:
    y: float
    x0: float
    x1: float


def framed_areas(words: Sequence[Word], rules: Rules) -> list[Rect]:
    """Areas from a table's first line to its last."""
    areas: list[Rect] = []
    captions = [row for row in text_rows(words) if any(CAPTION.match(piece.text) for piece in row.pieces)]
    for rails in _equal_rails(rules.horizontal):
        bands = [_band(words, a, b) for a, b in pairwise(rails)]
        short = sum(1 for rows in bands if 0 < len(rows) <= THRESHOLDS.short_band)
        kinds = [_kind(rows, short >= THRESHOLDS.short_bands) for rows in bands]
        # A caption between two lines belongs to the table below: the lines are not of one table.
        kinds = [
            "text" if _between(captions, a, b) else kind for kind, (a, b) in zip(kinds, pairwise(rails), strict=True)
        ]
        for first, last in _stretches(kinds):
            x0 = min(r.x0 for r in rails[first : last + 2])
            x1 = max(r.x1 for r in rails[first : last + 2])
            areas.append(Rect(x0, rails[first].y, x1, rails[last + 1].y))
    return _without_overlaps(areas)


def _equal_rails(rules: Sequence[Rule]) -> list[list[_Rail]]:
    """Lines grouped by their two ends, from top to bottom; pieces on one height count as one line."""
    rails = [
        rail
        for y in cluster([r.at for r in rules])
        for rail in _joined([r for r in rules if abs(r.at - y) <= RULES.snap], y)
    ]
    groups: list[list[_Rail]] = []
    for rail in rails:
        group = next(
            (
                g
                for g in groups
                if abs(g[0].x0 - rail.x0) <= THRESHOLDS.same_edge and abs(g[0].x1 - rail.x1) <= THRESHOLDS.same_edge
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
        if rails and piece.start - rails[-1].x1 <= THRESHOLDS.join:
            rails[-1] = _Rail(y, rails[-1].x0, max(rails[-1].x1, piece.end))
        else:
            rails.append(_Rail(y, piece.start, piece.end))
    return [rail for rail in rails if rail.x1 - rail.x0 >= THRESHOLDS.min_length]


def _band(words: Sequence[Word], upper: _Rail, lower: _Rail) -> list[TextRow]:
    x0, x1 = min(upper.x0, lower.x0) - RULES.snap, max(upper.x1, lower.x1) + RULES.snap
    inside = [w for w in words if upper.y < (w.y0 + w.y1) / 2 < lower.y and x0 <= (w.x0 + w.x1) / 2 <= x1]
    return text_rows(inside) if inside else []


def _between(captions: Sequence[TextRow], upper: _Rail, lower: _Rail) -> bool:
    """Whether a caption is between two lines."""
    return any(
        upper.y < (row.y0 + row.y1) / 2 < lower.y
        and any(
            CAPTION.match(p.text) and p.x1 > upper.x0 - THRESHOLDS.caption_reach and p.x0 < upper.x1 for p in row.pieces
        )
        for row in captions
    )


def _kind(rows: Sequence[TextRow], among_short: bool) -> str:
    """`empty`, `table`, `text` (breaks a table) or `part` (belongs to one beside it)."""
    if not rows:
        return "empty"
    evidence = weigh(rows)
    if (
        len(evidence.columns) >= 2
        and evidence.share >= THRESHOLDS.figures_share
        and evidence.numeric >= THRESHOLDS.figures
    ):
        return "table"
    figures_or_labels = evidence.numeric >= THRESHOLDS.some_figures or evidence.length <= THRESHOLDS.label_length
    if (
        len(evidence.columns) >= 2
        and len(rows) >= 2
        and evidence.share >= THRESHOLDS.labels_share
        and (figures_or_labels or (among_short and len(rows) <= THRESHOLDS.short_band))
    ):
        return "table"
    prose = sum(is_prose_row(row) for row in rows)
    if prose >= THRESHOLDS.prose * len(rows) and prose > 1:
        return "text"
    if len(rows) == 1 and len(rows[0].pieces) > 1:
        return "row"
    return "part" if len(rows) <= THRESHOLDS.short_band else "text"


def _stretches(kinds: Sequence[str]) -> list[tuple[int, int]]:
    """First and last band of each table: at least one that is a table (or two single rows), with what belongs to it."""
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
    """Without bands at its ends that hold no columns, except one right above the table, which is its header."""
    solid = [i for i, kind in enumerate(stretch) if kind in ("table", "row")]
    first, last = solid[0], solid[-1]
    if first and stretch[first - 1] == "part":
        first -= 1
    return first, last


def _without_overlaps(areas: Sequence[Rect]) -> list[Rect]:
    kept: list[Rect] = []
    for area in sorted(areas, key=lambda a: -a.area):
        if all(area.overlap(other) < THRESHOLDS.overlap * area.area for other in kept):
            kept.append(area)
    return kept
