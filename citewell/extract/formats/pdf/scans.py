"""Text that is only drawn: pages and regions without a text layer are rendered and read by OCR."""

from __future__ import annotations

import math
import re
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median

import numpy as np
from PIL import Image
from pypdfium2 import PdfPage

from citewell.extract.core.ocr import OcrLine, OcrPage, examine_image
from citewell.extract.formats.pdf.fonts import TextStyle
from citewell.extract.formats.pdf.geometry import FULL_TURN, PageFrame, Rect
from citewell.extract.formats.pdf.objects import Drawing
from citewell.extract.formats.pdf.turn import Turn, turn_of
from citewell.extract.formats.pdf.words import Word

_POINTS = 72.0
_PAGE_DPI = 200.0
_MAX_DPI = 300.0
_MAX_SIDE = 4_000
_OCR_SECONDS = 400.0
_ALMOST_NO_TEXT = 12
_FEWEST_PATHS = 12
_GARBAGE_SHARE = 0.3
_FONT_SHARE = 0.72
_SAME_SIZE = (0.65, 1.4)
_FLAT = 12
_LETTERS = re.compile(r"[^\W_]")
_PRIVATE = re.compile(r"[\ue000-\uf8ff\ufffd\uffff\x00-\x08\x0e-\x1f]")


class OcrBudget:
    """How long one document may be read by OCR; a scan of a thousand pages ends as a partial result, not as a timeout."""

    def __init__(self, allowed: bool, seconds: float = _OCR_SECONDS) -> None:
        self._allowed = allowed
        self._left = seconds

    @property
    def reason(self) -> str | None:
        """Why no OCR may be done now; None when it may."""
        if not self._allowed:
            return "OCR is off"
        return None if self._left > 0 else f"OCR stopped after {_OCR_SECONDS:.0f} seconds"

    def read(self, image: Image.Image, beat: Callable[[], None]) -> OcrPage:
        """The text of an image, on this budget."""
        started = time.monotonic()
        try:
            return examine_image(image, beat)
        finally:
            self._left -= time.monotonic() - started


@dataclass(frozen=True, slots=True)
class OcrText:
    """Words read by OCR, in their upright frame. `Word.start` is the index of its line in `confidences`; `unread` counts places that were not read."""

    turn: Turn
    lines: Sequence[Sequence[Word]]
    confidences: Sequence[float]
    unread: int = 0

    @property
    def characters(self) -> int:
        """How many were read."""
        return sum(len(word.text) for words in self.lines for word in words)


def is_garbage(text: str, share_unmapped: Callable[[], float]) -> bool:
    """Whether a text layer cannot be meant for reading: characters without meaning, or marks where letters should be.

    share_unmapped: tells the share of characters in fonts that do not say what their glyphs mean; that alone may read well.
    """
    characters = "".join(text.split())
    if len(characters) < _ALMOST_NO_TEXT:
        return False
    if len(_PRIVATE.findall(characters)) > _GARBAGE_SHARE * len(characters):
        return True
    letters = len(_LETTERS.findall(characters))
    return letters < 0.5 * len(characters) and share_unmapped() > 0.5


def lacks_text(words: Sequence[Word], drawing: Drawing) -> bool:
    """Whether a page shows something, but has next to no text."""
    # A word has a character at least.
    if len(words) >= _ALMOST_NO_TEXT or sum(len(word.text) for word in words) >= _ALMOST_NO_TEXT:
        return False
    return bool(drawing.images) or drawing.paths >= _FEWEST_PATHS


def render(page: PdfPage, frame: PageFrame, area: Rect | None, dpi: float, max_pixels: int) -> Image.Image:
    """The page, or an area of it, as it is shown; at most `max_pixels`."""
    rect = area or Rect(0, 0, frame.width, frame.height)
    scale = min(dpi, _MAX_DPI) / _POINTS
    scale = min(scale, _MAX_SIDE / max(1.0, rect.width, rect.height), math.sqrt(max_pixels / max(1.0, rect.area)))
    crop = (max(0.0, rect.x0), max(0.0, frame.height - rect.y1), max(0.0, frame.width - rect.x1), max(0.0, rect.y0))
    bitmap = page.render(scale=scale, crop=crop)  # pyright: ignore[reportArgumentType]
    try:
        return bitmap.to_pil().convert("RGB")
    finally:
        bitmap.close()


def is_blank(image: Image.Image) -> bool:
    """Whether nothing stands on a rendered page."""
    shades = np.asarray(image.convert("L").resize((256, 256), Image.Resampling.BOX), dtype=np.int16)
    return int(shades.max() - shades.min()) < _FLAT


def page_text(
    page: PdfPage, frame: PageFrame, budget: OcrBudget, beat: Callable[[], None], max_pixels: int
) -> OcrText | None:
    """All text drawn on a page; None when the page is blank."""
    image = render(page, frame, None, _PAGE_DPI, max_pixels)
    if is_blank(image):
        return None
    read = budget.read(image, beat)
    return place_lines(read.lines, Rect(0, 0, frame.width, frame.height), image.size, read.unread)


def place_lines(lines: Sequence[OcrLine], area: Rect, size: tuple[int, int], unread: int = 0) -> OcrText:
    """OCR lines of an image that fills `area`, as words in points."""
    scale = area.width / size[0]
    turn = turn_of((FULL_TURN - lines[0].angle) % FULL_TURN if lines else 0)
    usual = median(line.upright[3] - line.upright[1] for line in lines) if lines else 1.0
    placed = [_words(line, index, area, scale, turn, usual) for index, line in enumerate(lines)]
    return OcrText(turn, placed, [line.confidence for line in lines], unread)


def _words(line: OcrLine, index: int, area: Rect, scale: float, turn: Turn, usual: float) -> list[Word]:
    """The line's words, each with its share of the line's length."""
    x0, y0, x1, y1 = (value * scale for value in line.box)
    u, v = turn.point(area.x0 + (x0 + x1) / 2, area.y0 + (y0 + y1) / 2)
    width = (line.upright[2] - line.upright[0]) * scale
    height = (line.upright[3] - line.upright[1]) * scale
    left, top = u - width / 2, v - height / 2
    lettering = usual * scale if _SAME_SIZE[0] < height / (usual * scale) < _SAME_SIZE[1] else height
    style = TextStyle("ocr", max(1.0, round(_FONT_SHARE * lettering, 1)), angle=round(turn.angle))
    step = width / max(1, len(line.text))
    words: list[Word] = []
    for match in re.finditer(r"\S+", line.text):
        start, end = left + step * match.start(), left + step * match.end()
        words.append(
            Word(match.group(), start, top, end, top + height, index, index, match.start() > 0, not words, style)
        )
    return words
