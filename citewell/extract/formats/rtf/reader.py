"""Reads RTF token by token and emits its elements."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

from citewell.errors import CorruptFile
from citewell.extract.core.outline import Outline
from citewell.extract.core.pictures import Pictures
from citewell.extract.core.raised import raised
from citewell.extract.core.sink import Sink
from citewell.extract.core.symbols import SYMBOL
from citewell.extract.formats.rtf.blocks import Blocks
from citewell.extract.formats.rtf.objects import embedded_file
from citewell.extract.formats.rtf.state import DESTINATIONS, TRANSPARENT, Head, Place, State, codepage
from citewell.extract.formats.rtf.tokens import RtfKind, RtfToken, tokens

MAX_RTF_BYTES = 256 * 1024 * 1024
_MAX_GROUPS = 2_000
_HYPERLINK = re.compile(r'HYPERLINK\s+"?([^"\s]{1,2000})')
_CHARACTERS = {
    "line": "\n", "tab": "\t", "emdash": "—", "endash": "–", "bullet": "•", "lquote": "‘", "rquote": "’", "ldblquote": "“", "rdblquote": "”",
    "emspace": " ", "enspace": " ", "qmspace": " ", "~": " ", "_": "-", "softline": "\n",
}  # fmt: skip
_READ_IN_SKIPPED = frozenset((Place.BODY, Place.PICTURE, Place.OBJECT, Place.INFO, Place.TEXT_BOX))
_ASIDES = frozenset((Place.HEADER, Place.FOOTER, Place.FOOTNOTE, Place.COMMENT, Place.TEXT_BOX))


def extract(path: Path, sink: Sink) -> None:
    """Reads an RTF file. Raises `CorruptFile` if it is not RTF, or larger than the limit."""
    if path.stat().st_size > MAX_RTF_BYTES:
        raise CorruptFile(f"The RTF file exceeds the limit of {MAX_RTF_BYTES:,} bytes.")
    data = path.read_bytes()
    if not data.lstrip().startswith(b"{\\rtf"):
        raise CorruptFile("The file does not start with an RTF header.")
    sink.start_unit("file", 1)
    read_rtf(data, sink, Outline())


def read_rtf(data: bytes, sink: Sink, outline: Outline) -> None:
    """Emits the elements of an RTF text."""
    reader = _RtfReader(sink, outline)
    for count, token in enumerate(tokens(data)):
        reader.read(token)
        if count % 50_000 == 0:
            sink.progress(count)
    reader.finish()


class _RtfReader:
    """The reading state: the stack of groups, and the text that is not yet an element."""

    def __init__(self, sink: Sink, outline: Outline) -> None:
        self._sink = sink
        self._head = Head()
        self._pictures = Pictures(sink)
        self._blocks = Blocks(sink, outline, self._head, self._pictures)
        self._state = State()
        self._groups: list[State] = []
        self._bytes = bytearray()
        self._to_skip = 0
        self._starred = False
        self._data = bytearray()
        self._hidden = 0
        self._too_deep = 0

    def read(self, token: RtfToken) -> None:
        """Takes one token."""
        if token.kind is RtfKind.TEXT:
            self._raw(token.data)
            return
        self._end_bytes()
        if token.kind is RtfKind.OPEN:
            self._open()
        elif token.kind is RtfKind.CLOSE:
            self._close()
        elif token.kind is RtfKind.BINARY:
            self._data += token.data
        elif token.kind is RtfKind.SYMBOL:
            self._symbol(token.word)
        else:
            self._word(token.word, token.number)
            self._starred = False

    def finish(self) -> None:
        """Must be called after the last token; groups left open by damage still give their text."""
        self._end_bytes()
        while self._groups:
            self._close()
        self._blocks.finish()
        self._pictures.finish()
        if self._hidden:
            self._sink.skip(f"{self._hidden} characters of hidden text.")

    def _open(self) -> None:
        if len(self._groups) >= _MAX_GROUPS:
            self._too_deep += 1
            return
        self._groups.append(self._state)
        self._state = replace(self._state, destination="")

    def _close(self) -> None:
        if self._too_deep:
            self._too_deep -= 1
            return
        if not self._groups:
            return
        closed, self._state = self._state, self._groups.pop()
        if closed.destination:
            self._end_destination(closed)

    def _symbol(self, sign: str) -> None:
        if sign == "*":
            self._starred = True
        elif sign in "\\{}":
            self._raw(sign.encode("ascii"))
        elif sign in _CHARACTERS:
            self._text(_CHARACTERS[sign])

    def _word(self, word: str, number: int | None) -> None:
        place = DESTINATIONS.get(word)
        if word in TRANSPARENT:
            return
        if place is not None:
            self._begin_destination(word, place)
        elif self._starred:
            self._begin_destination(word, Place.SKIPPED)
        elif word == "u" and number is not None:
            self._text(chr(number % 0x10000))
            self._to_skip = self._state.after_unicode
        elif word in _CHARACTERS:
            self._text(_CHARACTERS[word])
        elif self._state.place is Place.FONTS:
            self._font_word(word, number or 0)
        elif self._state.place is Place.STYLES:
            self._style_word(word, number or 0)
        elif not self._character_word(word, number):
            self._paragraph_word(word, number)

    def _character_word(self, word: str, number: int | None) -> bool:
        """Applies character formatting or the document's code page; False for other words."""
        state = self._state
        if word == "f":
            state.encoding = self._head.fonts.get(number or 0, self._head.default)
            state.symbol = (number or 0) in self._head.symbol_fonts
        elif word == "uc":
            state.after_unicode = max(0, min(number if number is not None else 1, 8))
        elif word == "v":
            state.hidden = number != 0
        elif word == "deleted":
            state.deleted = number != 0
        elif word in ("super", "up"):
            state.raised = number != 0
        elif word in ("nosupersub", "sub", "dn"):
            state.raised = False
        elif word == "plain":
            state.hidden = state.deleted = state.symbol = state.raised = False
            state.encoding = self._head.default
        elif word == "ansicpg" and number:
            self._head.set_codepage(number)
            state.encoding = self._head.default
        elif word == "mac":
            state.encoding = self._head.default = "mac_roman"
        else:
            return False
        return True

    def _paragraph_word(self, word: str, number: int | None) -> None:
        """Applies paragraph and table formatting, and ends paragraphs, cells and rows."""
        state, blocks = self._state, self._blocks
        if state.place in (Place.SKIPPED, Place.PICTURE, Place.OBJECT, Place.LABEL, Place.FIELD, Place.INFO):
            return
        if word == "pard":
            state.reset_paragraph()
        elif word in ("par", "sect", "cell", "nestcell", "row", "nestrow", "page"):
            self._end(word)
        elif word == "s":
            state.style = number or 0
        elif word == "outlinelevel":
            state.outline = number
        elif word == "ls":
            state.listed = bool(number)
        elif word == "ilvl":
            state.level = max(0, min(number or 0, 8))
        elif word == "intbl":
            state.in_table = True
        elif word == "itap":
            state.nesting = number or 0
            state.in_table = state.in_table or state.nesting > 0
        elif state.nesting <= 1:
            blocks.row_word(word, number)

    def _end(self, word: str) -> None:
        if self._state.place in _ASIDES:
            self._state.collected.append("\n")
            return
        if word in ("par", "sect", "page"):
            self._blocks.end_paragraph(self._state)
        elif word == "cell":
            self._blocks.end_cell()
        elif word == "row":
            self._blocks.end_row()
        else:
            self._blocks.text(" | " if word == "nestcell" else "\n")

    def _begin_destination(self, word: str, place: Place) -> None:
        if self._state.place is Place.SKIPPED and place not in _READ_IN_SKIPPED:
            place = Place.SKIPPED
        self._state.place, self._state.destination = place, word
        if place in _ASIDES or place in (Place.LABEL, Place.FIELD, Place.INFO):
            self._state.collected = []
        elif place in (Place.PICTURE, Place.OBJECT):
            self._data.clear()

    def _end_destination(self, closed: State) -> None:
        if closed.place is self._state.place and closed.place in _ASIDES:
            return
        text = "".join(closed.collected)
        if closed.place in _ASIDES:
            self._blocks.aside(closed.place, text)
        elif closed.place is Place.LABEL:
            self._blocks.label(text)
        elif closed.place is Place.FIELD:
            match = _HYPERLINK.search(text)
            if match:
                self._blocks.link(match.group(1))
        elif closed.place is Place.INFO and text.strip():
            self._sink.metadata[closed.destination] = text.strip()[:1000]
        elif closed.place is Place.PICTURE:
            self._blocks.picture(_bytes_of(self._data))
        elif closed.place is Place.OBJECT:
            self._object(_bytes_of(self._data))
        self._data.clear()

    def _object(self, data: bytes) -> None:
        found = embedded_file(data)
        if found is None:
            self._sink.skip("An embedded object could not be unpacked.")
        else:
            self._sink.add_child(found[0]).write_bytes(found[1])

    def _font_word(self, word: str, number: int) -> None:
        if word == "f":
            self._head.font = number
        elif word == "fcharset":
            self._head.set_charset(number)
        elif word == "cpg":
            self._head.fonts[self._head.font] = codepage(number) or self._head.default

    def _style_word(self, word: str, number: int) -> None:
        if word == "s":
            self._head.style = number
        elif word == "outlinelevel":
            self._head.style_levels[self._head.style] = number

    def _raw(self, data: bytes) -> None:
        skipped = min(self._to_skip, len(data))
        self._to_skip -= skipped
        data = data[skipped:]
        place = self._state.place
        if place in (Place.PICTURE, Place.OBJECT):
            self._data += data
        elif place is Place.STYLES:
            self._style_name(data)
        elif place is Place.BODY and self._state.hidden and not self._state.deleted:
            self._hidden += len(data)
        elif place not in (Place.SKIPPED, Place.FONTS) and not self._state.deleted:
            self._bytes += data

    def _style_name(self, data: bytes) -> None:
        """Takes the name of a style, which ends with a semicolon; its number and level came before."""
        self._state.collected.append(data.decode("cp1252", "replace"))
        if b";" in data:
            name = "".join(self._state.collected).partition(";")[0].strip().lower()
            self._head.style_names.setdefault(self._head.style, name)
            self._state.collected.clear()
            self._head.style = 0

    def _end_bytes(self) -> None:
        if not self._bytes:
            return
        if self._state.symbol:
            text = "".join(SYMBOL.get(byte, "") for byte in self._bytes)
        else:
            text = self._bytes.decode(self._state.encoding, "replace")
        self._bytes.clear()
        self._put(text)

    def _text(self, text: str) -> None:
        if (
            self._state.place in (Place.SKIPPED, Place.FONTS, Place.STYLES, Place.PICTURE, Place.OBJECT)
            or self._state.deleted
        ):
            return
        if self._state.hidden:
            self._hidden += len(text)
            return
        self._put(text)

    def _put(self, text: str) -> None:
        text = raised(text) if self._state.raised else text
        if self._state.place is Place.BODY:
            self._blocks.text(text)
        else:
            self._state.collected.append(text)


def _bytes_of(data: bytearray) -> bytes:
    """Returns binary data, decoded if it is written as hexadecimal digits."""
    digits = bytes(data).translate(None, b" \t\r\n")
    if re.fullmatch(rb"[0-9a-fA-F]*", digits):
        return bytes.fromhex(digits[: len(digits) // 2 * 2].decode("ascii"))
    return bytes(data)
