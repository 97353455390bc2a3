"""Reads a Word document from front to back and emits its elements."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import zip_longest
from pathlib import Path

from citewell.extract.core.emission import emit_table
from citewell.extract.core.outline import Outline
from citewell.extract.core.pages import Pages
from citewell.extract.core.safexml import XmlElement, local_name
from citewell.extract.core.sink import Sink
from citewell.extract.formats.docx.numbering import Numbering
from citewell.extract.formats.docx.paragraphs import Paragraph, ParagraphReader
from citewell.extract.formats.docx.run_in import RUN_IN_LEVEL, is_run_in_heading
from citewell.extract.formats.docx.styles import Styles, outline_level
from citewell.extract.formats.docx.tables import is_layout, own, read_table
from citewell.extract.formats.ooxml.embedded import add_embedded
from citewell.extract.formats.ooxml.graphics import Graphics, chosen, description_of, visible
from citewell.extract.formats.ooxml.package import OfficePackage, attribute, child, read_properties, value
from citewell.types import ElementType, JsonValue, Locator

_MAIN_PARTS = ("word/document.xml",)
_SEPARATORS = frozenset(("separator", "continuationSeparator", "continuationNotice"))
_TEXT_BOX = frozenset(("txbxContent",))
_PROGRESS_EVERY = 200
_PAGE_CHARACTERS, _PAGE_PARAGRAPHS = 3_000, 40


def extract(path: Path, sink: Sink) -> None:
    """Reads a DOCX. Raises `CorruptFile` if its container or main part is damaged."""
    with OfficePackage(path, sink.options) as package:
        read_properties(package, sink)
        _DocxReader(package, package.main_part(_MAIN_PARTS), sink).read()


class _DocxReader:
    """One document: its parts, the current numbering, page and heading path."""

    def __init__(self, package: OfficePackage, part: str, sink: Sink) -> None:
        self._package, self._part, self._sink = package, part, sink
        self._root = package.xml(part)
        self._styles = Styles(self._optional("styles"))
        self._numbering = Numbering(self._optional("numbering"))
        self._notes = {"footnote": self._by_id("footnotes", "footnote"), "endnote": self._by_id("endnotes", "endnote")}
        self._comments = self._by_id("comments", "comment")
        self._outline = Outline()
        self._pages = Pages(_tells_pages(self._root))
        self._reader = ParagraphReader(package.relationships(part), self._pages, self._styles)
        self._graphics = Graphics(package, sink)
        # A section's properties are at its end and describe how it begins, so the next section describes a break.
        sections = [element for element in self._root.iter() if local_name(element) == "sectPr"]
        self._section_starts = [value(section, "type") for section in sections[1:]]
        self._unit = 0
        self._blocks = 0
        self._hidden = 0

    def read(self) -> None:
        self._sink.start_unit("page" if self._pages.known else "file", 1)
        self._unit = 1
        self._running("header", ElementType.HEADER)
        body = child(self._root, "body")
        if body is not None:
            self._read_blocks(body)
        for kind in ("footnote", "endnote"):
            for identifier in list(self._notes[kind]):
                self._note(kind, identifier)
        for identifier in list(self._comments):
            self._comment(identifier)
        self._running("footer", ElementType.FOOTER)
        add_embedded(self._package, self._part, Locator(), self._sink)
        self._graphics.finish()
        if self._hidden:
            self._sink.skip(f"{self._hidden} characters of hidden text.")

    def _read_blocks(self, container: XmlElement) -> None:
        blocks = list(container)
        for element, after in zip_longest(blocks, blocks[1:]):
            name = local_name(element)
            if name == "p":
                self._paragraph(element, names=after is not None and is_run_in_heading(element, after))
            elif name == "tbl":
                self._table(element)
            elif name == "AlternateContent":
                self._read_blocks(chosen(element))
            elif name not in ("sectPr", "sdtPr", "sdtEndPr", "del", "moveFrom", "tcPr", "altChunk"):
                self._read_blocks(element)

    def _paragraph(self, element: XmlElement, *, names: bool) -> None:
        """names: whether it is a bold heading of the next block."""
        self._blocks += 1
        if self._blocks % _PROGRESS_EVERY == 0:
            self._sink.progress(self._blocks)
        paragraph = self._reader.read(element)
        self._hidden += paragraph.hidden
        properties = child(element, "pPr")
        style = value(properties, "pStyle")
        number, depth = self._number(properties, style)
        # An empty list paragraph consumes a number too.
        label = self._numbering.label(number, depth) if number else ""
        if paragraph.text:
            text = f"{label} {paragraph.text}" if label else paragraph.text
            self._emit_text(text, paragraph, properties, depth + 1 if number else None, names=names)
        self._attached(paragraph)
        if child(properties, "sectPr") is not None and self._section_starts:
            self._pages.section_break(self._section_starts.pop(0))

    def _emit_text(
        self, text: str, paragraph: Paragraph, properties: XmlElement | None, depth: int | None, *, names: bool
    ) -> None:
        """Emits a paragraph as heading, list item (at `depth`), caption or text."""
        style = value(properties, "pStyle")
        metadata: dict[str, JsonValue] = {"links": paragraph.links} if paragraph.links else {}
        place = self._place(paragraph.first_page, paragraph.last_page)
        own_level = outline_level(properties)
        level = own_level if own_level is not None else self._styles.heading_level(style)
        if level is None and names and depth is None and not self._styles.is_caption(style):
            level = RUN_IN_LEVEL
        if level is not None and level >= 0:
            text = " ".join(text.split())
            place = place.with_headings(self._outline.enter(level, text))
            self._sink.emit(ElementType.TITLE, text, place, level=max(1, level), metadata=metadata)
        elif depth is not None:
            self._sink.emit(ElementType.LIST_ITEM, text, place, level=depth, metadata=metadata)
        else:
            kind = ElementType.CAPTION if self._styles.is_caption(style) else ElementType.PARAGRAPH
            self._sink.emit(kind, text, place, metadata=metadata)

    def _number(self, properties: XmlElement | None, style: str | None) -> tuple[str | None, int]:
        """Returns a paragraph's own (numbering id, depth from 0), or else its style's; id None without a number."""
        number, level = self._styles.numbering(style)
        number = value(properties, "numPr", "numId") or number
        level = value(properties, "numPr", "ilvl") or level or "0"
        return (None if number == "0" else number), int(level) if level.isdigit() and len(level) < 3 else 0

    def _table(self, element: XmlElement) -> None:
        if is_layout(element):
            self._layout(element)
            return
        attached: list[Paragraph] = []
        first = self._pages.number
        table = read_table(element, lambda cell: self._cell(cell, attached))
        self._blocks += 1
        self._sink.progress(self._blocks)
        if table is not None:
            pages = [paragraph.first_page for paragraph in attached if paragraph.text]
            links: list[JsonValue] = [link for paragraph in attached for link in paragraph.links][:50]
            place = self._place(min(pages, default=first), max(pages, default=first))
            emit_table(self._sink, table, place, {"links": links} if links else None)
        for paragraph in attached:
            self._attached(paragraph)

    def _layout(self, element: XmlElement) -> None:
        for row in own(element, "tr"):
            for cell in own(row, "tc"):
                self._read_blocks(cell)

    def _cell(self, cell: XmlElement, attached: list[Paragraph]) -> str:
        """Returns a cell's text, a line per paragraph; nested tables row by row."""
        lines: list[str] = []
        for element in _cell_blocks(cell):
            if local_name(element) == "tbl":
                rows = ([self._cell(inner, attached) for inner in own(row, "tc")] for row in own(element, "tr"))
                lines += [" | ".join(" ".join(text.split()) for text in row if text) for row in rows]
                continue
            paragraph = self._reader.read(element)
            self._hidden += paragraph.hidden
            attached.append(paragraph)
            number, depth = self._number(child(element, "pPr"), value(element, "pPr", "pStyle"))
            label = self._numbering.label(number, depth) if number else ""
            lines.append(f"{label} {paragraph.text}" if label and paragraph.text else paragraph.text)
        return "\n".join(line for line in lines if line)

    def _attached(self, paragraph: Paragraph) -> None:
        """Emits the items attached to a paragraph, right after it."""
        for drawing in paragraph.drawings:
            self._drawing(drawing, self._place(paragraph.last_page, paragraph.last_page))
        for identifier in paragraph.footnotes:
            self._note("footnote", identifier)
        for identifier in paragraph.endnotes:
            self._note("endnote", identifier)
        for identifier in paragraph.comments:
            self._comment(identifier)

    def _drawing(self, drawing: XmlElement, place: Locator) -> None:
        """Emits text boxes, pictures, charts and diagrams of one drawing."""
        description = description_of(next((inner for inner in drawing.iter() if local_name(inner) == "docPr"), None))
        for inner in visible(drawing, _TEXT_BOX):
            name = local_name(inner)
            if name == "txbxContent":
                self._read_blocks(inner)
            elif name in ("blip", "imagedata"):
                self._graphics.picture(self._part, inner, place, description)
            elif name == "chart":
                self._graphics.chart(self._part, inner, place)
            elif name == "relIds":
                self._graphics.diagram(self._part, inner, place)
            elif name == "textpath" and inner.get("string"):
                self._sink.emit(ElementType.PARAGRAPH, inner.get("string") or "", place)

    def _note(self, kind: str, identifier: str) -> None:
        note = self._notes[kind].pop(identifier, None)
        if note is not None:
            self._aside(note, f"{kind}s", ElementType.FOOTNOTE, {"kind": kind, "id": identifier})

    def _comment(self, identifier: str) -> None:
        comment = self._comments.pop(identifier, None)
        if comment is not None:
            author = {"author": attribute(comment, "author"), "date": attribute(comment, "date")}
            self._aside(comment, "comments", ElementType.COMMENT, {key: text for key, text in author.items() if text})

    def _aside(self, element: XmlElement, part: str, kind: ElementType, metadata: dict[str, JsonValue]) -> None:
        """Emits a note or comment: its paragraphs as one element, with tables inside it flattened."""
        text = self._text_of(element, part)
        if text:
            self._sink.emit(kind, text, self._place(self._pages.number, self._pages.number), metadata=metadata)

    def _text_of(self, element: XmlElement, kind: str) -> str:
        """Returns all paragraphs of an element of another part, a line each."""
        parts = self._package.related(self._part, kind)
        reader = ParagraphReader(self._package.relationships(parts[0]) if parts else {}, Pages(False), self._styles)
        texts = (reader.read(inner).text for inner in element.iter() if local_name(inner) == "p")
        return "\n".join(text for text in texts if text)

    def _running(self, kind: str, type: ElementType) -> None:
        """Emits headers or footers, each distinct text once."""
        seen: set[str] = set()
        for part in self._package.related(self._part, kind):
            root = self._package.optional_xml(part, self._sink)
            if root is None:
                continue
            reader = ParagraphReader(self._package.relationships(part), Pages(False), self._styles)
            paragraphs = [reader.read(inner) for inner in root.iter() if local_name(inner) == "p"]
            text = "\n".join(paragraph.text for paragraph in paragraphs if paragraph.text)
            if text and text not in seen:
                seen.add(text)
                self._sink.emit(type, text, Locator())
            for drawing in (drawing for paragraph in paragraphs for drawing in paragraph.drawings):
                for blip in visible(drawing, _TEXT_BOX):
                    if local_name(blip) in ("blip", "imagedata"):
                        self._graphics.picture(part, blip, Locator(), "")

    def _place(self, first: int, last: int) -> Locator:
        """Returns a locator under the current headings; begins the coverage unit of its page."""
        if not self._pages.known:
            return Locator(headings=self._outline.path)
        if first > self._unit:
            self._sink.start_unit("page", first)
            self._unit = first
        pages = tuple(range(first, last + 1)) if last > first else ()
        return Locator(page=first, pages=pages, headings=self._outline.path)

    def _optional(self, kind: str) -> XmlElement | None:
        parts = self._package.related(self._part, kind)
        return self._package.optional_xml(parts[0] if parts else None, self._sink)

    def _by_id(self, kind: str, name: str) -> dict[str, XmlElement]:
        root = self._optional(kind)
        found = (element for element in root if local_name(element) == name) if root is not None else ()
        return {
            attribute(element, "id") or "": element
            for element in found
            if attribute(element, "type") not in _SEPARATORS
        }


def _tells_pages(root: XmlElement) -> bool:
    """Whether the breaks in the document reveal its pages: Word recorded page ends, or there are only explicit breaks
    with so little text between them that no page can have overflowed.
    """
    explicit = False
    characters = paragraphs = 0
    fits = True
    for element in root.iter():
        name = local_name(element)
        if name == "lastRenderedPageBreak":
            return True
        if name == "br" and attribute(element, "type") == "page":
            explicit = True
            characters = paragraphs = 0
        elif name == "p":
            paragraphs += 1
        elif name == "t":
            characters += len(element.text or "")
        fits = fits and characters <= _PAGE_CHARACTERS and paragraphs <= _PAGE_PARAGRAPHS
    return explicit and fits


def _cell_blocks(cell: XmlElement) -> Iterator[XmlElement]:
    """Yields paragraphs and tables of a cell, through content controls."""
    for inner in cell:
        name = local_name(inner)
        if name in ("p", "tbl"):
            yield inner
        elif name == "AlternateContent":
            yield from _cell_blocks(chosen(inner))
        elif name not in ("tcPr", "sdtPr", "sdtEndPr", "del", "moveFrom"):
            yield from _cell_blocks(inner)
