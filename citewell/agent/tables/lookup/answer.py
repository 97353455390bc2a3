"""Answers from cells of tables: the figures asked for, how they changed, and a passage for each that shows its cells."""

from __future__ import annotations

import re
import uuid
from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

from citewell.agent.citations.safe_text import safe_text
from citewell.agent.tables.language.wording import MONTHS
from citewell.agent.tables.lookup.asked import LookupOperation, LookupQuestion
from citewell.agent.tables.lookup.figures import CellValue, converted, rounded, shown_value
from citewell.agent.tables.lookup.find import FoundCell
from citewell.agent.tables.lookup.measures import Derived, Measure, MeasurePoint, Quotient, ReportedLine, scales_of
from citewell.agent.tables.lookup.parts import BestPart
from citewell.agent.tables.lookup.periods import PeriodLength
from citewell.agent.tables.lookup.sheet import PageTable, SheetColumn, SheetRow
from citewell.types import Chunk, ChunkType, Hit, Locator, Scores

_NAMESPACE = uuid.UUID("5b8c1f40-1f0f-5a3e-8a63-1f1f6f4a2d11")
_NOTE = re.compile(r"^\s*+\(\w{1,2}\)|(?<!\s)\s*+\(\w{1,2}\)\s*+$|[*†‡]+|(?<!\s)\s*+:\s*+$")
_SMALL = re.compile(r"\b[A-Z][a-z]+")
_TITLE = 160
"""Characters of a table's title that an answer holds."""
_SPACE = re.compile(r"\s+")


@dataclass(frozen=True, slots=True)
class LookupAnswer:
    """A text with `[1]`, `[2]`, … and the passage of each. chance: how probable it is that the question is read rightly, 1 where that is certain."""

    text: str
    hits: tuple[Hit, ...]
    chance: float = 1.0


def compose(owner_id: str, question: LookupQuestion, measure: Measure, points: Sequence[MeasurePoint]) -> LookupAnswer:
    """The answer over these points, in the order of the question's operation; at least one."""
    exponent, scales = question.exponent, scales_of(points)
    if exponent is None and len(scales) > 1:
        exponent = max(scales)
    scaled = [_at_scale(point, exponent) for point in points]
    hits = tuple(_hit(owner_id, measure, point, whole) for point, whole in zip(points, scaled, strict=True))
    name = _name(measure, points[0])
    said = [
        f"{shown_value(point.value)} {_when(point)}{_inputs(measure, point)} [{n}]"
        for n, point in enumerate(scaled, start=1)
    ]
    text = f"{name} came to {_joined(said)}.{_after(question.operation, scaled)}{_unit_missing(points)}{_year_unclear(question, points)}{_of_table(points)}"
    return LookupAnswer(text, hits)


def compose_part(owner_id: str, question: LookupQuestion, part: BestPart) -> LookupAnswer:
    """The part with the highest or lowest figure, and the table that it is one of."""
    point = MeasurePoint(part.period, part.cell.value, (part.cell,))
    found = compose(owner_id, question, ReportedLine(()), [point])
    title = plain(part.cell.table.title)[:_TITLE].strip(" :")
    among = f" in “{title}”" if title else ""
    extreme = question.extreme.value if question.extreme is not None else ""
    return LookupAnswer(f"{found.text} It is the {extreme} of {part.count}{among}.", found.hits)


def compose_cell(owner_id: str, table: PageTable, row: SheetRow, column: SheetColumn) -> LookupAnswer:
    """A cell of a table whose columns are no periods: "Longest term for first loan: 24 weeks"."""
    label, header, cell = (plain(text) for text in (row.label, column.header, table.grid[row.number][column.number]))
    named = " for ".join(part for part in (header, _within(label) if header else label) if part)
    passage = f"{named}: {cell}"
    hit = _of_cells(owner_id, passage, [(table, row, column)])
    return LookupAnswer(f"{passage} [1]", (hit,))


