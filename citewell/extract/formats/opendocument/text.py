"""Reads an OpenDocument paragraph: its text, links, notes, comments, frames and page breaks."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from citewell.extract.core.pages import Pages
from citewell.extract.core.raised import raised
from citewell.extract.core.safexml import XmlElement, local_name
from citewell.extract.formats.opendocument.package import attribute, child
from citewell.extract.formats.opendocument.styles import OpenStyles
from citewell.types import JsonValue

_LEFT_OUT = frozenset(
    (
        "tracked-changes", "ruby-text", "hidden-text", "hidden-paragraph", "bookmark", "bookmark-start", "bookmark-end", "reference-mark-start", "reference-mark-end",
    )
)  # fmt: skip
FRAMES = frozenset(
    (
        "frame", "custom-shape", "g", "rect", "ellipse", "circle", "line", "path", "polygon", "polyline", "connector",
        "control", "caption", "measure",
    )
)  # fmt: skip
_SPACE = re.compile(r"[ \t\r\n]+")
_MAX_SPACES = 1_000
_MAX_LINKS = 50


@dataclass(slots=True)
class OpenParagraph:
    """The content of one `text:p` or `text:h`. `number` is its automatic label if the file stores it."""

    parts: list[str] = field(default_factory=list[str])
    links: list[JsonValue] = field(default_factory=list[JsonValue])
    notes: list[XmlElement] = field(default_factory=list[XmlElement])
    comments: list[XmlElement] = field(default_factory=list[XmlElement])
    frames: list[XmlElement] = field(default_factory=list[XmlElement])
    number: str = ""
    first_page: int = 0
    last_page: int = 0

    @property
    def text(self) -> str:
        """The text without surrounding white space or white space at line ends."""
        return "\n".join(line.strip() for line in "".join(self.parts).split("\n")).strip()


def read_paragraph(element: XmlElement, pages: Pages, styles: OpenStyles) -> OpenParagraph:
    """Reads one paragraph or heading; libxml2 bounds the depth of its content."""
    out = OpenParagraph(first_page=pages.number, last_page=pages.number)
    _Inline(out, pages, styles).inside(element)
    return out


def plain_text(element: XmlElement, styles: OpenStyles) -> str:
    """Returns all paragraphs below an element, a line each."""
    texts = (
        read_paragraph(inner, Pages(False), styles).text for inner in element.iter() if local_name(inner) in ("p", "h")
    )
    return "\n".join(text for text in texts if text)


class _Inline:
    """Collects the inline content of one paragraph."""

    def __init__(self, out: OpenParagraph, pages: Pages, styles: OpenStyles) -> None:
        self._out, self._pages, self._styles = out, pages, styles
        self._raised = False

    def inside(self, element: XmlElement) -> None:
        """Adds the content of an element."""
        self._add(element.text)
        for inner in element:
            self._one(inner, local_name(inner))
            self._add(inner.tail)

    def _one(self, element: XmlElement, name: str) -> None:
        out = self._out
        if name in _LEFT_OUT or not name:
            return
        if name == "s":
            count = attribute(element, "c") or "1"
            out.parts.append(" " * (min(int(count), _MAX_SPACES) if count.isdigit() else 1))
        elif name == "tab":
            out.parts.append("\t")
        elif name == "line-break":
            out.parts.append("\n")
        elif name == "soft-page-break":
            self._pages.rendered_break()
        elif name == "note":
            out.notes.append(element)
        elif name == "annotation":
            out.comments.append(element)
        elif name in FRAMES:
            out.frames.append(element)
            self._pages.text()
        elif name == "number":
            out.number = (element.text or "").strip()
        elif name == "a":
            self._link(element)
        elif name == "span":
            self._span(element)
        elif name == "ruby":
            base = child(element, "ruby-base")
            if base is not None:
                self.inside(base)
        else:
            self.inside(element)

    def _span(self, element: XmlElement) -> None:
        around = self._raised
        own = self._styles.raises(attribute(element, "style-name"))
        self._raised = around if own is None else own
        self.inside(element)
        self._raised = around

    def _add(self, text: str | None) -> None:
        if not text:
            return
        out = self._out
        if text.strip():
            if not any(part.strip() for part in out.parts):
                out.first_page = self._pages.number
            out.last_page = self._pages.number
            self._pages.text()
        folded = _SPACE.sub(" ", text)
        out.parts.append(raised(folded) if self._raised else folded)

    def _link(self, element: XmlElement) -> None:
        out, begin = self._out, len(self._out.parts)
        self.inside(element)
        target = attribute(element, "href") or ""
        if (
            target
            and not target.startswith("#")
            and not target.lower().startswith(("javascript:", "data:", "file:"))
            and len(out.links) < _MAX_LINKS
        ):
            out.links.append({"text": " ".join("".join(out.parts[begin:]).split())[:200], "href": target[:2000]})
