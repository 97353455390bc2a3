"""The parts of an OpenDocument file: content, styles, metadata, pictures and embedded objects."""

from __future__ import annotations

import posixpath
import re
from urllib.parse import unquote

from citewell.errors import CorruptFile, ExtractionError
from citewell.extract.core.safexml import MAX_XML_BYTES, XmlElement, local_name, parse_office_xml
from citewell.extract.core.safezip import SafeZip
from citewell.extract.core.sink import Sink

_METADATA = {
    "title": "title",
    "creator": "last_modified_by",
    "initial-creator": "author",
    "subject": "subject",
    "keyword": "keywords",
    "description": "description",
    "creation-date": "created",
    "date": "modified",
}


def attribute(element: XmlElement, name: str) -> str | None:
    """Returns an attribute by its local name."""
    return next((str(value) for key, value in element.attrib.items() if str(key).rpartition("}")[2] == name), None)


def child(element: XmlElement | None, name: str) -> XmlElement | None:
    """Returns the first child with this local name."""
    return next((inner for inner in element if local_name(inner) == name), None) if element is not None else None


class OpenPackage:
    """The parts of one file, read within the archive's limits."""

    def __init__(self, archive: SafeZip, sink: Sink) -> None:
        self._archive = archive
        self._sink = sink

    def content(self) -> XmlElement:
        """Returns the root of the content; `CorruptFile` if it is missing or damaged."""
        if "content.xml" not in self._archive:
            raise CorruptFile("The file has no content part.")
        return parse_office_xml(self._archive.read("content.xml", MAX_XML_BYTES))

    def xml(self, part: str) -> XmlElement | None:
        """Returns the root of another part; None if it is missing, and with a warning if it is damaged."""
        if part not in self._archive:
            return None
        try:
            return parse_office_xml(self._archive.read(part, MAX_XML_BYTES))
        except CorruptFile:
            self._sink.warn(f"The part {part} is damaged and was left out.")
            return None

    def path(self, reference: str | None) -> str | None:
        """Returns the part that a link points to; None if it is outside the file or missing."""
        if not reference or ":" in reference.split("/")[0]:
            return None
        path = posixpath.normpath(unquote(reference)).lstrip("/")
        return path if path in self._archive or f"{path}/content.xml" in self._archive else None

    def read(self, part: str) -> bytes | None:
        """Returns a part's bytes; None, noted as skipped, if it is damaged or missing."""
        try:
            return self._archive.read(part, MAX_XML_BYTES)
        except (CorruptFile, KeyError) as error:
            reason = error.message if isinstance(error, ExtractionError) else "it is missing"
            self._sink.skip(f"The part {part} was left out: {reason}")
            return None

    def read_metadata(self) -> None:
        """Reads title, author, dates and language from the file's metadata."""
        root = self.xml("meta.xml")
        for element in root.iter() if root is not None else ():
            name, text = local_name(element), " ".join((element.text or "").split())
            if text and name in _METADATA:
                self._sink.metadata.setdefault(_METADATA[name], text[:1000])
            elif name == "language" and re.match(r"[A-Za-z]{2,3}(-|$)", text):
                self._sink.language = text.split("-")[0].lower()
