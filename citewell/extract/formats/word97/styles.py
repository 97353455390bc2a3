"""Heading styles of a DOC ([MS-DOC] 2.9.271), and the numbering of its lists (2.9.131, 2.9.150)."""

from __future__ import annotations

import struct

from citewell.extract.core.numbering import Level, ListDefinition
from citewell.extract.formats.word97.fib import LIST_USES, LISTS, STYLES, Fib

_TITLE, _CAPTION = 62, 34
_NO_STYLE = 0x0FFF
_MAX_CHAIN = 20
_FORMATS = {
    0: "decimal",
    1: "upperRoman",
    2: "lowerRoman",
    3: "upperLetter",
    4: "lowerLetter",
    22: "decimalZero",
    23: "bullet",
    255: "none",
}


class StyleSheet:
    """The built-in identity of each style, and the style it is based on."""

    def __init__(self, table: bytes, fib: Fib) -> None:
        self._styles: dict[int, tuple[int, int]] = {}
        data = fib.part(table, STYLES)
        if len(data) < 4:
            return
        header, count = struct.unpack_from("<HH", data)
        position = 2 + header
        for index in range(count):
            if position + 2 > len(data):
                return
            (size,) = struct.unpack_from("<H", data, position)
            if size >= 4 and position + 6 <= len(data):
                identity, based = struct.unpack_from("<HH", data, position + 2)
                self._styles[index] = (identity & 0x0FFF, based >> 4)
            position += 2 + size + size % 2

    def heading_level(self, style: int) -> int | None:
        """Returns a style's heading level; 0 for the document's title, None for other text."""
        for identity in self._chain(style):
            if 1 <= identity <= 9:
                return identity
            if identity == _TITLE:
                return 0
        return None

    def is_caption(self, style: int) -> bool:
        """Whether the style is a caption style."""
        return _CAPTION in self._chain(style)

    def _chain(self, style: int) -> list[int]:
        out: list[int] = []
        while style in self._styles and style != _NO_STYLE and len(out) < _MAX_CHAIN:
            identity, style = self._styles[style]
            out.append(identity)
        return out


class ListTable:
    """The lists of a document and their numbering."""

    def __init__(self, table: bytes, fib: Fib) -> None:
        self._uses: list[int] = []
        self._definitions: dict[int, ListDefinition] = {}
        try:
            self._read_lists(table, fib)
            self._read_uses(fib.part(table, LIST_USES))
        except (struct.error, IndexError):
            # Numbers are optional: a damaged list table leaves the paragraphs without them.
            return

    def label(self, use: int, level: int) -> str:
        """Returns the next label of the list used as number `use` (from 1); empty for bullets."""
        if not 1 <= use <= len(self._uses):
            return ""
        definition = self._definitions.get(self._uses[use - 1])
        return definition.next_label(level) if definition is not None else ""

    def _read_uses(self, data: bytes) -> None:
        (count,) = struct.unpack_from("<I", data) if len(data) >= 4 else (0,)
        self._uses = [struct.unpack_from("<I", data, 4 + 16 * i)[0] for i in range(min(count, (len(data) - 4) // 16))]

    def _read_lists(self, table: bytes, fib: Fib) -> None:
        """Reads the list headers, then the levels of all lists, which follow after the counted length."""
        data = fib.part(table, LISTS)
        if len(data) < 2:
            return
        (offset,) = struct.unpack_from("<I", fib.data, 154 + 8 * LISTS)
        (count,) = struct.unpack_from("<H", data)
        position = offset + 2 + 28 * count
        for index in range(count):
            header = offset + 2 + 28 * index
            (identity,) = struct.unpack_from("<I", table, header)
            definition = self._definitions.setdefault(identity, ListDefinition())
            for level in range(1 if table[header + 26] & 1 else 9):
                definition.levels[level], position = _level(table, position)


def _level(table: bytes, position: int) -> tuple[Level, int]:
    start, form = struct.unpack_from("<iB", table, position)
    sizes = table[position + 24] + table[position + 25]
    position += 28 + sizes
    (length,) = struct.unpack_from("<H", table, position)
    units = struct.unpack_from(f"<{length}H", table, position + 2)
    text = "".join(f"%{unit + 1}" if unit < 9 else chr(unit) for unit in units)
    return Level(_FORMATS.get(form, "decimal"), text, max(0, start)), position + 2 + 2 * length
