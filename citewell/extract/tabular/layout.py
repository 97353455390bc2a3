"""What a filled rectangle of a sheet is: a table with titles and header rows, the continuation of one, or notes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from citewell.extract.tabular.headers import MAX_HEADER_ROWS, header_depth, join_names
from citewell.extract.tabular.regions import Region, SheetMap
from citewell.extract.tabular.sheet_rows import Merges
from citewell.extract.tabular.values import Cell, line_of


@dataclass(slots=True)
class Table:
    """A table of a sheet: `region` holds its header and first rows, `more` its rows below blank ones.

    titles: rows above the header that hold one text; names: one per column; header: header rows, 0 without any
    """

    region: Region
    titles: int
    header: int
    names: list[str]
    more: list[Region] = field(default_factory=list[Region])

    @property
    def body(self) -> Region:
        """The table's first rows below its header."""
        return replace(self.region, top=self.region.top + self.titles + self.header)

    @property
    def header_row(self) -> int | None:
        """The last header row's number as the program shows it."""
        return self.body.top if self.header else None


def read_layout(region: Region, head: Sequence[list[Cell]], merges: Merges) -> Table | None:
    """The region as a table, or None when it is text without rows and columns."""
    titles = _title_rows(region, head, merges)
    rows = [list(row) for row in head[titles:]]
    if not rows or (region.width == 1 and all(isinstance(row[0], str | None) for row in rows)):
        return None
    start = region.top + titles
    spans = merges.within(region, start + MAX_HEADER_ROWS)
    groups = _group_rows(region, start, spans)
    _fill_merged(rows, region, start, spans)
    depth = header_depth(rows, groups)
    if depth == 0 and len(rows) == 1:
        return None
    if not merges.known:
        _spread_labels(rows[: depth - 1])
    return Table(region, titles, depth, join_names(rows[:depth] or [[None] * region.width], region.left))


def continues(table: Table, region: Region, sheet: SheetMap) -> bool:
    """Whether a headerless region below a table is more of it: within its columns, with data where it has data."""
    if not table.header or region.left < table.region.left or region.right > table.region.right:
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
    """Whether two parts of a band beside each other, with blank columns between, are one table with a spacer."""
    if right.left - left.right > 2:
        return False
    for span in merges.within(replace(left, right=right.right), left.bottom):
        if span.left <= left.right and span.right >= right.left and span.left >= left.left and span.left > left.left:
            return True
    label = replace(right, right=right.left, top=min(right.top + 1, right.bottom))
    share = _data_share(sheet, label)
    return share is not None and share > 0.5 and sheet.count(sheet.filled, left) > 0


def _data_share(sheet: SheetMap, region: Region) -> float | None:
    filled = sheet.count(sheet.filled, region)
    return sheet.count(sheet.data, region) / filled if filled else None


def _title_rows(region: Region, head: Sequence[list[Cell]], merges: Merges) -> int:
    """How many rows at the top hold one text only, at the left or merged across, with wider rows below."""
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


def _group_rows(region: Region, start: int, spans: Sequence[Region]) -> int:
    """How many rows at the top of the header hold labels merged over several columns."""
    rows = 0
    while any(span.top == start + rows and 1 < span.width < region.width and span.height == 1 for span in spans):
        rows += 1
    return rows


def _fill_merged(rows: list[list[Cell]], region: Region, start: int, spans: Sequence[Region]) -> None:
    """Give every cell of a merged range near the top its text."""
    for span in spans:
        first = span.top - start
        if not 0 <= first < min(len(rows), MAX_HEADER_ROWS) or span.left < region.left:
            continue
        value = rows[first][span.left - region.left]
        if not isinstance(value, str):
            continue
        for row in rows[first : min(first + span.height, MAX_HEADER_ROWS)]:
            for place in range(span.left - region.left, min(span.right - region.left + 1, len(row))):
                row[place] = value


def _spread_labels(rows: Sequence[list[Cell]]) -> None:
    """Without merge information, a group label reaches to the next label on its row."""
    for row in rows:
        label: Cell = None
        for place, cell in enumerate(row):
            label = cell if cell is not None else label
            row[place] = label


def note_text(row: Sequence[Cell]) -> str:
    """A row outside tables as one line."""
    return " | ".join(line_of(cell) for cell in row if cell is not None)
