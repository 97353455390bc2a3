"""Maps PDF user space to the page as displayed: origin top left, y down, /Rotate applied, relative to the crop box."""

from __future__ import annotations

import ctypes
import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pypdfium2.raw as pdfium_c
from pypdfium2 import PdfPage

# Degrees.
QUARTER = 90
FULL_TURN = 360
Floats = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Rect:
    """An axis-parallel rectangle in shown-page points, x0 <= x1, y0 <= y1."""

    x0: float
    y0: float
    x1: float
    y1: float

    @property
    def width(self) -> float:
        """Width in points."""
        return self.x1 - self.x0

    @property
    def height(self) -> float:
        """Height in points."""
        return self.y1 - self.y0

    @property
    def area(self) -> float:
        """Area in square points."""
        return self.width * self.height

    def union(self, other: Rect) -> Rect:
        """Returns the smallest rectangle around both."""
        return Rect(min(self.x0, other.x0), min(self.y0, other.y0), max(self.x1, other.x1), max(self.y1, other.y1))

    def overlap(self, other: Rect) -> float:
        """Returns the area common to both."""
        width = min(self.x1, other.x1) - max(self.x0, other.x0)
        height = min(self.y1, other.y1) - max(self.y0, other.y0)
        return width * height if width > 0 and height > 0 else 0.0

    def contains(self, x: float, y: float) -> bool:
        """Whether the point lies inside or on the edge."""
        return self.x0 <= x <= self.x1 and self.y0 <= y <= self.y1


@dataclass(frozen=True, slots=True)
class PageFrame:
    """Size of the shown page in points, and the affine map (a, b, c, d, e, f) from user space to it."""

    width: float
    height: float
    rotation: int
    a: float
    b: float
    c: float
    d: float
    e: float
    f: float

    def point(self, x: float, y: float) -> tuple[float, float]:
        """Maps a user-space point to the shown page."""
        return self.a * x + self.c * y + self.e, self.b * x + self.d * y + self.f

    def rect(self, left: float, bottom: float, right: float, top: float) -> Rect:
        """Maps a user-space rectangle to the shown page."""
        x0, y0 = self.point(left, bottom)
        x1, y1 = self.point(right, top)
        return Rect(min(x0, x1), min(y0, y1), max(x0, x1), max(y0, y1))

    def rects(self, left: Floats, bottom: Floats, right: Floats, top: Floats) -> npt.NDArray[np.float64]:
        """Maps many user-space rectangles at once: shape (n, 4), columns x0, y0, x1, y1."""
        u0, u1 = self.a * left + self.c * bottom + self.e, self.a * right + self.c * top + self.e
        v0, v1 = self.b * left + self.d * bottom + self.f, self.b * right + self.d * top + self.f
        columns = (np.minimum(u0, u1), np.minimum(v0, v1), np.maximum(u0, u1), np.maximum(v0, v1))
        return np.stack(columns, axis=1).astype(np.float64)

    def angle(self, x: float, y: float) -> int:
        """Returns the direction of a user-space vector on the shown page, in whole degrees counterclockwise, 0..359."""
        dx, dy = self.a * x + self.c * y, self.b * x + self.d * y
        return round(math.degrees(math.atan2(-dy, dx))) % FULL_TURN


def page_frame(page: PdfPage) -> PageFrame:
    """Returns the frame of a page, from its crop box (or its substitute) and its /Rotate entry."""
    box = pdfium_c.FS_RECTF()
    if not pdfium_c.FPDF_GetPageBoundingBox(page.raw, ctypes.byref(box)):
        box.left, box.bottom, box.right, box.top = 0.0, 0.0, 612.0, 792.0
    left, bottom, right, top = box.left, box.bottom, box.right, box.top
    rotation = QUARTER * (pdfium_c.FPDFPage_GetRotation(page.raw) % 4)
    width, height = right - left, top - bottom
    if rotation == QUARTER:
        return PageFrame(height, width, rotation, 0, 1, 1, 0, -bottom, -left)
    if rotation == 2 * QUARTER:
        return PageFrame(width, height, rotation, -1, 0, 0, 1, right, -bottom)
    if rotation == 3 * QUARTER:
        return PageFrame(height, width, rotation, 0, -1, -1, 0, top, right)
    return PageFrame(width, height, rotation, 1, 0, 0, -1, -left, top)


_EXACT: dict[float, tuple[float, float]] = {0: (1.0, 0.0), 90: (0.0, 1.0), 180: (-1.0, 0.0), 270: (0.0, -1.0)}


@dataclass(frozen=True, slots=True)
class Rotation:
    """A rotation by `angle` degrees clockwise about the origin, which makes text of that angle upright."""

    angle: float
    cosine: float
    sine: float

    def point(self, x: float, y: float) -> tuple[float, float]:
        """Maps a point of the shown page to the upright frame."""
        return x * self.cosine - y * self.sine, x * self.sine + y * self.cosine

    def shown_point(self, u: float, v: float) -> tuple[float, float]:
        """Maps a point of the upright frame to the shown page."""
        return u * self.cosine + v * self.sine, v * self.cosine - u * self.sine

    def upright(self, rect: Rect) -> Rect:
        """Returns the smallest upright rectangle around a rectangle of the shown page."""
        return rect if self.angle == 0 else _around([self.point(x, y) for x, y in _corners(rect)])

    def shown(self, rect: Rect) -> Rect:
        """Returns the smallest rectangle of the shown page around an upright one."""
        return rect if self.angle == 0 else _around([self.shown_point(x, y) for x, y in _corners(rect)])


def rotation_of(angle: float) -> Rotation:
    """Returns the rotation that makes text of this angle (degrees counterclockwise) upright."""
    cosine, sine = _EXACT.get(angle) or (math.cos(math.radians(angle)), math.sin(math.radians(angle)))
    return Rotation(angle, cosine, sine)


def _corners(rect: Rect) -> list[tuple[float, float]]:
    return [(rect.x0, rect.y0), (rect.x1, rect.y0), (rect.x1, rect.y1), (rect.x0, rect.y1)]


def _around(points: list[tuple[float, float]]) -> Rect:
    xs, ys = [x for x, _ in points], [y for _, y in points]
    return Rect(min(xs), min(ys), max(xs), max(ys))
