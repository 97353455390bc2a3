"""Reads a presentation slide by slide and emits its elements."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from citewell.extract.core.emission import emit_table
from citewell.extract.core.safexml import XmlElement, local_name
from citewell.extract.core.sink import Sink
from citewell.extract.formats.ooxml.embedded import add_embedded
from citewell.extract.formats.ooxml.graphics import Graphics, description_of, visible
from citewell.extract.formats.ooxml.package import OfficePackage, attribute, child, read_properties
from citewell.extract.formats.pptx.shapes import FURNITURE, TITLES, drawing_properties, placeholder, shapes_in_order
from citewell.extract.formats.pptx.tables import read_table
from citewell.extract.formats.pptx.text import plain_text, read_paragraphs
from citewell.types import ElementType, JsonValue, Locator

_MAIN_PARTS = ("ppt/presentation.xml",)
_LIST_PLACEHOLDERS = frozenset(("body", "obj"))
_CLOSED = frozenset(("txBody", "tbl"))
_MAX_NAME = 200
"""Characters kept of a slide's name in the coverage report."""


def extract(path: Path, sink: Sink) -> None:
    """Reads a PPTX. Raises `CorruptFile` if its container or main part is damaged; damaged slides are skipped."""
    with OfficePackage(path, sink.options) as package:
        read_properties(package, sink)
        part = package.main_part(_MAIN_PARTS)
        presentation = package.xml(part)
        sections = _sections(presentation)
        graphics = Graphics(package, sink)
        slides = _slides(package, part, presentation)
        seen: set[str] = set()
        for number, (identifier, slide) in enumerate(slides, 1):
            if number > sink.options.max_pages:
                sink.skip(f"Slides {number} to {len(slides)}: the limit is {sink.options.max_pages}.")
                break
            _Slide(package, slide, number, sections.get(identifier), graphics, sink).read(seen)
            sink.progress(number, len(slides))
        graphics.finish()


def _slides(package: OfficePackage, part: str, presentation: XmlElement) -> list[tuple[str, str]]:
    """Returns (slide id, part) in presentation order, or ordered by name if the list is missing."""
    relationships = package.relationships(part)
    out: list[tuple[str, str]] = []
    listed = child(presentation, "sldIdLst")
    for element in listed if listed is not None else ():
        reference = next((str(value) for key, value in element.attrib.items() if str(key).endswith("}id")), "")
        if reference in relationships:
            out.append((element.get("id") or "", relationships[reference].target))
    return out or [("", slide) for slide in package.related(part, "slide")]


def _sections(presentation: XmlElement) -> dict[str, str]:
    """Returns the section name of each slide id."""
    out: dict[str, str] = {}
    for section in presentation.iter():
        if local_name(section) == "section":
            for slide in section.iter():
                if local_name(slide) == "sldId":
                    out[slide.get("id") or ""] = " ".join((section.get("name") or "").split())
    return {identifier: name for identifier, name in out.items() if name}


