"""Writes small Word 97 and PowerPoint 97 files, by [MS-DOC] and [MS-PPT], as far as the tests need."""

from __future__ import annotations

import struct
from dataclasses import dataclass, field
from itertools import accumulate, pairwise

from tests.extract.documents.compound import compound_file

TEXT_AT = 2048
PAIRS = 93
# Word's own numbers of its built-in styles, and the places of styles in the files that are written here.
HEADING_1, TITLE, CAPTION = 1, 62, 34
NORMAL, HEADING, SUBHEADING, TITLE_STYLE, CAPTION_STYLE, OWN_HEADING = range(6)


@dataclass
class Doc:
    """A Word document: each paragraph is (text with its mark, style, modifiers). Stories follow the main text in order."""

    paragraphs: list[tuple[str, int, bytes]]
    footnotes: list[tuple[int, str]] = field(default_factory=list)
    headers: list[str] = field(default_factory=list)
    comments: list[tuple[int, str]] = field(default_factory=list)
    endnotes: list[tuple[int, str]] = field(default_factory=list)
    text_boxes: list[str] = field(default_factory=list)
    deleted: list[tuple[int, int]] = field(default_factory=list)
    levels: list[tuple[int, str]] = field(default_factory=list)
    narrow: bool = False
    streams: dict[str, bytes] = field(default_factory=dict)

    def build(self) -> bytes:
        main = "".join(text for text, _, _ in self.paragraphs)
        stories = [
            [t for _, t in self.footnotes],
            self.headers,
            [t for _, t in self.comments],
            [t for _, t in self.endnotes],
            self.text_boxes,
        ]
        rest = "".join("".join(story) for story in stories)
        text = (main + rest).encode("cp1252" if self.narrow else "utf-16-le")
        pages_at = -(-(TEXT_AT + len(text)) // 512)
        table = bytearray(b"\0" * 16)
        pairs: dict[int, tuple[int, int]] = {}

        def add(index: int, data: bytes) -> None:
            pairs[index] = (len(table), len(data))
            table.extend(data)

        add(1, self._styles())
        add(2, _references(self.footnotes, 2))
        add(3, _bounds(stories[0]))
        add(4, _references(self.comments, 30))
        add(5, _bounds(stories[2]))
        add(11, _bounds(self.headers))
        add(12, struct.pack("<III", TEXT_AT, TEXT_AT + len(text), pages_at + 1))
        add(13, struct.pack("<III", TEXT_AT, TEXT_AT + len(text), pages_at))
        encoded = (TEXT_AT * 2 | 0x40000000) if self.narrow else TEXT_AT
        add(33, b"\x02" + struct.pack("<IIIHIH", 16, 0, len(main + rest), 0, encoded, 0))
        add(46, _references(self.endnotes, 2))
        add(47, _bounds(stories[3]))
        add(56, _bounds(self.text_boxes, 22))
        if self.levels:
            add(73, struct.pack("<H", 1) + struct.pack("<Ii18sBB", 77, 0, b"", 0, 0))
            table.extend(
                b"".join(
                    self._level(form, template)
                    for form, template in (*self.levels, *[(255, "")] * (9 - len(self.levels)))
                )
            )
            add(74, struct.pack("<IIII5sB2s", 1, 77, 0, 0, b"", 0, b"")[:4] + struct.pack("<I12s", 77, b""))
        lengths = [len(main), *(sum(map(len, story)) for story in stories)]
        document = self._header(lengths, pairs) + text
        document = document.ljust(pages_at * 512, b"\0") + self._paragraph_page() + self._character_page()
        return compound_file({"WordDocument": document, "1Table": bytes(table), **self.streams})

    def _header(self, lengths: list[int], pairs: dict[int, tuple[int, int]]) -> bytes:
        header = bytearray(TEXT_AT)
        struct.pack_into("<HH", header, 0, 0xA5EC, 0x00C1)
        struct.pack_into("<H", header, 10, 0x0200)
        main, footnotes, headers, comments, endnotes, boxes = lengths
        struct.pack_into("<7I", header, 76, main, footnotes, headers, 0, comments, endnotes, boxes)
        struct.pack_into("<H", header, 152, PAIRS)
        for index, (offset, length) in pairs.items():
            struct.pack_into("<II", header, 154 + 8 * index, offset, length)
        return bytes(header)

    def _width(self) -> int:
        return 1 if self.narrow else 2

    def _paragraph_page(self) -> bytes:
        bounds = [TEXT_AT + self._width() * n for n in (0, *accumulate(len(text) for text, _, _ in self.paragraphs))]
        page, at, places = bytearray(512), 508, []
        for _, style, modifiers in self.paragraphs:
            data = struct.pack("<H", style) + modifiers
            at = (at - len(data) - 2) // 2 * 2
            odd = len(data) % 2
            page[at : at + 1 + (not odd) + len(data)] = (
                bytes([(len(data) + 1) // 2]) if odd else bytes([0, len(data) // 2])
            ) + data
            places.append(at // 2)
        struct.pack_into(f"<{len(bounds)}I", page, 0, *bounds)
        for index, place in enumerate(places):
            page[4 * len(bounds) + 13 * index] = place
        page[511] = len(self.paragraphs)
        return bytes(page)

    def _character_page(self) -> bytes:
        page = bytearray(512)
        runs = sorted({0, *(n for pair in self.deleted for n in pair), 1_000_000})
        struct.pack_into(f"<{len(runs)}I", page, 0, *(TEXT_AT + self._width() * n for n in runs))
        page[480:484] = b"\x03\x00\x08\x01"
        for index, pair in enumerate(pairwise(runs)):
            page[4 * len(runs) + index] = 240 if pair in self.deleted else 0
        page[511] = len(runs) - 1
        return bytes(page)

    @staticmethod
    def _styles() -> bytes:
        known = [(0, 0xFFF), (HEADING_1, 0), (2, 0), (TITLE, 0), (CAPTION, 0), (0xFFE, 1)]
        entries = b"".join(struct.pack("<HHH6s", 10, identity, 1 | base << 4, b"") for identity, base in known)
        return struct.pack("<HH16s", 18, len(known), b"") + entries

    @staticmethod
    def _level(form: int, template: str) -> bytes:
        units = [ord(c) for c in template]
        return (
            struct.pack("<iBB9sB12s", 1, form, 0, b"", 0, b"")[:24]
            + b"\0\0\0\0"
            + struct.pack(f"<H{len(units)}H", len(units), *units)
        )


def modifier(code: int, value: int) -> bytes:
    """One property modifier with an operand of the size its code says."""
    size = (1, 1, 2, 4, 2, 2, 0, 3)[code >> 13]
    return struct.pack("<H", code) + value.to_bytes(size, "little")


IN_TABLE = modifier(0x2416, 1)


def styled(text: str, style: int, modifiers: bytes = b"") -> tuple[str, int, bytes]:
    """A paragraph with its mark."""
    return f"{text}\r", style, modifiers


def plain(text: str) -> tuple[str, int, bytes]:
    """A paragraph without style."""
    return styled(text, NORMAL)


def table_row(cells: list[str], edges: list[int], merges: list[int] | None = None) -> list[tuple[str, int, bytes]]:
    """The paragraphs of a row and its end mark; a line break in a cell begins a paragraph."""
    marked = [f"{text}\x07".replace("\n", "\r") for text in cells]
    paragraphs = [part for text in marked for part in text.splitlines(keepends=True)]
    return [*((text, NORMAL, IN_TABLE) for text in paragraphs), ("\x07", NORMAL, row_end(edges, merges))]


def row_end(edges: list[int], merges: list[int] | None = None) -> bytes:
    """The modifiers of a row's end mark: cell edges in twips, and per cell its merge flags."""
    cells = b"".join(struct.pack("<H18s", flags, b"") for flags in merges or [0] * (len(edges) - 1))
    definition = bytes([len(edges) - 1]) + struct.pack(f"<{len(edges)}h", *edges) + cells
    return IN_TABLE + modifier(0x2417, 1) + struct.pack("<HH", 0xD608, len(definition) + 1) + definition


def _references(notes: list[tuple[int, str]], size: int) -> bytes:
    positions = [position for position, _ in notes]
    return (
        struct.pack(f"<{len(positions) + 1}I", *positions, 1_000_000) + b"\0" * size * len(positions) if notes else b""
    )


def _bounds(texts: list[str], size: int = 0) -> bytes:
    ends = [0, *accumulate(len(text) for text in texts)]
    return struct.pack(f"<{len(ends)}I", *ends) + b"\0" * size * len(texts) if texts else b""


def record(kind: int, content: bytes | list[bytes], instance: int = 0) -> bytes:
    """A PowerPoint record: a container of records, or an atom."""
    body = b"".join(content) if isinstance(content, list) else content
    version = 0xF if isinstance(content, list) else 0
    return struct.pack("<HHI", instance << 4 | version, kind, len(body)) + body


def text_records(kind: int, text: str) -> list[bytes]:
    """A text header and its text: bytes where they suffice, else UTF-16."""
    header = record(3999, struct.pack("<I", kind))
    atom = record(4008, text.encode("latin-1")) if text.isascii() else record(4000, text.encode("utf-16-le"))
    return [header, atom]


def shape(content: list[bytes], top: int, left: int) -> bytes:
    """A shape with a text box at a place in master units."""
    return record(
        0xF004, [record(0xF010, struct.pack("<4h", top, left, left + 100, top + 100)), record(0xF00D, content)]
    )


def ppt(
    slides: list[tuple[list[bytes], list[bytes]]], notes: dict[int, str] | None = None, pictures: bytes = b""
) -> bytes:
    """A presentation: per slide the records of its outline, and its shapes. `notes`: by index of the slide."""
    notes = notes or {}
    stream, offsets = bytearray(), {}

    def put(number: int, data: bytes) -> None:
        offsets[number] = len(stream)
        stream.extend(data)

    for index, (_, shapes) in enumerate(slides):
        atom = record(
            1007,
            struct.pack("<12sIII", b"", 0, 0, 0)[:16] + struct.pack("<II", 500 + index if index in notes else 0, 0),
        )
        put(10 + index, record(1006, [atom, record(1036, [record(0xF002, [record(0xF003, shapes)])])]))
    for index, text in notes.items():
        put(
            100 + index,
            record(1008, [record(1036, [record(0xF002, [record(0xF003, [shape(text_records(2, text), 0, 0)])])])]),
        )
    listed = [
        piece
        for index, (outline, _) in enumerate(slides)
        for piece in (record(1011, struct.pack("<5I", 10 + index, 0, 0, 256 + index, 0)), *outline)
    ]
    noted = [record(1011, struct.pack("<5I", 100 + index, 0, 0, 500 + index, 0)) for index in notes]
    put(1, record(1000, [record(4080, listed, 0), record(4080, noted, 2)]))
    directory_at = len(stream)
    stream.extend(
        record(6002, b"".join(struct.pack("<II", number | 1 << 20, offset) for number, offset in offsets.items()))
    )
    edit_at = len(stream)
    stream.extend(record(4085, struct.pack("<IIIIIIHH", 0, 0, 0, directory_at, 1, 0, 0, 0)))
    user = record(4086, struct.pack("<III", 20, 0xE391C05F, edit_at))
    return compound_file({"PowerPoint Document": bytes(stream), "Current User": user, "Pictures": pictures})
