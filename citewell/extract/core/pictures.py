"""Pictures in documents: keeps large ones as PNG, and reads their text."""

from __future__ import annotations

import base64
import binascii
import hashlib
import io
import time
import warnings

from PIL import Image, ImageOps

from citewell.extract.core.damage import LIBRARY_DAMAGE
from citewell.extract.core.likeness import keep_likeness
from citewell.extract.core.names import own_description
from citewell.extract.core.ocr import OcrLine, as_rgb, mean_confidence, read_image
from citewell.extract.core.sink import Sink
from citewell.types import PREVIEW, ElementType, JsonValue, Locator

MIN_KEPT_BYTES = 30 * 1024
"""Smallest picture kept, in bytes; smaller ones are logos, bullets and lines."""
_MIN_TEXT_WIDTH, _MIN_TEXT_HEIGHT = 48, 16
"""Pixels of the longer and the shorter side below which a picture cannot hold a readable word."""
_MIN_CHARACTERS = 3
"""Fewer characters than this read in a picture are noise."""
_MAX_URI_HEAD = 100
"""Leading characters of a data URI searched for the comma before its data."""
_OCR_SECONDS = 40.0
"""OCR budget, in seconds, of a document with pictures among its text."""
# Raster formats only: Pillow hands others (EPS, WMF) to external programs.
_FORMATS = ("PNG", "JPEG", "GIF", "BMP", "DIB", "TIFF", "WEBP", "JPEG2000", "ICO", "PPM", "PCX", "TGA", "MPO", "AVIF")


def may_hold_text(size: tuple[int, int]) -> bool:
    """Whether a picture of this width and height, in pixels, is large enough for a readable word."""
    return max(size) >= _MIN_TEXT_WIDTH and min(size) >= _MIN_TEXT_HEIGHT


class Pictures:
    """Emits one document's pictures. A repeated picture (a logo on every page) is read once.

    Pictures of at least 30 KB are kept as PNG blobs; smaller ones count only for their text. OCR stops after
    `_OCR_SECONDS` in total, with a warning.
    """

    def __init__(self, sink: Sink) -> None:
        self._sink = sink
        self._seen: set[bytes] = set()
        self._small = 0
        self._spent = 0.0

    def emit(self, data: bytes, name: str, place: Locator, description: str = "") -> None:
        """Emits one picture from its file's bytes; an unreadable one is noted as skipped."""
        description = own_description(description)
        digest = hashlib.sha256(data).digest()
        if not self._sink.options.extract_images or digest in self._seen:
            return
        self._seen.add(digest)
        try:
            image = self._opened(data)
        except LIBRARY_DAMAGE:
            self._sink.skip(f"The picture {name} could not be read ({_kind(data, name)}).")
            if description:
                self._sink.emit(ElementType.IMAGE, description, place, metadata={"name": name, "alt": description})
            return
        if image is None:
            self._sink.skip(f"The picture {name} has more than {self._sink.options.max_pixels:,} pixels.")
            return
        lines = self._text(image)
        if len(data) < MIN_KEPT_BYTES and not lines and not description:
            self._small += 1
            return
        blob = self._kept(image, name) if len(data) >= MIN_KEPT_BYTES else None
        self._write(lines, name, place, description, blob, image.size)

    def emit_data_uri(self, source: str, place: Locator, description: str = "") -> bool:
        """Emits the picture in a `data:` URI; False if `source` is anything else, which is not followed."""
        head, comma, body = source.partition(";base64,")
        if not comma or not head.startswith("data:image/") or len(head) > _MAX_URI_HEAD:
            return False
        try:
            self.emit(base64.b64decode(body), "embedded", place, description)
        except (binascii.Error, ValueError):
            self._sink.skip("A damaged embedded picture.")
        return True

    def finish(self) -> None:
        """Reports how many small pictures without text were left out."""
        if self._small:
            count = "1 picture" if self._small == 1 else f"{self._small} pictures"
            self._sink.skip(f"{count} smaller than 30 KB and without text.")
            self._small = 0

    def _opened(self, data: bytes) -> Image.Image | None:
        """Opens the picture, turned according to its EXIF orientation; None if it has too many pixels."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                image = Image.open(io.BytesIO(data), formats=_FORMATS)
                if image.width * image.height > self._sink.options.max_pixels:
                    return None
                image.load()
                return ImageOps.exif_transpose(image)
            except Image.DecompressionBombError:
                return None

    def _text(self, image: Image.Image) -> list[OcrLine]:
        if not self._sink.options.ocr or not may_hold_text(image.size):
            return []
        if self._spent > _OCR_SECONDS:
            self._sink.skip("The text in a picture was not read: the document has too many pictures.")
            return []
        begin = time.monotonic()
        lines = read_image(image, lambda: self._sink.progress(0))
        self._spent += time.monotonic() - begin
        # OCR sees a character or two in drawings.
        return lines if sum(len(line.text) for line in lines) >= _MIN_CHARACTERS else []

    def _kept(self, image: Image.Image, name: str) -> str:
        blob = f"image-{len(self._sink.blobs)}.png"
        target = self._sink.add_blob(
            blob, "image/png", "image", {"source": name, "width": image.width, "height": image.height}
        )
        plain = (
            image
            if image.mode in ("RGB", "RGBA", "L", "1")
            else image.convert("RGBA" if image.has_transparency_data else "RGB")
        )
        plain.save(target, "PNG")
        keep_preview(self._sink, image, of=blob)
        keep_likeness(self._sink, image, of=blob)
        return blob

    def _write(
        self, lines: list[OcrLine], name: str, place: Locator, description: str, blob: str | None, size: tuple[int, int]
    ) -> None:
        text = "\n".join(part for part in (description, *(line.text for line in lines)) if part)
        metadata: dict[str, JsonValue] = {"name": name, "width": size[0], "height": size[1]}
        if description:
            metadata["alt"] = description
        confidence = round(mean_confidence(lines), 4) if lines else None
        self._sink.emit(ElementType.IMAGE, text, place, blob=blob, confidence=confidence, metadata=metadata)


def _kind(data: bytes, name: str) -> str:
    if data[40:44] == b" EMF":
        return "EMF drawing"
    if data.startswith(b"\xd7\xcd\xc6\x9a"):
        return "WMF drawing"
    return name.rsplit(".", 1)[-1].upper() if "." in name else "unknown format"


MAX_SIDE = 1_568
_MIN_SIDE = 64
_QUALITY = 85


def keep_preview(sink: Sink, image: Image.Image, of: str | None = None) -> str | None:
    """Keeps a JPEG preview of at most 1,568 pixels a side if descriptions were requested; returns its name.

    of: the blob that holds the picture itself, if any. Returns None for a picture too small to show anything.
    """
    if not sink.options.multimodal or min(image.size) < _MIN_SIDE:
        return None
    small = as_rgb(image)
    small.thumbnail((MAX_SIDE, MAX_SIDE))
    name = f"preview-{len(sink.blobs)}.jpg"
    target = sink.add_blob(name, "image/jpeg", PREVIEW, {"of": of or name})
    small.save(target, "JPEG", quality=_QUALITY)
    return name
