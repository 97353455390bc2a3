"""Reads a PPT slide by slide and emits its elements."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from citewell.errors import CorruptFile
from citewell.extract.core.blips import pictures
from citewell.extract.core.compound import CompoundFile
from citewell.extract.core.damage import RECORD_DAMAGE
from citewell.extract.core.pictures import Pictures
from citewell.extract.core.sink import Sink
from citewell.extract.core.symbols import without_private_use
from citewell.extract.formats.powerpoint97 import records as kinds
from citewell.extract.formats.powerpoint97.records import PowerPointRecord, persist_directory, record_at, records
from citewell.types import ElementType, Locator

_TITLE_TEXTS = frozenset((0, 6))
_BODY_TEXTS = frozenset((1, 5, 7, 8))
_NOTES_TEXT = 2
_SLIDES, _NOTES_LIST = 0, 2
_BAND = 144  # a quarter of an inch in master units (1/576 inch): shapes whose tops differ by less share a row


@dataclass(frozen=True, slots=True)
class _Text:
    """A text of the outline or of a shape, with its kind as numbered in [MS-PPT] 2.13.33."""

    kind: int
    text: str


@dataclass(slots=True)
class _SlideEntry:
    """An entry of the slide list: its object's number, its id, and its texts in the outline."""

    reference: int
    identifier: int
    texts: list[_Text] = field(default_factory=list[_Text])


def extract(path: Path, sink: Sink) -> None:
    """Reads a PPT. Raises `CorruptFile` if its container or document record is damaged."""
    with CompoundFile(path) as compound:
        stream = compound.read("PowerPoint Document")
        if stream is None:
            raise CorruptFile("The file contains no presentation.")
        user = compound.read("Current User") or b""
        images = compound.read("Pictures") or b""
        compound.read_summary(sink)
    try:
        _PowerPointReader(stream, persist_directory(stream, user), sink).read()
    except (*RECORD_DAMAGE, RecursionError) as error:
        raise CorruptFile("The presentation is damaged.") from error
    emitter = Pictures(sink)
    for number, picture in enumerate(pictures(images), 1):
        emitter.emit(picture, f"picture {number}", Locator())
    emitter.finish()


class _PowerPointReader:
    def __init__(self, stream: bytes, directory: dict[int, int], sink: Sink) -> None:
        self._stream, self._directory, self._sink = stream, directory, sink
        self._document = self._find_document()

    def read(self) -> None:
        slides = self._entries(_SLIDES)
        notes = {entry.identifier: entry for entry in self._entries(_NOTES_LIST)}
        if not slides:
            self._sink.warn("The list of slides is missing; texts are in file order.")
        for number, entry in enumerate(slides, 1):
            if number > self._sink.options.max_pages:
                self._sink.skip(f"Slides {number} to {len(slides)}: the limit is {self._sink.options.max_pages}.")
                return
            self._slide(entry, number, notes)
            self._sink.progress(number, len(slides))
        if not slides:
            self._loose_texts()

    def _slide(self, entry: _SlideEntry, number: int, notes: dict[int, _SlideEntry]) -> None:
        record = self._object(entry.reference, kinds.SLIDE)
        texts = list(_shape_texts(record, entry.texts)) if record is not None else entry.texts
        title = next((" ".join(text.text.split()) for text in texts if text.kind in _TITLE_TEXTS), "")
        self._sink.start_unit("slide", number, title[:200] or None)
        if title:
            self._sink.emit(ElementType.TITLE, title, Locator(slide=number), level=1)
        place = Locator(slide=number, headings=(title,) if title else ())
        seen_title = False
        for text in texts:
            if text.kind in _TITLE_TEXTS and not seen_title:
                seen_title = True
                continue
            kind = ElementType.LIST_ITEM if text.kind in _BODY_TEXTS else ElementType.PARAGRAPH
            for line in text.text.split("\r"):
                if line.strip():
                    self._sink.emit(kind, _tidy(line), place, level=1 if kind is ElementType.LIST_ITEM else None)
        if record is not None:
            self._notes(record, notes, place)
            self._comments(record, place)

    def _notes(self, slide: PowerPointRecord, notes: dict[int, _SlideEntry], place: Locator) -> None:
        atom = slide.child(kinds.SLIDE_ATOM)
        content = atom.content if atom is not None else b""
        identifier = struct.unpack_from("<I", content, 16)[0] if len(content) >= 20 else 0
        entry = notes.get(identifier)
        record = self._object(entry.reference, kinds.NOTES) if entry is not None else None
        if record is None or entry is None:
            return
        texts = (text for text in _shape_texts(record, entry.texts) if text.kind in (_NOTES_TEXT, *_BODY_TEXTS))
        joined = "\n".join(_tidy(text.text) for text in texts).strip()
        if joined and joined != "*":
            self._sink.emit(ElementType.NOTE, joined, place)

    def _comments(self, slide: PowerPointRecord, place: Locator) -> None:
        for record in slide.walk():
            if record.kind == kinds.COMMENT:
                strings = {
                    inner.instance: _wide(inner.content) for inner in record.children() if inner.kind == kinds.STRING
                }
                text = _tidy(strings.get(1, ""))
                if text:
                    self._sink.emit(ElementType.COMMENT, text, place, metadata={"author": strings.get(0, "")})

    def _loose_texts(self) -> None:
        self._sink.start_unit("file", 1)
        top = PowerPointRecord(0, 0, True, self._stream, 0, len(self._stream))
        for text in _texts(top.walk()):
            for line in text.text.split("\r"):
                if line.strip():
                    self._sink.emit(ElementType.PARAGRAPH, _tidy(line), Locator())

    def _find_document(self) -> PowerPointRecord:
        for offset in self._directory.values():
            record = record_at(self._stream, offset, len(self._stream))
            if record is not None and record.kind == kinds.DOCUMENT:
                return record
        found = [record for record in records(self._stream, 0, len(self._stream)) if record.kind == kinds.DOCUMENT]
        if not found:
            raise CorruptFile("The presentation has no document record.")
        return found[-1]

    def _entries(self, kind: int) -> list[_SlideEntry]:
        """Returns the slides (or notes pages) in order, with the texts of the outline."""
        listed = self._document.child(kinds.SLIDE_LIST, kind)
        out: list[_SlideEntry] = []
        group: list[PowerPointRecord] = []
        for record in (*(listed.children() if listed is not None else ()), None):
            if record is not None and record.kind != kinds.SLIDE_PERSIST:
                group.append(record)
                continue
            if out:
                out[-1].texts = list(_texts(iter(group)))
            group = []
            if record is not None and len(record.content) >= 16:
                reference, _, _, identifier = struct.unpack_from("<4I", record.content)
                out.append(_SlideEntry(reference, identifier))
        return out

    def _object(self, reference: int, kind: int) -> PowerPointRecord | None:
        offset = self._directory.get(reference)
        record = record_at(self._stream, offset, len(self._stream)) if offset is not None else None
        return record if record is not None and record.kind == kind else None


