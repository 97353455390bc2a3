"""Records of a delimited file, numbered as a spreadsheet numbers rows; a stray quote costs one line, not the rest of the file."""

from __future__ import annotations

import csv
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TextIO

from citewell.extract.tabular.dialect import Dialect

_MAX_RECORD_LINES = 2_000
_MAX_RECORD_CHARACTERS = 4 * 1024 * 1024
_LINE_PIECE = 16 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Record:
    """One record: its number, counting from 1 with blank ones, and its cells as written."""

    number: int
    cells: list[str]


class Records(Iterator[Record]):
    """The records of `file` that hold anything. A quote that does not close within 2,000 lines is read as a plain character."""

    def __init__(self, file: TextIO, dialect: Dialect) -> None:
        self.stray_quotes: list[int] = []
        self._file, self._dialect = file, dialect
        self._number = 0
        self._pushed: deque[str] = deque()
        self._record: list[str] = []
        self._characters = 0
        self._unclosed = False
        self._reader = dialect.reader(self._lines())

    def __next__(self) -> Record:
        while True:
            cells = self._next_cells()
            self._number += 1
            if any(cell and not cell.isspace() for cell in cells):
                return Record(self._number, cells)

    def warnings(self) -> list[str]:
        """What was odd about the records read so far."""
        if not self.stray_quotes:
            return []
        return [
            f"{len(self.stray_quotes)} rows have a quote that is never closed, first row {self.stray_quotes[0]}; read as plain text"
        ]

    def _next_cells(self) -> list[str]:
        self._record, self._characters, self._unclosed = [], 0, False
        try:
            cells = next(self._reader)
        except StopIteration:
            self._reader = self._dialect.reader(self._lines())
            if not self._pushed:
                raise
            return self._next_cells()
        except csv.Error:
            self._unclosed = True
            cells = []
        return self._without_quotes() if self._unclosed else cells

    def _without_quotes(self) -> list[str]:
        """Read the first line of a broken record without quoting, and give the others back."""
        first, *others = self._record
        self._pushed.extendleft(reversed(others))
        self._reader = self._dialect.reader(self._lines())
        self.stray_quotes.append(self._number + 1)
        return next(self._dialect.reader([first], quoting=False), [])

    def _lines(self) -> Iterator[str]:
        """Lines for the reader, remembered until the record ends; stops within a record that grows without end."""
        while True:
            grown = len(self._record) >= _MAX_RECORD_LINES or self._characters > _MAX_RECORD_CHARACTERS
            line = "" if grown and self._record else self._pull()
            if not line:
                self._unclosed = bool(self._record)
                return
            self._record.append(line)
            self._characters += len(line)
            yield line

    def _pull(self) -> str:
        line = self._pushed.popleft() if self._pushed else self._file.readline(_LINE_PIECE)
        return line.replace("\0", "") or "\n" if "\0" in line else line
