"""Words that a viewer does not show: on layers that are off, in the color of the paper, or invisible."""

from __future__ import annotations

import ctypes
import math
from collections.abc import Sequence
from enum import Enum, auto

import numpy as np
import numpy.typing as npt
import pypdfium2.raw as pdfium_c
from pypdfium2 import PdfPage, PdfTextPage

from citewell.extract.formats.pdf import native
from citewell.extract.formats.pdf.fonts import THRESHOLDS as STYLES
from citewell.extract.formats.pdf.geometry import PageFrame, Rect
from citewell.extract.formats.pdf.objects import THRESHOLDS as DRAWING
from citewell.extract.formats.pdf.objects import Drawing
from citewell.extract.formats.pdf.words import Word

_LAYER = "OC"
"""The mark around content of a layer (ISO 32000-1, 8.11.3.2)."""
_MAX_MARK = 64
"""Bytes read of a mark's name (UTF-16)."""
_INVISIBLE = (pdfium_c.FPDF_TEXTRENDERMODE_INVISIBLE, pdfium_c.FPDF_TEXTRENDERMODE_CLIP)
_MAX_SIDE = 1_500
"""Pixels of the longer side of the renderings compared: a point or more for pages as large as a poster."""


class _Doubt(Enum):
    """Why text may be hidden."""

    LAYER = auto()
    INVISIBLE = auto()
    WHITE = auto()


def hidden_words(
    page: PdfPage, textpage: PdfTextPage, words: Sequence[Word], frame: PageFrame, drawing: Drawing
) -> set[int]:
    """Returns the `start`s of the words that a viewer does not show.

    Of text that may be hidden, the page is drawn with it and without it: where that makes no difference, it is. The
    invisible text on a picture is what a scanner read, and counts as shown; so does white text on a colored area.
    """
    own = _own_objects(page)
    pictures = [place.rect for place in drawing.images]
    under = {_Doubt.INVISIBLE: pictures, _Doubt.WHITE: [*pictures, *drawing.fills], _Doubt.LAYER: []}
    doubts: dict[int, _Doubt | None] = {}
    doubtful: list[tuple[Word, int]] = []
    for word, place in zip(words, _objects(textpage, words), strict=True):
        if place not in doubts:
            doubts[place] = _doubt(place, place in own) if place else None
        doubt = doubts[place]
        if doubt is not None and not _on_any(word, under[doubt]):
            doubtful.append((word, place))
    if not doubtful:
        return set()
    differs = _difference(page, frame, {place for _, place in doubtful})
    return {word.start for word, _ in doubtful if not _any_in(differs, word, differs.shape[1] / frame.width)}


def _objects(textpage: PdfTextPage, words: Sequence[Word]) -> list[int]:
    """Returns the addresses of the text objects that the words begin in."""
    address = native.handle(textpage.raw)
    found: list[int] = []
    while len(found) < len(words):
        place = len(found)
        ahead = min(place + STYLES.stride, len(words) - 1)
        first = native.text_object(address, words[place].start) or 0
        # Everything between two words of one text object belongs to it too.
        same = ahead > place and native.text_object(address, words[ahead].start) == first
        found += [first] * (ahead - place + 1 if same else 1)
    return found


def _own_objects(page: PdfPage) -> set[int]:
    """Returns the addresses of the page's objects, without those inside forms, which may be on a layer as a whole."""
    address = native.handle(page.raw)
    return {native.page_object(address, index) for index in range(native.count_objects(address))}


def _doubt(place: int, is_own: bool) -> _Doubt | None:
    """Returns why a text object may be hidden; `is_own` is false for one inside a form."""
    marks = native.count_marks(place)
    if not is_own or any(_mark_name(place, index) == _LAYER for index in range(marks)):
        return _Doubt.LAYER
    if native.render_mode(place) in _INVISIBLE:
        return _Doubt.INVISIBLE
    channels = (ctypes.c_uint * 4)()
    start = ctypes.addressof(channels)
    step = ctypes.sizeof(ctypes.c_uint)
    if native.fill_color(place, start, start + step, start + 2 * step, start + 3 * step):
        red, green, blue, alpha = channels
        if alpha == 0 or min(red, green, blue) >= DRAWING.white:
            return _Doubt.WHITE
    return None


def _mark_name(place: int, index: int) -> str:
    mark = native.object_mark(place, index)
    buffer, length = (ctypes.c_char * _MAX_MARK)(), ctypes.c_ulong()
    if not mark or not native.mark_name(mark, ctypes.addressof(buffer), _MAX_MARK, ctypes.addressof(length)):
        return ""
    return buffer.raw[: length.value].decode("utf-16-le", "replace").rstrip("\x00")


def _on_any(word: Word, pictures: Sequence[Rect]) -> bool:
    x, y = (word.x0 + word.x1) / 2, (word.y0 + word.y1) / 2
    return any(rect.contains(x, y) for rect in pictures)


def _difference(page: PdfPage, frame: PageFrame, places: set[int]) -> npt.NDArray[np.bool_]:
    """Returns which pixels of the page differ without these text objects."""
    whole = _drawn(page, frame)
    for place in places:
        native.set_active(place, 0)
    try:
        return (whole != _drawn(page, frame)).any(axis=2)
    finally:
        for place in places:
            native.set_active(place, 1)


def _drawn(page: PdfPage, frame: PageFrame) -> npt.NDArray[np.uint8]:
    scale = min(1.0, _MAX_SIDE / max(1.0, frame.width, frame.height))
    bitmap = page.render(scale=scale)  # pyright: ignore[reportArgumentType]
    try:
        return bitmap.to_numpy().copy()
    finally:
        bitmap.close()


def _any_in(differs: npt.NDArray[np.bool_], word: Word, scale: float) -> bool:
    """Whether a pixel differs where the word is. A word outside of the page counts as different: others leave it out."""
    x0, x1 = math.floor(word.x0 * scale), math.ceil(word.x1 * scale)
    y0, y1 = math.floor(word.y0 * scale), math.ceil(word.y1 * scale)
    part = differs[max(0, y0) : max(0, y1), max(0, x0) : max(0, x1)]
    return bool(part.any()) or not part.size
