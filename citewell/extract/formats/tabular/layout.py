"""Classifies a filled rectangle of a sheet: a table with titles and header rows, the continuation of one, or notes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from citewell.extract.formats.tabular.headers import MAX_HEADER_ROWS, header_depth, join_names
from citewell.extract.formats.tabular.regions import Region, SheetMap
from citewell.extract.formats.tabular.sheet_rows import Merges
from citewell.extract.formats.tabular.values import Cell, line_of

_WIDEST_GAP = 4
"""Most columns (blank ones plus one) from one part of a table to the next; a wider gap separates two. Set by hand."""
_SHORT = 4
"""Rows below which a part next to another belongs to it on weak evidence. Set by hand."""
_SAMPLE_ROWS = 200
"""Rows of a region used to judge its columns."""


@dataclass(slots=True)
class SheetTable:
    """A table of a sheet: `region` holds its header and first rows, `more` its rows below blank ones.

    titles: rows above the header with one text; header: header rows of `region`, 0 without any;
    names: one per column; head: the last row of a header separated from `region`, above it;
    name: the table's own, empty without one
    """

    region: Region
    titles: int
    header: int
    names: list[str]
    more: list[Region] = field(default_factory=list[Region])
    head: int | None = None
    name: str = ""

    def columns(self, sheet: SheetMap) -> list[int]:
        """Returns the region's non-empty columns, counted from its left: spacers do not belong to the table."""
        used = 0
        for region in (self.region, *self.more):
            used |= sheet.used_columns(region)
        named = [not name.startswith("Column ") for name in self.names]
        return [place for place in range(self.region.width) if named[place] or used >> (self.region.left + place) & 1]

    @property
    def body(self) -> Region:
        """The table's first rows below its header."""
        return replace(self.region, top=self.region.top + self.titles + self.header)

    @property
    def named(self) -> bool:
        """Whether a header was found."""
        return self.header > 0 or self.head is not None

    @property
    def header_row(self) -> int | None:
        """The last header row's visible number."""
        if self.head is not None:
            return self.head + 1
        return self.body.top if self.header else None


def read_layout(region: Region, head: Sequence[list[Cell]], merges: Merges) -> SheetTable | None:
    """Reads the region as a table; None if it is text without rows and columns."""
    titles = _title_rows(region, head, merges)
    rows = [list(row) for row in head[titles:]]
    if len(rows) < 2 or (region.width == 1 and all(isinstance(row[0], str | None) for row in rows)):
        return None
    names, depth = header_names(replace(region, top=region.top + titles), rows, merges)
    return SheetTable(region, titles, depth, names) if depth < len(rows) else None


def header_names(region: Region, rows: list[list[Cell]], merges: Merges) -> tuple[list[str], int]:
    """Returns the column names of a table whose first rows are `rows`, and how many of these are its header."""
    spans = merges.within(region, region.top + MAX_HEADER_ROWS)
    groups = _group_rows(region, spans)
    _fill_merged(rows, region, spans)
    depth = header_depth(rows, groups)
    if not merges.known:
        _spread_labels(rows[: depth - 1])
    return join_names(rows[:depth] or [[None] * region.width], region.left), depth


def continues(table: SheetTable, region: Region, sheet: SheetMap) -> bool:
    """Whether a headerless region below a table continues it: within its columns, with data where it has data."""
    if not table.named or region.left < table.region.left or region.right > table.region.right:
        return False
    same = 0
    for column in range(region.left, region.right + 1):
        above = _data_share(sheet, replace(table.body, left=column, right=column))
        below = _data_share(sheet, replace(region, left=column, right=column))
        if above is not None and below is not None:
            if (above > 0.5) != (below > 0.5):
                return False
            same += above > 0.5
    return same > 0


