"""Frames for tests: pictures and videos made on the spot."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from PIL import Image

COLOURS = {"red": (200, 20, 20), "green": (20, 160, 40), "blue": (20, 40, 200), "grey": (120, 120, 120)}


def picture(path: Path, colour: str, size: tuple[int, int] = (160, 120), mark: int = 0) -> Path:
    """A picture of one colour; `mark` makes its bytes differ."""
    path.parent.mkdir(parents=True, exist_ok=True)
    image = Image.new("RGB", size, COLOURS[colour])
    image.putpixel((mark % size[0], mark // size[0] % size[1]), (255, 255, 255))
    image.save(path, "PNG")
    return path


def video(
    path: Path, scenes: Sequence[tuple[str, float]], *, rate: int = 5, size: tuple[int, int] = (160, 120)
) -> Path:
    """A video of scenes, each a colour for so many seconds."""
    import av
    from av import VideoFrame

    path.parent.mkdir(parents=True, exist_ok=True)
    with av.open(str(path), "w") as container:
        stream = container.add_stream("mpeg4", rate=rate)
        stream.width, stream.height = size
        stream.pix_fmt = "yuv420p"
        for colour, seconds in scenes:
            pixels = np.full((size[1], size[0], 3), COLOURS[colour], np.uint8)
            for _ in range(int(seconds * rate)):
                container.mux(stream.encode(VideoFrame.from_ndarray(pixels, format="rgb24")))
        container.mux(stream.encode())
    return path
