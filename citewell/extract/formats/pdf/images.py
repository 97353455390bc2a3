"""Images of a page: kept as PNG as the page shows them, with their rectangle and their text read by OCR."""

from __future__ import annotations

import ctypes
import hashlib
import io
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import pypdfium2.raw as pdfium_c
from PIL import Image
from pypdfium2 import PdfBitmap, PdfiumError, PdfPage

from citewell.extract.core.likeness import keep_likeness
from citewell.extract.core.ocr import OcrLine, mean_confidence
from citewell.extract.core.pictures import MIN_KEPT_BYTES, keep_preview, may_hold_text
from citewell.extract.core.sink import Sink
from citewell.extract.formats.pdf.geometry import PageFrame, Rect
from citewell.extract.formats.pdf.objects import ImagePlace
from citewell.extract.formats.pdf.scans import THRESHOLDS as SCANS
from citewell.extract.formats.pdf.scans import (
    OcrBudget,
    OcrText,
    besides,
    covers_little,
    fills_page,
    place_lines,
    render,
)
from citewell.extract.formats.pdf.words import Word


@dataclass(frozen=True, slots=True, kw_only=True)
class ImageThresholds:
    """Thresholds for images on a page. Set by hand on the development documents.

    min_pixels:          pixels below which an image is not even decoded
    background_runs:     runs of text on an image at which it is a background
    background_overlap:  share of a run's area that must lie on it
    max_images:          images kept per document
    compression:         zlib level of their PNG: higher levels cost time and save little
    """

    min_pixels: int = 60 * 20
    background_runs: int = 2
    background_overlap: float = 0.5
    max_images: int = 1_000
    compression: int = 3


THRESHOLDS = ImageThresholds()

_POINTS = 72.0
"""Points per inch."""


@dataclass(frozen=True, slots=True)
class PageImage:
    """An image on a page, with the `text` and `confidence` of OCR."""

    rect: Rect
    blob: str | None
    width: int
    height: int
    text: str = ""
    confidence: float | None = None


class ImageReader:
    """Keeps the images of one document; one repeated on many pages is kept and read once.

    Images smaller than 30 KB, as stored or as PNG, are logos, bullets and lines: they count only for their text.
    """

    def __init__(self, sink: Sink, budget: OcrBudget) -> None:
        self._sink = sink
        self._budget = budget
        self._kept: dict[str, PageImage] = {}
        self._small: set[str] = set()

    def read(
        self,
        page: PdfPage,
        frame: PageFrame,
        places: Sequence[ImagePlace],
        words: Sequence[Word] | None,
        beat: Callable[[], None],
    ) -> tuple[list[PageImage], list[OcrText], list[str]]:
        """Returns the images, the texts of those that are scans of text, and what was skipped and why.

        `words` are those of the text layer; None if the whole page was read by OCR, so that its images need not be.
        """
        images: list[PageImage] = []
        scans: list[OcrText] = []
        skipped: list[str] = []
        for place in places:
            width, height = _pixel_size(place)
            if width * height < THRESHOLDS.min_pixels or _outside(place.rect, frame):
                continue
            if width * height > self._sink.options.max_pixels:
                skipped.append(f"An image of {width} x {height} pixels, more than the limit")
                continue
            found = self._place(page, frame, place, words, beat, skipped)
            images += [found] if isinstance(found, PageImage) else []
            scans += [found] if isinstance(found, OcrText) else []
        return images, scans, list(dict.fromkeys(skipped))

    def _place(
        self,
        page: PdfPage,
        frame: PageFrame,
        place: ImagePlace,
        words: Sequence[Word] | None,
        beat: Callable[[], None],
        skipped: list[str],
    ) -> PageImage | OcrText | None:
        """Returns the image kept, or the text it is a scan of; None if it cannot be decoded, or is small without text
        of its own.
        """
        stored = _stored(place)
        key = hashlib.sha256(stored + repr(place.matrix[:4]).encode()).hexdigest()
        known = self._kept.get(key)
        if known is not None:
            return replace(known, rect=place.rect)
        if key in self._small:
            return None
        picture = _picture(place, frame)
        if picture is None:
            skipped.append("An image that could not be decoded")
            return None
        data = _png(picture)
        rect = place.rect
        lines: list[OcrLine] = []
        if words is not None and may_hold_text(picture.size) and covers_little(words, rect):
            if self._budget.reason:
                skipped.append(f"Text in images: {self._budget.reason}")
            else:
                lines, scan = self._text(page, frame, rect, picture.size, words, beat)
                if scan is not None:
                    return scan
        if max(len(data), len(stored)) < MIN_KEPT_BYTES:
            self._small.add(key)
            if not lines:
                return None
            return PageImage(rect, None, *picture.size, *_read(lines))
        blob = self._keep(data, picture) if self._sink.options.extract_images else None
        image = self._kept[key] = PageImage(rect, blob, *picture.size, *_read(lines))
        return image

    def _text(
        self,
        page: PdfPage,
        frame: PageFrame,
        rect: Rect,
        size: tuple[int, int],
        words: Sequence[Word],
        beat: Callable[[], None],
    ) -> tuple[list[OcrLine], OcrText | None]:
        """Returns the lines in an image besides the page's words, and placed text if it is a scan that fills the page."""
        dpi = _POINTS * size[0] / max(1.0, rect.width)
        shown = render(page, frame, rect, dpi, self._sink.options.max_pixels)
        lines = besides(self._budget.read(shown, beat).lines, words, rect, shown.size)
        if not fills_page([rect], frame):
            return lines, None
        placed = place_lines(lines, rect, shown.size)
        return lines, placed if placed.characters >= SCANS.scan_characters else None

    def _keep(self, data: bytes, picture: Image.Image) -> str | None:
        if len(self._kept) >= THRESHOLDS.max_images:
            return None
        name = f"image-{len(self._kept) + 1}.png"
        path = self._sink.add_blob(name, "image/png", "image", {"width": picture.width, "height": picture.height})
        path.write_bytes(data)
        keep_preview(self._sink, picture, of=name)
        keep_likeness(self._sink, picture, of=name)
        return name


