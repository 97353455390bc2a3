"""HTML pages: headings, paragraphs, lists, code and tables in order; navigation kept apart, scripts and styles left out."""

from __future__ import annotations

import re
from pathlib import Path
from typing import cast

from lxml import etree
from lxml.html import HTMLParser

from citewell.errors import CorruptFile
from citewell.extract.decode import decode_file
from citewell.extract.htmlflow import HtmlFlow
from citewell.extract.outline import Outline
from citewell.extract.pictures import Pictures
from citewell.extract.safexml import XmlElement
from citewell.extract.sink import Sink
from citewell.types import ElementType

MAX_HTML_BYTES = 128 * 1024 * 1024
_CHARSET = re.compile(rb"""<meta[^>]{0,200}?charset\s*=\s*["']?\s*([\w.:-]{2,40})""", re.IGNORECASE)
_XML_ENCODING = re.compile(rb"""\A\s*<\?xml[^>]{0,100}encoding\s*=\s*["']([\w.:-]{2,40})""")


def extract(path: Path, sink: Sink) -> None:
    """Read a page. Raises `CorruptFile` when it holds no element at all."""
    with path.open("rb") as file:
        declared = declared_charset(file.read(4096))
    decoded = decode_file(path, MAX_HTML_BYTES, declared)
    sink.metadata["encoding"] = decoded.encoding
    sink.start_unit("file", 1)
    if decoded.replaced:
        sink.warn(f"{decoded.replaced} characters could not be decoded as {decoded.encoding}.")
    if decoded.text.strip():
        read_page(parse_html(decoded.text), sink)


def declared_charset(head: bytes) -> str | None:
    """The encoding that the page itself names; browsers read `iso-8859-1` as Windows-1252, and so do we."""
    match = _CHARSET.search(head) or _XML_ENCODING.search(head)
    name = match.group(1).decode("ascii").lower() if match else None
    return "cp1252" if name in ("iso-8859-1", "latin1", "us-ascii") else name


def parse_html(text: str) -> XmlElement:
    """The root of a page's tree; `CorruptFile` when there is none."""
    parser = HTMLParser(encoding="utf-8", no_network=True, huge_tree=False, remove_comments=True, remove_pis=True)
    try:
        root = cast("XmlElement | None", etree.fromstring(text.replace("\x00", "").encode("utf-8", "replace"), parser))
    except (etree.ParserError, etree.XMLSyntaxError, ValueError) as error:
        raise CorruptFile("There is no HTML in this file.") from error
    if root is None:
        raise CorruptFile("There is no HTML in this file.")
    return root


def read_page(root: XmlElement, sink: Sink) -> None:
    """Emit a whole page: its title when it has no top heading, then its body."""
    title = " ".join((root.findtext(".//title") or "").split())
    language = root.get("lang") or root.get("{http://www.w3.org/XML/1998/namespace}lang") or ""
    if re.match(r"[A-Za-z]{2,3}(-|$)", language):
        sink.language = language.split("-")[0].lower()
    outline = Outline()
    if title:
        sink.metadata["title"] = title
    if title and root.find(".//h1") is None:
        sink.emit(ElementType.TITLE, title, outline.locator(), level=1)
        outline.enter(0, title)
    _page_metadata(root, sink)
    pictures = Pictures(sink)
    HtmlFlow(sink, outline, on_image=lambda source, text, place: pictures.emit_data_uri(source, place, text)).read(root)
    pictures.finish()


def _page_metadata(root: XmlElement, sink: Sink) -> None:
    for meta in root.iterfind(".//meta"):
        name = (meta.get("name") or meta.get("property") or "").lower()
        content = (meta.get("content") or "").strip()
        if content and name in (
            "description",
            "author",
            "keywords",
            "date",
            "article:published_time",
            "og:title",
            "og:site_name",
        ):
            sink.metadata.setdefault(name, content[:1000])