def _shape_texts(slide: PowerPointRecord, outline: list[_Text]) -> Iterator[_Text]:
    """Yields the texts of a slide's shapes: titles first, then from top to bottom and left to right.

    A placeholder's text may be in the outline, which its shape refers to by number.
    """
    found: list[tuple[tuple[bool, int, int], _Text]] = []
    used: set[int] = set()
    last = (0, 0)
    drawing = slide.child(kinds.DRAWING)
    for shape in (record for record in (drawing.walk() if drawing is not None else ()) if record.kind == kinds.SHAPE):
        box = shape.child(kinds.CLIENT_TEXT)
        if box is None:
            continue
        last = _position(shape) or last
        place = (last[0] // _BAND, last[1])
        found += [((text.kind not in _TITLE_TEXTS, *place), text) for text in _box_texts(box, outline, used)]
    unplaced = [(index, text) for index, text in enumerate(outline) if index not in used]
    found += [((text.kind not in _TITLE_TEXTS, 1 << 20, index), text) for index, text in unplaced]
    return (text for _, text in sorted(found, key=lambda item: item[0]))


def _box_texts(box: PowerPointRecord, outline: list[_Text], used: set[int]) -> Iterator[_Text]:
    reference = box.child(kinds.OUTLINE_REFERENCE)
    if reference is not None and len(reference.content) >= 4:
        (index,) = struct.unpack_from("<I", reference.content)
        if index < len(outline) and index not in used:
            used.add(index)
            yield outline[index]
        return
    yield from _texts(box.children())


def _texts(found: Iterator[PowerPointRecord]) -> Iterator[_Text]:
    """Yields text atoms, each of the kind named by the preceding header."""
    kind = 4
    for record in found:
        if record.kind == kinds.TEXT_HEADER and len(record.content) >= 4:
            (kind,) = struct.unpack_from("<I", record.content)
        elif record.kind == kinds.TEXT_UNICODE:
            yield _Text(kind, _wide(record.content))
        elif record.kind == kinds.TEXT_BYTES:
            yield _Text(kind, record.content.decode("latin-1"))


def _position(shape: PowerPointRecord) -> tuple[int, int] | None:
    """Returns (top, left) of a shape in master units."""
    anchor = shape.child(kinds.CLIENT_ANCHOR)
    if anchor is not None and len(anchor.content) >= 16:
        left, top = struct.unpack_from("<ii", anchor.content)
        return top, left
    if anchor is not None and len(anchor.content) >= 8:
        top, left = struct.unpack_from("<hh", anchor.content)
        return top, left
    inner = shape.child(kinds.CHILD_ANCHOR)
    if inner is not None and len(inner.content) >= 16:
        left, top = struct.unpack_from("<ii", inner.content)
        return top, left
    return None


def _wide(data: bytes) -> str:
    return data[: len(data) // 2 * 2].decode("utf-16-le", "replace")


def _tidy(text: str) -> str:
    lines = without_private_use(text.replace("\x0b", "\n").replace("\r", "\n")).split("\n")
    return "\n".join(line.strip(" \t\x00") for line in lines).strip()
