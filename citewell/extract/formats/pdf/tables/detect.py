"""Finds all tables of a page: ruled ones first, then those between horizontal lines, then those by alignment alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from citewell.extract.formats.pdf.columns import text_columns
from citewell.extract.formats.pdf.geometry import Rect
from citewell.extract.formats.pdf.lines import Line, build_runs
from citewell.extract.formats.pdf.tables.extent import whole_areas
from citewell.extract.formats.pdf.tables.lattice import lattices, page_rules, ruled_table
from citewell.extract.formats.pdf.tables.model import FoundTable
from citewell.extract.formats.pdf.tables.rows import has_dense_columns, is_plausible
from citewell.extract.formats.pdf.tables.rules import Rules
from citewell.extract.formats.pdf.tables.stream import stream_table
from citewell.extract.formats.pdf.tables.thresholds import THRESHOLDS
from citewell.extract.formats.pdf.tables.unruled import aligned_areas, framed_areas
from citewell.extract.formats.pdf.words import Word


def may_hold_tables(runs: Sequence[Line], lines: Sequence[Rect], fills: Sequence[Rect]) -> bool:
    """Quick check for tables: some lines or areas are drawn, or several rows have short pieces side by side."""
    if len(lines) + len(fills) >= THRESHOLDS.detect.min_drawn:
        return True
    short = [run for run in runs if run.characters <= THRESHOLDS.detect.max_run]
    if len(short) < 2 * THRESHOLDS.detect.min_rows:
        return False
    places = Counter(round(run.baseline / THRESHOLDS.detect.row_step) for run in short)
    return sum(1 for count in places.values() if count > 1) >= THRESHOLDS.detect.min_rows


def find_tables(words: Sequence[Word], lines: Sequence[Rect], fills: Sequence[Rect]) -> list[FoundTable]:
    """Returns the tables in upright text, top to bottom. `lines` and `fills` are the drawing in the same frame."""
    rules = page_rules(lines, fills)
    tables: list[FoundTable] = []
    rest = list(words)
    for lattice in sorted(lattices(rules), key=lambda found: -found.rect.area):
        table = ruled_table(lattice, _inside(rest, lattice.rect))
        if table is not None and is_plausible(table):
            tables.append(table)
            rest = _without(rest, table)
    for area in framed_areas(rest, rules):
        for whole in whole_areas(rest, area):
            rest = _take(tables, rest, whole, rules)
    for column in text_columns(build_runs(rest)):
        for area in aligned_areas([word for run in column for word in run.words]):
            for whole in whole_areas(rest, area):
                rest = _take(tables, rest, whole, rules, drawn=False)
    return sorted(tables, key=lambda table: (table.rect.y0, table.rect.x0))


def _take(tables: list[FoundTable], rest: list[Word], area: Rect, rules: Rules, drawn: bool = True) -> list[Word]:
    """Adds the table in an area, if there is one; returns the words outside it."""
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
        if area.x0 - THRESHOLDS.detect.margin <= (w.x0 + w.x1) / 2 <= area.x1 + THRESHOLDS.detect.margin
        and area.y0 - THRESHOLDS.detect.margin <= (w.y0 + w.y1) / 2 <= area.y1 + THRESHOLDS.detect.margin
    ]


def _without(words: Sequence[Word], table: FoundTable) -> list[Word]:
    taken = {id(word) for word in table.words}
    return [word for word in words if id(word) not in taken]
