"""Decodes text files: detects the encoding, and streams decoded characters."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from citewell.errors import CorruptFile
from citewell.extract.core.encodings import guess_encoding
from citewell.extract.core.sink import Sink

_SAMPLE = 256 * 1024
"""Bytes sampled to guess an encoding."""
_PIECE = 64 * 1024
"""Bytes read at once, and the most characters of a line yielded at once."""
_BOMS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_CONTROL = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f]")


@dataclass(frozen=True, slots=True)
class Decoded:
    """A decoded text file: the text without its byte order mark, and how it was decoded."""

    text: str
    encoding: str
    replaced: int


def is_text(head: bytes) -> bool:
    """Whether the first bytes of a file look like text in some encoding."""
    if not head or head.startswith(tuple(bom for bom, _ in _BOMS)):
        return True
    if _utf16_without_bom(head):
        return True
    return b"\x00" not in head and len(_CONTROL.findall(head)) * 100 < len(head)


def detect_encoding(sample: bytes) -> str:
    """Detects the encoding from the first bytes: byte order mark, UTF-8, UTF-16 without a mark, or else statistics."""
    for bom, encoding in _BOMS:
        if sample.startswith(bom):
            return encoding
    wide = _utf16_without_bom(sample)
    if wide:
        return wide
    if b"\x1b$" in sample and b"\x1b(" in sample:
        return "iso2022_jp"
    if _is_utf8(sample):
        return "utf-8"
    return guess_encoding(sample)


def file_encoding(path: Path) -> str:
    """Detects the encoding of a whole file: the first byte that is not UTF-8 may be far from the start."""
    return _detected(path)[0]


def encoding_of(path: Path, sink: Sink) -> str:
    """Returns `file_encoding`, notes it in the sink's metadata, and warns of what cannot be decoded."""
    encoding, whole = _detected(path)
    sink.metadata["encoding"] = encoding
    damaged = 0 if whole else sum(piece.count("\ufffd") for piece in stream_text(path, encoding))
    if damaged:
        sink.warn(f"{damaged} characters could not be decoded as {encoding}.")
    return encoding


def _detected(path: Path) -> tuple[str, bool]:
    """Returns the encoding, and whether all of the file is known to be in it."""
    with path.open("rb") as file:
        head = file.read(_SAMPLE)
        encoding = detect_encoding(head)
        if encoding != "utf-8":
            return encoding, False
        decoder = codecs.getincrementaldecoder("utf-8")()
        piece, position = head, 0
        try:
            while piece:
                decoder.decode(piece)
                position += len(piece)
                piece = file.read(_PIECE)
            decoder.decode(b"", final=True)
        except UnicodeDecodeError:
            file.seek(max(0, position - _SAMPLE // 2))
            window = file.read(_SAMPLE)
            return ("utf-8" if _is_utf8(window) else guess_encoding(window)), False
    return "utf-8", True


def decode_bytes(data: bytes, declared: str | None = None) -> Decoded:
    """Decodes all of `data`: by its byte order mark, the declared encoding if it fits, or else detection."""
    encoding = detect_encoding(data[:_SAMPLE])
    if declared and encoding not in ("utf-8-sig", "utf-16", "utf-32") and _fits(data, declared):
        encoding = declared
    elif encoding == "utf-8" and not _is_utf8(data):
        encoding = guess_encoding(data[-_SAMPLE:])
    text = data.decode(encoding, "replace")
    return Decoded(text, encoding, text.count("\ufffd"))


def decode_file(path: Path, limit: int, declared: str | None = None) -> Decoded:
    """Decodes a file like `decode_bytes`; `CorruptFile` if it has more than `limit` bytes."""
    if path.stat().st_size > limit:
        raise CorruptFile(f"The text exceeds the limit of {limit:,} bytes.")
    return decode_bytes(path.read_bytes(), declared)


def stream_text(path: Path, encoding: str) -> Iterator[str]:
    """Yields decoded text in pieces that end at a line end, or after 64 K characters of a line."""
    with path.open("r", encoding=encoding, errors="replace", newline="") as file:
        while line := file.readline(_PIECE):
            yield line


def is_usable(encoding: str) -> bool:
    """Whether Python has a text codec of this name."""
    try:
        return codecs.lookup(encoding)._is_text_encoding  # pyright: ignore[reportPrivateUsage]
    except (LookupError, ValueError):
        return False


def _fits(data: bytes, encoding: str) -> bool:
    if not is_usable(encoding):
        return False
    try:
        data.decode(encoding)
    except (UnicodeError, ValueError):
        return False
    return True


def _is_utf8(sample: bytes) -> bool:
    """Whether the sample is UTF-8, allowing a sequence cut off at the end and damage.

    Other encodings hardly ever form the sequences of UTF-8, so these outweigh as many places that are not UTF-8.
    """
    try:
        codecs.getincrementaldecoder("utf-8")().decode(sample)
    except UnicodeDecodeError:
        text = sample.decode("utf-8", "replace")
        wide = sum(1 for character in text if character > "\x7f")
        return text.count("\ufffd") * 2 <= wide
    return True


def _utf16_without_bom(sample: bytes) -> str | None:
    """Detects UTF-16 without a mark: in mostly Latin text, every second byte is NUL."""
    pairs = len(sample) // 2
    if pairs < 4 or b"\x00" not in sample:
        return None
    high, low = sample[0 : pairs * 2 : 2].count(0), sample[1 : pairs * 2 : 2].count(0)
    if low * 2 > pairs and high * 20 < pairs:
        return "utf-16-le"
    if high * 2 > pairs and low * 20 < pairs:
        return "utf-16-be"
    return None
