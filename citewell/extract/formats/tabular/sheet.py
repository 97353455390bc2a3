"""One sheet: its tables row by row, and the titles and notes around them."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import count, islice
from typing import cast

from citewell.extract.core.written_once import WrittenOnce, written_once
from citewell.extract.formats.tabular.layout import SheetTable, note_text
from citewell.extract.formats.tabular.number_formats import NumberFormat
from citewell.extract.formats.tabular.regions import Region
from citewell.extract.formats.tabular.sheet_plan import plan_sheet
from citewell.extract.formats.tabular.sheet_rows import MergedLabels, SheetRows
from citewell.extract.formats.tabular.values import Cell, Shown, is_figure, line_of
from citewell.extract.formats.tabular.workbook_parts import NamedTable
from citewell.extract.formats.tabular.writer import DataFile, TableWriter
from citewell.types import ElementType, Locator

_FOOTNOTE = re.compile(r"[(\[]?[a-z0-9*†‡]{1,2}[)\]]|\*|†|note|source|n\.b\.", re.IGNORECASE)
_LABEL_ROWS = 100
"""Rows that show whether labels are written once for several rows."""
_FOOTNOTE_LENGTH = 60
"""Characters beyond which a lone cell below a table is a note, not a row. Set by hand."""


def read_sheet(rows: SheetRows, named: Sequence[NamedTable], data: DataFile) -> None:
    """Emits the sheet's name and all its cells, top to bottom; `named` tables are kept as their author defined them."""
    if rows.empty:
        data.sink.skip("the sheet has no cells with content")
        return
    data.sink.emit(ElementType.TITLE, rows.name, Locator(sheet=rows.name), level=1)
    cells = rows.map()
    ordinal = count(1)
    for part in plan_sheet(rows, cells, named):
        if isinstance(part, Region):
            _emit_notes(part, rows, data)
        else:
            _emit_table(part, part.columns(cells), next(ordinal), rows, data)


def _emit_notes(region: Region, rows: SheetRows, data: DataFile) -> None:
    for index, row in rows.within(region):
        if text := note_text(row):
            data.sink.emit(ElementType.PARAGRAPH, text, Locator(sheet=rows.name, row=index + 1))


def _emit_table(table: SheetTable, columns: Sequence[int], ordinal: int, rows: SheetRows, data: DataFile) -> None:
    name = table.name or (rows.name if ordinal == 1 else f"{rows.name} ({ordinal})")
    for index, row in rows.within(table.region, table.titles):
        name = table.name or note_text(row)
        data.sink.emit(ElementType.PARAGRAPH, note_text(row), Locator(sheet=rows.name, row=index + 1))
    writer = data.table(name, [table.names[place] for place in columns], table.header_row, rows.name)
    shared = _shared(table, columns, rows)
    writer.shown = shared
    writer.coded = bool(rows.shown.coded)
    writer.named = {place for place, column in enumerate(columns) if table.region.left + column in rows.shown.named}
    notes: list[tuple[int, list[Cell]]] = []
    labels = _written_once(table, columns, rows)
    for number, row in _written(table, columns, rows, shared):
        if labels is not None:
            labels.fill(row)
        if _may_be_note(row):
            notes.append((number, row))
            continue
        _add_rows(writer, notes)
        notes = []
        writer.add(number, row)
    closing = _closing_notes(notes)
    _add_rows(writer, notes[: len(notes) - len(closing)])
    writer.finish()
    if labels is not None:
        data.sink.warn(labels.note([table.names[place] for place in columns]))
    for number, row in closing:
        data.sink.emit(ElementType.PARAGRAPH, note_text(row), Locator(sheet=rows.name, row=number))


def _written_once(table: SheetTable, columns: Sequence[int], rows: SheetRows) -> WrittenOnce[Cell] | None:
    """Returns what repeats labels that the table's first rows write once, without merging cells."""
    body = [cells for _, cells in islice(_body(table, columns, rows), _LABEL_ROWS)] if table.named else []
    return written_once([cells for cells in body if not _may_be_note(cells)], is_figure)


