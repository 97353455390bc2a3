"""Safe XML parsing: expands no entities, loads no DTD, opens no connection, and keeps libxml2's size limits."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import cast

from lxml import etree

from citewell.errors import CorruptFile, LimitExceeded
from citewell.extract.core.decode import detect_encoding, file_encoding, is_usable, stream_text

XmlElement = etree._Element  # pyright: ignore[reportPrivateUsage]  (lxml has no public name for the class)
MAX_XML_BYTES = 128 * 1024 * 1024


def parse_xml(data: bytes, *, recover: bool = False) -> XmlElement:
    """Returns the root element. `recover` salvages damaged XML; `CorruptFile` if nothing can be read."""
    try:
        root = cast("XmlElement | None", etree.fromstring(data, _parser(recover)))
    except (etree.XMLSyntaxError, ValueError) as error:
        raise CorruptFile("A part of the file is not well-formed XML.") from error
    if root is None:
        raise CorruptFile("A part of the file is not well-formed XML.")
    return root


def parse_office_xml(data: bytes) -> XmlElement:
    """Parses XML of an office format, which must not contain a document type declaration."""
    root = parse_xml(data)
    if root.getroottree().docinfo.internalDTD is not None:
        raise CorruptFile("The file contains a document type declaration, which its format forbids.")
    return root


def local_name(element: XmlElement) -> str:
    """Returns the tag without its namespace; empty for comments, processing instructions and entity references."""
    tag = element.tag
    return tag.rpartition("}")[2] if isinstance(tag, str) else ""


def _parser(recover: bool) -> etree.XMLParser:
    return etree.XMLParser(
        resolve_entities=False,
        load_dtd=False,
        dtd_validation=False,
        no_network=True,
        huge_tree=False,
        recover=recover,
        remove_comments=True,
        remove_pis=True,
    )


MAX_PROLOG = 1024 * 1024
_ENCODING = re.compile(rb"""\A\s*<\?xml[^>]{0,200}?encoding\s*=\s*["']([A-Za-z0-9._:-]{1,40})["']""")
_SPACE_OR_MISC = re.compile(r"\s+|<\?.*?\?>|<!--.*?-->|\ufeff", re.DOTALL)
_DOCTYPE = re.compile(r"<!DOCTYPE\b", re.IGNORECASE)
_IN_DOCTYPE = re.compile(r"""["'\[\]>]|<!--|<\?""")
_CLOSED_BY = {'"': '"', "'": "'", "<!--": "-->", "<?": "?>"}


def xml_encoding(path: Path) -> str:
    """Returns an XML file's encoding: from its byte order mark, its declaration (if Python knows it), or detection."""
    with path.open("rb") as file:
        head = file.read(4096)
    detected = detect_encoding(head)
    if detected not in ("utf-8", "cp1252") and head[:1] != b"<":
        return detected
    match = _ENCODING.match(head)
    declared = match.group(1).decode("ascii") if match else ""
    return declared if declared and is_usable(declared) else file_encoding(path)


def without_doctype(text: str) -> tuple[str, bool]:
    """Returns the start of an XML text without its document type declaration, and whether that declared entities.

    Raises `LimitExceeded` if the declaration does not end within `text`.
    """
    position = 0
    while match := _SPACE_OR_MISC.match(text, position):
        position = match.end()
    begin = _DOCTYPE.match(text, position)
    if begin is None:
        return text, False
    end = _doctype_end(text, begin.end())
    return text[:position] + text[end:], "<!ENTITY" in text[position:end]


def _doctype_end(text: str, position: int) -> int:
    """Returns a declaration's end: the first `>` outside quotes, comments, instructions and the internal subset."""
    depth = 0
    while match := _IN_DOCTYPE.search(text, position):
        mark, position = match.group(), match.end()
        if mark in _CLOSED_BY:
            closed = text.find(_CLOSED_BY[mark], position)
            if closed < 0:
                break
            position = closed + len(_CLOSED_BY[mark])
        elif mark == "[":
            depth += 1
        elif mark == "]":
            depth -= 1
        elif depth <= 0:
            return position
    raise LimitExceeded("The document type declaration of this file is not closed or too long.")


def xml_pieces(path: Path, encoding: str) -> Iterator[tuple[bytes, bool]]:
    """Yields (the file as UTF-8 without its DOCTYPE, in pieces; whether entities were declared, in the first piece)."""
    lines = stream_text(path, encoding)
    head, next_look = "", 4096
    for line in lines:
        head += line
        if len(head) > MAX_PROLOG:
            break
        if len(head) > next_look:
            if _root_found(head):
                break
            next_look = 2 * len(head)
    text, declares = without_doctype(head)
    yield text.encode("utf-8", "replace"), declares
    for line in lines:
        yield line.encode("utf-8", "replace"), False


def _root_found(head: str) -> bool:
    """Whether the prolog is over: something other than misc or an open declaration follows."""
    try:
        text, _ = without_doctype(head)
    except LimitExceeded:
        return False
    position = 0
    while match := _SPACE_OR_MISC.match(text, position):
        position = match.end()
    return bool(re.match(r"<[^!?]", text[position : position + 2]))
