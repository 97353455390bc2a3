"""Plain text: paragraphs separated by empty lines, under their headings, each with its span in the decoded text."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from citewell.extract.core.decode import encoding_of, stream_text
from citewell.extract.core.outline import Outline
from citewell.extract.core.sink import Sink
from citewell.extract.core.text_headings import find_heading
from citewell.types import ElementType

MAX_PARAGRAPH = 4_096
"""Characters of the longest paragraph; a longer one is split at the end of a line or sentence."""
_FLUSH_AT = 64 * 1024
"""Most characters of text without empty lines held in memory."""
_WRAPPED_LINE = 200
"""Longest hand-wrapped line, in characters; a longer line is its own paragraph. Set by hand."""
_PROGRESS_EVERY = 1_000
_LINE_END = re.compile(r"\n")
_SENTENCE_END = re.compile(r"[.!?]\s|[。！？]")


def extract(path: Path, sink: Sink) -> None:
    """Reads a text file in any encoding, streaming: memory does not grow with the file."""
    sink.start_unit("file", 1)
    encoding = encoding_of(path, sink)
    outline = Outline()
    read = paragraphs(counted_lines(stream_text(path, encoding), sink))
    for number, ((start, text), after) in enumerate(with_next(read)):
        _emit(sink, outline, start, text, after)
        if number % _PROGRESS_EVERY == 0:
            sink.progress(start)


def with_next(read: Iterable[tuple[int, str]]) -> Iterator[tuple[tuple[int, str], str]]:
    """Yields each paragraph with the text of the next one, which is empty for the last."""
    before: tuple[int, str] | None = None
    for one in read:
        if before is not None:
            yield before, one[1]
        before = one
    if before is not None:
        yield before, ""


def _emit(sink: Sink, outline: Outline, start: int, text: str, after: str) -> None:
    """Emits the heading that starts a paragraph, if any, and the paragraph."""
    heading = find_heading(text, after)
    if heading is not None:
        place = outline.locator(char_start=start, char_end=start + heading.end)
        above = outline.enter(heading.level, heading.title)
        sink.emit(ElementType.TITLE, heading.title, place.with_headings(above), level=heading.level)
        rest = text[heading.body :]
        start, text = start + heading.body, rest
    if text:
        sink.emit(ElementType.PARAGRAPH, text, outline.locator(char_start=start, char_end=start + len(text)))


def counted_lines(lines: Iterable[str], sink: Sink) -> Iterator[str]:
    """Yields the lines and finally stores their count as `line_count` in the sink's metadata."""
    count = 0
    for line in lines:
        count += 1
        yield line
    sink.metadata["line_count"] = count


def paragraphs(lines: Iterable[str]) -> Iterator[tuple[int, str]]:
    """Yields (offset, text) per paragraph: the text, stripped, is at exactly that offset of the joined lines.

    Paragraphs end at empty lines; a line longer than hand-wrapped text is its own paragraph. A paragraph longer than
    `MAX_PARAGRAPH` characters is split at the end of a line or sentence.
    """
    buffer, start, offset = "", 0, 0
    for line in lines:
        alone = len(line) > _WRAPPED_LINE
        if alone or not line.strip():
            yield from _parts(buffer, start)
            buffer = ""
        if not buffer:
            start = offset
        if line.strip():
            buffer += line
        if alone or len(buffer) > _FLUSH_AT:
            yield from _parts(buffer, start)
            buffer = ""
        offset += len(line)
    yield from _parts(buffer, start)


def _parts(buffer: str, start: int) -> Iterator[tuple[int, str]]:
    """Yields stripped pieces of at most `MAX_PARAGRAPH` characters; none if there is only white space."""
    position = 0
    while position < len(buffer):
        end = len(buffer) if len(buffer) - position <= MAX_PARAGRAPH else _break(buffer, position)
        piece = buffer[position:end]
        text = piece.strip()
        if text:
            yield start + position + len(piece) - len(piece.lstrip()), text
        position = end


def _break(buffer: str, position: int) -> int:
    """Returns where the piece starting at `position` ends: after the last line or sentence within the limit, else at a
    space, else at the limit.
    """
    window = buffer[position : position + MAX_PARAGRAPH]
    for boundary in (_LINE_END, _SENTENCE_END):
        ends = [match.end() for match in boundary.finditer(window, MAX_PARAGRAPH // 2)]
        if ends:
            return position + ends[-1]
    space = window.rfind(" ", MAX_PARAGRAPH // 2)
    return position + (space + 1 if space > 0 else len(window))
