"""Converts an HTML tree to elements in one walk in document order, splitting the text at block boundaries."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import islice

from lxml import etree

from citewell.extract.core.emission import emit_table
from citewell.extract.core.names import own_description
from citewell.extract.core.outline import Outline
from citewell.extract.core.raised import raised
from citewell.extract.core.safexml import XmlElement
from citewell.extract.core.sink import Sink
from citewell.extract.formats.html.tables import field_text, is_data_table, is_raised, read_table
from citewell.types import ElementType, JsonValue, Locator

SKIPPED = frozenset(
    (
        "script", "style", "template", "noscript", "iframe", "object", "embed", "canvas", "audio", "video", "svg",
        "head", "link", "meta", "base", "select", "datalist",
    )
)  # fmt: skip
BLOCKS = frozenset(
    (
        "address", "article", "aside", "blockquote", "body", "caption", "center", "dd", "details", "dialog", "div",
        "dl", "dt", "fieldset", "figcaption", "figure", "footer", "form", "h1", "h2", "h3", "h4", "h5", "h6",
        "header", "hgroup", "hr", "html", "legend", "li", "main", "menu", "nav", "ol", "optgroup", "option", "p",
        "pre", "section", "summary", "table", "tbody", "td", "tfoot", "th", "thead", "tr", "ul",
    )
)  # fmt: skip
_SPACE = re.compile(r"[ \t\r\n\f\u00a0]+")
_INVISIBLE = re.compile("[\u00ad\u200b\ufeff]")
_PARTED = re.compile(r"\n{2,}")
_MAX_LINKS = 50
_MAX_ANCESTORS = 100
_HIDDEN_STYLE = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)


@dataclass(slots=True)
class _Block:
    """An open block element: the kind of element its text becomes."""

    tag: str
    type: ElementType
    level: int | None = None
    furniture: ElementType | None = None
    hidden: bool = False
    preformatted: bool = False
    marker: str = ""


@dataclass(slots=True)
class _List:
    """An open list: numbered or not, and the number of its next item."""

    ordered: bool
    number: int = 1


@dataclass(slots=True)
class _Line:
    """The text collected since the last block boundary."""

    parts: list[str] = field(default_factory=list[str])
    links: list[dict[str, str]] = field(default_factory=list[dict[str, str]])
    images: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])


class HtmlFlow:
    """Emits the elements of one tree (or several in sequence) under one outline.

    base:     locator shared by all elements (a page, a slide, none); headings are added to it
    levels:   added to each heading's level, so that the body of a message is below its subject
    on_image: called with an image's source, description and locator; returns whether it could read the image
    """

    def __init__(
        self,
        sink: Sink,
        outline: Outline,
        base: Locator | None = None,
        levels: int = 0,
        on_image: Callable[[str, str, Locator], bool] | None = None,
    ) -> None:
        self._sink = sink
        self._outline = outline
        self._base = base or Locator()
        self._levels = levels
        self._on_image = on_image
        self._blocks = [_Block("", ElementType.PARAGRAPH)]
        self._lists: list[_List] = []
        self._line = _Line()
        self._hidden = 0
        self._raised: list[XmlElement] = []

    def read(self, root: XmlElement) -> None:
        """Walks the tree without recursion and emits its content."""
        walk = etree.iterwalk(root, events=("start", "end"))
        for count, (event, node) in enumerate(walk):
            tag = node.tag.lower() if isinstance(node.tag, str) else ""
            if event == "start":
                if not self._open(node, tag):
                    walk.skip_subtree()
            else:
                self._close(node, tag)
            if count % 20_000 == 0:
                self._sink.progress(count)
        self._flush()
        if self._hidden:
            self._sink.warn(f"{self._hidden} passages are hidden from readers of the page (marked `hidden`).")
            self._hidden = 0

    def _open(self, node: XmlElement, tag: str) -> bool:
        """Handles a start tag; False skips its content."""
        if tag in ("input", "select"):
            self._add(f" {field_text(node)} ")
        if tag in SKIPPED or not tag:
            return False
        if tag == "table" and is_data_table(node):
            return not self._table(node)
        if tag in BLOCKS:
            self._flush()
            self._blocks.append(self._block(node, tag))
            if tag in ("ul", "ol", "menu"):
                self._lists.append(_List(tag == "ol", _integer(node.get("start"), 1)))
        elif tag == "br":
            self._line.parts.append("\n")
        elif tag in ("img", "image"):
            self._image(node)
        elif tag == "a":
            self._link(node)
        elif tag == "math":
            self._line.parts.append(node.get("alttext") or " ".join(node.itertext()))
            return False
        if is_raised(node):
            self._raised.append(node)
        self._add(node.text)
        return True

    def _close(self, node: XmlElement, tag: str) -> None:
        if tag in BLOCKS and len(self._blocks) > 1 and self._blocks[-1].tag == tag:
            self._flush()
            self._blocks.pop()
            if tag in ("ul", "ol", "menu") and self._lists:
                self._lists.pop()
        if self._raised and self._raised[-1] is node:
            self._raised.pop()
        self._add(node.tail)

    def _block(self, node: XmlElement, tag: str) -> _Block:
        outer = self._blocks[-1]
        block = _Block(
            tag,
            outer.type,
            outer.level,
            outer.furniture or _furniture(node, tag),
            outer.hidden or _is_hidden(node),
            outer.preformatted,
        )
        if re.fullmatch(r"h[1-6]", tag):
            block.type, block.level = ElementType.TITLE, int(tag[1]) + self._levels
        elif tag == "pre":
            block.type, block.level, block.preformatted = ElementType.CODE, None, True
        elif tag in ("figcaption", "caption"):
            block.type, block.level = ElementType.CAPTION, None
        elif tag in ("li", "dt", "dd"):
            block.type, block.level = ElementType.LIST_ITEM, max(1, len(self._lists)) + (tag == "dd")
            block.marker = self._marker() if tag == "li" else ""
        elif tag in ("td", "th"):
            block.type, block.level = ElementType.PARAGRAPH, None
        return block

    def _marker(self) -> str:
        if not self._lists or not self._lists[-1].ordered:
            return ""
        number = self._lists[-1].number
        self._lists[-1].number += 1
        return f"{number}. "

    def _add(self, text: str | None) -> None:
        if text:
            text = raised(text) if self._raised else text
            self._line.parts.append(text if self._blocks[-1].preformatted else _SPACE.sub(" ", text))

    def _link(self, node: XmlElement) -> None:
        href = (node.get("href") or "").strip()
        if href and not href.lower().startswith(("javascript:", "data:", "#")) and len(self._line.links) < _MAX_LINKS:
            self._line.links.append({"text": _folded("".join(node.itertext()))[:200], "href": href[:2000]})

    def _image(self, node: XmlElement) -> None:
        description = own_description(node.get("alt") or "") or own_description(node.get("title") or "")
        source = (
            node.get("src") or node.get("{http://www.w3.org/1999/xlink}href") or node.get("xlink:href") or ""
        ).strip()
        if description or (source and self._on_image):
            self._line.images.append((description, source))

    def _table(self, node: XmlElement) -> bool:
        """Emits a data table; False if it is not one after all, so that its cells are read as text."""
        table = read_table(node)
        if table is None:
            return False
        self._flush()
        caption = _folded(" ".join(node.xpath("string(caption)").split()))
        if caption:
            self._emit(ElementType.CAPTION, caption, None)
        outer = self._blocks[-1]
        if outer.furniture:
            self._emit(outer.furniture, table.markdown, None)
            return True
        emit_table(self._sink, table, self._place())
        return True

    def _flush(self) -> None:
        """Emits the collected text as the innermost open block specifies."""
        line, self._line = self._line, _Line()
        block = self._blocks[-1]
        text = "".join(line.parts)
        text = _INVISIBLE.sub("", text).strip("\r\n") if block.preformatted else _tidy(text)
        if text.strip():
            kind, level = (block.furniture, None) if block.furniture else (block.type, block.level)
            self._hidden += block.hidden
            # People use two consecutive line breaks to separate paragraphs.
            whole = block.preformatted or kind is ElementType.TITLE
            for part in [text] if whole else _PARTED.split(text):
                self._emit(kind, block.marker + part, level, _metadata(line, part, block.hidden))
                self._drop_marker()
        for description, source in line.images:
            self._emit_image(description, source, block)

    def _emit_image(self, description: str, source: str, block: _Block) -> None:
        """Emits an image that the caller can read, or else its description, if any."""
        if self._on_image is not None and self._on_image(source, description, self._place()):
            return
        if description and block.furniture is None:
            metadata: dict[str, JsonValue] = {"source": source[:200], "alt": description}
            self._sink.emit(ElementType.IMAGE, description, self._place(), metadata=metadata)

    def _drop_marker(self) -> None:
        for block in reversed(self._blocks):
            block.marker = ""
            if block.tag == "li":
                break

    def _emit(
        self, kind: ElementType, text: str, level: int | None, metadata: dict[str, JsonValue] | None = None
    ) -> None:
        place = self._place()
        if kind is ElementType.TITLE and level is not None:
            text = _folded(text)
            place = self._base.with_headings(self._outline.enter(level, text))
        self._sink.emit(kind, text, place, level=level, metadata=metadata)

    def _place(self) -> Locator:
        return self._base.with_headings(self._outline.path)


def _metadata(line: _Line, text: str, hidden: bool) -> dict[str, JsonValue]:
    """Returns the links in this part of the line, and whether it is visible on the page."""
    links = [link for link in line.links if str(link["text"]) in text]
    return {**({"links": links} if links else {}), **({"hidden": True} if hidden else {})}


def _furniture(node: XmlElement, tag: str) -> ElementType | None:
    """Classifies page furniture: navigation, banners and page footers, but not a header or footer in an article."""
    role = (node.get("role") or "").lower()
    if tag == "nav" or role in ("navigation", "banner", "search"):
        return ElementType.HEADER
    if role == "contentinfo":
        return ElementType.FOOTER
    if tag in ("header", "footer"):
        around = islice(node.iterancestors(), _MAX_ANCESTORS)
        inside = any(ancestor.tag in ("article", "main", "section", "blockquote") for ancestor in around)
        if inside or (tag == "header" and node.find(".//h1") is not None):
            return None
        return ElementType.HEADER if tag == "header" else ElementType.FOOTER
    return None


def _is_hidden(node: XmlElement) -> bool:
    return node.get("hidden") is not None or bool(_HIDDEN_STYLE.search(node.get("style") or ""))


def _tidy(text: str) -> str:
    lines = (_folded(line) for line in _INVISIBLE.sub("", text).split("\n"))
    return "\n".join(lines).strip()


def _folded(text: str) -> str:
    return " ".join(text.split())


def _integer(text: str | None, default: int) -> int:
    return int(text) if text and re.fullmatch(r"-?\d{1,9}", text.strip()) else default
