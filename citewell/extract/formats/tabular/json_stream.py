"""Reads JSON of any size piece by piece: members of a top-level object and elements of lists one at a time."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TextIO, cast

from citewell.errors import LimitExceeded
from citewell.extract.formats.tabular.flatten import MAX_DEPTH, JsonData

_PIECE = 256 * 1024
_MAX_VALUE = 64 * 1024 * 1024
_SPACE = re.compile(r"[ \t\n\r]*")
_MAX_NUMBER_LENGTH = 300
_TOKEN_TAIL = 16
_ENDS = tuple(" \t\n\r,:]}")


@dataclass(frozen=True, slots=True)
class Item:
    """One value: `key` names its member of the top-level object; `index` is its place (from 0) in a list, else None."""

    key: str | None
    index: int | None
    value: JsonData


class Damaged(Exception):
    """The text from here on is not JSON; the stream's `rest()` still returns it."""


class JsonStream:
    """The values of a JSON text. Iterating raises `Damaged` at a syntax error, `LimitExceeded` if nested too deeply."""

    def __init__(self, file: TextIO) -> None:
        self._file = file
        self._buffer = ""
        self._at = 0
        self._key = ""  # the text of a key whose value is still to be read
        self._ended = False
        self._decoder = json.JSONDecoder(parse_int=_integer)

    def __iter__(self) -> Iterator[Item]:
        while self._peek():
            yield from self._top_level()

    def rest(self) -> Iterator[str]:
        """Yields the text not read as JSON, in pieces."""
        yield self._key + self._buffer[self._at :]
        while piece := self._file.read(_PIECE):
            yield piece

    def _top_level(self) -> Iterator[Item]:
        opening = self._peek()
        if opening == "[":
            yield from self._list(None)
        elif opening == "{":
            yield from self._object()
        else:
            yield Item(None, None, self._value())

    def _object(self) -> Iterator[Item]:
        self._take("{")
        while self._peek() != "}":
            key = self._value()
            if not isinstance(key, str):
                raise Damaged
            self._key = f"{json.dumps(key)}: "
            self._take(":")
            if self._peek() == "[":
                yield from self._list(key)
            else:
                value = self._value()
                self._key = ""
                yield Item(key, None, value)
            if self._peek() != "}":
                self._take(",")
        self._take("}")

    def _list(self, key: str | None) -> Iterator[Item]:
        self._take("[")
        index = 0
        while self._peek() != "]":
            value = self._value()
            self._key = ""
            yield Item(key, index, value)
            index += 1
            if self._peek() != "]":
                self._take(",")
        self._take("]")
        self._key = ""
        if key is not None and not index:
            yield Item(key, None, [])

    def _peek(self) -> str:
        """Returns the next character that is not white space; empty at the end."""
        while True:
            self._at = cast("re.Match[str]", _SPACE.match(self._buffer, self._at)).end()
            if self._at < len(self._buffer) or not self._more():
                return self._buffer[self._at : self._at + 1]

    def _take(self, character: str) -> None:
        if self._peek() != character:
            raise Damaged
        self._at += 1

    def _value(self) -> JsonData:
        self._peek()
        while True:
            try:
                value, end = self._decoder.raw_decode(self._buffer, self._at)
            except json.JSONDecodeError as error:
                cut_off = error.msg.startswith("Unterminated") or error.pos >= len(self._buffer) - _TOKEN_TAIL
                if not (cut_off and self._more()):
                    raise Damaged from error
            except RecursionError as error:
                raise LimitExceeded(f"The data is nested deeper than {MAX_DEPTH} levels.") from error
            else:
                if self._buffer[end : end + 1] in _ENDS or not self._more():
                    self._at = end
                    return cast("JsonData", value)

    def _more(self) -> bool:
        """Reads on, twice as much if one value needs it; False at the end of the file."""
        if self._ended:
            return False
        pending = len(self._buffer) - self._at
        if pending > _MAX_VALUE:
            raise LimitExceeded(f"A value exceeds the limit of {_MAX_VALUE:,} characters.")
        piece = self._file.read(max(_PIECE, pending))
        self._ended = not piece
        self._buffer = self._buffer[self._at :] + piece
        self._at = 0
        return bool(piece)


def _integer(digits: str) -> int | str:
    return int(digits) if len(digits) <= _MAX_NUMBER_LENGTH else digits