def one_table(left: Region, right: Region, sheet: SheetMap, merges: Merges) -> bool:
    """Whether two adjacent parts of a band, with blank columns between, are one table with a spacer.

    They are if a header cell is merged across the gap, or if they share most rows, no header name, and the right part
    begins with data rather than its own labels.
    """
    rows = range(left.top, left.bottom + 1)
    both = [row for row in rows if sheet.filled[row] & left.mask and sheet.filled[row] & right.mask]
    shared = len(both) / max(1, min(_filled_rows(sheet, left), _filled_rows(sheet, right)))
    if right.left - left.right > _WIDEST_GAP or shared < 0.5 or _begins_below(left, right, sheet):
        return False
    spans = merges.within(replace(left, right=right.right), left.bottom)
    if any(left.left < span.left <= left.right and span.right >= right.left for span in spans):
        return True
    head = next((sheet.heads[row] for row in both[:MAX_HEADER_ROWS] if row in sheet.heads), ())
    if {line_of(cell) for cell in head[left.left : left.right + 1] if cell} & {
        line_of(cell) for cell in head[right.left : right.right + 1] if cell
    }:
        return False
    share = _data_share(sheet, replace(right, right=right.left))
    return share is not None and (share > 0.5 or (share > 0 and right.height < _SHORT))


def _begins_below(left: Region, right: Region, sheet: SheetMap) -> bool:
    """Whether the right part begins with a row of texts where the left one is past its header."""
    first = next(row for row in range(right.top, right.bottom + 1) if sheet.filled[row] & right.mask)
    data = (row for row in range(left.top, left.bottom + 1) if sheet.data[row] & left.mask)
    return not sheet.data[first] & right.mask and first >= next(data, left.bottom + 1)


def _filled_rows(sheet: SheetMap, region: Region) -> int:
    return sum(1 for mask in sheet.filled[region.top : region.bottom + 1] if mask & region.mask)


def _data_share(sheet: SheetMap, region: Region) -> float | None:
    """Returns the share of data among the filled cells of the region's first rows; None if all are blank."""
    region = replace(region, bottom=min(region.bottom, region.top + _SAMPLE_ROWS))
    filled = sheet.count(sheet.filled, region)
    return sheet.count(sheet.data, region) / filled if filled else None


def _title_rows(region: Region, head: Sequence[list[Cell]], merges: Merges) -> int:
    """Returns how many rows at the top hold only one text, at the left or merged across, with wider rows below."""
    if region.width < 2:
        return 0
    spans = {(span.top, span.left): span for span in merges.within(region, region.top + len(head))}
    for index, row in enumerate(head):
        filled = [place for place, cell in enumerate(row) if cell is not None]
        if len(filled) != 1 or not isinstance(row[filled[0]], str):
            return index
        span = spans.get((region.top + index, region.left + filled[0]))
        whole = span is not None and span.width >= region.width
        if not whole and (filled[0] != 0 or span is not None):
            return index
    return len(head)


def _group_rows(region: Region, spans: Sequence[Region]) -> int:
    """Returns how many rows at the top of the header hold labels merged over several columns."""
    rows = 0
    while any(span.top == region.top + rows and 1 < span.width < region.width and span.height == 1 for span in spans):
        rows += 1
    return rows


def _fill_merged(rows: list[list[Cell]], region: Region, spans: Sequence[Region]) -> None:
    """Gives every cell of a merged range near the top its text."""
    for span in spans:
        first = span.top - region.top
        if not 0 <= first < min(len(rows), MAX_HEADER_ROWS) or span.left < region.left:
            continue
        value = rows[first][span.left - region.left]
        if not isinstance(value, str):
            continue
        for row in rows[first : min(first + span.height, MAX_HEADER_ROWS)]:
            for place in range(span.left - region.left, min(span.right - region.left + 1, len(row))):
                row[place] = value


def _spread_labels(rows: Sequence[list[Cell]]) -> None:
    """Extends group labels to the next label on the row, for formats without merge information."""
    for row in rows:
        label: Cell = None
        for place, cell in enumerate(row):
            label = cell if cell is not None else label
            row[place] = label


def note_text(row: Sequence[Cell]) -> str:
    """Returns a row outside tables as one line."""
    return " | ".join(line_of(cell) for cell in row if cell is not None)
