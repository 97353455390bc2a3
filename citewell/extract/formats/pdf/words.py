"""Reads the words of a page with their rectangles and styles through PDFium's text page."""

from __future__ import annotations

import ctypes
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pypdfium2.raw as pdfium_c
from pypdfium2 import PdfTextPage

from citewell.extract.core.raised import SUPERSCRIPTS, raised
from citewell.extract.formats.pdf import native
from citewell.extract.formats.pdf.fonts import StyleReader, TextStyle
from citewell.extract.formats.pdf.geometry import FULL_TURN, QUARTER, Floats, PageFrame, Rect, Rotation, rotation_of
from citewell.extract.formats.pdf.ligatures import joined_at_ligatures
from citewell.extract.formats.pdf.marks import THRESHOLDS as MARK_THRESHOLDS
from citewell.extract.formats.pdf.marks import with_superscripts
from citewell.extract.formats.pdf.ruled_words import split_at_lines

HYPHEN = "\ufffe"
"""PDFium's character for a hyphen that ends a line."""

_WORD = re.compile(r"[^\s\x00-\x08\x0e-\x1f\x7f\ufffe\uffff。！？]+(?:\ufffe|[。！？]*)|[。！？]+")
_LEADER = re.compile(r"(?<=[^\s.])\.(?=(?: \.){2})")
"""The first dot of a leader that touches the preceding word."""

_UNMAPPED = "\uffff"
_CODE_OF_HYPHEN = 2
"""What PDFium's `FPDFText_GetUnicode` returns for such a hyphen."""
_FILLER = "\u2060"
_AFTER_MARK = frozenset(".,;:)]")


@dataclass(frozen=True, slots=True, kw_only=True)
class WordThresholds:
    """Thresholds for reading words and grouping them by direction; an em is the word's font size.

    Set by hand on the development documents. They matter only for pages with slanted text or with marks at word ends.

    mark_height:          a word's first or last character lower than this share of the other's height is a raised or
                          lowered mark and gets the other's height, so that it does not make the word taller
    snap_degrees:         text within this many degrees of a quarter turn counts as exactly that
    angle_step:           other angles are rounded to multiples of this many degrees, which keeps the words of a slanted
                          line together
    slanted_half_height:  ems from the center line of a slanted word to the top and bottom of its upright rectangle
    slanted_half_length:  a slanted word is at least twice as many ems long
    """

    mark_height: float = 0.9
    snap_degrees: int = 1
    angle_step: int = 3
    slanted_half_height: float = 0.6
    slanted_half_length: float = 0.3


THRESHOLDS = WordThresholds()

_SIDES = {0: (1, 3, 1), 180: (3, 1, -1), 90: (0, 2, 1), 270: (2, 0, -1)}
"""By text angle: the coordinates of a rectangle that are its top and bottom, and 1 if they grow downward, else -1."""

_RIGHT_TO_LEFT = re.compile(r"[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff]")


class Word(NamedTuple):
    """A run of characters without white space, on one line; coordinates as in `Rect`.

    start, end:    character offsets in PDFium's text page
    space_before:  whether white space separates it from the previous word
    breaks:        whether PDFium starts a new line with it
    """

    text: str
    x0: float
    y0: float
    x1: float
    y1: float
    start: int
    end: int
    space_before: bool
    breaks: bool
    style: TextStyle

    @property
    def rect(self) -> Rect:
        """The word's rectangle."""
        return Rect(self.x0, self.y0, self.x1, self.y1)


def is_right_to_left(text: str) -> bool:
    """Whether most letters are Hebrew, Arabic or of a related script."""
    marks = len(_RIGHT_TO_LEFT.findall(text))
    return marks > 0 and 2 * marks > sum(c.isalpha() for c in text)


def read_text(textpage: PdfTextPage) -> str:
    """Returns all characters of the page; offset i is PDFium's character i."""
    count = pdfium_c.FPDFText_CountChars(textpage.raw)
    if count <= 0:
        return ""
    buffer = (ctypes.c_uint16 * (count + 1))()
    written = pdfium_c.FPDFText_GetText(textpage.raw, 0, count, buffer)
    text = bytes(buffer)[: 2 * max(0, written - 1)].decode("utf-16-le", "replace")
    if len(text) == count:
        return text
    return _by_character(textpage, count)


