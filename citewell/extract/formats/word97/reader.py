"""Reads a DOC from front to back and emits its elements."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

from citewell.errors import CorruptFile
from citewell.extract.core.blips import pictures
from citewell.extract.core.compound import CompoundFile
from citewell.extract.core.damage import RECORD_DAMAGE
from citewell.extract.core.edge_tables import Row, RowFormat, read_table
from citewell.extract.core.emission import emit_table
from citewell.extract.core.names import safe_name
from citewell.extract.core.outline import Outline
from citewell.extract.core.pictures import Pictures
from citewell.extract.core.sink import Sink
from citewell.extract.formats.ooxml.embedded import native_file
from citewell.extract.formats.word97 import fib as blocks
from citewell.extract.formats.word97.fib import Fib, plc, read_fib
from citewell.extract.formats.word97.fields import FieldFilter
from citewell.extract.formats.word97.pieces import PieceText, read_pieces
from citewell.extract.formats.word97.properties import ParagraphProperties, ParagraphRuns, hidden_ranges, raised_ranges
from citewell.extract.formats.word97.styles import ListTable, StyleSheet
from citewell.types import ElementType, JsonValue, Locator

_PROGRESS_EVERY = 500
_SEPARATOR_STORIES = 6
_HEADER_KINDS = {
    0: ElementType.HEADER,
    1: ElementType.HEADER,
    4: ElementType.HEADER,
    2: ElementType.FOOTER,
    3: ElementType.FOOTER,
    5: ElementType.FOOTER,
}
_OBJECTS = {"WORKBOOK": "Excel", "WORDDOCUMENT": "Word", "POWERPOINT DOCUMENT": "PowerPoint"}


def extract(path: Path, sink: Sink) -> None:
    """Reads a DOC. Raises `CorruptFile` if its container, header or piece table is damaged."""
    with CompoundFile(path) as compound:
        document = compound.read("WordDocument")
        if document is None:
            raise CorruptFile("The file contains no Word document.")
        fib = read_fib(document)
        table = compound.read(fib.table_stream) or b""
        data = compound.read("Data") or b""
        sink.start_unit("file", 1)
        compound.read_summary(sink)
        _embedded(compound, sink)
    try:
        _WordReader(document, table, fib, sink).read()
    except RECORD_DAMAGE as error:
        raise CorruptFile("The Word document is damaged.") from error
    images = Pictures(sink)
    for number, picture in enumerate((*pictures(data), *pictures(document)), 1):
        images.emit(picture, f"picture {number}", Locator())
    images.finish()


def _embedded(compound: CompoundFile, sink: Sink) -> None:
    """Adds files packaged in the document's object pool as children; notes objects of office programs."""
    for name in compound.names():
        if not name.startswith("OBJECTPOOL/"):
            continue
        stream = name.rsplit("/", 1)[-1]
        if stream == "\x01OLE10NATIVE":
            found = native_file(compound.read(name) or b"")
            if found is not None:
                sink.add_child(safe_name(found[0]) or "object.bin", Locator()).write_bytes(found[1])
        elif stream == "PACKAGE":
            sink.add_child("object.bin", Locator()).write_bytes(compound.read(name) or b"")
        elif stream in _OBJECTS:
            sink.skip(f"An embedded {_OBJECTS[stream]} object.")


