"""The surroundings of a table: title and unit above it, and its continuation on the next page."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from citewell.extract.formats.pdf.lines import Line, join_row, rows
from citewell.extract.formats.pdf.pages import PageContent, UprightText
from citewell.extract.formats.pdf.tables.model import FoundTable, TablePart, cell_text, is_numeric
from citewell.extract.formats.pdf.tables.rows import CAPTION
from citewell.extract.formats.pdf.tables.thresholds import THRESHOLDS

_SENTENCE = re.compile(r"[.;!?]$")
_UNIT = re.compile(
    r"\b(?:thousand|million|billion|trillion|tsd|mio|mrd|mill(?:ier|iard|one|ione|ard|hõe|õe)|mil)\w{0,3}\b|[$€£¥%]|[千万億亿]",
    re.IGNORECASE,
)


def title_lines(runs: Sequence[Line], table: FoundTable) -> list[str]:
    """Returns the title lines right above a table, from top to bottom; empty if there is only text, or nothing."""
    rect = table.rect
    above = [run for run in runs if run.y1 <= rect.y0 + 1 and run.x0 < rect.x1 and rect.x0 < run.x1]
    found: list[str] = []
    floor, size = rect.y0, 0.0
    for row in reversed(rows(above)):
        line = join_row(row)
        text = line.text
        reach = THRESHOLDS.titles.distance * max(line.size, size)
        gap = floor - line.y1 if not found else floor - line.baseline
        if (
            len(found) == THRESHOLDS.titles.max_lines
            or len(row) > 1
            or gap > reach
            or len(text) > THRESHOLDS.titles.characters
        ):
            break
        short = line.x1 - line.x0 <= THRESHOLDS.titles.width * rect.width
        announces = not found and text.endswith(":")
        if _SENTENCE.search(text) or not (short or line.bold or announces) or not any(map(str.isalpha, text)):
            break
        found.insert(0, text)
        if announces and not short:
            break
        floor, size = line.baseline, line.size
    return found


def unit_of(texts: Sequence[str]) -> str:
    """Returns the first text above a table or in its first row that states a scale, currency or percentage, if any."""
    return next((text.strip("()[] ") for text in texts if _UNIT.search(text)), "")


_CONTINUED = ("continued", "cont'd", "cont.", "(cont", "fortsetzung", "suite", "continuación", "continuação", "续")


def join_over_pages(pages: Iterable[PageContent]) -> Iterator[PageContent]:
    """Yields the same pages, with the parts of a table on later pages moved into its first part."""
    waiting: deque[PageContent] = deque()
    for page in pages:
        waiting.append(_joined(waiting, page) if waiting else page)
        if len(waiting) > 1 and (not _is_carried(waiting) or len(waiting) > THRESHOLDS.join.max_pages):
            while len(waiting) > 1:
                yield waiting.popleft()
    yield from waiting


def _is_carried(waiting: deque[PageContent]) -> bool:
    """Whether the first waiting page's table continues onto the last one and may continue further."""
    table = _last_table(waiting[0])
    last = waiting[-1]
    return bool(
        table
        and table.more
        and table.more[-1].page == last.number
        and not _main(last).tables
        and _ends_page(last, None)
    )


def _joined(waiting: deque[PageContent], page: PageContent) -> PageContent:
    """Moves the first table of `page` into the earlier table that it continues, if any."""
    upper, lower = _last_table(waiting[0]), _first_table(page)
    if upper is None or lower is None or waiting[-1].number + 1 != page.number:
        return page
    end = upper.more[-1].table if upper.more else upper
    whole = waiting[0] if len(waiting) == 1 else waiting[-1]
    if not (
        _ends_page(whole, upper if len(waiting) == 1 else None)
        and _begins_page(page, lower)
        and _continues(waiting[0], upper, end, lower, page)
    ):
        return page
    drop = lower.header_rows if _same_header(upper, lower) else 0
    part = TablePart(page.number, _main(page).rotation, lower, drop, _main(page).ink)
    waiting[0] = _with_tables(waiting[0], [*_main(waiting[0]).tables[:-1], replace(upper, more=(*upper.more, part))])
    return _with_tables(page, list(_main(page).tables[1:]))


def _main(page: PageContent) -> UprightText:
    return page.passages[0]


def _last_table(page: PageContent) -> FoundTable | None:
    return _main(page).tables[-1] if page.passages and _main(page).tables else None


def _first_table(page: PageContent) -> FoundTable | None:
    return _main(page).tables[0] if page.passages and _main(page).tables else None


