"""Pictures of text, as a scanner would make them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import reportlab
from PIL import Image, ImageDraw, ImageFont

FONT = Path(reportlab.__file__).parent / "fonts" / "Vera.ttf"


def scan(texts: Sequence[str], *, size: int = 36, noise: bool = False) -> Image.Image:
    """Black lines of text on white, the first 60 pixels from the top and left, one every 60 pixels."""
    picture = Image.new("L", (900, 120 + 60 * len(texts)), "white")
    draw = ImageDraw.Draw(picture)
    font = ImageFont.truetype(str(FONT), size)
    for i, text in enumerate(texts):
        draw.text((60, 60 + 60 * i), text, font=font, fill="black")
    if noise:
        pixels = np.asarray(picture, dtype=np.int16) - np.random.default_rng(0).integers(0, 24, picture.size[::-1])
        picture = Image.fromarray(pixels.clip(0, 255).astype(np.uint8))
    return picture.convert("RGB")
