"""The text of a region as rows of pieces, the columns they share, and how table-like they are."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median

from citewell.extract.formats.pdf.lines import MARKER, Line, make_line, rows
from citewell.extract.formats.pdf.tables.model import FoundTable, is_numeric
from citewell.extract.formats.pdf.tables.thresholds import THRESHOLDS
from citewell.extract.formats.pdf.words import Word

_CURRENCY = re.compile(r"^(?:[$€£¥]|US\$|Rs\.?|EUR|USD)$")


@dataclass(frozen=True, slots=True)
class WordGroup:
    """Neighboring words of one row."""

    words: Sequence[Word]
    x0: float
    x1: float
    y0: float
    y1: float

    @property
    def text(self) -> str:
        """The words, separated by spaces."""
        return " ".join(word.text for word in self.words)

    @property
    def middle(self) -> float:
        """Its horizontal center."""
        return (self.x0 + self.x1) / 2


@dataclass(frozen=True, slots=True)
class TextRow:
    """The pieces on one baseline, from left to right."""

    pieces: Sequence[WordGroup]
    y0: float
    y1: float
    baseline: float
    size: float

    @property
    def words(self) -> list[Word]:
        """All words of the row."""
        return [word for piece in self.pieces for word in piece.words]


def make_piece(words: Sequence[Word]) -> WordGroup:
    """Returns a piece made of these words; at least one."""
    return WordGroup(
        words,
        min(w.x0 for w in words),
        max(w.x1 for w in words),
        min(w.y0 for w in words),
        max(w.y1 for w in words),
    )


def text_rows(words: Sequence[Word]) -> list[TextRow]:
    """Returns the rows of a region from top to bottom."""
    return [_row(line) for line in rows([make_line([word]) for word in words])]


def _row(line: Sequence[Line]) -> TextRow:
    words = [run.words[0] for run in line]
    size = median(word.style.size for word in words)
    pieces = [make_piece(group) for group in _split(words)]
    return TextRow(
        pieces,
        min(p.y0 for p in pieces),
        max(p.y1 for p in pieces),
        median(word.y1 for word in words),
        size,
    )


def _split(words: Sequence[Word]) -> list[list[Word]]:
    groups: list[list[Word]] = []
    leading = _signs_lead(words)
    for word in words:
        if groups and _belongs(groups[-1], word) and not (leading and _begins_amount(groups[-1], word)):
            groups[-1].append(word)
        elif groups and is_numeric(word.text) and len(groups[-1]) > 1 and _CURRENCY.match(groups[-1][-1].text):
            # A sign close behind a label or another amount belongs to the next amount.
            groups.append([groups[-1].pop(), word])
        else:
            groups.append([word])
    return groups


def _signs_lead(words: Sequence[Word]) -> bool:
    """Whether the row's first signed amount has its sign in front, as all others of the row then do."""
    for left, right in pairwise(words):
        if _CURRENCY.match(left.text):
            return is_numeric(right.text)
        if _CURRENCY.match(right.text) and is_numeric(left.text):
            return False
    return False


def _begins_amount(group: Sequence[Word], word: Word) -> bool:
    """Whether a sign begins an amount: at the left edge of its column it may be nearer to the previous amount."""
    return _CURRENCY.match(word.text) is not None and is_numeric(group[-1].text)


def _belongs(group: list[Word], word: Word) -> bool:
    last = group[-1]
    size = max(last.style.size, word.style.size)
    distance = word.x0 - last.x1
    if distance <= THRESHOLDS.text_grid.gap * size:
        return True
    # The sign of an amount is often set at the left edge of its column, far from the digits.
    if len(group) == 1 and _CURRENCY.match(last.text) and is_numeric(word.text):
        return True
    return distance <= THRESHOLDS.text_grid.trailing_gap * size and word.text == "%" and is_numeric(last.text)


Interval = tuple[float, float]


def find_columns(rows: Sequence[TextRow], walls: Sequence[float] = ()) -> list[Interval]:
    """Returns column intervals from left to right; `walls` are x positions of vertical lines that no column crosses."""
    multi = [row for row in rows if len(row.pieces) > 1] or list(rows)
    if not multi:
        return []
    size = median(row.size for row in multi)
    split = [_cut_at(row.pieces, walls) for row in multi]
    columns = _covered([(p.x0, p.x1) for pieces in split for p in pieces], _tolerance(len(multi)))
    refined: list[Interval] = []
    for column in columns:
        refined += _split_by_words(column, multi, size)
    return _with_walls(refined, walls)


