"""Records of a delimited file, numbered like spreadsheet rows; a stray quote costs one line, not the whole rest."""

from __future__ import annotations

import csv
import io
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TextIO

from citewell.extract.formats.tabular.dialect import CsvDialect

_MAX_RECORD_LINES = 1_000
_MAX_RECORD_CHARACTERS = 4 * 1024 * 1024
_BLOCK = 256 * 1024
_MAX_LINE_LENGTH = 16 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class CsvRecord:
    """One record: its number, counted from 1 including blank ones, and its cells as written."""

    number: int
    cells: list[str]


class Records:
    """The non-blank records of `file`. A quote that does not close within 1,000 lines is read as a plain character."""

    def __init__(self, file: TextIO, dialect: CsvDialect) -> None:
        self.stray_quotes: list[int] = []
        self._file, self._dialect = file, dialect
        self._number = 0
        self._lines: deque[str] = deque()
        self._quoted = False
        self._record: list[str] = []
        self._characters = 0
        self._unclosed = False

    def __iter__(self) -> Iterator[CsvRecord]:
        """Yields the records from first to last; call once."""
        while self._lines or self._fill():
            if self._quoted:
                yield from self._numbered(self._careful())
            else:
                lines, self._lines = self._lines, deque()
                yield from self._numbered(self._dialect.reader(lines))

    def warnings(self) -> list[str]:
        """Returns warnings about the records read so far."""
        if not self.stray_quotes:
            return []
        return [
            f"{len(self.stray_quotes)} rows have a quote that is never closed, first row {self.stray_quotes[0]}; read as plain text"
        ]

    def _numbered(self, rows: Iterable[list[str]]) -> Iterator[CsvRecord]:
        for cells in rows:
            self._number += 1
            if any(cells) and not all(cell.isspace() for cell in cells if cell):
                yield CsvRecord(self._number, cells)

    def _careful(self) -> Iterator[list[str]]:
        """Yields the rows of lines with quotes, until no line is left in memory."""
        reader = self._dialect.reader(self._record_lines())
        while self._lines:
            self._record, self._characters, self._unclosed = [], 0, False
            try:
                cells = next(reader)
            except (csv.Error, StopIteration):
                cells, self._unclosed = [], True
            if self._unclosed:
                cells = self._without_quotes()
                reader = self._dialect.reader(self._record_lines())
            yield cells

    def _without_quotes(self) -> list[str]:
        """Reads the first line of a broken record without quoting, and puts the others back."""
        first, *others = self._record
        self._lines.extendleft(reversed(others))
        self.stray_quotes.append(self._number + 1)
        return next(self._dialect.reader([first], quoting=False), [])

    def _record_lines(self) -> Iterator[str]:
        """Yields lines for the reader, remembered until the record ends; stops in a record that grows without end."""
        while True:
            grown = len(self._record) >= _MAX_RECORD_LINES or self._characters > _MAX_RECORD_CHARACTERS
            if grown or not (self._lines or self._fill()):
                self._unclosed = bool(self._record)
                return
            line = self._lines.popleft()
            self._record.append(line)
            self._characters += len(line)
            yield line

    def _fill(self) -> bool:
        """Reads the next lines into memory; False at the end of the file."""
        block = self._file.read(_BLOCK)
        if not block:
            return False
        block += self._file.readline(_MAX_LINE_LENGTH)
        block = block.replace("\0", "") if "\0" in block else block
        self._quoted = self._dialect.quote in block or self._dialect.escape is not None
        self._lines.extend(io.StringIO(block, newline=""))
        return bool(self._lines) or self._fill()