def compose_rows(owner_id: str, table: PageTable, rows: Sequence[SheetRow]) -> LookupAnswer:
    """Rows of a table of labels with one value each, under its title: one in a line, several as a list."""
    column = table.columns[0]
    said = [f"{plain(row.label)}: {plain(table.grid[row.number][column.number])}" for row in rows]
    hits = tuple(_of_cells(owner_id, text, [(table, row, column)]) for text, row in zip(said, rows, strict=True))
    if len(said) == 1:
        return LookupAnswer(f"{plain(table.title)}: {said[0]} [1]", hits)
    listed = "\n".join(f"- {text} [{n}]" for n, text in enumerate(said, start=1))
    return LookupAnswer(f"{plain(table.title)}:\n\n{listed}", hits)


def plain(text: str) -> str:
    """A cell's text as an answer may hold it: on one line, without footnote marks, nothing of it markup or a marker."""
    return safe_text(_SPACE.sub(" ", _NOTE.sub("", text)).strip())


def _name(measure: Measure, point: MeasurePoint) -> str:
    """What the figure is called: the label of its row, or the formula."""
    first = plain(point.cells[0].label)
    match measure:
        case Derived(name, formula):
            return f"{name} ({formula.words})" if len(point.cells) > 1 else first
        case Quotient():
            return f"{first} as a percentage of {_lower(plain(point.cells[-1].label))}"
        case ReportedLine():
            return first


def _lower(name: str) -> str:
    """A name inside a sentence; abbreviations stay as they are."""
    return name if name[1:2].isupper() else name[:1].lower() + name[1:]


def _within(label: str) -> str:
    """A row's label inside a sentence: only one that goes on in small letters is no name."""
    words = label.split()
    return _lower(label) if len(words) > 1 and words[1][:1].islower() else label


def _when(point: MeasurePoint) -> str:
    """The year of a point as its file calls it, with what the header says besides."""
    column = point.cells[0].column
    header, period = plain(column.header), column.period or point.period
    year = f"fiscal {period.year}" if period.ends not in (0, period.year) else str(period.year)
    if not period.month and period.ends not in (0, period.year):
        return f"in {year} (ended in {period.ends})"
    if header == year and period.span not in (PeriodLength.YEAR, PeriodLength.ANY):
        header = f"{plain(point.cells[0].table.stub)} {header}".strip()
    return f"in {year}" if header == year else f"in {year} ({_SMALL.sub(_small, header)})"


def _small(word: re.Match[str]) -> str:
    """The words of a header in lower case, the names of months excepted."""
    return word[0] if word[0].casefold() in MONTHS else word[0].casefold()


def _inputs(measure: Measure, point: MeasurePoint) -> str:
    if isinstance(measure, ReportedLine) or len(point.cells) == 1:
        return ""
    figures = (f"{_lower(plain(cell.label))} {shown_value(cell.value)}" for cell in point.cells)
    return f": {', '.join(figures)}"


def _joined(parts: Sequence[str]) -> str:
    return " and ".join(parts) if len(parts) < 3 else f"{'; '.join(parts[:-1])}; and {parts[-1]}"


def _after(operation: LookupOperation, points: Sequence[MeasurePoint]) -> str:
    """What follows from the figures; not cited, as it rests on all of them."""
    if len(points) < 2:
        return ""
    values = [point.value for point in points]
    match operation:
        case LookupOperation.SUM | LookupOperation.AVERAGE:
            total = sum((value.number for value in values), Decimal(0))
            mean = operation is LookupOperation.AVERAGE
            number = rounded(total / len(values), 2) if mean else total
            kind = "Their average is" if mean else "Together that is"
            return f" {kind} {shown_value(_with(values[0], number))}."
        case LookupOperation.TOP | LookupOperation.BOTTOM:
            choose = max if operation is LookupOperation.TOP else min
            best = choose(points, key=lambda point: point.value.value)
            return f" It was {operation.value} {_when(best)}."
        case LookupOperation.CHANGE:
            return f" {_change(points[-1], points[0])}"
        case LookupOperation.VALUE:
            return ""


def _unit_missing(points: Sequence[MeasurePoint]) -> str:
    """A warning where a table states no scale though others of its file do."""
    amounts = (point for point in points if not (point.ratio or point.value.percent))
    missing = any(
        cell.table.needs_scale and cell.table.scale is None and not cell.value.currency and cell.value.number % 1 == 0
        for point in amounts
        for cell in point.cells
    )
    return " The table does not say in what unit." if missing else ""


