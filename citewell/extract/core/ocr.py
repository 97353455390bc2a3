"""Reads text in images with RapidOCR (PP-OCR models from its wheel); scans may be skewed, sideways or upside down."""

from __future__ import annotations

import logging
import math
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
from PIL import Image

if TYPE_CHECKING:
    from rapidocr import RapidOCR


_MIN_CHARACTERS = 2
"""Fewest letters and digits that are text; one alone is a line or stain read as a character."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OcrThresholds:
    """Thresholds for reading text in images. Lengths are in pixels, confidences 0 to 1.

    Set by hand on the scans and photographs among the development documents; see `tests/extract/test_ocr.py` and
    `tests/extract/pdf/test_scans.py` for the cases.

    min_confidence:   lines below it count as unread: lower values let noise and pictures through as text
    sure:             mean confidence of the sample at which the page is assumed upright without a second pass
    doubtful:         lines below it are read again upside down
    few:              up to this many doubtful lines are always read again
    many_doubtful:    share of doubtful lines beyond which none is read again: that is noise or an unknown script, and
                      turning does not help
    samples:          longest lines read both ways to tell whether the page is upside down
    detection_sides:  longer side of the image in which text is detected; the second is tried if the first finds none,
                      because a lone large word is only found in a small image. Larger values find smaller print and
                      cost time in proportion to their square
    max_side:         longer side to which a large image is scaled down; bounds time and memory
    small_side:       shorter side to which a small image is enlarged
    max_enlargement:  largest such factor; beyond it, the image only gets blurred
    border:           margin added on each side; without it, text at the very edge is not found
    min_text_height:  height of the smallest box that is read
    tall:             height-to-width ratio at which a box is vertical, so that its text is turned
    sloped:           width-to-height ratio at which a box is long enough to measure the page's skew
    min_skew:         degrees of skew below which a page counts as straight
    same_row:         share of a box's height, from its top, in which the center of a box on the same row lies
    batch:            lines read at once; affects speed, and how often progress is reported
    max_threads:      threads of the engine
    """

    min_confidence: float = 0.5
    sure: float = 0.9
    doubtful: float = 0.75
    few: int = 6
    many_doubtful: float = 0.5
    samples: int = 3
    detection_sides: tuple[int, int] = (1_536, 800)
    max_side: int = 4_000
    small_side: int = 640
    max_enlargement: float = 3.0
    border: int = 12
    min_text_height: int = 8
    tall: float = 1.5
    sloped: float = 4.0
    min_skew: float = 0.4
    same_row: float = 0.75
    batch: int = 6
    max_threads: int = 4


THRESHOLDS = OcrThresholds()


Pixels = npt.NDArray[np.uint8]
Quad = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class OcrLine:
    """A line of text in an image.

    confidence:  0..1
    box:         x0, y0, x1, y1 in pixels of the input image, origin top left
    upright:     the same rectangle after the page is turned so that the text runs left to right
    turn:        degrees clockwise by which the line is turned on the image: 0, 90, 180 or 270
    angle:       degrees clockwise by which the whole page is turned, skew included
    """

    text: str
    confidence: float
    box: tuple[float, float, float, float]
    upright: tuple[float, float, float, float]
    turn: int = 0
    angle: float = 0.0


@dataclass(frozen=True, slots=True)
class _ReadLine:
    text: str
    confidence: float
    flipped: bool


@dataclass(frozen=True, slots=True)
class OcrPage:
    """The lines of an image in reading order, and how many places look like text but could not be read."""

    lines: list[OcrLine]
    unread: int = 0


def read_image(image: Image.Image, progress: Callable[[], None] | None = None) -> list[OcrLine]:
    """Returns the text lines of an image in reading order; an empty list if it has none.

    `progress` is called every few lines, so that a slow page is not mistaken for a hang.
    """
    return examine_image(image, progress).lines


def examine_image(image: Image.Image, progress: Callable[[], None] | None = None) -> OcrPage:
    """Like `read_image`, and counts what was left unread: text in a script unknown to the models, or noise."""
    beat = progress or _silent
    pixels, scale = _working_copy(image)
    quads, crops = _detect(pixels)
    beat()
    if not crops:
        return OcrPage([])
    readings = _read_crops(crops, [_is_tall(quad) for quad in quads], beat)
    found = [
        (quad, reading)
        for quad, reading in zip(quads, readings, strict=True)
        if reading.confidence >= THRESHOLDS.min_confidence and any(c.isalnum() for c in reading.text)
    ]
    if sum(c.isalnum() for _, reading in found for c in reading.text) < _MIN_CHARACTERS:
        return OcrPage([], len(quads))
    return OcrPage(_in_reading_order(found, scale, image.size), len(quads) - len(found))


def mean_confidence(lines: Sequence[OcrLine]) -> float:
    """Returns a page's confidence: the mean over its lines, weighted by length; 0 without text."""
    characters = sum(len(line.text) for line in lines)
    return sum(line.confidence * len(line.text) for line in lines) / characters if characters else 0.0


