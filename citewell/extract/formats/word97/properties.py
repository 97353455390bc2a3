"""Paragraph and character properties of a DOC: the modifiers ([MS-DOC] 2.6) in its formatted disk pages."""

from __future__ import annotations

import struct
from bisect import bisect_right
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from citewell.extract.core.edge_tables import RowFormat
from citewell.extract.formats.word97.fib import CHARACTER_RUNS, PARAGRAPH_RUNS, Fib, plc

_PAGE = 512
_OPERAND_SIZES = (1, 1, 2, 4, 2, 2, 0, 3)
_IN_TABLE, _ROW_END, _OUTLINE, _LIST, _LIST_LEVEL, _NESTING = 0x2416, 0x2417, 0x2640, 0x460B, 0x260A, 0x6649
_TABLE_DEFINITION, _TABS, _HEADER_ROW = 0xD608, 0xC615, 0x3404
_DELETED, _HIDDEN, _RAISED = 0x0800, 0x083C, 0x2A48


@dataclass(slots=True)
class ParagraphProperties:
    """The relevant formatting of a paragraph. `list_id` 0 means no list; `outline` is None if it sets none."""

    style: int = 0
    in_table: bool = False
    row_end: bool = False
    nesting: int = 1
    outline: int | None = None
    list_id: int = 0
    list_level: int = 0
    row: RowFormat | None = None
    header_row: bool = False


class ParagraphRuns:
    """Paragraph properties by the stream offset of the paragraph's mark."""

    def __init__(self, document: bytes, table: bytes, fib: Fib) -> None:
        found: list[tuple[int, int, ParagraphProperties]] = []
        for page in _pages(document, fib.part(table, PARAGRAPH_RUNS)):
            found += _paragraph_page(page)
        self._runs = sorted(found, key=lambda run: run[0])
        self._starts = [run[0] for run in self._runs]

    def at(self, offset: int) -> ParagraphProperties:
        """Returns the properties of the paragraph whose mark is at that offset; plain-text properties if unknown."""
        index = bisect_right(self._starts, offset) - 1
        if index >= 0 and self._runs[index][0] <= offset < self._runs[index][1]:
            return self._runs[index][2]
        return ParagraphProperties()


def hidden_ranges(document: bytes, table: bytes, fib: Fib) -> list[tuple[int, int]]:
    """Returns stream offsets of text deleted under revision or formatted as hidden, sorted and merged."""
    return _ranges(document, table, fib, _is_hidden)


def raised_ranges(document: bytes, table: bytes, fib: Fib) -> list[tuple[int, int]]:
    """Returns stream offsets of superscripts, sorted and merged."""
    return _ranges(document, table, fib, _is_raised)


def _ranges(document: bytes, table: bytes, fib: Fib, wanted: Callable[[bytes], bool]) -> list[tuple[int, int]]:
    found: list[tuple[int, int]] = []
    for page in _pages(document, fib.part(table, CHARACTER_RUNS)):
        count = page[-1]
        if 4 * (count + 1) + count > _PAGE:
            continue
        bounds = struct.unpack_from(f"<{count + 1}I", page)
        for index in range(count):
            at = page[4 * (count + 1) + index] * 2
            if at and wanted(page[at + 1 : at + 1 + page[at]]):
                found.append((bounds[index], bounds[index + 1]))
    out: list[tuple[int, int]] = []
    for start, end in sorted(found):
        if out and start <= out[-1][1]:
            out[-1] = (out[-1][0], max(out[-1][1], end))
        elif start < end:
            out.append((start, end))
    return out


def _pages(document: bytes, data: bytes) -> Iterator[bytes]:
    """Yields the formatted disk pages listed in a bin table."""
    for number in plc(data, 4)[1]:
        start = (struct.unpack("<I", number)[0] & 0x3FFFFF) * _PAGE
        page = document[start : start + _PAGE]
        if len(page) == _PAGE:
            yield page


def _paragraph_page(page: bytes) -> Iterator[tuple[int, int, ParagraphProperties]]:
    count = page[-1]
    if 4 * (count + 1) + 13 * count > _PAGE:
        return
    bounds = struct.unpack_from(f"<{count + 1}I", page)
    for index in range(count):
        at = page[4 * (count + 1) + 13 * index] * 2
        if not at or at + 2 > _PAGE:
            yield bounds[index], bounds[index + 1], ParagraphProperties()
            continue
        length, at = (2 * page[at] - 1, at + 1) if page[at] else (2 * page[at + 1], at + 2)
        data = page[at : at + length]
        if len(data) >= 2:
            yield bounds[index], bounds[index + 1], _paragraph(struct.unpack_from("<H", data)[0], data[2:])


def _paragraph(style: int, modifiers: bytes) -> ParagraphProperties:
    out = ParagraphProperties(style)
    for code, operand in _modifiers(modifiers):
        number = int.from_bytes(operand[:4], "little")
        if code == _IN_TABLE:
            out.in_table = bool(number)
        elif code == _ROW_END:
            out.row_end = bool(number)
        elif code == _NESTING:
            out.nesting = number
        elif code == _OUTLINE:
            out.outline = number
        elif code == _LIST:
            out.list_id = number if number < 0xF801 else 0
        elif code == _LIST_LEVEL:
            out.list_level = min(number, 8)
        elif code == _HEADER_ROW:
            out.header_row = bool(number)
        elif code == _TABLE_DEFINITION:
            out.row = _row_format(operand)
    if out.row is not None:
        out.row.header = out.header_row
    return out


def _modifiers(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Yields (code, operand) of each modifier; stops at damage."""
    position = 0
    while position + 3 <= len(data):
        (code,) = struct.unpack_from("<H", data, position)
        position += 2
        size = _OPERAND_SIZES[code >> 13]
        if code == _TABLE_DEFINITION:
            size = max(0, int.from_bytes(data[position : position + 2], "little") - 1)
            position += 2
        elif size == 0:
            size = data[position]
            position += 1
            if code == _TABS and size == 255:
                return
        yield code, data[position : position + size]
        position += size


def _row_format(data: bytes) -> RowFormat:
    """Reads a row's cell edges and merge marks from a table definition ([MS-DOC] 2.9.335)."""
    out = RowFormat()
    count = data[0] if data else 0
    if len(data) < 1 + 2 * (count + 1):
        return out
    edges = struct.unpack_from(f"<{count + 1}h", data, 1)
    cells = data[1 + 2 * (count + 1) :]
    for index in range(count):
        flags = struct.unpack_from("<H", cells, 20 * index)[0] if len(cells) >= 20 * index + 2 else 0
        if flags & 0x03 == 1:
            out.mark("clmrg")
        if flags >> 5 & 0x03 == 1:
            out.mark("clvmrg")
        out.add_edge(edges[index + 1])
    return out


def _is_hidden(modifiers: bytes) -> bool:
    return any(code in (_DELETED, _HIDDEN) and operand[:1] == b"\x01" for code, operand in _modifiers(modifiers))


def _is_raised(modifiers: bytes) -> bool:
    return any(code == _RAISED and operand[:1] == b"\x01" for code, operand in _modifiers(modifiers))