class _Slide:
    """One slide. Its number, its section's name and its title locate every element, those above the title included."""

    def __init__(
        self, package: OfficePackage, part: str, number: int, section: str | None, graphics: Graphics, sink: Sink
    ) -> None:
        self._package, self._part, self._graphics, self._sink = package, part, graphics, sink
        self._number = number
        self._above = self._place = Locator(slide=number, headings=(section,) if section else ())

    def read(self, seen: set[str]) -> None:
        """Emits the slide; `seen` holds the layouts and masters whose own text was emitted with a slide before."""
        root = self._optional(self._part)
        if root is None:
            self._sink.start_unit("slide", self._number)
            self._sink.warn("The slide is damaged and was left out.")
            return
        layouts = self._package.related(self._part, "slideLayout")
        tree = child(root, "cSld", "spTree")
        shapes = shapes_in_order(tree, self._optional(layouts[0] if layouts else None)) if tree is not None else []
        title = self._title(shapes)
        self._sink.start_unit("slide", self._number, title[:_MAX_NAME] or None)
        if title:
            self._place = self._above.with_headings((*self._above.headings, title))
        if attribute(root, "show") in ("0", "false"):
            self._sink.warn("The slide is hidden in the show.")
        for shape in shapes:
            self._shape(shape)
        self._behind(root, layouts, seen)
        self._notes()
        self._comments()
        add_embedded(self._package, self._part, self._place, self._sink)
        self._note_media()

    def _title(self, shapes: list[XmlElement]) -> str:
        for shape in shapes:
            found = placeholder(shape)
            if found is not None and found.type in TITLES:
                return " ".join(plain_text(child(shape, "txBody"), {}).split())
        return ""

    def _shape(self, shape: XmlElement) -> None:
        name = local_name(shape)
        found = placeholder(shape)
        body = child(shape, "txBody")
        if body is not None:
            self._text(body, found.type if found else None)
        description = description_of(drawing_properties(shape))
        for inner in visible(shape, _CLOSED):
            kind = local_name(inner)
            if kind == "tbl":
                self._table(inner)
            elif kind == "chart":
                self._graphics.chart(self._part, inner, self._place)
            elif kind == "relIds":
                self._graphics.diagram(self._part, inner, self._place)
            elif kind == "blip":
                self._graphics.picture(self._part, inner, self._place, description if name == "pic" else "")

    def _text(self, body: XmlElement, kind: str | None) -> None:
        for paragraph in read_paragraphs(body, self._package.relationships(self._part)):
            metadata: dict[str, JsonValue] = {"links": paragraph.links} if paragraph.links else {}
            if kind in TITLES:
                self._sink.emit(ElementType.TITLE, paragraph.text, self._above, level=1, metadata=metadata)
            elif kind in FURNITURE:
                self._sink.emit(ElementType.FOOTER, paragraph.text, self._place)
            elif paragraph.bullet or (paragraph.bullet is None and kind in _LIST_PLACEHOLDERS):
                self._sink.emit(
                    ElementType.LIST_ITEM, paragraph.text, self._place, level=paragraph.level + 1, metadata=metadata
                )
            else:
                self._sink.emit(ElementType.PARAGRAPH, paragraph.text, self._place, metadata=metadata)

    def _table(self, element: XmlElement) -> None:
        relationships = self._package.relationships(self._part)
        table = read_table(element, lambda cell: plain_text(child(cell, "txBody"), relationships))
        if table is not None:
            emit_table(self._sink, table, self._place)

    def _behind(self, root: XmlElement, layouts: Sequence[str], seen: set[str]) -> None:
        """Emits the text that layout and master show behind every slide that uses them, without placeholders."""
        shows = attribute(root, "showMasterSp")
        for part in (
            *layouts,
            *(master for layout in layouts for master in self._package.related(layout, "slideMaster")),
        ):
            if shows in ("0", "false"):
                return
            behind = self._optional(part)
            if behind is None:
                return
            shows = attribute(behind, "showMasterSp")
            if part in seen:
                continue
            seen.add(part)
            tree = child(behind, "cSld", "spTree")
            for shape in shapes_in_order(tree, None) if tree is not None else ():
                text = plain_text(child(shape, "txBody"), {}) if placeholder(shape) is None else ""
                if text:
                    self._sink.emit(ElementType.FOOTER, text, self._place)

    def _notes(self) -> None:
        """Emits the speaker's notes, without the slide's picture, number and date on the notes page."""
        for part in self._package.related(self._part, "notesSlide"):
            root = self._optional(part)
            tree = child(root, "cSld", "spTree")
            for shape in tree if tree is not None else ():
                found = placeholder(shape)
                if local_name(shape) == "sp" and (found is None or found.type not in {*FURNITURE, "sldImg"}):
                    text = plain_text(child(shape, "txBody"), self._package.relationships(part))
                    if text:
                        self._sink.emit(ElementType.NOTE, text, self._place)

    def _comments(self) -> None:
        for part in self._package.related(self._part, "comments"):
            root = self._optional(part)
            for comment in root.iter() if root is not None else ():
                if local_name(comment) not in ("cm", "reply"):
                    continue
                body = child(comment, "txBody")
                plain = child(comment, "text")
                text = plain_text(body, {}) or ((plain.text or "").strip() if plain is not None else "")
                if text:
                    date = attribute(comment, "created") or attribute(comment, "dt")
                    self._sink.emit(ElementType.COMMENT, text, self._place, metadata={"date": date} if date else None)

    def _note_media(self) -> None:
        media = {target for kind in ("video", "audio", "media") for target in self._package.related(self._part, kind)}
        for target in sorted(media):
            self._sink.skip(f"The recording {target.rsplit('/', 1)[-1]}: sound and video are not read.")

    def _optional(self, part: str | None) -> XmlElement | None:
        return self._package.optional_xml(part, self._sink)