class _WordReader:
    """One document: its text and properties, and the current heading path."""

    def __init__(self, document: bytes, table: bytes, fib: Fib, sink: Sink) -> None:
        self._fib, self._table, self._sink = fib, table, sink
        self._text: PieceText = read_pieces(document, table, fib)
        self._text.raise_(raised_ranges(document, table, fib))
        self._runs = ParagraphRuns(document, table, fib)
        self._hidden = hidden_ranges(document, table, fib)
        self._styles = StyleSheet(table, fib)
        self._lists = ListTable(table, fib)
        self._outline = Outline()
        self._fields = FieldFilter()
        self._cell: list[str] = []
        self._cells: list[str] = []
        self._rows: list[Row] = []

    def read(self) -> None:
        lengths = self._fib.lengths
        self._headers(lengths.main + lengths.footnotes)
        asides = sorted((*self._footnotes(), *self._comments(), *self._endnotes()), key=lambda aside: aside[0])
        for count, (start, end) in enumerate(self._paragraphs(0, min(lengths.main, self._text.length))):
            self._paragraph(start, end)
            while asides and asides[0][0] < end and not self._cells and not self._cell:
                self._aside(*asides.pop(0)[1:])
            if count % _PROGRESS_EVERY == 0:
                self._sink.progress(start, lengths.main)
        self._end_table()
        for _, kind, text, metadata in asides:
            self._aside(kind, text, metadata)
        self._text_boxes(lengths.total - lengths.text_boxes)

    def _paragraphs(self, start: int, end: int) -> Iterator[tuple[int, int]]:
        """Yields (start, end) of each paragraph; end is past its mark (paragraph, cell, page or section)."""
        position = start
        window = 64 * 1024
        begin = start
        while position < end:
            text = self._text.slice(position, min(position + window, end), [])
            for index, character in enumerate(text):
                if character in "\r\x07\x0c":
                    yield begin, position + index + 1
                    begin = position + index + 1
            position += max(1, len(text))
        if begin < end:
            yield begin, end

    def _paragraph(self, start: int, end: int) -> None:
        properties = self._runs.at(self._text.offset(end - 1))
        mark = self._text.slice(end - 1, end, [])
        text = self._visible(start, end)
        if properties.row_end and mark == "\x07":
            self._rows.append(Row(self._cells, properties.row or RowFormat()))
            self._cells, self._cell = [], []
        elif mark == "\x07":
            self._cells.append("\n".join(line for line in (*self._cell, text) if line))
            self._cell = []
        elif properties.in_table:
            self._cell.append(text)
        else:
            self._end_table()
            if text:
                self._emit(text, properties)

    def _emit(self, text: str, properties: ParagraphProperties) -> None:
        label = self._lists.label(properties.list_id, properties.list_level) if properties.list_id else ""
        text = f"{label} {text}" if label else text
        links: list[JsonValue] = self._fields.take_links()
        metadata: dict[str, JsonValue] = {"links": links} if links else {}
        level = self._styles.heading_level(properties.style)
        if properties.outline is not None:
            level = properties.outline + 1 if properties.outline < 9 else None
        if level is not None:
            title = " ".join(text.split())
            place = Locator(headings=self._outline.enter(level, title))
            self._sink.emit(ElementType.TITLE, title, place, level=max(1, level), metadata=metadata)
        elif properties.list_id:
            self._sink.emit(
                ElementType.LIST_ITEM, text, self._place(), level=properties.list_level + 1, metadata=metadata
            )
        else:
            kind = ElementType.CAPTION if self._styles.is_caption(properties.style) else ElementType.PARAGRAPH
            self._sink.emit(kind, text, self._place(), metadata=metadata)

    def _end_table(self) -> None:
        if self._cells or self._cell:
            self._rows.append(Row([*self._cells, *self._cell], RowFormat()))
            self._cells, self._cell = [], []
        rows, self._rows = self._rows, []
        table = read_table(rows) if rows else None
        if table is not None:
            emit_table(self._sink, table, self._place())

    def _visible(self, start: int, end: int) -> str:
        return self._fields.clean(self._text.slice(start, end, self._hidden))

    def _story(self, start: int, end: int) -> str:
        """Returns a text outside the main one, such as a note."""
        text = FieldFilter().clean(self._text.slice(start, min(end, self._text.length), self._hidden))
        return "\n".join(line for line in text.split("\n") if line)

    def _footnotes(self) -> Iterator[tuple[int, ElementType, str, dict[str, JsonValue]]]:
        return self._notes(
            blocks.FOOTNOTE_REFERENCES,
            blocks.FOOTNOTE_TEXT,
            2,
            self._fib.lengths.main,
            ElementType.FOOTNOTE,
            "footnote",
        )

    def _endnotes(self) -> Iterator[tuple[int, ElementType, str, dict[str, JsonValue]]]:
        lengths = self._fib.lengths
        start = lengths.main + lengths.footnotes + lengths.headers + lengths.comments
        return self._notes(blocks.ENDNOTE_REFERENCES, blocks.ENDNOTE_TEXT, 2, start, ElementType.FOOTNOTE, "endnote")

    def _comments(self) -> Iterator[tuple[int, ElementType, str, dict[str, JsonValue]]]:
        lengths = self._fib.lengths
        start = lengths.main + lengths.footnotes + lengths.headers
        return self._notes(blocks.COMMENT_REFERENCES, blocks.COMMENT_TEXT, 30, start, ElementType.COMMENT, "comment")

    def _notes(
        self, references: int, texts: int, size: int, base: int, kind: ElementType, name: str
    ) -> Iterator[tuple[int, ElementType, str, dict[str, JsonValue]]]:
        """Yields (position of the reference, …) of each note; `base` is where the notes' text begins."""
        if self._fib.is_old:
            return
        positions, _ = plc(self._fib.part(self._table, references), size)
        bounds, _ = plc(self._fib.part(self._table, texts), 0)
        for reference, start, end in zip(positions, bounds, bounds[1:], strict=False):
            text = self._story(base + start, base + end)
            if text:
                yield reference, kind, text, {"kind": name}

    def _aside(self, kind: ElementType, text: str, metadata: dict[str, JsonValue]) -> None:
        self._sink.emit(kind, text, self._place(), metadata=metadata)

    def _headers(self, base: int) -> None:
        """Emits headers and footers, each distinct text once; the first six stories are note separators."""
        if self._fib.is_old:
            return
        bounds, _ = plc(self._fib.part(self._table, blocks.HEADERS), 0)
        seen: set[str] = set()
        for index, (start, end) in enumerate(pairwise(bounds)):
            text = self._story(base + start, base + end) if index >= _SEPARATOR_STORIES and start < end else ""
            if text and text not in seen:
                seen.add(text)
                self._sink.emit(_HEADER_KINDS[index % 6], text, Locator())

    def _text_boxes(self, base: int) -> None:
        if self._fib.is_old:
            return
        bounds, _ = plc(self._fib.part(self._table, blocks.TEXT_BOXES), 22)
        for start, end in pairwise(bounds):
            text = self._story(base + start, base + end)
            if text:
                self._sink.emit(ElementType.PARAGRAPH, text, Locator())

    def _place(self) -> Locator:
        return Locator(headings=self._outline.path)
