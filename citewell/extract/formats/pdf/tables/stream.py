"""Reads a table without a full grid of lines: rows and columns from the alignment of its text."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from statistics import median

from citewell.extract.formats.pdf.geometry import Rect
from citewell.extract.formats.pdf.tables.extent import has_amounts, has_marks_only, is_year, names_periods
from citewell.extract.formats.pdf.tables.header import header_cells
from citewell.extract.formats.pdf.tables.model import FoundTable, TableCell, is_numeric
from citewell.extract.formats.pdf.tables.rows import (
    Interval,
    TextRow,
    WordGroup,
    boundaries,
    find_columns,
    make_piece,
    text_rows,
)
from citewell.extract.formats.pdf.tables.rules import Rules, cluster
from citewell.extract.formats.pdf.tables.thresholds import THRESHOLDS
from citewell.extract.formats.pdf.words import Word, bounds

PlacedRow = dict[tuple[int, int], list[Word]]


_MONEY = re.compile(r"[$€£¥]\s?\d")
_UNFINISHED = re.compile(r"(?:[,/–-]|\b(?:and|or|of|in|the|for|to|with|by|per|a|from|on|at))$", re.IGNORECASE)


def stream_table(words: Sequence[Word], area: Rect, rules: Rules) -> FoundTable | None:
    """Returns the table in an area; None if its text does not form at least two columns and rows."""
    rows = text_rows(words)
    if len(rows) < 2:
        return None
    inner = rules.within(area)
    walls = _walls(inner, area, rows)
    header = _header_length(rows, inner, area)
    # Columns come from the body first: spanning header titles would merge them.
    body = header or _first_figures(rows)
    columns = find_columns(rows[body:], walls)
    if titles := next((row for row in reversed(rows[:body]) if len(row.pieces) > 1), None):
        columns = _with_titled(columns, find_columns([titles, *rows[body:]], walls), titles)
    if len(columns) < 2:
        columns = find_columns(rows, walls)
    if len(columns) < 2:
        return None
    if header == 0:
        header = _unruled_header(rows, columns)
    header = _without_groups(rows, header, columns)
    head, depth = header_cells(rows[:header], columns, inner)
    placed, lines = _lift_between([_place(row, columns) for row in rows[header:]], rows[header:])
    body = _merge_wrapped(placed, lines, inner, area)
    cells = list(head)
    for index, row in enumerate(body):
        cells += _row_cells(row, depth + index, columns)
    return FoundTable(bounds(words), cells, depth + len(body), len(columns), depth, columns)


def _walls(rules: Rules, area: Rect, rows: Sequence[TextRow]) -> list[float]:
    """Returns vertical lines along most of the area, between its edges."""
    height = rows[-1].y1 - rows[0].y0
    positions = cluster([r.at for r in rules.vertical])
    found: list[float] = []
    for x in positions:
        covered = sum(r.length for r in rules.vertical if abs(r.at - x) <= THRESHOLDS.rules.snap)
        if (
            covered >= THRESHOLDS.stream.wall * height
            and area.x0 + 2 * THRESHOLDS.rules.snap < x < area.x1 - 2 * THRESHOLDS.rules.snap
        ):
            found.append(x)
    return found


def full_rules(rules: Rules, area: Rect) -> list[float]:
    """Returns the y of horizontal lines that run the full width, perhaps in pieces."""
    found: list[float] = []
    width = area.x1 - area.x0
    for y in cluster([r.at for r in rules.horizontal]):
        pieces = [r for r in rules.horizontal if abs(r.at - y) <= THRESHOLDS.rules.snap]
        if (
            sum(r.covers(area.x0, area.x1) for r in pieces) >= THRESHOLDS.stream.full_rule * width
            and min(r.start for r in pieces) <= area.x0 + THRESHOLDS.stream.edge * width
            and max(r.end for r in pieces) >= area.x1 - THRESHOLDS.stream.edge * width
        ):
            found.append(y)
    return found


def _header_length(rows: Sequence[TextRow], rules: Rules, area: Rect) -> int:
    """Returns how many rows are above the line that closes the header; 0 if there is none. A line below the title of
    the whole table does not close it.
    """
    for y in full_rules(rules, area):
        above = sum(1 for row in rows if (row.y0 + row.y1) / 2 < y)
        if above and above < len(rows):
            # Further down, the first full line closes the body, above a total.
            if above > THRESHOLDS.stream.header_rows or above > THRESHOLDS.stream.header_share * len(rows):
                return 0
            if all(len(row.pieces) == 1 for row in rows[:above]) or _is_pair_of_values(rows[:above]):
                return 0
            return next(
                (index for index, row in enumerate(rows[:above]) if has_amounts(row)), _with_periods(rows, above)
            )
    return 0


def _is_pair_of_values(rows: Sequence[TextRow]) -> bool:
    """Whether rows are a name and a worded amount (“$10 billion to $11 billion”): the body, if in two columns."""
    return all(len(row.pieces) == 2 for row in rows) and any(_MONEY.match(row.pieces[1].text) for row in rows)


def _with_periods(rows: Sequence[TextRow], header: int) -> int:
    """Extends the header past its line over rows that head columns: column letters, and years below a common title."""
    if header < len(rows) - 1 and has_marks_only(rows[header]):
        return header + 1
    edge = rows[header - 1].pieces[0].x1
    for index in range(header, min(len(rows) - 1, THRESHOLDS.stream.header_rows)):
        row = rows[index]
        if any(map(_is_figure, row.pieces)) or (len(row.pieces) == 1 and row.pieces[0].x0 <= edge):
            break
        if names_periods(row):
            return index + 1
    return header


def _unruled_header(rows: Sequence[TextRow], columns: Sequence[Interval]) -> int:
    """Returns the number of leading rows without figures, if rows with figures follow; years count as words here."""
    for index, row in enumerate(rows[: THRESHOLDS.stream.header_rows]):
        if any(_is_figure(piece) for piece in row.pieces if piece.x0 > columns[0][1]):
            return index
    return 0


def _with_titled(columns: Sequence[Interval], titled: Sequence[Interval], titles: TextRow) -> Sequence[Interval]:
    """Adds columns that have a title but nothing below, if each column of figures has its own title in that row."""
    over = [sum(piece.x0 < b and a < piece.x1 for piece in titles.pieces) for a, b in columns[1:]]
    one_each = all(count == 1 for count in over) and len(titled) - 1 <= len(titles.pieces) <= len(titled)
    return titled if len(titled) > len(columns) > 1 and one_each else columns


def _first_figures(rows: Sequence[TextRow]) -> int:
    """Returns the first row with figures if titles of several columns are above it; else 0."""
    for index, row in enumerate(rows[: THRESHOLDS.stream.header_rows]):
        if any(_is_figure(piece) for piece in row.pieces[1:]):
            return index if any(len(above.pieces) > 1 for above in rows[:index]) else 0
    return 0


def _is_figure(piece: WordGroup) -> bool:
    return (is_numeric(piece.text) or _MONEY.match(piece.text) is not None) and not is_year(piece.text)


def _without_groups(rows: Sequence[TextRow], header: int, columns: Sequence[Interval]) -> int:
    """Shortens the header by the group labels at its end, which head the rows below, not a column."""
    titled = [index for index, row in enumerate(rows[:header]) if row.pieces[-1].x1 > columns[1][0]]
    return titled[-1] + 1 if titled else 0


def _place(row: TextRow, columns: Sequence[Interval]) -> dict[tuple[int, int], list[Word]]:
    """Returns the words of a body row by (first column, number of columns)."""
    middles = boundaries(columns)
    placed: dict[tuple[int, int], list[Word]] = {}
    for piece in row.pieces:
        for part in _split_over(piece, columns, middles):
            first, last = _span(part, columns, middles)
            placed.setdefault((first, last - first + 1), []).extend(part.words)
    return placed


def _column_at(x: float, middles: Sequence[float]) -> int:
    return sum(1 for middle in middles if x > middle)


def _span(piece: WordGroup, columns: Sequence[Interval], middles: Sequence[float]) -> tuple[int, int]:
    touched = [
        i
        for i, (a, b) in enumerate(columns)
        if min(piece.x1, b) - max(piece.x0, a) > THRESHOLDS.stream.overlap * min(b - a, piece.x1 - piece.x0)
    ]
    if not touched:
        column = _column_at(piece.middle, middles)
        return column, column
    return touched[0], touched[-1]


def _split_over(piece: WordGroup, columns: Sequence[Interval], middles: Sequence[float]) -> list[WordGroup]:
    """Cuts a piece where it runs from one column into another and figures follow the cut."""
    first, last = _span(piece, columns, middles)
    if first == last or len(piece.words) == 1:
        return [piece]
    groups: list[list[Word]] = [[piece.words[0]]]
    column = _column_at((piece.words[0].x0 + piece.words[0].x1) / 2, middles)
    for word in piece.words[1:]:
        here = _column_at((word.x0 + word.x1) / 2, middles)
        # A long label may reach into the next column, but a figure there is a separate cell.
        if here != column and is_numeric(word.text) and word.x0 >= columns[here][0] - THRESHOLDS.stream.figure_inset:
            groups.append([])
            column = here
        groups[-1].append(word)
    return [make_piece(group) for group in groups]


def _lift_between(placed: list[PlacedRow], rows: Sequence[TextRow]) -> tuple[list[PlacedRow], list[TextRow]]:
    """Moves labels halfway between two rows, which belong to both, to the upper one."""
    kept: list[PlacedRow] = placed[:1]
    lines: list[TextRow] = list(rows[:1])
    for i in range(1, len(placed)):
        if i + 1 < len(placed) and _is_between(placed[i], rows[i], kept[-1], lines[-1], placed[i + 1], rows[i + 1]):
            kept[-1] = {**kept[-1], **placed[i]}
        else:
            kept.append(placed[i])
            lines.append(rows[i])
    return kept, lines


def _is_between(
    row: PlacedRow, line: TextRow, above: PlacedRow, upper: TextRow, below: PlacedRow, lower: TextRow
) -> bool:
    if not (
        line.y0 < upper.y1 - THRESHOLDS.stream.interlaced * line.size
        and lower.y0 < line.y1 - THRESHOLDS.stream.interlaced * line.size
    ):
        return False
    taken = {c for first, span in [*above, *below] for c in range(first, first + span)}
    return all(c not in taken for first, span in row for c in range(first, first + span))


def _merge_wrapped(placed: list[PlacedRow], rows: Sequence[TextRow], rules: Rules, area: Rect) -> list[PlacedRow]:
    """Joins the lines of wrapped cells. Where lines separate the rows, everything between two lines is one row."""
    if not placed:
        return []
    ruled = _ruled_groups(rows, rules, area)
    # Lines between rows are trusted unless two of them enclose the figures of two rows.
    if ruled is not None and not any(_repeats_figures([placed[i] for i in group]) for group in ruled):
        return [_union([placed[i] for i in part]) for group in ruled for part in _by_labels(group, placed)]
    pitch = median([b.baseline - a.baseline for a, b in pairwise(rows)] or [0.0])
    merged = [placed[0]]
    pending = False
    for i in range(1, len(placed)):
        distance = rows[i].baseline - rows[i - 1].baseline
        if _continues(merged[-1], placed[i], rows[i], distance, pitch) or pending:
            merged[-1] = _union([merged[-1], placed[i]])
            pending = False
        else:
            merged.append(placed[i])
        pending = _is_open_label(merged[-1], placed[i + 1] if i + 1 < len(placed) else None)
    return merged


def _ruled_groups(rows: Sequence[TextRow], rules: Rules, area: Rect) -> list[list[int]] | None:
    """Groups rows by the horizontal lines between them; None unless lines separate nearly all rows."""
    ys = [
        y
        for y in full_rules(rules, area)
        if rows[0].y1 <= y + THRESHOLDS.rules.snap
        and y - THRESHOLDS.rules.snap <= rows[-1].y0 + (rows[-1].y1 - rows[-1].y0)
    ]
    groups: list[list[int]] = [[]]
    for i, row in enumerate(rows):
        middle = (row.y0 + row.y1) / 2
        if groups[-1] and any((rows[groups[-1][-1]].y0 + rows[groups[-1][-1]].y1) / 2 < y < middle for y in ys):
            groups.append([])
        groups[-1].append(i)
    by_lines = (
        len(groups) >= max(THRESHOLDS.stream.ruled_rows, THRESHOLDS.stream.ruled_share * len(rows))
        and max(map(len, groups)) <= THRESHOLDS.stream.ruled_lines
    )
    return groups if by_lines else None


def _by_labels(group: Sequence[int], placed: Sequence[PlacedRow]) -> list[list[int]]:
    """Splits the lines between two rules after labels that head the rows below: with a colon, or without values."""
    labels_only = all(list(placed[i]) == [(0, 1)] for i in group)
    parts: list[list[int]] = [[group[0]]]
    for before, i in pairwise(group):
        upper, lower = placed[before], placed[i].get((0, 1))
        heads = list(upper) == [(0, 1)] and lower is not None and not lower[0].text[:1].islower()
        if heads and (labels_only or _text(upper[0, 1]).endswith(":")):
            parts.append([])
        parts[-1].append(i)
    return parts


def _repeats_figures(rows: Sequence[PlacedRow]) -> bool:
    """Whether two of the rows have figures in the same columns, so that they are not lines of one row."""
    seen: Counter[int] = Counter()
    for row in rows:
        seen.update(first for (first, _), words in row.items() if first and is_numeric(_text(words)))
    return sum(1 for count in seen.values() if count > 1) >= min(2, len(seen)) and bool(seen)


def _union(rows: Sequence[PlacedRow]) -> PlacedRow:
    """Joins rows cell by cell; overlapping cells become one that spans them all."""
    joined: PlacedRow = {}
    for row in rows:
        for (first, span), words in row.items():
            clash = [key for key in joined if key[0] < first + span and first < key[0] + key[1]]
            start = min([first, *(key[0] for key in clash)])
            end = max([first + span, *(key[0] + key[1] for key in clash)])
            gathered = [word for key in clash for word in joined.pop(key)]
            joined[start, end - start] = gathered + words
    return joined


def _text(words: Sequence[Word]) -> str:
    return " ".join(word.text for word in words)


def _continues(above: PlacedRow, row: PlacedRow, lower: TextRow, distance: float, pitch: float) -> bool:
    """Whether a row only continues cells of the row above."""
    if distance > THRESHOLDS.stream.wrapped_pitch * max(pitch, lower.size) or any(
        is_numeric(_text(words)) for words in row.values()
    ):
        return False
    # A label alone on its line is the rest of the one above, or a heading of the rows below.
    if len(row) == 1 and (0, 1) in row:
        if len(above) < 2:
            return False
        first = _text(row[0, 1])
        label = above.get((0, 1), [])
        indented = bool(label) and row[0, 1][0].x0 > label[0].x0 + THRESHOLDS.stream.label_indent * lower.size
        return (
            first[:1].islower()
            or first.startswith("(")
            or (indented and distance < THRESHOLDS.stream.tight_pitch * pitch)
            or bool(label and _UNFINISHED.search(_text(label)))
        )
    if any(key[0] == 0 for key in row):
        label = _text(row.get((0, 1), []))
        return label[:1].islower() and all(_text(w)[:1].islower() or not _text(w)[:1].isalpha() for w in row.values())
    return all(any(key[0] <= first < key[0] + key[1] for key in above) for first, _ in row) and all(
        any(c.isalpha() for c in _text(words)) for words in row.values()
    )


def _is_open_label(row: PlacedRow, following: PlacedRow | None) -> bool:
    """Whether a label alone on its line is completed by the next line, which has the values."""
    if following is None or list(row) != [(0, 1)] or (0, 1) not in following or len(following) < 2:
        return False
    return _text(following[0, 1])[:1].islower() or _UNFINISHED.search(_text(row[0, 1])) is not None


def _row_cells(row: PlacedRow, index: int, columns: Sequence[Interval]) -> list[TableCell]:
    cells = [TableCell(index, first, words, 1, span) for (first, span), words in row.items()]
    taken = {c for cell in cells for c in range(cell.column, cell.column + cell.colspan)}
    return cells + [TableCell(index, c, ()) for c in range(len(columns)) if c not in taken]
