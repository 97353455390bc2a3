"""HTML pages: headings, paragraphs, lists, code and tables in order; navigation kept apart, scripts dropped."""

from __future__ import annotations

import re
from pathlib import Path
from typing import cast

from lxml import etree
from lxml.html import HTMLParser

from citewell.errors import CorruptFile
from citewell.extract.core.decode import decode_file
from citewell.extract.core.outline import Outline
from citewell.extract.core.pictures import Pictures
from citewell.extract.core.safexml import XmlElement
from citewell.extract.core.sink import Sink
from citewell.extract.formats.html.flow import HtmlFlow
from citewell.types import ElementType

MAX_HTML_BYTES = 128 * 1024 * 1024
_CHARSET = re.compile(rb"""<meta[^>]{0,200}?charset\s*=\s*["']?\s*([\w.:-]{2,40})""", re.IGNORECASE)
_INLINE_TAG = re.compile(
    r"</?(?:a|abbr|b|big|center|cite|code|em|font|i|ins|kbd|label|mark|q|s|small|span|strike|strong|sub|sup|tt|u|var)\b[^<>]*>",
    re.IGNORECASE,
)
_TAG = re.compile(r"<[^<>]*>")
_ACTIVE = re.compile(r"<(script|style)\b", re.IGNORECASE)
_CLOSED = {name: re.compile(f"</{name}", re.IGNORECASE) for name in ("script", "style")}
_XML_ENCODING = re.compile(rb"""\A\s*<\?xml[^>]{0,100}encoding\s*=\s*["']([\w.:-]{2,40})""")


def extract(path: Path, sink: Sink) -> None:
    """Reads a page. Raises `CorruptFile` if it has no element at all."""
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
    """Returns the encoding declared by the page; like browsers, reads `iso-8859-1` as Windows-1252."""
    match = _CHARSET.search(head) or _XML_ENCODING.search(head)
    name = match.group(1).decode("ascii").lower() if match else None
    return "cp1252" if name in ("iso-8859-1", "latin1", "us-ascii") else name


def parse_html(text: str) -> XmlElement:
    """Returns the root of a page's tree; `CorruptFile` if it has none.

    The parser stops at excessive nesting, as on pages that never close their tags. Such a page is read without its
    inline tags and, if that does not help, without any.
    """
    root, complete = _parsed(text)
    for simplified in (_without_inline_tags, _without_tags):
        if complete:
            break
        root, complete = _parsed(simplified(text))
    return root


def _parsed(text: str) -> tuple[XmlElement, bool]:
    """Returns the root, and whether the parser reached the end of the text."""
    # A page has no entities of its own to expand; `huge_tree` sets limits as large as those of browsers.
    parser = HTMLParser(encoding="utf-8", no_network=True, huge_tree=True, remove_comments=True, remove_pis=True)
    try:
        data = text.replace("\x00", "").encode("utf-8", "replace")
        root = cast("XmlElement | None", etree.fromstring(data, parser))
    except (etree.ParserError, etree.XMLSyntaxError, ValueError) as error:
        raise CorruptFile("The file contains no HTML.") from error
    if root is None:
        raise CorruptFile("The file contains no HTML.")
    return root, not any("Excessive depth" in str(entry.message) for entry in parser.error_log)


def _without_inline_tags(text: str) -> str:
    return _INLINE_TAG.sub("", text)


def _without_tags(text: str) -> str:
    """Returns the text of a page, with a break for each tag and without scripts and styles."""
    parts: list[str] = []
    position = 0
    while match := _ACTIVE.search(text, position):
        parts.append(text[position : match.start()])
        closed = _CLOSED[match.group(1).lower()].search(text, match.end())
        position = closed.start() if closed else len(text)
    parts.append(text[position:])
    return f"<html><body>{_TAG.sub('<br><br>', ''.join(parts))}</body></html>"


def read_page(root: XmlElement, sink: Sink) -> None:
    """Emits a whole page: its title if it has no top heading, then its body."""
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
