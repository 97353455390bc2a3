"""Message bodies stored by Outlook as compressed RTF ([MS-OXRTFCP]), often with HTML wrapped inside ([MS-OXRTFEX])."""

from __future__ import annotations

import re
import struct

from citewell.extract.formats.rtf.state import codepage
from citewell.extract.formats.rtf.tokens import RtfKind, RtfToken, tokens

_MAX_SIZE = 64 * 1024 * 1024
_COMPRESSED, _STORED = 0x75465A4C, 0x414C454D
_PRELOADED = (
    b"{\\rtf1\\ansi\\mac\\deff0\\deftab720{\\fonttbl;}{\\f0\\fnil \\froman \\fswiss \\fmodern \\fscript \\fdecor MS Sans SerifSymbolArial"
    b"Times New RomanCourier{\\colortbl\\red0\\green0\\blue0\r\n\\par \\pard\\plain\\f0\\fs20\\b\\i\\u\\tab\\tx"
)
_DESTINATIONS = frozenset(
    ("fonttbl", "colortbl", "stylesheet", "info", "pict", "object", "generator", "themedata", "datastore", "listtable")
)
_SIGNS = {
    "par": "\n",
    "line": "\n",
    "tab": "\t",
    "lquote": "‘",
    "rquote": "’",
    "ldblquote": "“",
    "rdblquote": "”",
    "bullet": "•",
    "endash": "–",
    "emdash": "—",
}


def decompressed(data: bytes) -> bytes:
    """Returns the RTF of a compressed RTF property; `ValueError` if it is damaged."""
    if len(data) < 16:
        raise ValueError("compressed RTF is too short")
    _, size, kind, _ = struct.unpack_from("<IIII", data)
    if kind == _STORED:
        return data[16 : 16 + size]
    if kind != _COMPRESSED:
        raise ValueError("compressed RTF of unknown kind")
    return _unpacked(data[16:], min(size, _MAX_SIZE))


def _unpacked(data: bytes, size: int) -> bytes:
    """Decompresses LZ77 with a ring of 4,096 bytes preloaded with common RTF words."""
    ring = bytearray(_PRELOADED.ljust(4096, b"\x00"))
    at, out, position = len(_PRELOADED), bytearray(), 0
    while position < len(data) and len(out) < size:
        control = data[position]
        position += 1
        for bit in range(8):
            if position >= len(data) or len(out) >= size:
                break
            if control >> bit & 1:
                if position + 1 >= len(data):
                    return bytes(out)
                reference = data[position] << 8 | data[position + 1]
                position += 2
                offset, length = reference >> 4, (reference & 0xF) + 2
                if offset == at:
                    return bytes(out)
                piece = [0] * length
                for index in range(length):
                    piece[index] = ring[(offset + index) % 4096]
                    ring[(at + index) % 4096] = piece[index]
            else:
                piece = [data[position]]
                ring[at] = data[position]
                position += 1
            at = (at + len(piece)) % 4096
            out += bytes(piece)
    return bytes(out)


def wrapped_html(rtf: bytes) -> str | None:
    """Returns the HTML that Outlook wrapped in RTF; None if the RTF is itself the body."""
    if b"\\fromhtml" not in rtf[:4096]:
        return None
    found = re.search(rb"\\ansicpg(\d{3,5})", rtf[:4096])
    reader = _Unwrapper((codepage(int(found.group(1))) if found else None) or "cp1252")
    for token in tokens(rtf):
        reader.read(token)
    return reader.html()


class _Unwrapper:
    """Unwraps HTML: tags are in `\\*\\htmltag` groups; `\\htmlrtf` marks content only for RTF readers."""

    def __init__(self, encoding: str) -> None:
        self._encoding = encoding
        self._out: list[str] = []
        self._bytes = bytearray()
        self._groups: list[tuple[bool, bool, int]] = []
        self._ignored, self._rtf_only, self._after_unicode = False, False, 1
        self._to_skip = 0
        self._starred = False

    def html(self) -> str:
        """Returns the HTML unwrapped so far."""
        self._end_bytes()
        return "".join(self._out)

    def read(self, token: RtfToken) -> None:
        """Takes one token."""
        if token.kind is RtfKind.TEXT or (token.kind is RtfKind.SYMBOL and token.word in "\\{}"):
            self._raw(token.data or token.word.encode("ascii"))
            return
        self._end_bytes()
        if token.kind is RtfKind.OPEN:
            self._groups.append((self._ignored, self._rtf_only, self._after_unicode))
        elif token.kind is RtfKind.CLOSE and self._groups:
            self._ignored, self._rtf_only, self._after_unicode = self._groups.pop()
        elif token.kind is RtfKind.WORD:
            self._word(token.word, token.number)
        self._starred = token.kind is RtfKind.SYMBOL and token.word == "*"

    def _word(self, word: str, number: int | None) -> None:
        if word == "htmlrtf":
            self._rtf_only = number != 0
        elif word == "u" and number is not None:
            self._text(chr(number % 0x10000))
            self._to_skip = self._after_unicode
        elif word == "uc" and number is not None:
            self._after_unicode = max(0, min(number, 8))
        elif (self._starred and word != "htmltag") or word in _DESTINATIONS:
            self._ignored = True
        else:
            self._text(_SIGNS.get(word, ""))

    def _raw(self, data: bytes) -> None:
        skipped = min(self._to_skip, len(data))
        self._to_skip -= skipped
        if not self._ignored and not self._rtf_only:
            self._bytes += data[skipped:]

    def _text(self, text: str) -> None:
        if text and not self._ignored and not self._rtf_only:
            self._out.append(text)

    def _end_bytes(self) -> None:
        if self._bytes:
            self._out.append(self._bytes.decode(self._encoding, "replace"))
            self._bytes.clear()
