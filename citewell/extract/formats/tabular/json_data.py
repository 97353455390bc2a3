"""JSON and JSON Lines: lists of objects become rows, everything else `path: value`; malformed text is kept as text."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TextIO, cast

from citewell.errors import LimitExceeded
from citewell.extract.core.decode import encoding_of
from citewell.extract.core.sink import Sink
from citewell.extract.formats.tabular.flatten import JsonData, is_records, join, leaves
from citewell.extract.formats.tabular.json_stream import Damaged, JsonStream
from citewell.extract.formats.tabular.record_table import RecordTable
from citewell.extract.formats.tabular.values import Cell, text_of
from citewell.extract.formats.tabular.writer import DataFile
from citewell.types import ElementType, Locator

_MAX_LINE_LENGTH = 16 * 1024 * 1024
_TEXT_PIECE = 4_000


def extract(path: Path, sink: Sink) -> None:
    """Streams the rows of every list of objects (numbered by record, JSON Lines by line) and the other values."""
    sink.start_unit("file", 1)
    encoding = encoding_of(path, sink)
    with path.open(encoding=encoding, errors="replace") as file, DataFile(sink) as data:
        reader = _JsonReader(data)
        if _is_lines(file):
            sink.metadata["format"] = "json lines"
            reader.read_lines(file)
        else:
            sink.metadata["format"] = "json"
            reader.read_document(JsonStream(file))


def _is_lines(file: TextIO) -> bool:
    """Whether each of the first two non-empty lines is a value."""
    lines: list[str] = []
    while len(lines) < 2 and (line := file.readline(_MAX_LINE_LENGTH)):
        if not line.isspace():
            lines.append(line)
    file.seek(0)
    return len(lines) == 2 and all(line.lstrip()[:1] in "[{" and _is_json(line) for line in lines)


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except (json.JSONDecodeError, RecursionError):
        return False
    return True


class _JsonReader:
    """Reads one file into tables and paragraphs; at most one table is open at a time."""

    def __init__(self, data: DataFile) -> None:
        self._data = data
        self._sink = data.sink
        self._table: RecordTable | None = None
        self._key: str | None = None

    def read_lines(self, file: TextIO) -> None:
        """Reads every line as a record; lines that are not JSON stay text."""
        broken: list[int] = []
        for number, line in enumerate(_lines(file), start=1):
            if line.isspace():
                continue
            try:
                value = cast("JsonData", json.loads(line))
            except RecursionError as error:
                raise LimitExceeded(f"Line {number} is nested too deeply.") from error
            except ValueError:
                broken.append(number)
                self._text(line, number)
            else:
                self._item(None, number, value)
        self._close()
        if broken:
            self._sink.warn(f"{len(broken)} lines are not JSON, the first is line {broken[0]}; kept as text")

    def read_document(self, stream: JsonStream) -> None:
        """Reads one JSON text, or several in sequence."""
        number = 0
        try:
            for item in stream:
                number = number + 1 if item.index is None or item.index > 0 else 1
                if item.index is None:
                    self._close()
                    self._value(item.key or "", item.value)
                else:
                    self._item(item.key, item.index + 1, item.value)
            self._close()
        except Damaged:
            self._close()
            self._sink.warn("the JSON is malformed or cut off; the rest is kept as text")
            self._texts(stream.rest())

    def _item(self, key: str | None, number: int, value: JsonData) -> None:
        """Reads one element of a list: a row if it is an object or a list."""
        if not isinstance(value, dict | list):
            self._paragraph(f"{key or ''}[{number - 1}]", leaves(value))
            return
        if self._table is None or self._key != key:
            self._close()
            self._table, self._key = RecordTable(self._data, key or "records"), key
        self._table.add(number, value)

    def _value(self, path: str, value: JsonData) -> None:
        """Reads a value outside a list: lists of objects inside it become tables, the rest paragraphs."""
        work = [(path, value)]
        while work:
            here, item = work.pop()
            if is_records(item):
                table = RecordTable(self._data, here)
                for number, record in enumerate(cast("list[JsonData]", item), start=1):
                    table.add(number, record)
                table.finish()
            elif isinstance(item, dict) and item:
                work.extend((join(here, key), item[key]) for key in reversed(item))
            else:
                self._paragraph(here, leaves(item))

    def _paragraph(self, path: str, found: Iterable[tuple[str, Cell]]) -> None:
        for sub, cell in found:
            name = path + sub if sub.startswith("[") else path or sub
            self._sink.emit(ElementType.PARAGRAPH, f"{name}: {text_of(cell)}".rstrip(), Locator())

    def _close(self) -> None:
        if self._table is not None:
            self._table.finish()
            self._table = None

    def _texts(self, pieces: Iterable[str]) -> None:
        for piece in pieces:
            for start in range(0, len(piece), _TEXT_PIECE):
                self._text(piece[start : start + _TEXT_PIECE], None)

    def _text(self, text: str, row: int | None) -> None:
        if not text.isspace():
            self._sink.emit(ElementType.PARAGRAPH, text.strip(), Locator(row=row))


def _lines(file: TextIO) -> Iterator[str]:
    while line := file.readline(_MAX_LINE_LENGTH):
        yield line