def _read(lines: Sequence[OcrLine]) -> tuple[str, float | None]:
    """Returns the text of the lines, and its confidence."""
    return "\n".join(line.text for line in lines), round(mean_confidence(lines), 4) if lines else None


def _pixel_size(place: ImagePlace) -> tuple[int, int]:
    width, height = ctypes.c_uint(), ctypes.c_uint()
    if not pdfium_c.FPDFImageObj_GetImagePixelSize(place.handle, ctypes.byref(width), ctypes.byref(height)):
        return 0, 0
    return width.value, height.value


def _stored(place: ImagePlace) -> bytes:
    """Returns the image's bytes as stored in the file."""
    length = pdfium_c.FPDFImageObj_GetImageDataRaw(place.handle, None, 0)
    buffer = ctypes.create_string_buffer(max(1, length))
    pdfium_c.FPDFImageObj_GetImageDataRaw(place.handle, buffer, length)
    return buffer.raw[:length]


def _outside(rect: Rect, frame: PageFrame) -> bool:
    return rect.x1 <= 0 or rect.y1 <= 0 or rect.x0 >= frame.width or rect.y0 >= frame.height


def _picture(place: ImagePlace, frame: PageFrame) -> Image.Image | None:
    """Returns the image turned as the page shows it."""
    raw = pdfium_c.FPDFImageObj_GetBitmap(place.handle)
    if not raw:
        return None
    try:
        return _oriented(PdfBitmap.from_raw(raw).to_pil(), place, frame)
    except (PdfiumError, ValueError):
        return None


def _png(picture: Image.Image) -> bytes:
    buffer = io.BytesIO()
    picture.save(buffer, "PNG", compress_level=THRESHOLDS.compression)
    return buffer.getvalue()


def _oriented(image: Image.Image, place: ImagePlace, frame: PageFrame) -> Image.Image:
    a, b, c, d, _, _ = place.matrix
    right = (frame.a * a + frame.c * b, frame.b * a + frame.d * b)
    down = (-(frame.a * c + frame.c * d), -(frame.b * c + frame.d * d))
    if abs(right[0]) < abs(right[1]):
        image = image.transpose(Image.Transpose.TRANSPOSE)
        right, down = down, right
    if right[0] < 0:
        image = image.transpose(Image.Transpose.FLIP_LEFT_RIGHT)
    if down[1] < 0:
        image = image.transpose(Image.Transpose.FLIP_TOP_BOTTOM)
    return image