def _tolerance(count: int) -> int:
    return int(THRESHOLDS.text_grid.noise * count)


def _cut_at(pieces: Sequence[WordGroup], walls: Sequence[float]) -> list[WordGroup]:
    """Splits pieces where a wall lies between two of their words."""
    if not walls:
        return list(pieces)
    found: list[WordGroup] = []
    for piece in pieces:
        group: list[Word] = []
        for word in piece.words:
            if group and any(
                group[-1].x1 <= wall + THRESHOLDS.text_grid.slack and wall - THRESHOLDS.text_grid.slack <= word.x0
                for wall in walls
            ):
                found.append(make_piece(group))
                group = []
            group.append(word)
        found.append(make_piece(group))
    return found


def _covered(intervals: Sequence[Interval], tolerance: int) -> list[Interval]:
    """Returns the maximal intervals covered by more than `tolerance` of the given ones."""
    events = sorted([(a, 1) for a, _ in intervals] + [(b, -1) for _, b in intervals])
    found: list[Interval] = []
    depth, start = 0, 0.0
    for x, step in events:
        before = depth
        depth += step
        if before <= tolerance < depth:
            start = x
        elif depth <= tolerance < before and x > start:
            found.append((start, x))
    return found


def _split_by_words(column: Interval, rows: Sequence[TextRow], size: float) -> list[Interval]:
    """Splits a column that holds two columns of figures a mere space apart."""
    low, high = column[0] - THRESHOLDS.text_grid.slack, column[1] + THRESHOLDS.text_grid.slack
    inside = [[w for w in row.words if low <= (w.x0 + w.x1) / 2 <= high] for row in rows]
    filled = [words for words in inside if words]
    several = [words for words in filled if len(words) > 1]
    if len(several) < THRESHOLDS.text_grid.min_rows or len(several) < THRESHOLDS.text_grid.filled * len(filled):
        return [column]
    parts = _covered([(w.x0, w.x1) for words in filled for w in words], _tolerance(len(filled)))
    found: list[Interval] = [parts[0]] if parts else [column]
    for part in parts[1:]:
        if part[0] - found[-1][1] >= THRESHOLDS.text_grid.narrowest_strip * size and _figures_apart(
            filled, found[-1], part
        ):
            found.append(part)
        else:
            found[-1] = (found[-1][0], part[1])
    return found


def _figures_apart(rows: Sequence[Sequence[Word]], left: Interval, right: Interval) -> bool:
    """Whether most rows hold a figure on either side."""
    lefts, rights = _within(rows, left), _within(rows, right)
    both = sum(1 for a, b in zip(lefts, rights, strict=True) if a and b)
    if both < THRESHOLDS.text_grid.filled * len(rows):
        return False
    return (
        _numeric_share(lefts) >= THRESHOLDS.text_grid.figures and _numeric_share(rights) >= THRESHOLDS.text_grid.figures
    )


def _within(rows: Sequence[Sequence[Word]], column: Interval) -> list[list[Word]]:
    low, high = column[0] - THRESHOLDS.text_grid.slack, column[1] + THRESHOLDS.text_grid.slack
    return [[word for word in words if low <= word.x0 and word.x1 <= high] for words in rows]


def _numeric_share(groups: Sequence[Sequence[Word]]) -> float:
    filled = [" ".join(w.text for w in words) for words in groups if words]
    return sum(is_numeric(text) for text in filled) / len(filled) if filled else 0.0


def _with_walls(columns: Sequence[Interval], walls: Sequence[float]) -> list[Interval]:
    """Keeps columns between the same two walls apart, and cuts a column that crosses a wall."""
    found: list[Interval] = []
    for start, end in columns:
        for wall in walls:
            if start + THRESHOLDS.text_grid.wall_inset < wall < end - THRESHOLDS.text_grid.wall_inset:
                found.append((start, wall))
                start = wall
        found.append((start, end))
    return found


def boundaries(columns: Sequence[Interval]) -> list[float]:
    """Returns the centers of the strips between columns."""
    return [(a[1] + b[0]) / 2 for a, b in pairwise(columns)]


