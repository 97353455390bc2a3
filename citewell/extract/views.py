"""Renders a page as a picture with passages marked, for channels that send images of sources, such as messengers."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from pi_heif import register_heif_opener
from PIL import Image, ImageChops, ImageDraw, ImageOps

from citewell.errors import InvalidInput, LimitExceeded
from citewell.extract.core.sink import Sink
from citewell.types import DetectedType

VIEW = "view"
"""The kind of the blob."""
_MAX_SIDE = 1_600
"""Pixels. Messengers downscale larger photos, and 8-point text stays readable at this size."""
_POINTS = 72.0
_MARKER = (255, 236, 120)
"""RGB, multiplied with the page like a highlighter: black stays black."""
_FRAME = (214, 140, 0)
_MARGIN = 2.0
"""Points around each rectangle."""
_MAX_BOXES = 500

Rectangle = Sequence[float]


def draw_page(detected: DetectedType, path: Path, sink: Sink) -> None:
    """Adds a JPEG of page `view_page` to the sink; `InvalidInput` if the file has no such page."""
    if detected.extractor == "pdf":
        image, scale = _pdf_page(path, sink)
    elif detected.extractor == "image" and sink.options.view_page == 1:
        image, scale = _picture(path, sink.options.max_pixels)
    else:
        raise InvalidInput("No page of this file can be shown as a picture.")
    marked = mark(image, sink.options.view_boxes, scale)
    marked.save(sink.add_blob("view.jpg", "image/jpeg", VIEW), "JPEG", quality=85)


def mark(image: Image.Image, boxes: Sequence[Rectangle], scale: float) -> Image.Image:
    """Marks rectangles on a picture in yellow. boxes: (x0, y0, x1, y1) in points; scale: pixels per point."""
    if not boxes:
        return image
    layer = Image.new("RGB", image.size, (255, 255, 255))
    drawing = ImageDraw.Draw(layer)
    places = [_pixels(box, scale) for box in boxes[:_MAX_BOXES]]
    for place in places:
        drawing.rectangle(place, fill=_MARKER)
    marked = ImageChops.multiply(image, layer)
    drawing = ImageDraw.Draw(marked)
    for x0, _, x1, y1 in places:
        drawing.line([(x0, y1), (x1, y1)], fill=_FRAME, width=max(1, round(scale)))
    return marked


def _pixels(box: Rectangle, scale: float) -> tuple[float, float, float, float]:
    x0, y0, x1, y1 = box
    left, right = sorted((x0, x1))
    top, bottom = sorted((y0, y1))
    return (left - _MARGIN) * scale, (top - _MARGIN) * scale, (right + _MARGIN) * scale, (bottom + _MARGIN) * scale


def _pdf_page(path: Path, sink: Sink) -> tuple[Image.Image, float]:
    from citewell.extract.formats.pdf.document import open_document
    from citewell.extract.formats.pdf.geometry import page_frame
    from citewell.extract.formats.pdf.scans import render

    with open_document(path, sink.options) as document:
        number = sink.options.view_page
        if not 1 <= number <= len(document):
            raise InvalidInput("This file has no such page.")
        page = document[number - 1]
        frame = page_frame(page)
        side = max(1.0, frame.width, frame.height)
        image = render(page, frame, None, _POINTS * _MAX_SIDE / side, sink.options.max_pixels)
        return image, image.width / max(1.0, frame.width)


def _picture(path: Path, max_pixels: int) -> tuple[Image.Image, float]:
    """Opens an image file, turned upright; its coordinates are its own pixels."""
    register_heif_opener()
    with Image.open(path) as opened:
        if opened.width * opened.height > max_pixels:
            raise LimitExceeded(f"The picture has more than {max_pixels:,} pixels.")
        image = ImageOps.exif_transpose(opened).convert("RGB")
    full = image.width
    image.thumbnail((_MAX_SIDE, _MAX_SIDE))
    return image, image.width / full