def _shared(table: SheetTable, columns: Sequence[int], rows: SheetRows) -> dict[int, NumberFormat]:
    """Returns, by position in `columns`, how the program shows all numbers of a column."""
    absolute = [table.region.left + place for place in columns]
    body = ((number - 1, cells) for number, cells in _body(table, columns, rows)) if rows.shown else ()
    return rows.shown.shared(absolute, body)


def _written(
    table: SheetTable, columns: Sequence[int], rows: SheetRows, shared: Mapping[int, NumberFormat]
) -> Iterator[tuple[int, list[Cell]]]:
    """Yields the table's rows, with numbers written as the program shows them where it shows a unit or a name.

    In columns of several units each number has its own: they are not one another's.
    """
    with_unit = [(place, shown) for place, shown in shared.items() if shown.unit and shown.code is None]
    absolute = [(place, table.region.left + column) for place, column in enumerate(columns)]
    coded = [(place, column) for place, column in absolute if rows.shown and column in rows.shown.coded]
    mixed = [
        (place, column) for place, column in absolute if rows.shown and column in rows.shown.signed - rows.shown.coded
    ]
    mixed = [(place, column) for place, column in mixed if place not in shared]
    for number, cells in _body(table, columns, rows):
        for place, column in coded:
            cells[place] = _as_coded(cells[place], rows.shown.of(number - 1, column))
        for place, column in mixed:
            cells[place] = _with_sign(cells[place], rows.shown.of(number - 1, column))
        for place, shown in with_unit:
            cells[place] = _with_sign(cells[place], shown)
        yield number, cells


def _with_sign(cell: Cell, shown: NumberFormat | None) -> Cell:
    """Returns a number with the sign of its unit; other cells as they are."""
    if shown is None or not shown.unit or isinstance(cell, bool) or not isinstance(cell, int | float):
        return cell
    return shown.shown(cell)


def _as_coded(cell: Cell, shown: NumberFormat | None) -> Cell:
    """Returns a number as its format code shows it, with the number that a copy holds; other cells as they are."""
    if shown is None or shown.code is None or cell.__class__ not in (int, float):
        return cell
    number = cast("float", cell)
    if not math.isfinite(number):
        return cell
    text = shown.code.shown(number).strip()
    return Shown(text, text if shown.code.names else shown.code.value(number)) if text else cell


def _body(table: SheetTable, columns: Sequence[int], rows: SheetRows) -> Iterator[tuple[int, list[Cell]]]:
    """Yields the table's non-empty rows: visible number, cells of the chosen columns.

    A label merged over several rows is repeated in each.
    """
    labels = MergedLabels(rows.merges, table.region.left)
    for part in (table.body, *table.more):
        lead: list[Cell] = [None] * (part.left - table.region.left)
        tail: list[Cell] = [None] * (table.region.right - part.right)
        for index, row in rows.within(part):
            padded = [*lead, *row, *tail]
            holds_any = any(padded[place] is not None for place in columns)
            labels.fill(index, padded)
            if holds_any:
                yield index + 1, [padded[place] for place in columns]


def _add_rows(writer: TableWriter, rows: Sequence[tuple[int, list[Cell]]]) -> None:
    for number, row in rows:
        writer.add(number, row)


def _may_be_note(row: Sequence[Cell]) -> bool:
    """Whether a row of a wider table holds only one text, at its left."""
    return len(row) > 1 and isinstance(row[0], str) and all(cell is None for cell in row[1:])


def _closing_notes(rows: Sequence[tuple[int, list[Cell]]]) -> Sequence[tuple[int, list[Cell]]]:
    """Returns the lone texts at a table's end, from the first that reads like a footnote."""
    for place, (_, row) in enumerate(rows):
        text = line_of(row[0])
        if len(text) > _FOOTNOTE_LENGTH or _FOOTNOTE.match(text):
            return rows[place:]
    return ()