def _by_character(textpage: PdfTextPage, count: int) -> str:
    """Reads the text character by character, for pages where non-BMP or undefined characters shift the offsets."""
    codes = [pdfium_c.FPDFText_GetUnicode(textpage.raw, i) for i in range(count)]
    out: list[str] = []
    for i, code in enumerate(codes):
        if _is_pair(codes[i : i + 2]):
            out.append(chr(0x10000 + ((code & 0x3FF) << 10) + (codes[i + 1] & 0x3FF)))
        elif i and _is_pair(codes[i - 1 : i + 1]):
            out.append(_FILLER)
        elif code == _CODE_OF_HYPHEN and pdfium_c.FPDFText_IsHyphen(textpage.raw, i) == 1:
            out.append(HYPHEN)
        else:
            out.append(chr(code) if 0 < code < 0xD800 or 0xDFFF < code <= 0x10FFFF else _UNMAPPED)
    return "".join(out)


def _is_pair(codes: Sequence[int]) -> bool:
    """Whether two codes form one character in UTF-16."""
    return len(codes) == 2 and 0xD800 <= codes[0] < 0xDC00 <= codes[1] < 0xE000


def read_words(textpage: PdfTextPage, text: str, frame: PageFrame, lines: Sequence[Rect] = ()) -> list[Word]:
    """Returns the words of the page's `text` (see `read_text`) in content-stream order; `lines` between letters part them."""
    spans = [match.span() for match in _WORD.finditer(text)]
    if ". . ." in text:
        spans = _split_at(spans, {match.start() for match in _LEADER.finditer(text)})
    if "fi " in text or "fl " in text:
        spans = joined_at_ligatures(textpage, text, spans)
    if not spans:
        return []
    before = spans
    address = native.handle(textpage.raw)
    if lines:
        divided = split_at_lines(address, spans, _word_rects(_end_boxes(address, spans), frame), lines, frame)
    else:
        divided = spans
    spans, boxes = divided, _end_boxes(address, divided)
    parted = {start for start, _ in divided}.difference(start for start, _ in before)
    starts, ends = [start for start, _ in spans], [end for _, end in spans]
    styles = StyleReader(address, frame).styles(starts)
    straight = [style.angle % QUARTER == 0 for style in styles]
    texts = with_superscripts(address, [text[start:end] for start, end in spans], starts, boxes, straight)
    rects = _word_rects(boxes, frame)
    _trim(rects, styles)
    gaps = [" " if start in parted else text[end:start] for end, start in zip([0, *ends], starts, strict=False)]
    after_hyphen = [False, *(before.endswith(HYPHEN) for before in texts)]
    breaks = ["\n" in gap or hyphen for gap, hyphen in zip(gaps, after_hyphen, strict=False)]
    texts = [word.replace(" ", "") for word in texts]  # where a ligature's glyph cut it
    if _FILLER in text:
        texts = [word.replace(_FILLER, "") for word in texts]
    columns = (texts, *rects.T.tolist(), starts, ends, map(bool, gaps), breaks, styles)
    return joined_marks(list(map(Word._make, zip(*columns, strict=True))))


def joined_marks(words: Sequence[Word]) -> list[Word]:
    """Returns the words with raised marks that are words of their own (`240 ¹`) joined to the word before, and with
    punctuation right after one.
    """
    out: list[Word] = []
    for word in words:
        before = out[-1] if out else None
        written = raised(word.text) if before is not None and _is_mark(word, before) else word.text
        if before is not None and written != word.text:
            out[-1] = before._replace(text=before.text + written, x1=max(before.x1, word.x1), end=word.end)
        elif before is not None and _touches(word, before):
            out.append(word._replace(space_before=False))
        else:
            out.append(word)
    return out


def _touches(word: Word, before: Word) -> bool:
    """Whether punctuation follows a raised mark at once: PDFium reads a space between sizes of letters."""
    return (
        word.text[0] in _AFTER_MARK
        and before.text[-1] in SUPERSCRIPTS
        and abs(word.x0 - before.x1) <= MARK_THRESHOLDS.touch * before.style.size
    )


def _is_mark(word: Word, before: Word) -> bool:
    size, height = before.style.size, before.y1 - before.y0
    return (
        word.style.size <= MARK_THRESHOLDS.size * size
        and word.style.angle == before.style.angle == 0
        and before.y0 - MARK_THRESHOLDS.rise * height < word.y1 < before.y1 - MARK_THRESHOLDS.rise * height
        and abs(word.x0 - before.x1) <= MARK_THRESHOLDS.gap * size
    )


def _split_at(spans: list[tuple[int, int]], places: set[int]) -> list[tuple[int, int]]:
    """Splits the spans at the places inside them."""
    divided: list[tuple[int, int]] = []
    for start, end in spans:
        inner = sorted(places.intersection(range(start + 1, end)))
        divided += pairwise([start, *inner, end])
    return divided