@cache
def _engine() -> RapidOCR:
    from rapidocr import RapidOCR

    threads = max(1, min(THRESHOLDS.max_threads, len(os.sched_getaffinity(0))))
    engine = RapidOCR(
        params={
            "Global.log_level": "critical",
            "Global.use_vertical_padding": False,
            "Global.use_cls": False,
            "EngineConfig.onnxruntime.intra_op_num_threads": threads,
            "Det.limit_type": "max",
            "Det.limit_side_len": THRESHOLDS.detection_sides[0],
        }
    )
    logging.getLogger("RapidOCR").setLevel(logging.CRITICAL)
    return engine


def _silent() -> None:
    """Default for `progress`: does nothing."""


def _working_copy(image: Image.Image) -> tuple[Pixels, float]:
    """Returns the image as BGR with a border, scaled to a workable size, and the scale factor."""
    plain = as_rgb(image)
    scale = min(THRESHOLDS.max_enlargement, max(1.0, THRESHOLDS.small_side / min(plain.size)))
    scale = min(scale, THRESHOLDS.detection_sides[0] / max(plain.size)) if scale > 1 else 1.0
    scale = min(max(scale, 1.0), THRESHOLDS.max_side / max(plain.size))
    if scale != 1.0:
        size = (max(1, round(plain.width * scale)), max(1, round(plain.height * scale)))
        plain = plain.resize(size, Image.Resampling.LANCZOS if scale < 1 else Image.Resampling.BICUBIC)
    pixels = np.asarray(plain, dtype=np.uint8)[:, :, ::-1]
    margins = ((THRESHOLDS.border, THRESHOLDS.border), (THRESHOLDS.border, THRESHOLDS.border), (0, 0))
    return np.ascontiguousarray(np.pad(pixels, margins, mode="edge")), scale


def as_rgb(image: Image.Image) -> Image.Image:
    """Returns the image as seen on white paper: RGB, eight bits a channel, no transparency."""
    if image.mode in ("I;16", "I;16B", "I;16L", "I", "F"):
        values = np.asarray(image, dtype=np.float64)
        low, high = float(values.min()), float(values.max())
        levels = (values - low) * (255.0 / (high - low)) if high > low else values * 0 + 255
        return Image.fromarray(levels.astype(np.uint8)).convert("RGB")
    if image.has_transparency_data:
        layered = image.convert("RGBA")
        paper = Image.new("RGBA", layered.size, "white")
        return Image.alpha_composite(paper, layered).convert("RGB")
    return image.convert("RGB")


