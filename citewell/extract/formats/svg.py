"""SVG drawings as text: title, description and labels. Scripts are ignored, references are never followed."""

from __future__ import annotations

from pathlib import Path

from citewell.extract.core.decode import decode_file
from citewell.extract.core.pictures import Pictures
from citewell.extract.core.safexml import XmlElement, local_name, parse_xml, without_doctype, xml_encoding
from citewell.extract.core.sink import Sink
from citewell.types import ElementType, Locator

MAX_SVG_BYTES = 64 * 1024 * 1024
_PROSE = frozenset(("text", "p", "div", "li"))
_LEFT_OUT = frozenset(("script", "style"))
_REFERENCES = frozenset(("image", "use", "script", "feImage", "foreignObject", "iframe"))


def extract(path: Path, sink: Sink) -> None:
    """Reads a drawing. Raises `CorruptFile` if it has no XML element."""
    decoded = decode_file(path, MAX_SVG_BYTES, xml_encoding(path))
    text, declares = without_doctype(decoded.text)
    root = parse_xml(text.encode("utf-8", "replace"), recover=True)
    sink.start_unit("file", 1)
    if declares:
        sink.warn("The file declares entities; they were not expanded.")
    for key in ("width", "height", "viewBox"):
        if root.get(key):
            sink.metadata[key] = root.get(key)
    pictures = Pictures(sink)
    _SvgReader(sink, pictures).read(root)
    pictures.finish()


class _SvgReader:
    """Walks the drawing in document order."""

    def __init__(self, sink: Sink, pictures: Pictures) -> None:
        self._sink = sink
        self._pictures = pictures
        self._place = Locator()

    def read(self, element: XmlElement) -> None:
        """Emits the content of this element; libxml2 bounds the depth."""
        name = local_name(element)
        self._reference(element, name)
        if name in _LEFT_OUT:
            if name == "script":
                self._sink.skip("A script inside the drawing.")
            return
        if name == "title" and not self._place.headings:
            self._title(element)
        elif name in ("title", "desc"):
            self._emit(element, ElementType.CAPTION if name == "title" else ElementType.PARAGRAPH)
        elif name in _PROSE:
            self._emit(element, ElementType.PARAGRAPH)
        else:
            for inner in element:
                self.read(inner)

    def _title(self, element: XmlElement) -> None:
        text = _text(element)
        if text:
            self._sink.emit(ElementType.TITLE, text, self._place, level=1)
            self._place = self._place.with_headings((text,))

    def _emit(self, element: XmlElement, kind: ElementType) -> None:
        text = _text(element)
        if text:
            self._sink.emit(kind, text, self._place)

    def _reference(self, element: XmlElement, name: str) -> None:
        if name not in _REFERENCES:
            return
        for key, value in element.attrib.items():
            target = str(value).strip()
            if not str(key).endswith("href") or not target or target.startswith("#"):
                continue
            if not self._pictures.emit_data_uri(target, self._place):
                self._sink.skip(f"A reference to {target[:100]} was not followed.")


def _text(element: XmlElement) -> str:
    """Returns a text with its spans, each on a new line if it sets its own position, and with white space collapsed."""
    parts = [element.text or ""]
    for inner in element:
        if local_name(inner) in _LEFT_OUT:
            continue
        separator = (
            " " if inner.get("x") or inner.get("dy") or local_name(inner) not in ("tspan", "a", "textPath") else ""
        )
        parts += [separator, _text(inner), inner.tail or ""]
    return " ".join("".join(parts).split())
