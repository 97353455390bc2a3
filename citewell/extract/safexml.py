"""XML parsing that expands no entity, loads no DTD, opens no network connection and keeps libxml2's own size limits."""

from __future__ import annotations

from typing import cast

from lxml import etree

from citewell.errors import CorruptFile

XmlElement = etree._Element  # pyright: ignore[reportPrivateUsage]  (lxml has no public name for the class)
MAX_XML_BYTES = 128 * 1024 * 1024


def parse_xml(data: bytes, *, recover: bool = False) -> XmlElement:
    """The root element. `recover` reads damaged XML as far as possible; `CorruptFile` when there is nothing to read."""
    try:
        root = cast("XmlElement | None", etree.fromstring(data, _parser(recover)))
    except (etree.XMLSyntaxError, ValueError) as error:
        raise CorruptFile("A part of the file is not well-formed XML.") from error
    if root is None:
        raise CorruptFile("A part of the file is not well-formed XML.")
    return root


def parse_office_xml(data: bytes) -> XmlElement:
    """XML of an office format, in which a document type declaration has no place."""
    root = parse_xml(data)
    if root.getroottree().docinfo.internalDTD is not None:
        raise CorruptFile("The file holds a document type declaration, which its format forbids.")
    return root


def local_name(element: XmlElement) -> str:
    """The tag without its namespace; empty for comments, processing instructions and entity references."""
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