def _detect(pixels: Pixels) -> tuple[list[Quad], list[Pixels]]:
    """Returns quadrilaterals around text (4 corners x 2, clockwise from the top left), and their cropped contents."""
    engine = _engine()
    detector = engine._load_det_model()  # pyright: ignore[reportPrivateUsage]
    boxes = None
    for side in THRESHOLDS.detection_sides:  # a lone large word is only found when the page is scaled down
        detector.limit_side_len = side
        boxes = detector(pixels).boxes
        if boxes is not None and len(boxes):
            break
    if boxes is None or not len(boxes):
        return [], []
    large = [box for box in boxes.astype(np.float32) if _sides(box)[1] >= THRESHOLDS.min_text_height]
    crops = engine.crop_text_regions(pixels, np.array(large)) if large else []
    return [box.astype(np.float64) for box in large], [np.ascontiguousarray(crop) for crop in crops]


def _sides(quad: npt.NDArray[np.floating]) -> tuple[float, float]:
    """Returns the longer and the shorter side."""
    across = float(np.linalg.norm(quad[1] - quad[0]))
    down = float(np.linalg.norm(quad[3] - quad[0]))
    return max(across, down), min(across, down)


def _is_tall(quad: Quad) -> bool:
    across = int(max(np.linalg.norm(quad[0] - quad[1]), np.linalg.norm(quad[2] - quad[3])))
    down = int(max(np.linalg.norm(quad[0] - quad[3]), np.linalg.norm(quad[1] - quad[2])))
    return down >= THRESHOLDS.tall * max(1, across)


def _read_crops(crops: list[Pixels], tall: list[bool], beat: Callable[[], None]) -> list[_ReadLine]:
    """Reads wide and tall boxes separately, because each kind is oriented one way on the whole page."""
    readings: dict[int, _ReadLine] = {}
    for kind in (False, True):
        members = [i for i, is_tall in enumerate(tall) if is_tall is kind]
        if members:
            readings.update(zip(members, _read_group([crops[i] for i in members], beat), strict=True))
    return [readings[i] for i in range(len(crops))]


def _read_group(crops: list[Pixels], beat: Callable[[], None]) -> list[_ReadLine]:
    flipped = _lies_upside_down(crops, beat)
    readings = _recognise(crops, flipped, beat)
    doubtful = [i for i, reading in enumerate(readings) if reading.confidence < THRESHOLDS.doubtful]
    if len(doubtful) > max(
        THRESHOLDS.few, THRESHOLDS.many_doubtful * len(crops)
    ):  # noise, or an unknown script: turning it does not help
        return readings
    again = _recognise([crops[i] for i in doubtful], not flipped, beat)
    for i, other in zip(doubtful, again, strict=True):
        if other.confidence > max(THRESHOLDS.doubtful, readings[i].confidence):
            readings[i] = other
    return readings


def _lies_upside_down(crops: list[Pixels], beat: Callable[[], None]) -> bool:
    """Whether the lines are upside down: reads the longest few both ways, as upside-down ones get low confidence."""
    sample = sorted(crops, key=lambda crop: crop.shape[1] / crop.shape[0])[-THRESHOLDS.samples :]
    upright = _confidence(_recognise(sample, False, beat))
    return upright < THRESHOLDS.sure and _confidence(_recognise(sample, True, beat)) > upright


def _confidence(readings: list[_ReadLine]) -> float:
    weights = [max(1, len(reading.text)) for reading in readings]
    return sum(r.confidence * w for r, w in zip(readings, weights, strict=True)) / sum(weights)


def _recognise(crops: list[Pixels], flipped: bool, beat: Callable[[], None]) -> list[_ReadLine]:
    order = sorted(range(len(crops)), key=lambda i: crops[i].shape[1] / crops[i].shape[0])
    readings: dict[int, _ReadLine] = {}
    for start in range(0, len(order), THRESHOLDS.batch):
        batch = order[start : start + THRESHOLDS.batch]
        images = [np.ascontiguousarray(crops[i][::-1, ::-1]) if flipped else crops[i] for i in batch]
        result = _engine().recognize_txt(images)
        for i, text, score in zip(batch, result.txts or (), result.scores or (), strict=True):
            readings[i] = _ReadLine(text, float(score), flipped)
        beat()
    return [readings[i] for i in range(len(crops))]


