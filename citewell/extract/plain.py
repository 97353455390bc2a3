"""Plain text: paragraphs parted by empty lines, each with its exact span in the decoded text."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from citewell.extract.decode import file_encoding, stream_text
from citewell.extract.sink import Sink
from citewell.types import ElementType, Locator

MAX_PARAGRAPH = 16 * 1024
_PROGRESS_EVERY = 1_000
_SENTENCE_END = re.compile(r"[.!?。！？]\s|\n")


def extract(path: Path, sink: Sink) -> None:
    """Read a text file in any encoding, streaming: memory does not grow with the file."""
    encoding = file_encoding(path)
    sink.metadata["encoding"] = encoding
    sink.start_unit("file", 1)
    replaced = 0
    for number, (start, text) in enumerate(paragraphs(stream_text(path, encoding))):
        replaced += text.count("\ufffd")
        sink.emit(ElementType.PARAGRAPH, text, Locator(char_start=start, char_end=start + len(text)))
        if number % _PROGRESS_EVERY == 0:
            sink.progress(start)
    if replaced:
        sink.warn(f"{replaced} characters could not be decoded as {encoding}.")


def paragraphs(lines: Iterable[str]) -> Iterator[tuple[int, str]]:
    """(offset, text) of each paragraph: the text stands at exactly that offset of the joined lines, without outer white space.

    A paragraph longer than `MAX_PARAGRAPH` characters is parted at the end of a sentence or line.
    """
    buffer, start, offset = "", 0, 0
    for line in lines:
        if not line.strip():
            yield from _parts(buffer, start, final=True)
            buffer = ""
        else:
            if not buffer:
                start = offset
            buffer += line
            if len(buffer) > 2 * MAX_PARAGRAPH:
                for at, text in _parts(buffer, start, final=False):
                    yield at, text
                    consumed = at + len(text) - start
                    buffer, start = buffer[consumed:], at + len(text)
        offset += len(line)
    yield from _parts(buffer, start, final=True)


def _parts(buffer: str, start: int, final: bool) -> Iterator[tuple[int, str]]:
    """Trimmed pieces of `buffer`; unless `final`, only as many as leave less than `MAX_PARAGRAPH` behind."""
    position = 0
    while len(buffer) - position > MAX_PARAGRAPH:
        end = _break(buffer, position)
        yield from _trimmed(buffer, position, end, start)
        position = end
    if final:
        yield from _trimmed(buffer, position, len(buffer), start)


def _trimmed(buffer: str, begin: int, end: int, start: int) -> Iterator[tuple[int, str]]:
    piece = buffer[begin:end]
    text = piece.strip()
    if text:
        yield start + begin + len(piece) - len(piece.lstrip()), text


def _break(buffer: str, position: int) -> int:
    """Where the piece that begins at `position` ends: after the last sentence within the limit, else at a space, else hard."""
    window = buffer[position : position + MAX_PARAGRAPH]
    ends = [match.end() for match in _SENTENCE_END.finditer(window, MAX_PARAGRAPH // 2)]
    if ends:
        return position + ends[-1]
    space = window.rfind(" ", MAX_PARAGRAPH // 2)
    return position + (space + 1 if space > 0 else len(window))
