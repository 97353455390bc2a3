"""The file information block of a DOC ([MS-DOC] 2.5), which locates everything else."""

from __future__ import annotations

import struct
from dataclasses import dataclass

from citewell.errors import CorruptFile

_WORD_97 = 0x00C1
_PAIRS_AT = 154
STYLES, FOOTNOTE_REFERENCES, FOOTNOTE_TEXT, COMMENT_REFERENCES, COMMENT_TEXT = 1, 2, 3, 4, 5
HEADERS, CHARACTER_RUNS, PARAGRAPH_RUNS, PIECES = 11, 12, 13, 33
ENDNOTE_REFERENCES, ENDNOTE_TEXT, TEXT_BOXES, LISTS, LIST_USES = 46, 47, 56, 73, 74


@dataclass(frozen=True, slots=True)
class Lengths:
    """Characters in each part of the document's text; the parts follow each other in this order."""

    main: int
    footnotes: int
    headers: int
    comments: int
    endnotes: int
    text_boxes: int

    @property
    def total(self) -> int:
        """Characters in all parts."""
        return self.main + self.footnotes + self.headers + self.comments + self.endnotes + self.text_boxes


@dataclass(frozen=True, slots=True)
class Fib:
    """The file information block of one document."""

    data: bytes
    table_stream: str
    lengths: Lengths
    is_old: bool
    old_text: tuple[int, int]

    def part(self, table: bytes, index: int) -> bytes:
        """Returns a table-stream structure by its index among the offset-and-length pairs; empty if missing."""
        at = _PAIRS_AT + 8 * index
        if self.is_old or at + 8 > len(self.data):
            return b""
        offset, length = struct.unpack_from("<II", self.data, at)
        return table[offset : offset + length]


def read_fib(document: bytes) -> Fib:
    """Reads the block at the start of the `WordDocument` stream; `CorruptFile` if it is not one."""
    if len(document) < 0x44 or document[:2] not in (b"\xec\xa5", b"\xdc\xa5"):
        raise CorruptFile("The Word document has no valid header.")
    version, flags = struct.unpack_from("<H", document, 2)[0], struct.unpack_from("<H", document, 10)[0]
    old_text = struct.unpack_from("<II", document, 0x18)
    if version < _WORD_97:
        (length,) = struct.unpack_from("<I", document, 0x34)
        return Fib(document, "", Lengths(length, 0, 0, 0, 0, 0), True, (old_text[0], old_text[1]))
    if len(document) < _PAIRS_AT + 8 * (PIECES + 1):
        raise CorruptFile("The Word document's header is truncated.")
    main, footnotes, headers, _, comments, endnotes, boxes = struct.unpack_from("<7I", document, 76)
    lengths = Lengths(main, footnotes, headers, comments, endnotes, boxes)
    (pairs,) = struct.unpack_from("<H", document, 152)
    data = document[: min(len(document), _PAIRS_AT + 8 * pairs)]
    return Fib(data, "1Table" if flags & 0x0200 else "0Table", lengths, False, (old_text[0], old_text[1]))


def plc(data: bytes, size: int) -> tuple[list[int], list[bytes]]:
    """Splits a PLC ([MS-DOC] 2.2.2): n + 1 positions, then n structures of `size` bytes."""
    count = max(0, (len(data) - 4) // (4 + size))
    positions = list(struct.unpack_from(f"<{count + 1}I", data)) if len(data) >= 4 else []
    start = 4 * (count + 1)
    return positions, [data[start + size * i : start + size * (i + 1)] for i in range(count)]
