"""E-books (EPUB 2 and 3): chapters in reading order, one unit each, with headings, tables, notes and pictures."""

from __future__ import annotations

import posixpath
import re
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote

from citewell.errors import CorruptFile, ExtractionError
from citewell.extract.core.decode import decode_bytes
from citewell.extract.core.outline import Outline
from citewell.extract.core.pictures import Pictures
from citewell.extract.core.safexml import MAX_XML_BYTES, XmlElement, local_name, parse_xml
from citewell.extract.core.safezip import SafeZip
from citewell.extract.core.sink import Sink
from citewell.extract.formats.html.flow import HtmlFlow
from citewell.extract.formats.html.reader import declared_charset, parse_html
from citewell.types import ElementType, Locator

_CONTAINER = "META-INF/container.xml"
_ENCRYPTION = "META-INF/encryption.xml"
_METADATA = {
    "title": "title",
    "creator": "author",
    "publisher": "publisher",
    "date": "date",
    "subject": "subject",
    "description": "description",
    "identifier": "identifier",
}
_PAGES = ("application/xhtml+xml", "text/html", "application/x-dtbook+xml")


@dataclass(frozen=True, slots=True)
class _Item:
    """A file listed in the book's package document."""

    path: str
    mime_type: str
    properties: str


def extract(path: Path, sink: Sink) -> None:
    """Reads a book. Raises `CorruptFile` if its package is damaged; a damaged chapter is skipped with a warning."""
    with SafeZip(path, sink.options) as archive:
        _Book(archive, sink).read()


