"""Reads an OpenDocument paragraph: its text, links, notes, comments, frames and page breaks."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from citewell.extract.core.pages import Pages
from citewell.extract.core.safexml import XmlElement, local_name
from citewell.extract.formats.opendocument.package import attribute, child
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


def read_paragraph(element: XmlElement, pages: Pages) -> OpenParagraph:
    """Reads one paragraph or heading; libxml2 bounds the depth of its content."""
    out = OpenParagraph(first_page=pages.number, last_page=pages.number)
    _inside(element, out, pages)
    return out


def plain_text(element: XmlElement) -> str:
    """Returns all paragraphs below an element, a line each."""
    texts = (read_paragraph(inner, Pages(False)).text for inner in element.iter() if local_name(inner) in ("p", "h"))
    return "\n".join(text for text in texts if text)


def _inside(element: XmlElement, out: OpenParagraph, pages: Pages) -> None:
    _add(element.text, out, pages)
    for inner in element:
        _one(inner, local_name(inner), out, pages)
        _add(inner.tail, out, pages)


def _one(element: XmlElement, name: str, out: OpenParagraph, pages: Pages) -> None:
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
        pages.rendered_break()
    elif name == "note":
        out.notes.append(element)
    elif name == "annotation":
        out.comments.append(element)
    elif name in FRAMES:
        out.frames.append(element)
        pages.text()
    elif name == "number":
        out.number = (element.text or "").strip()
    elif name == "a":
        _link(element, out, pages)
    elif name == "ruby":
        base = child(element, "ruby-base")
        if base is not None:
            _inside(base, out, pages)
    else:
        _inside(element, out, pages)


def _add(text: str | None, out: OpenParagraph, pages: Pages) -> None:
    if not text:
        return
    if text.strip():
        if not any(part.strip() for part in out.parts):
            out.first_page = pages.number
        out.last_page = pages.number
        pages.text()
    out.parts.append(_SPACE.sub(" ", text))


def _link(element: XmlElement, out: OpenParagraph, pages: Pages) -> None:
    begin = len(out.parts)
    _inside(element, out, pages)
    target = attribute(element, "href") or ""
    if (
        target
        and not target.startswith("#")
        and not target.lower().startswith(("javascript:", "data:", "file:"))
        and len(out.links) < _MAX_LINKS
    ):
        out.links.append({"text": " ".join("".join(out.parts[begin:]).split())[:200], "href": target[:2000]})
