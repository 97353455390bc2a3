"""How text is set: size, weight, slant and direction, read once per text object and once per font."""

from __future__ import annotations

import ctypes
import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from citewell.extract.formats.pdf import native
from citewell.extract.formats.pdf.geometry import PageFrame

_BOLD = re.compile(
    r"bold|black|heavy|semibold|demi(?!an)|\bbd\b|,bd|-medi(?:ital)?$|[a-z](?:Bd|Blk|Hv)(?:It|Cn)?$"
    r"|^(?:cm|sf|lm|ec)\w*bx|\.bi?$",
    re.IGNORECASE,
)
_ANONYMOUS = re.compile(r"^(?:CIDFont\+)?[A-Z]{0,2}\d*$")
_ITALIC = re.compile(r"italic|oblique|slanted|kursiv|-it\b", re.IGNORECASE)
_MONO = re.compile(r"courier|mono|consol|menlo|typewriter|cmtt|fixed|inconsolata|lettergothic|code", re.IGNORECASE)
_SUBSET = re.compile(r"^[A-Z]{6}\+")
# Flags of a font descriptor (ISO 32000-1, table 123).
_FIXED_PITCH = 1
_ITALIC_FLAG = 1 << 6
_FORCE_BOLD = 1 << 18


@dataclass(frozen=True, slots=True, kw_only=True)
class FontThresholds:
    """Thresholds for reading fonts; an em is the font's size. Set by hand on the development documents.

    heavy:          weight (1 to 1,000, as in OpenType) at which a font is bold if its name does not say
    letter_top:     ems that letters reach above the baseline; any ascent beyond that is trimmed from word rectangles
    letter_bottom:  ems that letters reach below the baseline, likewise for the descent
    max_ems:        larger ascents or descents are invalid and count as unknown
    stride:         words skipped in searching for the end of a text object; affects only speed
    """

    heavy: int = 700
    letter_top: float = 0.78
    letter_bottom: float = 0.22
    max_ems: float = 3.0
    stride: int = 6


THRESHOLDS = FontThresholds()

_NAME_LIMIT = 256
"""Bytes read of a font's name."""


@dataclass(frozen=True, slots=True)
class TextStyle:
    """The style of a run of text.

    size:   effective font size in points
    angle:  direction on the shown page, degrees counterclockwise, 0..359
    over:   points by which the font's box reaches above the letters
    under:  points by which it reaches below their descenders
    """

    font: str
    size: float
    bold: bool = False
    italic: bool = False
    mono: bool = False
    angle: int = 0
    over: float = 0.0
    under: float = 0.0


UNKNOWN_STYLE = TextStyle("", 10.0)


@dataclass(frozen=True, slots=True)
class _Font:
    name: str
    bold: bool
    italic: bool
    mono: bool
    over: float = 0.0
    under: float = 0.0


class StyleReader:
    """Styles of one page's characters. Equal styles are the same object."""

    def __init__(self, textpage: int, frame: PageFrame) -> None:
        self._textpage = textpage
        self._frame = frame
        self._by_object: dict[int, TextStyle] = {}
        self._by_setting: dict[tuple[float, ...], TextStyle] = {}
        self._fonts: dict[int, _Font] = {}
        self._styles: dict[TextStyle, TextStyle] = {}
        self._matrix = (ctypes.c_float * 6)()
        self._size = ctypes.c_float()

    def styles(self, characters: Sequence[int]) -> list[TextStyle]:
        """Returns the styles of characters, given their ascending indices in the text page."""
        found: list[TextStyle] = []
        last = len(characters) - 1
        while len(found) <= last:
            place = len(found)
            ahead = min(place + THRESHOLDS.stride, last)
            address = native.text_object(self._textpage, characters[place])
            style = self._style(address, characters[place])
            # Everything between two characters of one text object belongs to it too.
            same = bool(address) and ahead > place and native.text_object(self._textpage, characters[ahead]) == address
            found += [style] * (ahead - place + 1 if same else 1)
        return found

    def _style(self, address: int | None, character: int) -> TextStyle:
        if not address:
            return UNKNOWN_STYLE
        found = self._by_object.get(address)
        if found is None:
            found = self._by_object[address] = self._read(address, character)
        return found

    def _read(self, address: int, character: int) -> TextStyle:
        native.char_matrix(self._textpage, character, ctypes.addressof(self._matrix))
        a, b, c, d = self._matrix[0], self._matrix[1], self._matrix[2], self._matrix[3]
        native.text_size(address, ctypes.addressof(self._size))
        font_address = native.object_font(address) or 0
        key = (font_address, a, b, c, d, self._size.value)
        found = self._by_setting.get(key)
        if found is None:
            found = self._made(self._font(font_address), (a, b), self._size.value * math.hypot(c, d))
            found = self._by_setting[key] = self._styles.setdefault(found, found)
        return found

    def _made(self, font: _Font, direction: tuple[float, float], size: float) -> TextStyle:
        a, b = direction
        return TextStyle(
            font=font.name,
            size=round(size, 1) or UNKNOWN_STYLE.size,
            bold=font.bold,
            italic=font.italic,
            mono=font.mono,
            angle=self._frame.angle(a, b) if a or b else 0,
            over=round(font.over * size, 2),
            under=round(font.under * size, 2),
        )

    def _font(self, address: int) -> _Font:
        font = self._fonts.get(address)
        if font is None:
            font = self._fonts[address] = _read_font(address)
        return font


def _read_font(address: int) -> _Font:
    if not address:
        return _Font("", False, False, False)
    buffer = ctypes.create_string_buffer(_NAME_LIMIT)
    native.font_name(address, ctypes.addressof(buffer), _NAME_LIMIT)
    name = _SUBSET.sub("", buffer.value.decode("utf-8", "replace"))
    flags = max(0, native.font_flags(address))
    return _Font(
        name=name,
        bold=bool(_BOLD.search(name))
        or bool(flags & _FORCE_BOLD)
        or (_ANONYMOUS.match(name) is not None and native.font_weight(address) >= THRESHOLDS.heavy),
        italic=bool(_ITALIC.search(name)) or bool(flags & _ITALIC_FLAG),
        mono=bool(_MONO.search(name)) or bool(flags & _FIXED_PITCH),
        over=max(0.0, _metric(native.font_ascent, address) - THRESHOLDS.letter_top),
        under=max(0.0, -_metric(native.font_descent, address) - THRESHOLDS.letter_bottom),
    )


def _metric(read: Callable[..., int], address: int) -> float:
    """Returns an ascent or descent in font sizes; 0 if the font gives none, or an invalid one."""
    value = ctypes.c_float()
    if not read(address, 1.0, ctypes.addressof(value)) or abs(value.value) > THRESHOLDS.max_ems:
        return 0.0
    return value.value
