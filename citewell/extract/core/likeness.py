"""What is kept of a picture to find its copies, crops and scaled versions: its coarse shape, and its corners."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from PIL import Image

from citewell.extract.core.ocr import as_rgb
from citewell.extract.core.sink import Sink
from citewell.types import LIKENESS, LIKENESS_FEATURE

Gray = npt.NDArray[np.uint8]

MAX_LIKENESSES = 1_000
"""Pictures of one file that can be found by an example."""
_SIDE = 640
"""Longer side, in pixels, to which a picture is scaled; corners are compared across scales of up to 3.6 around it."""
_MAX_ENLARGEMENT = 4.0
_MIN_CONTRAST = 4.0
"""Standard deviation of the gray values, of 255, below which a picture shows nothing."""
_CORNERS, _KEPT = 1_500, 400
"""Corners found, and those kept: 15 KB a picture."""
_GRID = 6
"""Corners are kept from this many rows and columns of cells in turn, and from each octave, so that a crop has its share."""
_OCTAVES, _STEP = 8, 1.2
_COARSE, _WAVES = 32, 9


def keep_likeness(sink: Sink, image: Image.Image, of: str) -> None:
    """Keeps what is needed to find the picture by an example; nothing for a blank one. of: its blob, or else its element."""
    if sum(blob.kind == LIKENESS for blob in sink.blobs) >= MAX_LIKENESSES:
        return
    found = likeness_of(image)
    if found is not None:
        name = f"likeness-{len(sink.blobs)}"
        sink.add_blob(name, "application/octet-stream", LIKENESS, {"of": of}).write_bytes(found)


def likeness_of(image: Image.Image) -> bytes | None:
    """The picture's coarse shape (10 bytes), then its corners (`LIKENESS_FEATURE`), evenly spread; None if it shows nothing."""
    import cv2

    gray = _gray(image)
    if float(gray.std()) < _MIN_CONTRAST:
        return None
    small = cv2.resize(gray, (_COARSE, _COARSE), interpolation=cv2.INTER_AREA).astype(np.float32)
    waves = np.asarray(cv2.dct(small))[:_WAVES, :_WAVES].ravel()[1:]
    shape = np.packbits(waves > np.median(waves)).tobytes()
    finder = cv2.ORB.create(nfeatures=_CORNERS, scaleFactor=_STEP, nlevels=_OCTAVES, edgeThreshold=19, fastThreshold=8)
    corners, bits = finder.detectAndCompute(gray, None)
    if not len(corners):
        return shape
    kept = _spread(np.array([(*c.pt, c.octave, c.response) for c in corners]), gray.shape)
    features = np.zeros(len(kept), np.dtype(LIKENESS_FEATURE))
    features["x"], features["y"] = np.array([corners[i].pt for i in kept]).round().T
    features["octave"] = [corners[i].octave for i in kept]
    features["angle"] = [round(corners[i].angle / 360 * 256) % 256 for i in kept]
    features["bits"] = np.ascontiguousarray(bits[kept]).view("V32").ravel()
    return shape + features.tobytes()


def _gray(image: Image.Image) -> Gray:
    """The picture on white, in gray, with a longer side of `_SIDE` pixels."""
    scale = min(_SIDE / max(image.size), _MAX_ENLARGEMENT)
    size = max(1, round(image.width * scale)), max(1, round(image.height * scale))
    return np.asarray(as_rgb(image).resize(size, Image.Resampling.LANCZOS, reducing_gap=2.0).convert("L"))


def _spread(corners: npt.NDArray[np.float64], shape: tuple[int, ...]) -> npt.NDArray[np.intp]:
    """Which corners (x, y, octave, strength) to keep: the strongest of each cell and octave, then the second of each, and so on."""
    order = np.argsort(-corners[:, 3], kind="stable")
    x, y, octave, _ = corners[order].T
    row, column = (y * _GRID / shape[0]).astype(int), (x * _GRID / shape[1]).astype(int)
    group = (row * _GRID + column) * _OCTAVES + octave.astype(int)
    rank = np.zeros(len(order), int)
    for one in np.unique(group):
        inside = group == one
        rank[inside] = np.arange(inside.sum())
    return order[np.argsort(rank, kind="stable")][:_KEPT]
