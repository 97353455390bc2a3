"""Reads an OpenDocument text or presentation and emits its elements."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from pathlib import Path

from citewell.extract.core.emission import emit_table
from citewell.extract.core.outline import Outline
from citewell.extract.core.pages import Pages
from citewell.extract.core.pictures import Pictures
from citewell.extract.core.safexml import XmlElement, local_name
from citewell.extract.core.safezip import SafeZip
from citewell.extract.core.sink import Sink
from citewell.extract.formats.opendocument.package import OpenPackage, attribute, child
from citewell.extract.formats.opendocument.styles import ListLevel, OpenStyles, label
from citewell.extract.formats.opendocument.tables import read_table
from citewell.extract.formats.opendocument.text import FRAMES, OpenParagraph, plain_text, read_paragraph
from citewell.types import ElementType, JsonValue, Locator

_TITLE_CLASSES = frozenset(("title",))
_FURNITURE_CLASSES = frozenset(("header", "footer", "date-time", "page-number"))
_LENGTH = re.compile(r"(-?[\d.]+)\s*(cm|mm|in|pt|pc|px)?")
_POINTS = {"cm": 28.35, "mm": 2.835, "in": 72.0, "pt": 1.0, "pc": 12.0, "px": 0.75, None: 1.0}
_BAND = 18.0
"""Points (a quarter of an inch): shapes whose tops differ by less share a row."""
_PROGRESS_EVERY = 200


def extract(path: Path, sink: Sink) -> None:
    """Reads an ODT or ODP. Raises `CorruptFile` if its container or content is damaged."""
    with SafeZip(path, sink.options) as archive:
        package = OpenPackage(archive, sink)
        content = package.content()
        package.read_metadata()
        body = child(content, "body")
        reader = _OpenDocumentReader(package, content, sink)
        for document in body if body is not None else ():
            if local_name(document) == "presentation":
                reader.presentation(document)
            else:
                reader.text(document)
        reader.finish()


class _OpenDocumentReader:
    """One document: its styles, and the current page or slide and heading path."""

    def __init__(self, package: OpenPackage, content: XmlElement, sink: Sink) -> None:
        self._package, self._sink = package, sink
        self._styles_root = package.xml("styles.xml")
        self._styles = OpenStyles(self._styles_root, content)
        self._outline = Outline()
        self._pages = Pages(any(local_name(element) == "soft-page-break" for element in content.iter()))
        self._pictures = Pictures(sink)
        self._slide: int | None = None
        self._unit = 1
        self._blocks = 0
        self._counts: list[int] = []
        self._lists: list[str | None] = []
        self._levels: list[ListLevel | None] = []

    def text(self, document: XmlElement) -> None:
        """Reads a text document."""
        self._sink.start_unit("page" if self._pages.known else "file", 1)
        self._running("header", ElementType.HEADER)
        self._blocks_of(document)
        self._running("footer", ElementType.FOOTER)

    def presentation(self, document: XmlElement) -> None:
        """Reads a presentation: each page is a slide."""
        slides = [inner for inner in document if local_name(inner) == "page"]
        for number, slide in enumerate(slides, 1):
            self._slide = number
            self._outline = Outline()
            shapes = sorted((inner for inner in slide if local_name(inner) in {*FRAMES, "table"}), key=_reading_order)
            title = next(
                (plain_text(shape, self._styles) for shape in shapes if attribute(shape, "class") in _TITLE_CLASSES), ""
            )
            self._sink.start_unit("slide", number, " ".join(title.split())[:200] or None)
            for shape in shapes:
                self._frame(shape)
            for inner in slide:
                if local_name(inner) == "notes":
                    self._notes(inner)
                elif local_name(inner) == "annotation":
                    self._comment(inner)
            self._sink.progress(number, len(slides))

    def finish(self) -> None:
        """Must be called at the end of the document."""
        self._pictures.finish()

    def _blocks_of(self, container: XmlElement) -> None:
        for element in container:
            name = local_name(element)
            if name in ("p", "h"):
                self._paragraph(element, name)
            elif name == "list":
                self._list(element)
            elif name == "table":
                self._table(element)
            elif name == "soft-page-break":
                self._pages.rendered_break()
            elif name in FRAMES:
                self._frame(element)
            elif name not in ("tracked-changes", "forms", "sequence-decls", "variable-decls", "user-field-decls", ""):
                self._blocks_of(element)

    def _paragraph(self, element: XmlElement, name: str, marker: str = "") -> bool:
        """Emits one paragraph; returns whether it had text."""
        self._blocks += 1
        if self._blocks % _PROGRESS_EVERY == 0:
            self._sink.progress(self._blocks)
        if self._styles.breaks_page(attribute(element, "style-name")):
            self._pages.rendered_break()
        paragraph = read_paragraph(element, self._pages, self._styles)
        text = paragraph.text
        if text:
            self._emit(text, paragraph, element if name == "h" else None, marker)
        self._attached(paragraph)
        return bool(text)

    def _emit(self, text: str, paragraph: OpenParagraph, heading: XmlElement | None, marker: str) -> None:
        number = f"{paragraph.number} " if paragraph.number else marker
        metadata: dict[str, JsonValue] = {"links": paragraph.links} if paragraph.links else {}
        place = self._place(paragraph.first_page, paragraph.last_page)
        if heading is not None:
            depth = attribute(heading, "outline-level") or "1"
            level = int(depth) if depth.isdigit() and len(depth) < 3 else 1
            text = " ".join(f"{number}{text}".split())
            place = place.with_headings(self._outline.enter(level, text))
            self._sink.emit(ElementType.TITLE, text, place, level=level, metadata=metadata)
        elif self._lists:
            self._sink.emit(ElementType.LIST_ITEM, number + text, place, level=len(self._lists), metadata=metadata)
        else:
            self._sink.emit(ElementType.PARAGRAPH, number + text, place, metadata=metadata)

    def _list(self, element: XmlElement) -> None:
        style = attribute(element, "style-name") or (self._lists[-1] if self._lists else None)
        self._lists.append(style)
        level = self._styles.list_level(style, len(self._lists))
        self._levels.append(level)
        self._counts.append(level.start - 1 if level else 0)
        for item in element:
            if local_name(item) in ("list-item", "list-header"):
                self._list_item(item, numbered=level is not None and local_name(item) == "list-item")
        self._lists.pop()
        self._levels.pop()
        self._counts.pop()

    def _list_item(self, item: XmlElement, numbered: bool) -> None:
        """Emits an item's paragraphs, the first with its number, and nested lists."""
        self._counts[-1] += numbered
        marker = f"{label(self._counts, self._levels)} " if numbered else ""
        for inner in item:
            if local_name(inner) in ("p", "h"):
                if self._paragraph(inner, local_name(inner), marker):
                    marker = ""
            elif local_name(inner) == "list":
                self._list(inner)

    def _table(self, element: XmlElement) -> None:
        attached: list[OpenParagraph] = []
        first = self._pages.number
        table = read_table(element, lambda cell: self._cell(cell, attached))
        if table is not None:
            pages = [paragraph.first_page for paragraph in attached if paragraph.text]
            emit_table(self._sink, table, self._place(min(pages, default=first), max(pages, default=first)))
        for paragraph in attached:
            self._attached(paragraph)

    def _cell(self, cell: XmlElement, attached: list[OpenParagraph]) -> str:
        lines: list[str] = []
        for inner in cell.iter():
            if local_name(inner) in ("p", "h") and not _inside_frame(inner, cell):
                paragraph = read_paragraph(inner, self._pages, self._styles)
                attached.append(paragraph)
                lines.append(paragraph.text)
        return "\n".join(line for line in lines if line)

    def _attached(self, paragraph: OpenParagraph) -> None:
        for frame in paragraph.frames:
            self._frame(frame)
        for note in paragraph.notes:
            body = child(note, "note-body")
            text = plain_text(body, self._styles) if body is not None else ""
            if text:
                self._sink.emit(
                    ElementType.FOOTNOTE,
                    text,
                    self._here(),
                    metadata={"kind": attribute(note, "note-class") or "footnote"},
                )
        for comment in paragraph.comments:
            self._comment(comment)

    def _frame(self, frame: XmlElement) -> None:
        """Emits a frame or shape: its text box, table, picture, embedded object, or grouped shapes."""
        kind = attribute(frame, "class")
        if kind in _TITLE_CLASSES and self._slide is not None:
            self._slide_title(frame)
            return
        if kind in _FURNITURE_CLASSES:
            text = plain_text(frame, self._styles)
            if text:
                self._sink.emit(ElementType.FOOTER, text, self._here())
            return
        description = " ".join(
            (inner.text or "").strip() for inner in frame if local_name(inner) in ("title", "desc") and inner.text
        ).strip()
        handled = False
        for inner in frame if local_name(frame) != "table" else [frame]:
            name = local_name(inner)
            if name == "table":
                self._table(inner)
            elif name == "text-box":
                self._blocks_of(inner)
            elif name in ("object", "object-ole"):
                handled = self._object(inner) or handled
            elif name == "image" and not handled:
                handled = self._image(inner, description) or handled
            elif name in FRAMES:
                self._frame(inner)
            elif name in ("p", "h"):
                self._paragraph(inner, name)
            elif name == "list":
                self._list(inner)

    def _slide_title(self, frame: XmlElement) -> None:
        text = " ".join(plain_text(frame, self._styles).split())
        if text:
            place = self._here().with_headings(self._outline.enter(1, text))
            self._sink.emit(ElementType.TITLE, text, place, level=1)

    def _image(self, element: XmlElement, description: str) -> bool:
        reference = attribute(element, "href")
        part = self._package.path(reference)
        if part is None:
            if reference:
                self._sink.skip("A picture that is not in the file (linked or missing).")
            return False
        data = self._package.read(part)
        if data is not None:
            self._pictures.emit(data, posixpath.basename(part), self._here(), description)
        return True

    def _object(self, element: XmlElement) -> bool:
        """Emits an embedded formula or chart as text or table, or a file as child; returns whether there was one."""
        part = self._package.path(attribute(element, "href"))
        if part is None:
            return False
        root = self._package.xml(f"{part}/content.xml")
        if root is None:
            data = self._package.read(part)
            if data:
                self._sink.add_child(posixpath.basename(part), self._here()).write_bytes(data)
            return False
        if local_name(root) == "math":
            source = next((inner.text or "" for inner in root.iter() if local_name(inner) == "annotation"), "")
            self._sink.emit(ElementType.PARAGRAPH, source.strip() or " ".join(root.itertext()).strip(), self._here())
            return True
        table = next((inner for inner in root.iter() if local_name(inner) == "table"), None)
        content = read_table(table, lambda cell: plain_text(cell, self._styles)) if table is not None else None
        if content is not None:
            emit_table(self._sink, content, self._here(), {"chart": True})
        return content is not None

    def _notes(self, notes: XmlElement) -> None:
        text = "\n".join(
            plain_text(shape, self._styles) for shape in notes if attribute(shape, "class") not in _FURNITURE_CLASSES
        ).strip()
        if text:
            self._sink.emit(ElementType.NOTE, text, self._here())

    def _comment(self, comment: XmlElement) -> None:
        author = child(comment, "creator")
        text = plain_text(comment, self._styles)
        if text:
            name = (author.text or "").strip() if author is not None else ""
            self._sink.emit(ElementType.COMMENT, text, self._here(), metadata={"author": name} if name else None)

    def _running(self, kind: str, type: ElementType) -> None:
        """Emits headers or footers of all page styles, each distinct text once."""
        seen: set[str] = set()
        for element in self._styles_root.iter() if self._styles_root is not None else ():
            if local_name(element) in (kind, f"{kind}-first", f"{kind}-left"):
                text = plain_text(element, self._styles)
                if text and text not in seen:
                    seen.add(text)
                    self._sink.emit(type, text, Locator())

    def _here(self) -> Locator:
        return self._place(self._pages.number, self._pages.number)

    def _place(self, first: int, last: int) -> Locator:
        """Returns a locator under the current headings; begins the coverage unit of its page."""
        if self._slide is not None:
            return Locator(slide=self._slide, headings=self._outline.path)
        if not self._pages.known:
            return Locator(headings=self._outline.path)
        if first > self._unit:
            self._sink.start_unit("page", first)
            self._unit = first
        return Locator(
            page=first, pages=tuple(range(first, last + 1)) if last > first else (), headings=self._outline.path
        )


def _reading_order(shape: XmlElement) -> tuple[bool, int, float]:
    """Sort key: titles first, then top to bottom and left to right; shapes whose tops differ by less than 18 points
    share a row.
    """
    return (
        attribute(shape, "class") not in _TITLE_CLASSES,
        int(_points(attribute(shape, "y")) // _BAND),
        _points(attribute(shape, "x")),
    )


def _points(length: str | None) -> float:
    match = _LENGTH.fullmatch((length or "").strip())
    try:
        return float(match.group(1)) * _POINTS[match.group(2)] if match else 0.0
    except ValueError:
        return 0.0


def _inside_frame(element: XmlElement, cell: XmlElement) -> bool:
    """Whether a paragraph is in a frame, note or comment inside the cell; those are read separately."""
    for ancestor in _until(element, cell):
        if local_name(ancestor) in FRAMES or local_name(ancestor) in ("note", "annotation"):
            return True
    return False


def _until(element: XmlElement, last: XmlElement) -> Iterator[XmlElement]:
    for ancestor in element.iterancestors():
        if ancestor is last:
            return
        yield ancestor
