"""Source code: pieces of whole lines with their exact spans, split where nesting is shallow."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from citewell.extract.core.decode import encoding_of, stream_text
from citewell.extract.core.sink import Sink
from citewell.extract.formats.plain import counted_lines
from citewell.types import ElementType, Locator

_TARGET = 1_500
"""Characters after which a piece ends before the next unindented line."""
_MAX = 6_000
"""Characters after which a piece ends anywhere."""


def extract(path: Path, sink: Sink) -> None:
    """Reads a source file in any encoding, streaming."""
    sink.start_unit("file", 1)
    encoding = encoding_of(path, sink)
    for number, (start, text) in enumerate(pieces(counted_lines(stream_text(path, encoding), sink))):
        sink.emit(ElementType.CODE, text, Locator(char_start=start, char_end=start + len(text)))
        if number % 500 == 0:
            sink.progress(start)


def pieces(lines: Iterable[str]) -> Iterator[tuple[int, str]]:
    """Yields (offset, text) of consecutive pieces: a new one begins at an unindented line after `_TARGET` characters,
    or at `_MAX`.
    """
    buffer, start, offset = "", 0, 0
    blank_before = False
    for line in lines:
        unindented = bool(line.strip()) and not line[0].isspace()
        if buffer and (len(buffer) + len(line) > _MAX or (len(buffer) >= _TARGET and unindented and blank_before)):
            yield from _piece(buffer, start)
            buffer = ""
        if not buffer:
            start = offset
        buffer += line
        offset += len(line)
        blank_before = not line.strip()
    yield from _piece(buffer, start)


def _piece(buffer: str, start: int) -> Iterator[tuple[int, str]]:
    """Yields the piece without surrounding empty lines; nothing if it is only white space."""
    if buffer.strip():
        text = buffer.rstrip()
        lead = len(text) - len(text.lstrip("\r\n"))
        yield start + lead, text[lead:]
