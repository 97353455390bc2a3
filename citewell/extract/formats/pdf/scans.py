"""Text without a text layer: pages and regions are rendered and read by OCR."""

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
from citewell.extract.formats.pdf.geometry import FULL_TURN, PageFrame, Rect, Rotation, rotation_of
from citewell.extract.formats.pdf.objects import Drawing
from citewell.extract.formats.pdf.words import Word

_POINTS = 72.0
"""Points per inch."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScanThresholds:
    """Thresholds of OCR: when it is used, and how its lines become words.

    Set by hand on the development documents. No benchmark covers OCR of PDFs; `tests/extract/pdf/test_scans.py` catches
    regressions.

    page_dpi:         dots per inch at which a page is rendered: lower values lose small print, higher ones cost time in
                      proportion to their square
    max_dpi:          highest dots per inch at which an image on a page is rendered
    max_side:         pixels of the longer side of a rendering
    max_seconds:      seconds of OCR per document, after which the rest is reported as not scanned: within the parser's
                      time limit
    almost_no_text:   characters up to which a page has next to no text (a page number), and below which text is never
                      garbage
    scan_share:       share of the page's area that the images of a scan cover
    stamp_share:      share of a picture's area below which the words on it are a stamp, a fax header or the like, and
                      do not say what the picture says: a page of text is covered by 10 to 40 percent
    same_line:        share of a line's length that words of the text layer must cover to say the same
    min_characters:   fewer characters than this, read beside a text layer, are noise
    scan_characters:  characters read by OCR at which an image that fills the page is page text rather than a picture
    min_paths:        drawn paths at which such a page may show text as shapes; fewer are lines and frames
    garbage_share:    share of meaningless characters (private use, control) at which a text layer is unreadable
    letter_share:     share of letters and digits below which it may be unreadable
    unmapped_share:   share of characters not mapped to Unicode by their font at which it then is
    unmapped_sample:  characters that this share is measured on
    blank_contrast:   gray levels (0 to 255) between the darkest and the lightest spot of a blank page
    blank_side:       pixels of the square that a page is scaled down to for that, which evens out dust
    font_share:       font size as a share of the height of an OCR line's rectangle
    smallest_line:    ratio to the median height below which a line has its own font size, not the page's
    largest_line:     ratio to the median height above which it does too
    few_unread:       places unread by OCR up to which a page gets no warning
    unread_share:     share of the lines read up to which it gets none either
    """

    page_dpi: float = 200.0
    max_dpi: float = 300.0
    max_side: int = 4_000
    max_seconds: float = 400.0
    almost_no_text: int = 12
    scan_share: float = 0.7
    stamp_share: float = 0.03
    same_line: float = 0.5
    min_characters: int = 3
    scan_characters: int = 100
    min_paths: int = 12
    garbage_share: float = 0.3
    letter_share: float = 0.5
    unmapped_share: float = 0.5
    unmapped_sample: int = 200
    blank_contrast: int = 12
    blank_side: int = 256
    font_share: float = 0.72
    smallest_line: float = 0.65
    largest_line: float = 1.4
    few_unread: int = 3
    unread_share: float = 0.25


THRESHOLDS = ScanThresholds()

_LETTERS = re.compile(r"[^\W_]")
_PRIVATE = re.compile(r"[\ue000-\uf8ff\ufffd\uffff\x00-\x08\x0e-\x1f]")


class OcrBudget:
    """The OCR time budget of one document, so that a scan of a thousand pages gives a partial result, not a timeout."""

    def __init__(self, allowed: bool, seconds: float = THRESHOLDS.max_seconds) -> None:
        self._allowed = allowed
        self._left = seconds

    @property
    def reason(self) -> str | None:
        """Why OCR is not allowed now; None if it is."""
        if not self._allowed:
            return "OCR is off"
        return None if self._left > 0 else f"OCR stopped after {THRESHOLDS.max_seconds:.0f} seconds"

    def read(self, image: Image.Image, beat: Callable[[], None]) -> OcrPage:
        """Reads the text of an image, within this budget."""
        started = time.monotonic()
        try:
            return examine_image(image, beat)
        finally:
            self._left -= time.monotonic() - started


@dataclass(frozen=True, slots=True)
class OcrText:
    """Words read by OCR, in their upright frame. `Word.start` is the index of its line in `confidences`; `unread`
    counts places that could not be read.
    """

    rotation: Rotation
    lines: Sequence[Sequence[Word]]
    confidences: Sequence[float]
    unread: int = 0

    @property
    def characters(self) -> int:
        """The number of characters read."""
        return sum(len(word.text) for words in self.lines for word in words)


def is_garbage(text: str, share_unmapped: Callable[[], float]) -> bool:
    """Whether a text layer is not meant for reading: meaningless characters, or marks instead of letters.

    share_unmapped: returns the share of characters in fonts that do not map glyphs to characters; such text may still
                    be
    readable.
    """
    characters = "".join(text.split())
    if len(characters) < THRESHOLDS.almost_no_text:
        return False
    if len(_PRIVATE.findall(characters)) > THRESHOLDS.garbage_share * len(characters):
        return True
    letters = len(_LETTERS.findall(characters))
    # Tables of figures have few letters, and readable fonts may lack a map: only both together are a sign.
    return letters < THRESHOLDS.letter_share * len(characters) and share_unmapped() > THRESHOLDS.unmapped_share


def lacks_text(words: Sequence[Word], drawing: Drawing, frame: PageFrame) -> bool:
    """Whether a page shows something but has next to no text, or a stamp on a picture that fills it."""
    # A word has at least one character.
    if len(words) < THRESHOLDS.almost_no_text and sum(len(word.text) for word in words) < THRESHOLDS.almost_no_text:
        return bool(drawing.images) or drawing.paths >= THRESHOLDS.min_paths
    rects = [place.rect for place in drawing.images]
    return fills_page(rects, frame) and covers_little(words, Rect(0, 0, frame.width, frame.height))


def fills_page(rects: Sequence[Rect], frame: PageFrame) -> bool:
    """Whether images at these places cover as much of the page as a scan does."""
    page = Rect(0, 0, frame.width, frame.height)
    return sum(rect.overlap(page) for rect in rects) >= THRESHOLDS.scan_share * page.area


def is_whole_page(scan: OcrText, words: Sequence[Word], drawing: Drawing, frame: PageFrame) -> bool:
    """Whether a scan is what the images of its page show, so that these need not be kept as pictures."""
    rects = [place.rect for place in drawing.images]
    return fills_page(rects, frame) and (not words or scan.characters >= THRESHOLDS.scan_characters)


def covers_little(words: Sequence[Word], rect: Rect) -> bool:
    """Whether the words in a place are too few to be the text that a picture there shows."""
    return sum(word.rect.overlap(rect) for word in words) < THRESHOLDS.stamp_share * rect.area


def besides(lines: Sequence[OcrLine], words: Sequence[Word], area: Rect, size: tuple[int, int]) -> list[OcrLine]:
    """Returns the lines of an image that fills `area`, in `size` pixels, without those that the page's words say."""
    scale = area.width / size[0]
    said = "".join(word.text for word in words).casefold()

    def is_said(line: OcrLine) -> bool:
        x0, y0, x1, y1 = (value * scale for value in line.box)
        rect = Rect(area.x0 + x0, area.y0 + y0, area.x0 + x1, area.y0 + y1)
        covered = sum(word.rect.overlap(rect) for word in words)
        return covered >= THRESHOLDS.same_line * rect.area or "".join(line.text.split()).casefold() in said

    return [line for line in lines if not is_said(line)] if words else list(lines)