CAPTION = re.compile(
    r"^(?:table|exhibit|tab\.|tabelle|tableau|tabla|tabela|tabella|tabel|schedule|表|표|таблица)\s*[\w.-]*\d",
    re.IGNORECASE,
)
_LEADERS = re.compile(r"(?:\.\s?){4,}|…{2,}")


@dataclass(frozen=True, slots=True)
class Evidence:
    """Measures of a region.

    multi:    rows with at least two pieces
    share:    share of such rows
    numeric:  share of figures among the pieces after the first of each such row
    length:   mean characters per piece of such rows
    filled:   share of the positions (such rows x columns) that hold text
    leaders:  share of rows with dot leaders
    """

    multi: int
    share: float
    numeric: float
    length: float
    filled: float
    leaders: float
    columns: Sequence[Interval]


def weigh(rows: Sequence[TextRow], walls: Sequence[float] = ()) -> Evidence:
    """Returns the measures of these rows."""
    multi = [row for row in rows if len(row.pieces) > 1]
    if not multi:
        return Evidence(0, 0.0, 0.0, 0.0, 0.0, 0.0, ())
    columns = find_columns(rows, walls)
    pieces = [piece for row in multi for piece in row.pieces]
    later = [piece for row in multi for piece in row.pieces[1:]]
    squares = sum(_touched(piece, columns) for piece in pieces)
    return Evidence(
        multi=len(multi),
        share=len(multi) / len(rows),
        numeric=sum(is_numeric(piece.text) for piece in later) / len(later),
        length=sum(len(piece.text) for piece in pieces) / len(pieces),
        filled=min(1.0, squares / (len(multi) * max(1, len(columns)))),
        leaders=sum(_LEADERS.search(" ".join(p.text for p in row.pieces)) is not None for row in rows) / len(rows),
        columns=columns,
    )


def _touched(piece: WordGroup, columns: Sequence[Interval]) -> int:
    return sum(1 for a, b in columns if piece.x0 < b and piece.x1 > a)


def is_prose_row(row: TextRow) -> bool:
    """Whether a row reads like lines of text columns: every piece is long."""
    lengths = [len(piece.text) for piece in row.pieces]
    return min(lengths) > THRESHOLDS.evidence.long_piece


def is_caption(row: TextRow) -> bool:
    """Whether the row begins like "Table 3"."""
    return CAPTION.match(" ".join(piece.text for piece in row.pieces)) is not None


def is_plausible(table: FoundTable) -> bool:
    """Whether the cells form a table, not labels of a drawing, a bulleted list, a code listing or a page layout."""
    filled = [cell for cell in table.cells if cell.words]
    squares = sum(min(THRESHOLDS.evidence.counted_span, cell.rowspan * cell.colspan) for cell in filled)
    if table.height < 2 or table.width < 2 or squares < THRESHOLDS.evidence.sparse * table.height * table.width:
        return False
    rows = Counter(cell.row for cell in filled)
    columns = Counter(cell.column for cell in filled)
    # Table cells share their rows and columns with others; labels on a drawing do not.
    if sum(n > 1 for n in rows.values()) < 2 or sum(n > 1 for n in columns.values()) < 2:
        return table.height * table.width <= THRESHOLDS.evidence.small and squares == table.height * table.width
    texts = [" ".join(word.text for word in cell.words) for cell in filled]
    first = [text for cell, text in zip(filled, texts, strict=True) if cell.column == 0]
    # A list: markers and their texts.
    if table.width == 2 and all(MARKER.match(text) and not is_numeric(text) for text in first):
        return False
    # Two columns of bare numbers are the axes of a chart.
    if not any(c.isalpha() for text in texts for c in text) and table.width == 2:
        return False
    if sum(len(text) for text in texts) > THRESHOLDS.evidence.layout_text * len(texts):
        return False
    mono = all(word.style.mono for cell in filled for word in cell.words)
    return not mono or sum(is_numeric(text) for text in texts) >= THRESHOLDS.evidence.code_figures * len(texts)


def has_dense_columns(table: FoundTable) -> bool:
    """Whether a fair share of the columns hold text in many rows; labels along the axes of a chart do not."""
    body = table.height - table.header_rows
    filled = Counter(cell.column for cell in table.cells if cell.words and cell.row >= table.header_rows)
    dense = sum(1 for count in filled.values() if count >= THRESHOLDS.evidence.dense * body)
    return dense >= max(2, THRESHOLDS.evidence.dense * table.width)
