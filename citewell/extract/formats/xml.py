"""XML of any vocabulary as text: prose as paragraphs, records as `name: value` lines, under the path of their elements."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

from lxml import etree

from citewell.extract.core.safexml import xml_encoding, xml_pieces
from citewell.extract.core.sink import Sink
from citewell.extract.formats import plain
from citewell.extract.formats.html.reader import parse_html
from citewell.extract.formats.html.tables import cell_text
from citewell.types import ElementType, Locator

_GROUP = 1_500
"""Characters of short fields joined into one element: about the size of a chunk."""
_LABELLED = 200
"""Characters of the longest field shown as “name: value”."""
_MAX_TITLE = 300
"""Characters of the longest heading."""
_MAX_PARTS = 5_000
"""Parts of mixed text held in memory."""
_MAX_DEPTH = 100
"""Nesting depth up to which elements are structured on their own."""
_TITLES = frozenset(("title", "head", "heading", "headline"))
_MARKUP = re.compile(r"</?[a-zA-Z][a-zA-Z0-9]*(?:\s[^<>]*)?/?>")
_UNDECLARED = re.compile(r"Entity '([^']{1,40})' not defined")


def extract(path: Path, sink: Sink) -> None:
    """Reads an XML file, streaming. Entities are never expanded, and nothing outside the file is opened.

    Damaged XML is read as far as the parser can follow, with a warning; a file that is not XML at all is read as plain
    text.
    """
    encoding = xml_encoding(path)
    sink.metadata["encoding"] = encoding
    sink.start_unit("file", 1)
    target = _Flow(sink)
    parser = etree.XMLParser(
        target=target,  # pyright: ignore[reportArgumentType]  (the stubs ask for handlers that lxml takes as optional)
        encoding="utf-8",
        resolve_entities=False,
        load_dtd=False,
        no_network=True,
        huge_tree=False,
        recover=True,
    )
    done = 0
    for piece, declares in xml_pieces(path, encoding):
        if declares:
            sink.warn("The file declares entities; they were not expanded.")
        parser.feed(piece)
        done += len(piece)
        if done % (1 << 20) < len(piece):
            sink.progress(done)
    parser.close()
    if not target.found:
        sink.warn("The file is not well-formed XML; it was read as plain text.")
        plain.extract(path, sink)
        return
    _report(parser, sink)


def _report(parser: etree.XMLParser, sink: Sink) -> None:
    messages = [str(entry.message) for entry in parser.feed_error_log]
    undeclared = sorted({name for message in messages for name in _UNDECLARED.findall(message)})
    if undeclared:
        sink.warn(f"Undeclared entities were left out: {', '.join(undeclared[:10])}.")
    other = [message for message in messages if not _UNDECLARED.search(message) and "namespace" not in message.lower()]
    if other:
        sink.warn(f"The XML is damaged: {other[0].strip()[:200]}")


@dataclass(slots=True)
class _Frame:
    """An open element: its text so far and its finished leaves."""

    name: str
    attributes: list[tuple[str, str]]
    parts: list[str] = field(default_factory=list[str])
    leaves: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    leaf_characters: int = 0
    mixed: bool = False
    container: bool = False
    title: str = ""


class _Flow:
    """The parser's target: builds frames, and emits each group of leaves when the next container begins or the group is full.

    An element with both text and child elements (`<p>some <b>bold</b> text</p>`) is prose and becomes one paragraph.
    """

    def __init__(self, sink: Sink) -> None:
        self._sink = sink
        self._open: list[_Frame] = []
        self.found = False
        self._mixed = 0

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        self.found = True
        named = [(_local(str(key)), str(text).strip()) for key, text in attributes.items()]
        kept = [
            (key, text) for key, text in named if text and key not in ("schemaLocation", "noNamespaceSchemaLocation")
        ]
        if self._open and not self._inline():
            parent = self._open[-1]
            if any(part.strip() for part in parent.parts):
                self._mark_mixed(parent)
            else:
                self._begin_container(parent)
        self._open.append(_Frame(_local(tag), kept))

    def data(self, text: str) -> None:
        if not self._open:
            return
        frame = self._open[-1]
        if frame.container and not frame.mixed and text.strip() and not self._inline():
            self._flush(frame)
            self._mark_mixed(frame)
        self._append(frame, text)

    def end(self, tag: str) -> None:
        frame = self._open.pop()
        self._mixed -= frame.mixed
        text = "".join(frame.parts)
        if self._open and (self._inline() or self._open[-1].mixed):
            self._append(self._open[-1], text)
            return
        folded = " ".join(_plain(text).split())
        if frame.container and not frame.mixed:
            self._flush(frame)
        elif self._open:
            self._add_leaf(self._open[-1], frame, folded)
        elif folded or frame.attributes:
            self._sink.emit(ElementType.PARAGRAPH, "\n".join([*_attribute_lines(frame), folded]).strip(), Locator())

    def close(self) -> None:
        """Called at the end of the file; elements that damage left open still emit their content."""
        while self._open:
            self.end(self._open[-1].name)

    def _append(self, frame: _Frame, text: str) -> None:
        frame.parts.append(text)
        if frame.mixed and len(frame.parts) > _MAX_PARTS:
            self._spill(frame)

    def _inline(self) -> bool:
        """Whether the current element is inside prose, or too deep to be structured on its own."""
        return self._mixed > 0 or len(self._open) > _MAX_DEPTH

    def _mark_mixed(self, frame: _Frame) -> None:
        frame.mixed = True
        self._mixed += 1

    def _begin_container(self, frame: _Frame) -> None:
        """Turns `frame` into a container when a child begins in it. Its parent's finished leaves are emitted first."""
        if not frame.container:
            frame.container = True
            if len(self._open) > 1:
                self._flush(self._open[-2])
            frame.leaves += frame.attributes
            frame.leaf_characters += sum(len(text) for _, text in frame.attributes)
            frame.parts.clear()

    def _add_leaf(self, parent: _Frame, frame: _Frame, text: str) -> None:
        if frame.name.lower() in _TITLES and 0 < len(text) <= _MAX_TITLE and not parent.title:
            self._flush(parent)
            parent.title = text
            level = sum(1 for open_frame in self._open if open_frame.title)
            self._sink.emit(ElementType.TITLE, text, Locator(headings=self._path()[:-1]), level=level)
            return
        parent.leaves += [(f"{frame.name} {key}", value) for key, value in frame.attributes]
        if text:
            parent.leaves.append((frame.name, text))
        parent.leaf_characters += len(text) + sum(len(value) for _, value in frame.attributes)
        if parent.leaf_characters > _GROUP:
            self._flush(parent)

    def _flush(self, frame: _Frame) -> None:
        """Emits the leaves of a container: short values together as lines, long texts as separate paragraphs."""
        lines: list[str] = []
        place = Locator(headings=self._path(frame))
        for name, text in frame.leaves:
            if len(text) <= _LABELLED:
                lines.append(f"{name}: {text}")
                continue
            self._emit_lines(lines, place)
            lines = []
            for _, part in plain.paragraphs([text]):
                self._sink.emit(ElementType.PARAGRAPH, part, place)
        self._emit_lines(lines, place)
        frame.leaves.clear()
        frame.leaf_characters = 0

    def _emit_lines(self, lines: list[str], place: Locator) -> None:
        if lines:
            self._sink.emit(ElementType.PARAGRAPH, "\n".join(lines), place)

    def _spill(self, frame: _Frame) -> None:
        """Emits unending prose piece by piece."""
        text = " ".join(_plain("".join(frame.parts)).split())
        frame.parts.clear()
        for _, part in plain.paragraphs([text]):
            self._sink.emit(ElementType.PARAGRAPH, part, Locator(headings=self._path(frame)))

    def _path(self, last: _Frame | None = None) -> tuple[str, ...]:
        """Returns titles (or names) of the open elements, down to `last`, which may just have been closed."""
        frames = self._open
        if last is not None:
            frames = frames[: frames.index(last) + 1] if last in frames else [*frames, last]
        return tuple(frame.title or frame.name for frame in frames)


def _attribute_lines(frame: _Frame) -> list[str]:
    return [f"{key}: {text}" for key, text in frame.attributes]


def _local(tag: str) -> str:
    return tag.rpartition("}")[2]


def _plain(text: str) -> str:
    """Returns a text without markup if it is itself HTML, as in feeds."""
    if "<" not in text or len(_MARKUP.findall(text[:10_000])) < 2:
        return text
    return cell_text(parse_html(text))
