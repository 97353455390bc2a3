"""The text of a DOC, assembled from its pieces ([MS-DOC] 2.8.35), and the offset of each character in the stream."""

from __future__ import annotations

import struct
from bisect import bisect_right
from dataclasses import dataclass
from itertools import islice

from citewell.errors import CorruptFile
from citewell.extract.core.raised import raised
from citewell.extract.formats.word97.fib import PIECES, Fib, plc

_MAX_CHARACTERS = 100_000_000
_COMPRESSED = 0x40000000


@dataclass(frozen=True, slots=True)
class TextPiece:
    """Characters `start` to `end` of the text, stored from `offset` on with `width` bytes each."""

    start: int
    end: int
    offset: int
    width: int


class PieceText:
    """The characters of a document, one per UTF-16 unit."""

    def __init__(self, document: bytes, pieces: list[TextPiece]) -> None:
        self._pieces = pieces
        self._starts = [piece.start for piece in pieces]
        self._texts = [_decoded(document, piece) for piece in pieces]
        self.length = pieces[-1].end if pieces else 0

    def raise_(self, ranges: list[tuple[int, int]]) -> None:
        """Writes the characters with stream offsets in `ranges` as superscripts."""
        for index, piece in enumerate(self._pieces):
            text, parts, position = self._texts[index], list[str](), 0
            for low, high in islice(ranges, max(0, bisect_right(ranges, (piece.offset, 1 << 62)) - 1), None):
                start, end = ((at - piece.offset) // piece.width for at in (max(low, piece.offset), high))
                if start >= len(text):
                    break
                if start < end:
                    parts += text[position:start], raised(text[start:end])
                    position = end
            self._texts[index] = "".join((*parts, text[position:]))

    def slice(self, start: int, end: int, hidden: list[tuple[int, int]]) -> str:
        """Returns characters `start` to `end` except those with stream offsets in `hidden` (sorted, disjoint)."""
        out: list[str] = []
        for index in range(max(0, bisect_right(self._starts, start) - 1), len(self._pieces)):
            piece = self._pieces[index]
            if piece.start >= end:
                break
            low, high = max(start, piece.start), min(end, piece.end)
            if low < high:
                out += self._visible(index, low, high, hidden)
        return "".join(out)

    def offset(self, position: int) -> int:
        """Returns the offset of a character in the stream."""
        piece = self._pieces[max(0, bisect_right(self._starts, position) - 1)]
        return piece.offset + (position - piece.start) * piece.width

    def _visible(self, index: int, low: int, high: int, hidden: list[tuple[int, int]]) -> list[str]:
        piece, text = self._pieces[index], self._texts[index]
        first, last = (
            piece.offset + (low - piece.start) * piece.width,
            piece.offset + (high - piece.start) * piece.width,
        )
        at = max(0, bisect_right(hidden, (first, 1 << 62)) - 1)
        out: list[str] = []
        position = first
        while at < len(hidden) and hidden[at][0] < last:
            begin, end = max(hidden[at][0], first), min(hidden[at][1], last)
            if begin < end:
                out.append(text[(position - piece.offset) // piece.width : (begin - piece.offset) // piece.width])
                position = end
            at += 1
        out.append(text[(position - piece.offset) // piece.width : (last - piece.offset) // piece.width])
        return out


def read_pieces(document: bytes, table: bytes, fib: Fib) -> PieceText:
    """Reads the pieces listed in the CLX; `CorruptFile` if it is damaged."""
    if fib.is_old:
        begin, end = fib.old_text
        end = min(end, begin + fib.lengths.main, len(document))
        return PieceText(document, [TextPiece(0, max(0, end - begin), begin, 1)])
    clx = fib.part(table, PIECES)
    position = 0
    while position + 3 <= len(clx) and clx[position] == 1:
        position += 3 + struct.unpack_from("<H", clx, position + 1)[0]
    if position + 5 > len(clx) or clx[position] != 2:
        raise CorruptFile("The Word document's table of pieces is damaged.")
    positions, descriptors = plc(clx[position + 5 :], 8)
    pieces: list[TextPiece] = []
    for start, end, descriptor in zip(positions, positions[1:], descriptors, strict=False):
        if not start < end <= _MAX_CHARACTERS:
            continue
        (encoded,) = struct.unpack_from("<I", descriptor, 2)
        compressed = bool(encoded & _COMPRESSED)
        offset = (encoded & 0x3FFFFFFF) // (2 if compressed else 1)
        pieces.append(_bounded(TextPiece(start, end, offset, 1 if compressed else 2), len(document)))
    return PieceText(document, [piece for piece in pieces if piece.end > piece.start])


def _bounded(piece: TextPiece, size: int) -> TextPiece:
    """Returns the part of the piece that the stream holds."""
    available = max(0, size - piece.offset) // piece.width
    return TextPiece(piece.start, min(piece.end, piece.start + available), piece.offset, piece.width)


def _decoded(document: bytes, piece: TextPiece) -> str:
    raw = document[piece.offset : piece.offset + (piece.end - piece.start) * piece.width]
    if piece.width == 1:
        # Windows-1252 characters; the five codes that it lacks are kept unchanged.
        return "".join(_SINGLE[byte] for byte in raw)
    return "".join(map(chr, struct.unpack(f"<{len(raw) // 2}H", raw[: len(raw) // 2 * 2])))


def _single(byte: int) -> str:
    try:
        return bytes([byte]).decode("cp1252")
    except UnicodeDecodeError:
        return chr(byte)


_SINGLE = [_single(byte) for byte in range(256)]