def _with_tables(page: PageContent, tables: Sequence[FoundTable]) -> PageContent:
    return replace(page, passages=[replace(_main(page), tables=tables), *page.passages[1:]])


def _extent(page: PageContent) -> tuple[float, float]:
    """Returns the top and bottom of the page in the frame of its main passage."""
    frame, rotation = page.frame, _main(page).rotation
    if frame is None:
        return 0.0, 1.0
    ys = [rotation.point(x, y)[1] for x in (0, frame.width) for y in (0, frame.height)]
    return min(ys), max(ys)


def _ends_page(page: PageContent, table: FoundTable | None) -> bool:
    """Whether only notes and footers follow the table (or, without one, the top of the page)."""
    if not page.passages:
        return False
    top, bottom = _extent(page)
    after = table.rect.y1 if table else top + THRESHOLDS.join.head_zone * (bottom - top)
    below = [
        r
        for r in _main(page).runs
        if r.y0 > after - THRESHOLDS.join.edge and r.y1 < bottom - THRESHOLDS.join.foot_zone * (bottom - top)
    ]
    return _are_notes(below)


def _begins_page(page: PageContent, table: FoundTable) -> bool:
    top, bottom = _extent(page)
    above = [
        r
        for r in _main(page).runs
        if r.y1 < table.rect.y0 + THRESHOLDS.join.edge and r.y0 > top + THRESHOLDS.join.head_zone * (bottom - top)
    ]
    return _are_notes(above)


def _are_notes(runs: Sequence[Line]) -> bool:
    return len(runs) <= THRESHOLDS.join.max_notes and all(
        run.characters <= THRESHOLDS.join.max_note_characters for run in runs
    )


def _continues(first: PageContent, upper: FoundTable, end: FoundTable, lower: FoundTable, page: PageContent) -> bool:
    if upper.width != lower.width or not _same_columns(end, lower):
        return False
    above = " ".join(run.text for run in _main(page).runs if run.y1 < lower.rect.y0 + THRESHOLDS.join.edge).casefold()
    # A word such as “continued” is proof, and so is a repeated header, unless it comes under a title of its own.
    if any(word in above for word in _CONTINUED):
        return True
    if _same_header(upper, lower):
        return not _has_own_title(first, upper, page, lower)
    # A caption or a header of its own begins another table.
    new_caption = any(
        CAPTION.match(run.text) for run in _main(page).runs if run.y1 < lower.rect.y0 + THRESHOLDS.join.edge
    )
    if new_caption or (lower.header_rows and not _has_figures(lower, 0) and _has_figures(lower, 1)):
        return False
    return lower.header_rows == 0 or _has_figures(lower, 0) or not above.strip()


def _has_own_title(first: PageContent, upper: FoundTable, page: PageContent, lower: FoundTable) -> bool:
    """Whether the title has a bold line that is not above the previous table: financial statements share columns."""
    known = {_letters(line) for line in title_lines(_main(first).runs, upper)}
    bold = {_letters(run.text) for run in _main(page).runs if run.bold}
    return any(_letters(line) in bold - known for line in title_lines(_main(page).runs, lower))


def _letters(text: str) -> str:
    return "".join(filter(str.isalpha, text.casefold()))


def _same_columns(upper: FoundTable, lower: FoundTable) -> bool:
    if len(upper.columns) != len(lower.columns) or not upper.columns:
        return False
    shift = lower.rect.x0 - upper.rect.x0
    return all(
        b[0] + shift < c[1] + THRESHOLDS.join.same_column and c[0] < b[1] + shift + THRESHOLDS.join.same_column
        for b, c in zip(upper.columns, lower.columns, strict=True)
    ) and abs((upper.rect.x1 - upper.rect.x0) - (lower.rect.x1 - lower.rect.x0)) < max(
        THRESHOLDS.join.min_width_slack, THRESHOLDS.join.same_width * upper.rect.width
    )


def _header(table: FoundTable) -> list[tuple[int, int, str]]:
    return sorted(
        (cell.row, cell.column, cell_text(cell.words).casefold())
        for cell in table.cells
        if cell.row < table.header_rows and cell.words
    )


def _same_header(upper: FoundTable, lower: FoundTable) -> bool:
    return upper.header_rows > 0 and _header(upper) == _header(lower)


def _has_figures(table: FoundTable, row: int) -> bool:
    """Whether a row holds figures, and so is no header even if it was classified as one."""
    return any(is_numeric(cell_text(cell.words)) for cell in table.cells if cell.row == row and cell.column > 0)