def _trim(rects: npt.NDArray[np.float64], styles: Sequence[TextStyle]) -> None:
    """Trims the font's space above and below letters, which overlaps other lines, from upright text's rectangles."""
    over = np.array([style.over for style in styles])
    under = np.array([style.under for style in styles])
    if not (over.any() or under.any()):
        return
    angles = np.array([style.angle for style in styles])
    for angle, (top, bottom, sign) in _SIDES.items():
        thick = (rects[:, bottom] - rects[:, top]) * sign > over + under
        which = (angles == angle) & thick
        rects[which, top] += sign * over[which]
        rects[which, bottom] -= sign * under[which]


def _end_boxes(address: int, spans: list[tuple[int, int]]) -> npt.NDArray[np.float32]:
    """Returns left, top, right and bottom of each word's first and last character: shape (n, 2, 4), in the page's points."""
    boxes = np.zeros((len(spans), 2, 4), dtype=np.float32)
    place = boxes.ctypes.data
    read_box = native.loose_char_box
    for start, end in spans:
        read_box(address, start, place)
        read_box(address, end - 1, place + 16)
        place += 32
    return boxes


def _word_rects(boxes: npt.NDArray[np.float32], frame: PageFrame) -> npt.NDArray[np.float64]:
    """Returns x0, y0, x1, y1 of each word: the union of its first and last characters' boxes, which it levels."""
    left, top, right, bottom = (boxes[:, :, i] for i in range(4))
    _level(left, right, bottom, top)
    _level(bottom, top, left, right)
    return frame.rects(left.min(axis=1), bottom.min(axis=1), right.max(axis=1), top.max(axis=1))


def _level(start: Floats, end: Floats, low: Floats, high: Floats) -> None:
    """Gives a word's two characters the taller one's height, so that raised or lowered marks do not make it taller.

    `start` and `end` are coordinates along the word, `low` and `high` across it; shape (n, 2) each.
    """
    along = np.abs((start + end)[:, 1] - (start + end)[:, 0])
    across = np.abs((low + high)[:, 1] - (low + high)[:, 0])
    height = high - low
    for mark, full in ((0, 1), (1, 0)):
        which = (along > across) & (height[:, mark] < THRESHOLDS.mark_height * height[:, full])
        low[which, mark], high[which, mark] = low[which, full], high[which, full]


def by_direction(words: Sequence[Word]) -> list[tuple[Rotation, list[Word]]]:
    """Returns the words of each direction, turned upright; the direction with the most characters comes first."""
    groups: dict[int, list[Word]] = {}
    for word in words:
        groups.setdefault(word.style.angle, []).append(word)
    if list(groups) == [0]:
        return [(rotation_of(0), list(words))]
    merged: dict[int, list[Word]] = {}
    for angle, members in groups.items():
        merged.setdefault(_snapped(angle), []).extend(members)
    ordered = sorted(merged.items(), key=lambda item: -sum(len(word.text) for word in item[1]))
    return [_upright(rotation_of(angle), members) for angle, members in ordered]


def _upright(rotation: Rotation, words: list[Word]) -> tuple[Rotation, list[Word]]:
    return rotation, [_turned(word, rotation) for word in sorted(words, key=lambda word: word.start)]


def _snapped(angle: int) -> int:
    quarter = round(angle / QUARTER) * QUARTER
    if abs(angle - quarter) <= THRESHOLDS.snap_degrees:
        return quarter % FULL_TURN
    return round(angle / THRESHOLDS.angle_step) * THRESHOLDS.angle_step % FULL_TURN


def _turned(word: Word, rotation: Rotation) -> Word:
    """Returns the word in the upright frame."""
    if rotation.angle == 0:
        return word
    rect = rotation.upright(word.rect) if rotation.angle % QUARTER == 0 else _slanted(word, rotation)
    return word._replace(x0=rect.x0, y0=rect.y0, x1=rect.x1, y1=rect.y1)


def _slanted(word: Word, rotation: Rotation) -> Rect:
    """Computes a slanted word's rectangle from its center line, because its bounding box is larger than the word."""
    size = word.style.size
    width, height = word.x1 - word.x0, word.y1 - word.y0
    thick = 2 * THRESHOLDS.slanted_half_height * size
    along = max(
        THRESHOLDS.slanted_half_length * size,
        math.hypot(width, height) / 2 - thick * abs(rotation.cosine * rotation.sine) / 2,
    )
    u, v = rotation.point((word.x0 + word.x1) / 2, (word.y0 + word.y1) / 2)
    return Rect(
        u - along, v - THRESHOLDS.slanted_half_height * size, u + along, v + THRESHOLDS.slanted_half_height * size
    )


def bounds(words: Sequence[Word]) -> Rect:
    """Returns the rectangle around words; at least one."""
    return Rect(min(w.x0 for w in words), min(w.y0 for w in words), max(w.x1 for w in words), max(w.y1 for w in words))