class _Book:
    def __init__(self, archive: SafeZip, sink: Sink) -> None:
        self._archive, self._sink = archive, sink
        self._pictures = Pictures(sink)
        # One outline for the whole book: a file that begins without a heading continues the previous chapter.
        self._outline = Outline()
        self._package = self._package_path()
        self._root = parse_xml(self._archive.read(self._package, MAX_XML_BYTES), recover=True)
        self._items = self._manifest()
        self._encrypted = self._encrypted_paths()

    def read(self) -> None:
        self._metadata()
        chapters = self._spine()
        if chapters and all(chapter.path in self._encrypted for chapter in chapters):
            raise ExtractionError("The book is copy-protected (DRM) and cannot be read.")
        titles = self._contents()
        self._front()
        for number, chapter in enumerate(chapters, 1):
            self._chapter(chapter, number, titles.get(chapter.path, ""))
            self._sink.progress(number, len(chapters))
        self._pictures.finish()

    def _front(self) -> None:
        """Emits the book's own metadata as its first unit: title, authors, description."""
        self._sink.start_unit("front", 1)
        title = self._sink.metadata.get("title")
        if isinstance(title, str):
            self._sink.emit(ElementType.TITLE, title, Locator(), level=1)
            self._outline.enter(0, title)
        shown = ("author", "publisher", "date", "subject", "description")
        lines = [f"{key.capitalize()}: {self._sink.metadata[key]}" for key in shown if key in self._sink.metadata]
        if lines:
            self._sink.emit(ElementType.PARAGRAPH, "\n".join(lines), self._outline.locator())

    def _chapter(self, chapter: _Item, number: int, title: str) -> None:
        self._sink.start_unit("chapter", number, title or None)
        if chapter.path in self._encrypted:
            self._sink.skip("The chapter is encrypted.")
            return
        try:
            data = self._archive.read(chapter.path, MAX_XML_BYTES)
            root = parse_html(decode_bytes(data, declared_charset(data[:4096])).text)
        except CorruptFile:
            self._sink.warn("The chapter is damaged and was left out.")
            return
        except KeyError:
            self._sink.warn("The chapter is missing from the file.")
            return
        if title and not any(local_name(element) in ("h1", "h2", "h3") for element in root.iter()):
            above = self._outline.enter(1, title)
            self._sink.emit(ElementType.TITLE, title, Locator(headings=above), level=1)
        folder = posixpath.dirname(chapter.path)
        HtmlFlow(
            self._sink, self._outline, on_image=lambda source, text, place: self._image(folder, source, text, place)
        ).read(root)

    def _image(self, folder: str, source: str, description: str, place: Locator) -> bool:
        path = posixpath.normpath(posixpath.join(folder, unquote(source.split("#")[0])))
        if path not in self._archive:
            return False
        try:
            self._pictures.emit(self._archive.read(path, MAX_XML_BYTES), posixpath.basename(path), place, description)
        except CorruptFile as error:
            self._sink.skip(f"The picture {posixpath.basename(path)} was left out: {error.message}")
        return True

    def _package_path(self) -> str:
        if _CONTAINER in self._archive:
            root = parse_xml(self._archive.read(_CONTAINER, MAX_XML_BYTES), recover=True)
            for element in root.iter():
                found = unquote(element.get("full-path") or "") if local_name(element) == "rootfile" else ""
                if found in self._archive:
                    return found
        for name in self._archive.names():
            if name.lower().endswith(".opf"):
                return name
        raise CorruptFile("The book has no package document.")

    def _manifest(self) -> dict[str, _Item]:
        folder = posixpath.dirname(self._package)
        out: dict[str, _Item] = {}
        for element in self._root.iter():
            if local_name(element) == "item" and element.get("href"):
                path = posixpath.normpath(posixpath.join(folder, unquote(element.get("href") or "")))
                out[element.get("id") or ""] = _Item(
                    path, element.get("media-type") or "", element.get("properties") or ""
                )
        return out

    def _spine(self) -> list[_Item]:
        """Returns the chapters in reading order, without the book's own table of contents."""
        references = [element.get("idref") or "" for element in self._root.iter() if local_name(element) == "itemref"]
        listed = [self._items[reference] for reference in references if reference in self._items]
        pages = [item for item in listed or self._items.values() if item.mime_type in _PAGES]
        return [item for item in pages if "nav" not in item.properties.split()]

    def _metadata(self) -> None:
        for element in self._root.iter():
            text = " ".join((element.text or "").split())
            name = local_name(element)
            if text and name in _METADATA and "dc/elements" in str(element.tag):
                self._sink.metadata.setdefault(_METADATA[name], text[:1000])
            elif name == "language" and re.match(r"[A-Za-z]{2,3}(-|$)", text) and self._sink.language is None:
                self._sink.language = text.split("-")[0].lower()

    def _contents(self) -> dict[str, str]:
        """Returns chapter titles by path, from the navigation document (EPUB 3) or the NCX (EPUB 2)."""
        out: dict[str, str] = {}
        for item in self._items.values():
            if "nav" not in item.properties.split() and item.mime_type != "application/x-dtbncx+xml":
                continue
            try:
                root = parse_xml(self._archive.read(item.path, MAX_XML_BYTES), recover=True)
            except (CorruptFile, KeyError):
                continue
            folder = posixpath.dirname(item.path)
            for target, title in _links(root):
                path = posixpath.normpath(posixpath.join(folder, unquote(target.split("#")[0])))
                out.setdefault(path, title)
        return out

    def _encrypted_paths(self) -> set[str]:
        if _ENCRYPTION not in self._archive:
            return set()
        root = parse_xml(self._archive.read(_ENCRYPTION, MAX_XML_BYTES), recover=True)
        return {
            unquote(element.get("URI") or "") for element in root.iter() if local_name(element) == "CipherReference"
        }


def _links(root: XmlElement) -> list[tuple[str, str]]:
    """Returns (target, title) of each entry of a navigation document or NCX."""
    out: list[tuple[str, str]] = []
    for element in root.iter():
        name = local_name(element)
        if name == "a" and element.get("href"):
            out.append((element.get("href") or "", " ".join("".join(element.itertext()).split())[:200]))
        elif name == "navPoint":
            label = next(
                (" ".join("".join(inner.itertext()).split()) for inner in element if local_name(inner) == "navLabel"),
                "",
            )
            source = next((inner.get("src") or "" for inner in element if local_name(inner) == "content"), "")
            out.append((source, label[:200]))
    return [(target, title) for target, title in out if target and title]
