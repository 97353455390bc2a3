"""Repairs XLSB files of the format's first writers, whose sheet records have four bytes more than [MS-XLSB] 2.4.304."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from pathlib import Path

from citewell.extract.core.safezip import SafeZip
from citewell.types import ExtractOptions

WORKBOOK = "xl/workbook.bin"
SHEET_RECORD = 156
_MAX_WORKBOOK_SIZE = 4 * 1024 * 1024


def repaired(path: Path, target: Path, options: ExtractOptions) -> bool:
    """Writes a copy with regular sheet records to `target`; False if there is nothing to repair."""
    with SafeZip(path, options) as source:
        if WORKBOOK not in source:
            return False
        before = source.read(WORKBOOK, _MAX_WORKBOOK_SIZE)
        after = b"".join(_record(kind, regular(kind, data)) for kind, data in records(before))
        if len(after) == len(before):
            return False
        with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as copy:
            for name in source.names():
                with copy.open(name, "w") as member:
                    for piece in [after] if name == WORKBOOK else source.pieces(name):
                        member.write(piece)
    return True


def regular(kind: int, data: bytes) -> bytes:
    """Returns a sheet record without the four bytes between its state and its number."""
    return data[:4] + data[8:] if kind == SHEET_RECORD and not _adds_up(data, 8) and _adds_up(data, 12) else data


def _adds_up(data: bytes, start: int) -> bool:
    """Whether two counted UTF-16 texts, relationship and name, fill the record from `start` on."""
    for _ in range(2):
        start += 4 + 2 * int.from_bytes(data[start : start + 4], "little")
        if start > len(data):
            return False
    return start == len(data)


def records(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Yields record type and content; types take one or two bytes, lengths up to four, seven bits each."""
    at = 0
    while at < len(data):
        kind, at = _number(data, at, 2)
        length, at = _number(data, at, 4)
        yield kind, data[at : at + length]
        at += length


def _number(data: bytes, at: int, most: int) -> tuple[int, int]:
    value = 0
    for place, byte in enumerate(data[at : at + most]):
        value |= (byte & 0x7F) << (7 * place)
        if not byte & 0x80:
            return value, at + place + 1
    return value, at + most


def _record(kind: int, data: bytes) -> bytes:
    return _encoded(kind) + _encoded(len(data)) + data


def _encoded(value: int) -> bytes:
    out = bytearray()
    while True:
        value, low = value >> 7, value & 0x7F
        out.append(low | (0x80 if value else 0))
        if not value:
            return bytes(out)
