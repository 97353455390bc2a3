"""Image files: size, format and mode, camera metadata, and text read by OCR, page by page for multi-page TIFF."""

from __future__ import annotations

import warnings
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path

from pi_heif import register_heif_opener
from PIL import Image, ImageFile, ImageOps

from citewell.errors import CorruptFile, LimitExceeded
from citewell.extract.core.damage import LIBRARY_DAMAGE
from citewell.extract.core.likeness import keep_likeness
from citewell.extract.core.ocr import OcrLine, mean_confidence, read_image
from citewell.extract.core.pictures import keep_preview
from citewell.extract.core.sink import Sink
from citewell.extract.formats.image.notes import notes
from citewell.types import Box, ElementType, Locator

_FORMATS = ("PNG", "JPEG", "GIF", "WEBP", "BMP", "DIB", "TIFF", "ICO", "AVIF", "JPEG2000", "HEIF")
_PAGED = ("TIFF",)
_ANIMATED = ("GIF", "WEBP", "PNG", "AVIF")
_MIN_READ_SIZE = 12
"""Pixels of the shorter side below which an image cannot hold a readable word."""


def extract(path: Path, sink: Sink) -> None:
    """Emits one image element per picture (per page of a TIFF), upright, with its text line by line.

    Rectangles are in pixels of the upright picture, which is treated as a page at 72 dots per inch.
    """
    register_heif_opener()
    with _pixel_limit(sink.options.max_pixels), _open(path, sink.options.max_pixels) as image:
        frames = _frame_count(image)
        if sink.options.likeness_only:
            shown = _load(path, image, 0, sink)
            keep_likeness(sink, shown, of=sink.next_id())
            keep_preview(sink, shown)
            return
        sink.metadata |= {"format": image.format, "mode": image.mode, "frames": frames}
        paged = image.format in _PAGED and frames > 1
        pages = min(frames, sink.options.max_pages) if paged else 1
        damage = [error for index in range(pages) if (error := _read_page(path, image, index, pages, paged, sink))]
        if len(damage) == pages:
            raise damage[0]
        if paged and pages < frames:
            sink.skip(f"{frames - pages} of {frames} pages are beyond the limit")
        elif frames > 1 and not paged:
            sink.metadata["animated"] = image.format in _ANIMATED
            sink.skip(f"text was read only from the first of {frames} frames")


def _read_page(path: Path, image: Image.Image, index: int, pages: int, paged: bool, sink: Sink) -> CorruptFile | None:
    """Reads one page or the only frame; returns the error if it is too damaged to show anything."""
    sink.start_unit("page" if paged else "file", index + 1)
    sink.progress(index, pages)
    try:
        _read_frame(path, image, index, sink, index + 1 if paged else None)
    except CorruptFile as error:
        sink.skip(error.message)
        return error
    return None


def _read_frame(path: Path, image: Image.Image, index: int, sink: Sink, page: int | None) -> None:
    frame = _load(path, image, index, sink)
    if index == 0:
        sink.metadata |= {"width": frame.width, "height": frame.height, **notes(image)}
    lines: list[OcrLine] = []
    if not sink.options.ocr:
        sink.skip("text recognition is turned off")
    elif min(frame.size) >= _MIN_READ_SIZE:
        lines = read_image(frame, lambda: sink.progress(index))
    spans, text = [], ""
    for line in lines:
        spans.append(len(text) + (1 if text else 0))
        text = f"{text}\n{line.text}" if text else line.text
    boxes = tuple(Box(page or 1, *line.box) for line in lines)
    keep_likeness(sink, frame, of=sink.next_id())
    sink.emit(
        ElementType.IMAGE,
        text,
        Locator(page=page, boxes=boxes),
        span_starts=tuple(spans),
        blob=keep_preview(sink, frame),
        confidence=round(mean_confidence(lines), 4) if lines else None,
        metadata={"width": frame.width, "height": frame.height},
    )


def _load(path: Path, image: Image.Image, index: int, sink: Sink) -> Image.Image:
    """Loads the frame, upright; of a truncated file, as much as can be read."""
    try:
        image.seek(index)
        _check_size(image, sink)
        image.load()
        return ImageOps.exif_transpose(image)
    except LIBRARY_DAMAGE as error:
        return _load_damaged(path, index, error, sink)


def _load_damaged(path: Path, index: int, error: Exception, sink: Sink) -> Image.Image:
    before, ImageFile.LOAD_TRUNCATED_IMAGES = ImageFile.LOAD_TRUNCATED_IMAGES, True
    try:
        with _open(path, sink.options.max_pixels) as image:
            image.seek(index)
            _check_size(image, sink)
            image.load()
            upright = ImageOps.exif_transpose(image)
    except LIBRARY_DAMAGE as second:
        raise CorruptFile(f"The image is damaged: {second}") from second
    finally:
        ImageFile.LOAD_TRUNCATED_IMAGES = before
    sink.warn(f"the picture is damaged and was read in part: {error}")
    return upright


def _open(path: Path, max_pixels: int) -> Image.Image:
    try:
        return Image.open(path, formats=_FORMATS)
    except Image.DecompressionBombError as error:
        raise LimitExceeded(f"The image exceeds the limit of {max_pixels:,} pixels.") from error
    except LIBRARY_DAMAGE as error:
        raise CorruptFile("The file is not a readable image.") from error


def _check_size(image: Image.Image, sink: Sink) -> None:
    if image.width * image.height > sink.options.max_pixels:
        raise LimitExceeded(
            f"The image has {image.width:,} × {image.height:,} pixels; the limit is {sink.options.max_pixels:,} in all."
        )


def _frame_count(image: Image.Image) -> int:
    """Returns the number of frames; up to and including the first damaged one if they cannot all be counted."""
    try:
        return int(getattr(image, "n_frames", 1))
    except LIBRARY_DAMAGE:
        index = 0
        with suppress(*LIBRARY_DAMAGE):
            while True:
                image.seek(index + 1)
                index += 1
        return index + 2


@contextmanager
def _pixel_limit(pixels: int) -> Generator[None]:
    """Replaces the library's size warning with our limit."""
    before, Image.MAX_IMAGE_PIXELS = Image.MAX_IMAGE_PIXELS, pixels
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        Image.MAX_IMAGE_PIXELS = before
