"""Small copies of pictures, for a model that describes what they show: made here, since the server itself opens no picture."""

from __future__ import annotations

from PIL import Image

from citewell.extract.ocr import as_rgb
from citewell.extract.sink import Sink
from citewell.types import PREVIEW

_LONGEST_SIDE = 1_568
_SHORTEST_SIDE = 64
_QUALITY = 85


def keep_preview(sink: Sink, image: Image.Image, of: str | None = None) -> str | None:
    """Keep a JPEG of at most 1,568 pixels a side where descriptions were asked for; returns its name.

    of: the blob that holds the picture itself, where there is one. None for a picture too small to show anything.
    """
    if not sink.options.multimodal or min(image.size) < _SHORTEST_SIDE:
        return None
    small = as_rgb(image)
    small.thumbnail((_LONGEST_SIDE, _LONGEST_SIDE))
    name = f"preview-{len(sink.blobs)}.jpg"
    target = sink.add_blob(name, "image/jpeg", PREVIEW, {"of": of or name})
    small.save(target, "JPEG", quality=_QUALITY)
    return name
