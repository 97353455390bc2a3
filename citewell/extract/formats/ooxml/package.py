"""The parts of an Office Open XML file (ECMA-376 part 2) and the relationships between them."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self
from urllib.parse import unquote

from citewell.errors import CorruptFile
from citewell.extract.core.safexml import MAX_XML_BYTES, XmlElement, local_name, parse_office_xml
from citewell.extract.core.safezip import SafeZip
from citewell.extract.core.sink import Sink
from citewell.types import ExtractOptions

_MAX_PAGE_DIGITS = 6
_PROPERTIES = {
    "title": "title",
    "creator": "author",
    "subject": "subject",
    "keywords": "keywords",
    "description": "description",
    "created": "created",
    "modified": "modified",
    "lastModifiedBy": "last_modified_by",
    "language": "language",
    "category": "category",
}


@dataclass(frozen=True, slots=True)
class Relationship:
    """A pointer from one part to another part or an external target. `kind` is the last word of its type (`image`,
    `hyperlink`, …).
    """

    kind: str
    target: str
    external: bool


class OfficePackage:
    """Parts by name, ignoring case. Nothing outside the file is ever opened."""

    def __init__(self, path: Path, options: ExtractOptions) -> None:
        self._zip = SafeZip(path, options)
        self._names = {name.lower().lstrip("/").replace("\\", "/"): name for name in self._zip.names()}
        self._relationships: dict[str, dict[str, Relationship]] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._zip.__exit__(kind, error, trace)

    def __contains__(self, part: str) -> bool:
        return part.lower() in self._names

    def read(self, part: str) -> bytes:
        """Returns the bytes of a part; `CorruptFile` if it is missing."""
        name = self._names.get(part.lower())
        if name is None:
            raise CorruptFile(f"The file has no part {part}.")
        return self._zip.read(name, MAX_XML_BYTES)

    def xml(self, part: str) -> XmlElement:
        """Returns the root element of a part; `CorruptFile` if it is missing or not well-formed."""
        return parse_office_xml(self.read(part))

    def optional_xml(self, part: str | None, sink: Sink) -> XmlElement | None:
        """Like `xml`, for an optional part: damage becomes a warning."""
        if part is None or part not in self:
            return None
        try:
            return self.xml(part)
        except CorruptFile:
            sink.warn(f"The part {part} is damaged and was left out.")
            return None

    def pieces(self, part: str) -> Iterator[bytes]:
        """Yields the bytes of a part of any size, in pieces; `CorruptFile` if it is missing."""
        name = self._names.get(part.lower())
        if name is None:
            raise CorruptFile(f"The file has no part {part}.")
        return self._zip.pieces(name)

    def extract_to(self, part: str, target: Path) -> int:
        """Writes a part to `target`; returns the size in bytes."""
        name = self._names.get(part.lower())
        if name is None:
            raise CorruptFile(f"The file has no part {part}.")
        return self._zip.extract_to(name, target)

    def main_part(self, kinds: tuple[str, ...]) -> str:
        """Returns the part that the package names as its document; `CorruptFile` if it names none.

        `kinds` are fallback names for packages without relationships.
        """
        for relationship in self.relationships("").values():
            if relationship.kind == "officeDocument" and relationship.target in self:
                return relationship.target
        for name in kinds:
            if name in self:
                return name
        raise CorruptFile("The file has no main document part.")

    def relationships(self, part: str) -> dict[str, Relationship]:
        """Returns the relationships of a part by id; those of the package if `part` is empty."""
        if part not in self._relationships:
            self._relationships[part] = self._read_relationships(part)
        return self._relationships[part]

    def related(self, part: str, kind: str) -> list[str]:
        """Returns the existing parts that `part` points to by relationships of this kind, in order."""
        found = (r.target for r in self.relationships(part).values() if r.kind == kind and not r.external)
        return [target for target in found if target in self]

    def _read_relationships(self, part: str) -> dict[str, Relationship]:
        folder, name = posixpath.split(part)
        source = posixpath.join(folder, "_rels", f"{name}.rels")
        if source not in self:
            return {}
        out: dict[str, Relationship] = {}
        for element in self.xml(source):
            if local_name(element) != "Relationship":
                continue
            external = element.get("TargetMode") == "External"
            target = element.get("Target") or ""
            kind = (element.get("Type") or "").rsplit("/", 1)[-1]
            out[element.get("Id") or ""] = Relationship(
                kind, target if external else _resolved(folder, target), external
            )
        return out


def read_properties(package: OfficePackage, sink: Sink) -> None:
    """Copies title, author, dates and the like from the core properties into the sink's metadata."""
    for part in [*package.related("", "core-properties"), *package.related("", "coreProperties")]:
        root = package.optional_xml(part, sink)
        for element in root if root is not None else ():
            key = _PROPERTIES.get(local_name(element))
            text = (element.text or "").strip()
            if key and text:
                sink.metadata[key] = text[:1000]
    _read_page_count(package, sink)
    language = sink.metadata.get("language")
    if isinstance(language, str) and re.match(r"[A-Za-z]{2,3}(-|$)", language):
        sink.language = language.split("-")[0].lower()


def _read_page_count(package: OfficePackage, sink: Sink) -> None:
    """Reads the page count saved by the program that laid out the file, if any. Such a program also counts words: a
    file without a word count is empty, or its numbers are those of its template.
    """
    for part in package.related("", "extended-properties"):
        root = package.optional_xml(part, sink)
        stated = {local_name(element): (element.text or "").strip() for element in root} if root is not None else {}
        pages = stated.get("Pages", "")
        if stated.get("Words") != "0" and pages.isascii() and pages.isdigit() and len(pages) <= _MAX_PAGE_DIGITS:
            sink.metadata["page_count"] = int(pages)


def attribute(element: XmlElement, name: str) -> str | None:
    """Returns an attribute by its local name: transitional and strict files differ only in the namespace."""
    plain = element.get(name)
    if plain is not None:
        return plain
    return next((str(value) for key, value in element.attrib.items() if str(key).endswith("}" + name)), None)


def child(element: XmlElement | None, *path: str) -> XmlElement | None:
    """Returns the first descendant along a path of local names."""
    for name in path:
        if element is None:
            return None
        element = next((inner for inner in element if local_name(inner) == name), None)
    return element


def value(element: XmlElement | None, *path: str) -> str | None:
    """Returns the `val` attribute of the descendant along a path of local names."""
    found = child(element, *path)
    return attribute(found, "val") if found is not None else None


def is_on(element: XmlElement | None, *path: str) -> bool:
    """Whether a toggle (`<w:vanish/>`) is present and not off."""
    found = child(element, *path)
    return found is not None and (attribute(found, "val") or "true").lower() not in ("0", "false", "off", "none")


def _resolved(folder: str, target: str) -> str:
    """Resolves a target relative to its part's folder, or to the package if it begins with `/`."""
    target = unquote(target).replace("\\", "/")
    return posixpath.normpath(target.lstrip("/") if target.startswith("/") else posixpath.join(folder, target))
