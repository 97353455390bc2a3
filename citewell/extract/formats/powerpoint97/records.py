"""The records of a PPT ([MS-PPT] 2.3.1): a tree of containers and atoms, and the directory of its top objects."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass

DOCUMENT, SLIDE, NOTES = 1000, 1006, 1008
SLIDE_ATOM, SLIDE_LIST, SLIDE_PERSIST, DRAWING = 1007, 4080, 1011, 1036
TEXT_HEADER, TEXT_UNICODE, TEXT_BYTES, OUTLINE_REFERENCE, STRING = 3999, 4000, 4008, 3998, 4026
COMMENT = 12000
SHAPE, CLIENT_TEXT, CLIENT_ANCHOR, CHILD_ANCHOR = 0xF004, 0xF00D, 0xF010, 0xF00F
_USER_EDIT, _PERSIST_DIRECTORY = 4085, 6002
_MAX_DEPTH = 40
_MAX_EDITS = 1_000


@dataclass(frozen=True, slots=True)
class PowerPointRecord:
    """One record: `start` and `end` bound its content in the stream."""

    kind: int
    instance: int
    container: bool
    data: bytes
    start: int
    end: int

    @property
    def content(self) -> bytes:
        """The bytes of an atom."""
        return self.data[self.start : self.end]

    def children(self) -> Iterator[PowerPointRecord]:
        """Yields the records inside a container; none in an atom."""
        if self.container:
            yield from records(self.data, self.start, self.end)

    def child(self, kind: int, instance: int | None = None) -> PowerPointRecord | None:
        """Returns the first child record of this kind."""
        return next((r for r in self.children() if r.kind == kind and instance in (None, r.instance)), None)

    def walk(self, depth: int = 0) -> Iterator[PowerPointRecord]:
        """Yields all descendant records, in order."""
        for record in self.children():
            yield record
            if depth < _MAX_DEPTH:
                yield from record.walk(depth + 1)


def records(data: bytes, start: int, end: int) -> Iterator[PowerPointRecord]:
    """Yields the records between two offsets; stops at damage."""
    while start + 8 <= end:
        record = record_at(data, start, end)
        if record is None:
            return
        yield record
        start = record.end


def record_at(data: bytes, start: int, end: int) -> PowerPointRecord | None:
    """Returns the record at an offset, or None. A truncated record reaches to `end`."""
    if start < 0 or start + 8 > end:
        return None
    flags, kind, length = struct.unpack_from("<HHI", data, start)
    if kind < 0x03E8:
        return None
    return PowerPointRecord(kind, flags >> 4, flags & 0x0F == 0x0F, data, start + 8, min(start + 8 + length, end))


def persist_directory(data: bytes, current_user: bytes) -> dict[int, int]:
    """Returns offsets of the top objects by number, from the last edit back to the first ([MS-PPT] 2.1.2)."""
    out: dict[int, int] = {}
    offset = struct.unpack_from("<I", current_user, 16)[0] if len(current_user) >= 20 else 0
    for _ in range(_MAX_EDITS):
        edit = record_at(data, offset, len(data)) if offset else None
        if edit is None or edit.kind != _USER_EDIT or len(edit.content) < 16:
            break
        _, previous, directory_at = struct.unpack_from("<III", edit.content, 4)
        directory = record_at(data, directory_at, len(data))
        if directory is not None and directory.kind == _PERSIST_DIRECTORY:
            for number, position in _entries(directory.content):
                out.setdefault(number, position)
        if previous >= offset:
            break
        offset = previous
    return out


def _entries(content: bytes) -> Iterator[tuple[int, int]]:
    position = 0
    while position + 4 <= len(content):
        (head,) = struct.unpack_from("<I", content, position)
        first, count = head & 0xFFFFF, head >> 20
        position += 4
        for index in range(count):
            if position + 4 > len(content):
                return
            yield first + index, struct.unpack_from("<I", content, position)[0]
            position += 4
