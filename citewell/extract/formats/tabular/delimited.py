"""CSV, TSV and similar: delimiter, quoting and encoding detected from content, rows streamed with record numbers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import chain, islice
from pathlib import Path

from citewell.extract.core.decode import encoding_of
from citewell.extract.core.sink import Sink
from citewell.extract.core.written_once import WrittenOnce, written_once
from citewell.extract.formats.tabular.dialect import NO_DELIMITER, sniff
from citewell.extract.formats.tabular.headers import header_depth, join_names
from citewell.extract.formats.tabular.records import CsvRecord, Records
from citewell.extract.formats.tabular.values import Cell, column_letter, is_data, is_figure, tidy
from citewell.extract.formats.tabular.writer import MAX_COLUMNS, DataFile, TableWriter
from citewell.types import ElementType, Locator

_HEAD_RECORDS = 100
"""Records searched for the header."""
_SAMPLE_CHARACTERS = 256 * 1024
"""Characters sampled to detect delimiter and quotes."""


def extract(path: Path, sink: Sink) -> None:
    """Emits each record as a row element, numbered as in a spreadsheet, with a typed copy and statistics."""
    sink.start_unit("file", 1)
    encoding = encoding_of(path, sink)
    with path.open(encoding=encoding, errors="replace", newline="") as file:
        dialect = sniff(file.read(_SAMPLE_CHARACTERS))
        file.seek(0)
        sink.metadata["delimiter"] = dialect.delimiter if dialect.delimiter != NO_DELIMITER else ""
        with DataFile(sink, written=True) as data:
            _read(Records(file, dialect), data)


def _read(records: Records, data: DataFile) -> None:
    stream = iter(records)
    head = list(islice(stream, _HEAD_RECORDS))
    titles, rest = _split_titles(head)
    for title in titles:
        text = " ".join(cell.strip() for cell in title.cells if cell.strip())
        data.sink.emit(ElementType.PARAGRAPH, text, Locator(row=title.number))
    if rest:
        columns, header_row, body = _header(rest)
        table = data.table("data", columns, header_row)
        labels = written_once([_padded(record.cells, len(columns)) for record in body], is_figure)
        _add_rows(chain(body, stream), table, data.sink, labels)
        if labels is not None:
            data.sink.warn(labels.note(columns))
        table.finish()
    for warning in records.warnings():
        data.sink.warn(warning)


def _split_titles(head: Sequence[CsvRecord]) -> tuple[Sequence[CsvRecord], Sequence[CsvRecord]]:
    """Splits off lines above the header that have one cell where rows have several."""
    widths = Counter(_filled(record) for record in head)
    usual = max(widths, key=lambda width: (widths[width], width), default=0)
    if usual < 2:
        return (), head
    start = next((index for index, record in enumerate(head) if _filled(record) > 1), 0)
    return head[:start], head[start:]


def _header(head: Sequence[CsvRecord]) -> tuple[list[str], int | None, Sequence[CsvRecord]]:
    """Returns column names, the record number of the header (None without one), and the records below it."""
    width = max(Counter(len(record.cells) for record in head).most_common(1)[0][0], len(head[0].cells))
    looked_at = min(width, MAX_COLUMNS)
    rows = [
        [tidy(cell) for cell in record.cells[:looked_at]] + [None] * (looked_at - len(record.cells)) for record in head
    ]
    if header_depth(rows[:60]) == 0 and not _words_only(rows):
        return [f"Column {column_letter(index)}" for index in range(width)], None, head
    first = [tidy(cell) for cell in head[0].cells]
    return join_names([first + [None] * (width - len(first))]), head[0].number, head[1:]


def _words_only(rows: Sequence[Sequence[Cell]]) -> bool:
    """Whether no cell is a measurement; such files conventionally begin with their header."""
    return len(rows) > 1 and not any(is_data(cell) for row in rows for cell in row)


def _add_rows(records: Iterable[CsvRecord], table: TableWriter, sink: Sink, labels: WrittenOnce[str] | None) -> None:
    width, ragged = table.width, 0
    first_ragged = 0
    for record in records:
        cells = record.cells
        if len(cells) > table.width:
            table.widen(len(cells))
        if len(cells) != width:
            ragged, first_ragged = ragged + 1, first_ragged or record.number
        texts = [cell if not cell.isspace() else "" for cell in cells]
        if labels is not None:
            labels.fill(texts)
        table.add_with_texts(record.number, texts, texts)
    if ragged:
        sink.warn(
            f"{ragged} rows have more or fewer cells than the header's {width}, first row {first_ragged}; all are kept"
        )


def _padded(cells: Sequence[str], width: int) -> list[str]:
    return [*cells, *[""] * (width - len(cells))][:width]


def _filled(record: CsvRecord) -> int:
    return sum(1 for cell in record.cells if cell and not cell.isspace())
