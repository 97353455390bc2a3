"""Converts RTF text to elements: paragraphs, list items, headings and tables, with attached notes and pictures."""

from __future__ import annotations

from citewell.extract.core.edge_tables import Row, RowFormat, read_table
from citewell.extract.core.emission import emit_table
from citewell.extract.core.outline import Outline
from citewell.extract.core.pictures import Pictures
from citewell.extract.core.sink import Sink
from citewell.extract.core.symbols import without_private_use
from citewell.extract.formats.rtf.state import Head, Place, State
from citewell.types import ElementType, JsonValue, Locator

_BULLETS = frozenset("•·o§–-—▪◦●○■□➢✓*")
_TYPES = {
    Place.HEADER: ElementType.HEADER,
    Place.FOOTER: ElementType.FOOTER,
    Place.FOOTNOTE: ElementType.FOOTNOTE,
    Place.COMMENT: ElementType.COMMENT,
    Place.TEXT_BOX: ElementType.PARAGRAPH,
}


class Blocks:
    """Collects text until a paragraph, cell or row ends."""

    def __init__(self, sink: Sink, outline: Outline, head: Head, pictures: Pictures) -> None:
        self._sink, self._outline, self._head, self._pictures = sink, outline, head, pictures
        self._parts: list[str] = []
        self._label = ""
        self._links: list[JsonValue] = []
        self._asides: list[tuple[Place, str]] = []
        self._images: list[bytes] = []
        self._cell: list[str] = []
        self._cells: list[str] = []
        self._rows: list[Row] = []
        self._format = RowFormat()
        self._seen: set[tuple[Place, str]] = set()

    def text(self, text: str) -> None:
        """Adds text to the current paragraph."""
        self._parts.append(text)

    def label(self, text: str) -> None:
        """Sets the automatic number or bullet of the current paragraph."""
        self._label = " ".join(without_private_use(text).split()) or "•"

    def link(self, target: str) -> None:
        """Adds a link to the current paragraph."""
        if len(self._links) < 50 and not target.lower().startswith(("javascript:", "file:", "data:")):
            self._links.append({"href": target})

    def aside(self, place: Place, text: str) -> None:
        """Adds a note, comment, text box, header or footer, emitted after the current paragraph."""
        folded = _tidy([text])
        if folded and (place not in (Place.HEADER, Place.FOOTER) or (place, folded) not in self._seen):
            self._seen.add((place, folded))
            self._asides.append((place, folded))

    def picture(self, data: bytes) -> None:
        """Adds a picture to the current paragraph."""
        if data:
            self._images.append(data)

    def row_word(self, word: str, number: int | None) -> None:
        """Takes a word of a table row's definition."""
        if word == "trowd":
            self._format = RowFormat()
        elif word == "cellx":
            self._format.add_edge(number or 0)
        elif word == "trhdr":
            self._format.header = True
        else:
            self._format.mark(word)

    def end_paragraph(self, state: State) -> None:
        """Ends the paragraph: as part of a cell, or as an element."""
        text = _tidy(self._parts)
        self._parts = []
        label, self._label = self._label, ""
        if state.in_table:
            self._cell.append(f"{label} {text}" if label and label not in _BULLETS else text)
            return
        self._end_table()
        if text:
            self._emit(text, label, state)
        self._links = []
        self._attached()

    def end_cell(self) -> None:
        """Ends the cell with the text since the last paragraph."""
        text = _tidy(self._parts)
        self._parts, self._label = [], ""
        self._cells.append("\n".join(line for line in (*self._cell, text) if line))
        self._cell = []

    def end_row(self) -> None:
        """Ends the row, with the last definition given."""
        if self._cells:
            self._rows.append(Row(self._cells, self._format))
        self._cells, self._cell = [], []
        self._sink.progress(len(self._rows))

    def finish(self) -> None:
        """Ends the document; everything still open becomes elements."""
        if self._cells or self._cell:
            self.end_cell()
            self.end_row()
        self.end_paragraph(State())

    def _end_table(self) -> None:
        rows, self._rows = self._rows, []
        table = read_table(rows) if rows else None
        if table is not None:
            emit_table(self._sink, table, self._place())

    def _emit(self, text: str, label: str, state: State) -> None:
        level = (
            state.outline + 1
            if state.outline is not None and state.outline < 9
            else self._head.heading_level(state.style)
        )
        numbered = f"{label} {text}" if label and label not in _BULLETS else text
        metadata: dict[str, JsonValue] = {"links": self._links} if self._links else {}
        if level is not None:
            title = " ".join(numbered.split())
            place = self._place().with_headings(self._outline.enter(level, title))
            self._sink.emit(ElementType.TITLE, title, place, level=level, metadata=metadata)
        elif label or state.listed:
            self._sink.emit(ElementType.LIST_ITEM, numbered, self._place(), level=state.level + 1, metadata=metadata)
        else:
            self._sink.emit(ElementType.PARAGRAPH, text, self._place(), metadata=metadata)

    def _attached(self) -> None:
        asides, self._asides = self._asides, []
        images, self._images = self._images, []
        for place, text in asides:
            where = Locator() if place in (Place.HEADER, Place.FOOTER) else self._place()
            self._sink.emit(_TYPES[place], text, where)
        for data in images:
            self._pictures.emit(data, "picture", self._place())

    def _place(self) -> Locator:
        return Locator(headings=self._outline.path)


def _tidy(parts: list[str]) -> str:
    """Returns text with surrogate pairs joined and white space at line ends removed."""
    text = "".join(parts).encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    lines = (line.strip(" \ufeff") for line in without_private_use(text).split("\n"))
    return "\n".join(lines).strip()
