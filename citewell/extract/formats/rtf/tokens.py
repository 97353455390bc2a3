"""The tokens of RTF: groups, control words, bytes of text, and binary data."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum, auto

_TOKEN = re.compile(
    rb"\\'([0-9a-fA-F]{2})|\\([a-zA-Z]{1,32})(-?\d{1,10})? ?|\\([^a-zA-Z\r\n])|([{}])|([^\\{}\r\n]+)|\\[\r\n]|[\r\n]+|\\"
)


class RtfKind(Enum):
    """The kind of a token."""

    OPEN = auto()
    CLOSE = auto()
    WORD = auto()
    SYMBOL = auto()
    TEXT = auto()
    BINARY = auto()


@dataclass(frozen=True, slots=True)
class RtfToken:
    """A token: `word` and `number` of a control word, the character of a control symbol, or the bytes of text."""

    kind: RtfKind
    word: str = ""
    number: int | None = None
    data: bytes = b""


def tokens(data: bytes) -> Iterator[RtfToken]:
    """Yields all tokens; anything that is not RTF is skipped."""
    position = 0
    while match := _TOKEN.search(data, position):
        position = match.end()
        hexadecimal, word, number, symbol, brace, text = match.groups()
        if text is not None:
            yield RtfToken(RtfKind.TEXT, data=text)
        elif word is not None:
            name = word.decode("ascii")
            if name == "bin" and number is not None:
                length = max(0, int(number))
                yield RtfToken(RtfKind.BINARY, data=data[position : position + length])
                position += length
            else:
                yield RtfToken(RtfKind.WORD, name, int(number) if number is not None else None)
        elif hexadecimal is not None:
            yield RtfToken(RtfKind.TEXT, data=bytes([int(hexadecimal, 16)]))
        elif brace is not None:
            yield RtfToken(RtfKind.OPEN if brace == b"{" else RtfKind.CLOSE)
        elif symbol is not None:
            yield RtfToken(RtfKind.SYMBOL, symbol.decode("latin-1"))
        elif match.group().startswith(b"\\"):
            yield RtfToken(RtfKind.WORD, "par")