def _year_unclear(question: LookupQuestion, points: Sequence[MeasurePoint]) -> str:
    """A warning where a year was asked for, and the file does not say by which number it calls one that ends early in it."""
    if not any(period.year and not period.ends for period in question.periods):
        return ""
    unclear = any(cell.unclear for point in points for cell in point.cells)
    return " The file does not say how it numbers its fiscal years." if unclear else ""


def _of_table(points: Sequence[MeasurePoint]) -> str:
    """Which table a line is taken from, where another one has other figures for it."""
    table = next((cell.table for point in points for cell in point.cells if cell.contested), None)
    title = plain(table.title)[:_TITLE].strip(" :") if table is not None else ""
    return f" That is by the table “{title}”; another table has other figures for this line." if title else ""


def _change(earlier: MeasurePoint, later: MeasurePoint) -> str:
    """From the earlier figure to the later one."""
    before, after = earlier.value, later.value
    by = after.number - before.number
    if by == 0:
        return "It did not change."
    kind = "an increase" if by > 0 else "a decrease"
    if after.percent:
        points = abs((later.exact or after.number) - (earlier.exact or before.number))
        return f"That is {kind} of {rounded(points, 2 if points < 1 and not later.exact else 1):f} percentage points."
    share = ""
    if before.number > 0 and after.number > 0:
        share = f" ({rounded(100 * abs(by) / before.number, 1):f}%)"
    return f"That is {kind} of {shown_value(_with(after, abs(by)))}{share}."


def _with(value: CellValue, number: Decimal) -> CellValue:
    return CellValue(number, value.percent, value.currency, value.exponent)


def _at_scale(point: MeasurePoint, exponent: int | None) -> MeasurePoint:
    if exponent is None or point.ratio:
        return point
    return replace(point, value=converted(point.value, exponent))


def _hit(owner_id: str, measure: Measure, point: MeasurePoint, shown: MeasurePoint) -> Hit:
    """The passage behind a point: its cells as they stand in their tables, and what is made of them."""
    parts = [f"{plain(row.label)} | {_cell_words(cell, row)}" for cell in point.cells for row in cell.rows]
    result = f"{_name(measure, point)}: {shown_value(shown.value)} {_when(point)}{_inputs(measure, point)}"
    text = "\n".join((*dict.fromkeys(parts), result))
    return _of_cells(owner_id, text, [(cell.table, row, cell.column) for cell in point.cells for row in cell.rows])


def _cell_words(cell: FoundCell, row: SheetRow) -> str:
    raw = plain(cell.table.grid[row.number][cell.column.number])
    return f"{plain(cell.column.header)}: {raw}"


def _of_cells(owner_id: str, text: str, cells: Sequence[tuple[PageTable, SheetRow, SheetColumn]]) -> Hit:
    return cells_hit(owner_id, text, cells[0][0], cells)


def cells_hit(
    owner_id: str, text: str, table: PageTable, cells: Sequence[tuple[PageTable, SheetRow, SheetColumn]]
) -> Hit:
    """A passage of a table with the cells that it rests on; without any, of the table as a whole."""
    header = cells[0][2].header if cells else ""
    boxes = [table.boxes(row, column) for table, row, column in cells]
    rows = tuple(dict.fromkeys(box for around, _ in boxes for box in around))
    exact = tuple(dict.fromkeys(box for _, inside in boxes for box in inside))
    place = table.element.locator
    pages = sorted({box.page for box in rows}) or ([place.page] if place.page is not None else [])
    locator = Locator(
        page=pages[0] if pages else None,
        pages=tuple(pages),
        page_label=place.page_label if pages and pages[0] == place.page else None,
        boxes=rows or place.boxes,
        cell_boxes=exact,
        column=header or None,
        slide=place.slide,
        headings=place.headings,
    )
    chunk = Chunk(
        id=str(uuid.uuid5(_NAMESPACE, f"{table.resource_id}/{table.version}/{table.element.id}/{text}")),
        owner_id=owner_id,
        resource_id=table.resource_id,
        version=table.version,
        ordinal=0,
        type=ChunkType.TABLE,
        text=text,
        locator=locator,
        context=plain(table.title),
    )
    return Hit(chunk=chunk, filename=table.filename, score=1.0, scores=Scores(), provenance=table.provenance)
