"""Pictures of the tests' own that are all different: shapes, lines and letters by chance."""

from __future__ import annotations

import io
import random

from PIL import Image, ImageDraw, ImageFont


def drawing(seed: int, size: tuple[int, int] = (640, 480)) -> Image.Image:
    """A drawing that no other seed gives."""
    chance = random.Random(seed)
    image = Image.new("RGB", size, tuple(chance.randrange(140, 256) for _ in range(3)))
    pen = ImageDraw.Draw(image)
    for _ in range(45):
        x, y = chance.randrange(size[0]), chance.randrange(size[1])
        far = x + chance.randrange(15, 160), y + chance.randrange(15, 120)
        color = tuple(chance.randrange(200) for _ in range(3))
        kind = chance.randrange(3)
        if kind == 0:
            pen.ellipse((x, y, *far), fill=color)
        elif kind == 1:
            pen.polygon([(x, y), far, (far[0], y - 40), (x + 20, far[1])], fill=color)
        else:
            word = "".join(chance.choice("abcdefghkmnprstuvwxyz") for _ in range(5))
            pen.text((x, y), word, fill=color, font=ImageFont.load_default(chance.randrange(18, 44)))
    return image


def as_file(image: Image.Image, kind: str = "PNG", **options: object) -> bytes:
    """The picture's file."""
    out = io.BytesIO()
    image.convert("RGB").save(out, kind, **options)
    return out.getvalue()
