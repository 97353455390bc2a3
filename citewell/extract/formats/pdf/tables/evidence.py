"""How much the rows of a region look like those of a table, and how much like running text."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from citewell.extract.formats.pdf.lines import MARKER
from citewell.extract.formats.pdf.tables.model import FoundTable, is_numeric
from citewell.extract.formats.pdf.tables.text_grid import Interval, TextRow, WordGroup, find_columns

CAPTION = re.compile(
    r"^(?:table|exhibit|tab\.|tabelle|tableau|tabla|tabela|tabella|tabel|schedule|表|표|таблица)\s*[\w.-]*\d",
    re.IGNORECASE,
)
_LEADERS = re.compile(r"(?:\.\s?){4,}|…{2,}")


@dataclass(frozen=True, slots=True, kw_only=True)
class EvidenceThresholds:
    """Thresholds of telling tables from what looks like them.

    Set on the tables of ICDAR 2013 (`benchmarks/tables.py`) and by hand on the development documents.

    long_piece:    characters beyond which a piece is a line of running text
    sparse:        share of squares with text below which cells are labels on a drawing
    counted_span:  squares that a merged cell counts as at most, or a title over everything would fill a drawing
    layout_text:   mean characters per cell beyond which a grid is a page layout
    code_figures:  share of figures below which cells in a typewriter font are code
    small:         squares of a table in which a single row or column may be filled, if all of them are
    dense:         share of rows with text that a column has, and share of such columns (at least two), in a table without
                   lines: the axes of a chart have fewer
    """

    long_piece: int = 34
    sparse: float = 0.25
    counted_span: int = 3
    layout_text: int = 300
    code_figures: float = 0.2
    small: int = 4
    dense: float = 0.4


THRESHOLDS = EvidenceThresholds()


@dataclass(frozen=True, slots=True)
class Evidence:
    """Measures of a region.

    multi:    rows with at least two pieces
    share:    of rows that are such
    numeric:  share of figures among the pieces after the first of each such row
    length:   mean characters per piece of such rows
    filled:   share of the squares (such rows x columns) that hold text
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
    """The measures of these rows."""
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
    """Whether a row reads like lines of text columns: every piece is long, or there is but one and it is."""
    lengths = [len(piece.text) for piece in row.pieces]
    return min(lengths) > THRESHOLDS.long_piece


def is_caption(row: TextRow) -> bool:
    """Whether the row begins like "Table 3"."""
    return CAPTION.match(" ".join(piece.text for piece in row.pieces)) is not None


def is_plausible(table: FoundTable) -> bool:
    """Whether cells found make a table: not labels scattered over a drawing, a bulleted list, a listing of code or a page layout."""
    filled = [cell for cell in table.cells if cell.words]
    squares = sum(min(THRESHOLDS.counted_span, cell.rowspan * cell.colspan) for cell in filled)
    if table.height < 2 or table.width < 2 or squares < THRESHOLDS.sparse * table.height * table.width:
        return False
    rows = Counter(cell.row for cell in filled)
    columns = Counter(cell.column for cell in filled)
    # Cells of a table have company in their rows and columns; labels on a drawing are alone in theirs.
    if sum(n > 1 for n in rows.values()) < 2 or sum(n > 1 for n in columns.values()) < 2:
        return table.height * table.width <= THRESHOLDS.small and squares == table.height * table.width
    texts = [" ".join(word.text for word in cell.words) for cell in filled]
    first = [text for cell, text in zip(filled, texts, strict=True) if cell.column == 0]
    # A list: its markers and its texts.
    if table.width == 2 and all(MARKER.match(text) and not is_numeric(text) for text in first):
        return False
    # Two columns of bare figures are the axes of a chart.
    if not any(c.isalpha() for text in texts for c in text) and table.width == 2:
        return False
    if sum(len(text) for text in texts) > THRESHOLDS.layout_text * len(texts):
        return False
    mono = all(word.style.mono for cell in filled for word in cell.words)
    return not mono or sum(is_numeric(text) for text in texts) >= THRESHOLDS.code_figures * len(texts)


def has_dense_columns(table: FoundTable) -> bool:
    """Whether a fair part of the columns hold text in many rows; labels along the axes of a chart do not."""
    body = table.height - table.header_rows
    filled = Counter(cell.column for cell in table.cells if cell.words and cell.row >= table.header_rows)
    dense = sum(1 for count in filled.values() if count >= THRESHOLDS.dense * body)
    return dense >= max(2, THRESHOLDS.dense * table.width)