def render(page: PdfPage, frame: PageFrame, area: Rect | None, dpi: float, max_pixels: int) -> Image.Image:
    """Renders the page, or an area of it, as shown; at most `max_pixels`."""
    rect = area or Rect(0, 0, frame.width, frame.height)
    scale = min(dpi, THRESHOLDS.max_dpi) / _POINTS
    scale = min(
        scale, THRESHOLDS.max_side / max(1.0, rect.width, rect.height), math.sqrt(max_pixels / max(1.0, rect.area))
    )
    crop = (max(0.0, rect.x0), max(0.0, frame.height - rect.y1), max(0.0, frame.width - rect.x1), max(0.0, rect.y0))
    bitmap = page.render(scale=scale, crop=crop)  # pyright: ignore[reportArgumentType]
    try:
        return bitmap.to_pil().convert("RGB")
    finally:
        bitmap.close()


def is_blank(image: Image.Image) -> bool:
    """Whether a rendered page is empty."""
    shades = np.asarray(
        image.convert("L").resize((THRESHOLDS.blank_side, THRESHOLDS.blank_side), Image.Resampling.BOX), dtype=np.int16
    )
    return int(shades.max() - shades.min()) < THRESHOLDS.blank_contrast


def page_text(
    page: PdfPage,
    frame: PageFrame,
    words: Sequence[Word],
    budget: OcrBudget,
    beat: Callable[[], None],
    max_pixels: int,
) -> OcrText | None:
    """Reads all text drawn on a page besides `words`; None if the page is blank."""
    image = render(page, frame, None, THRESHOLDS.page_dpi, max_pixels)
    if is_blank(image):
        return None
    read = budget.read(image, beat)
    area = Rect(0, 0, frame.width, frame.height)
    return place_lines(besides(read.lines, words, area, image.size), area, image.size, read.unread)


def place_lines(lines: Sequence[OcrLine], area: Rect, size: tuple[int, int], unread: int = 0) -> OcrText:
    """Converts OCR lines of an image that fills `area` to words in points."""
    scale = area.width / size[0]
    rotation = rotation_of((FULL_TURN - lines[0].angle) % FULL_TURN if lines else 0)
    usual = median(line.upright[3] - line.upright[1] for line in lines) if lines else 1.0
    placed = [_words(line, index, area, scale, rotation, usual) for index, line in enumerate(lines)]
    return OcrText(rotation, placed, [line.confidence for line in lines], unread)


def _words(line: OcrLine, index: int, area: Rect, scale: float, rotation: Rotation, usual: float) -> list[Word]:
    """Returns the line's words, each with its share of the line's length."""
    x0, y0, x1, y1 = (value * scale for value in line.box)
    u, v = rotation.point(area.x0 + (x0 + x1) / 2, area.y0 + (y0 + y1) / 2)
    width = (line.upright[2] - line.upright[0]) * scale
    height = (line.upright[3] - line.upright[1]) * scale
    left, top = u - width / 2, v - height / 2
    lettering = (
        usual * scale if THRESHOLDS.smallest_line < height / (usual * scale) < THRESHOLDS.largest_line else height
    )
    style = TextStyle("ocr", max(1.0, round(THRESHOLDS.font_share * lettering, 1)), angle=round(rotation.angle))
    step = width / max(1, len(line.text))
    words: list[Word] = []
    for match in re.finditer(r"\S+", line.text):
        start, end = left + step * match.start(), left + step * match.end()
        words.append(
            Word(match.group(), start, top, end, top + height, index, index, match.start() > 0, not words, style)
        )
    return words
