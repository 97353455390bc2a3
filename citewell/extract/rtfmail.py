"""Message bodies that Outlook keeps as compressed RTF ([MS-OXRTFCP]), often with HTML wrapped inside ([MS-OXRTFEX])."""

from __future__ import annotations

import re
import struct

from citewell.extract.decode import is_usable

_MAX_SIZE = 64 * 1024 * 1024
_COMPRESSED, _STORED = 0x75465A4C, 0x414C454D
_PRELOADED = (
    b"{\\rtf1\\ansi\\mac\\deff0\\deftab720{\\fonttbl;}{\\f0\\fnil \\froman \\fswiss \\fmodern \\fscript \\fdecor MS Sans SerifSymbolArial"
    b"Times New RomanCourier{\\colortbl\\red0\\green0\\blue0\r\n\\par \\pard\\plain\\f0\\fs20\\b\\i\\u\\tab\\tx"
)
_TOKEN = re.compile(rb"\\'([0-9a-fA-F]{2})|\\([a-zA-Z]+)(-?\d+)? ?|\\([^a-zA-Z])|([{}])|([^\\{}\r\n]+)|[\r\n]+")
_DESTINATIONS = frozenset(
    ("fonttbl", "colortbl", "stylesheet", "info", "pict", "object", "generator", "themedata", "datastore", "listtable")
)
_BREAKS = {"par": "\n", "line": "\n", "tab": "\t", "sect": "\n", "row": "\n", "cell": "\t"}
_SIGNS = {"lquote": "‘", "rquote": "’", "ldblquote": "“", "rdblquote": "”", "bullet": "•", "endash": "–", "emdash": "—"}


def decompressed(data: bytes) -> bytes:
    """The RTF of a compressed RTF property; `ValueError` when it is damaged."""
    if len(data) < 16:
        raise ValueError("compressed RTF is too short")
    _, size, kind, _ = struct.unpack_from("<IIII", data)
    if kind == _STORED:
        return data[16 : 16 + size]
    if kind != _COMPRESSED:
        raise ValueError("compressed RTF of unknown kind")
    return _unpacked(data[16:], min(size, _MAX_SIZE))


def _unpacked(data: bytes, size: int) -> bytes:
    """LZ77 with a ring of 4,096 bytes that begins with common RTF words."""
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


def html_or_text(rtf: bytes) -> tuple[str, str]:
    """(`html`, the HTML that Outlook wrapped) or (`text`, the plain text of the RTF)."""
    wrapped = b"\\fromhtml" in rtf[:4096]
    codepage = re.search(rb"\\ansicpg(\d{3,5})", rtf[:4096])
    encoding = f"cp{codepage.group(1).decode()}" if codepage else "cp1252"
    reader = _Reader(encoding if is_usable(encoding) else "cp1252", wrapped)
    return ("html" if wrapped else "text"), reader.read(rtf)


class _Reader:
    """Tokens of RTF to text. In wrapped HTML, tags stand in `\\*\\htmltag` groups, and `\\htmlrtf` marks what is RTF only."""

    def __init__(self, encoding: str, wrapped: bool) -> None:
        self._encoding, self._wrapped = encoding, wrapped
        self._out: list[str] = []
        self._bytes = bytearray()
        self._groups: list[tuple[bool, bool, int]] = []
        self._ignored, self._rtf_only, self._skip_after_unicode = False, False, 1
        self._to_skip = 0

    def read(self, rtf: bytes) -> str:
        starred = False
        for match in _TOKEN.finditer(rtf):
            hexadecimal, word, number, symbol, brace, text = match.groups()
            if brace:
                self._brace(brace)
            elif word:
                self._word(word.decode("ascii"), number, starred)
            elif hexadecimal:
                self._raw(bytes([int(hexadecimal, 16)]))
            elif symbol in (b"\\", b"{", b"}"):
                self._raw(symbol)
            elif symbol == b"~":
                self._text("\u00a0")
            elif text:
                self._raw(text)
            starred = symbol == b"*"
        self._end_bytes()
        return "".join(self._out)

    def _brace(self, brace: bytes) -> None:
        self._end_bytes()
        if brace == b"{":
            self._groups.append((self._ignored, self._rtf_only, self._skip_after_unicode))
        elif self._groups:
            self._ignored, self._rtf_only, self._skip_after_unicode = self._groups.pop()

    def _word(self, word: str, number: bytes | None, starred: bool) -> None:
        if word == "htmlrtf":
            self._end_bytes()
            self._rtf_only = number != b"0"
        elif word == "u" and number:
            self._text(chr(int(number) % 0x10000))
            self._to_skip = self._skip_after_unicode
        elif word == "uc" and number:
            self._skip_after_unicode = max(0, min(int(number), 8))
        elif (
            (starred and not (word in ("htmltag", "mhtmltag") and self._wrapped))
            or word in _DESTINATIONS
            or word == "mhtmltag"
        ):
            self._ignored = True
        elif word in _BREAKS:
            self._text(_BREAKS[word])
        elif word in _SIGNS:
            self._text(_SIGNS[word])

    def _raw(self, data: bytes) -> None:
        skipped = min(self._to_skip, len(data))
        self._to_skip -= skipped
        if not self._ignored and not self._rtf_only:
            self._bytes += data[skipped:]

    def _text(self, text: str) -> None:
        if not self._ignored and not self._rtf_only:
            self._end_bytes()
            self._out.append(text)

    def _end_bytes(self) -> None:
        if self._bytes:
            self._out.append(self._bytes.decode(self._encoding, "replace"))
            self._bytes.clear()