def _in_reading_order(found: list[tuple[Quad, _ReadLine]], scale: float, size: tuple[int, int]) -> list[OcrLine]:
    if not found:
        return []
    votes = [0.0, 0.0, 0.0, 0.0]
    for quad, reading in found:
        votes[_quarter(quad, reading)] += len(reading.text)
    quarter = votes.index(max(votes))
    angle = quarter * 90.0 + _skew(found, quarter)
    lines = [_line(quad, reading, angle, scale, size) for quad, reading in found]
    return [lines[i] for i in _row_order([line.upright for line in lines])]


def _quarter(quad: Quad, reading: _ReadLine) -> int:
    """Returns a line's clockwise quarter turns. A tall box reads top to bottom (one turn) unless flipped (three)."""
    return (1 if _is_tall(quad) else 0) + (2 if reading.flipped else 0)


def _skew(found: list[tuple[Quad, _ReadLine]], quarter: int) -> float:
    """Returns the median slope of the lines in this orientation, in degrees clockwise."""
    slopes: list[float] = []
    for quad, reading in found:
        if _quarter(quad, reading) == quarter and _sides(quad)[0] > THRESHOLDS.sloped * _sides(quad)[1]:
            edge = quad[3] - quad[0] if quarter % 2 else quad[1] - quad[0]
            slope = math.degrees(math.atan2(edge[1], edge[0])) - (90.0 if quarter % 2 else 0.0)
            slopes.append(slope)
    skew = float(np.median(slopes)) if slopes else 0.0
    return skew if abs(skew) >= THRESHOLDS.min_skew else 0.0


def _line(quad: Quad, reading: _ReadLine, angle: float, scale: float, size: tuple[int, int]) -> OcrLine:
    corners = (quad - THRESHOLDS.border) / scale
    corners[:, 0] = corners[:, 0].clip(0, size[0])
    corners[:, 1] = corners[:, 1].clip(0, size[1])
    turned = _turned(corners, angle, size)
    return OcrLine(
        text=reading.text.strip(),
        confidence=reading.confidence,
        box=_bounds(corners),
        upright=_bounds(turned),
        turn=90 * _quarter(quad, reading),
        angle=angle % 360.0,
    )


def _turned(corners: Quad, angle: float, size: tuple[int, int]) -> Quad:
    """Turns corners counterclockwise by `angle` degrees about the image's center, which stays in place."""
    radians = math.radians(angle)
    cosine, sine = math.cos(radians), math.sin(radians)
    centre = np.array(size) / 2
    new_centre = centre[::-1] if round(angle / 90) % 2 else centre
    turn = np.array([[cosine, -sine], [sine, cosine]])
    return (corners - centre) @ turn + new_centre


def _bounds(corners: Quad) -> tuple[float, float, float, float]:
    low, high = corners.min(axis=0), corners.max(axis=0)
    return float(low[0]), float(low[1]), float(high[0]), float(high[1])


def _row_order(rects: list[tuple[float, float, float, float]]) -> list[int]:
    """Returns indices from top to bottom, and left to right among boxes on the same row."""
    rows: list[list[int]] = []
    for i in sorted(range(len(rects)), key=lambda i: rects[i][1] + rects[i][3]):
        middle = (rects[i][1] + rects[i][3]) / 2
        last = rows[-1] if rows else []
        if last and _beside(rects[last[-1]], middle):
            last.append(i)
        else:
            rows.append([i])
    return [i for row in rows for i in sorted(row, key=lambda i: rects[i][0])]


def _beside(rect: tuple[float, float, float, float], middle: float) -> bool:
    """Whether a box with this vertical center is on the same row as `rect`."""
    return rect[1] <= middle <= rect[1] + THRESHOLDS.same_row * (rect[3] - rect[1])
