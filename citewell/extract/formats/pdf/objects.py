"""Drawings on a page: ruling lines, filled areas and images, in shown-page coordinates."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import pypdfium2.raw as pdfium_c
from pypdfium2 import PdfPage

from citewell.extract.formats.pdf.geometry import PageFrame, Rect


@dataclass(frozen=True, slots=True, kw_only=True)
class DrawingThresholds:
    """Thresholds for reading lines, areas and images. Set by hand on the development documents.

    thin:             points of thickness up to which a filled or stroked shape is a line
    min_rule:         points of the shortest line; shorter ones are parts of letters and marks
    min_fill:         points of the narrower side of the smallest area
    background:       share of the page at which an area is its background
    white:            level (0 to 255) of the darkest channel at which a color does not show on white
    fill_segments:    path segments of the most complex shape treated as a rectangle
    straight:         points by which a horizontal or vertical segment may be slanted
    typed_rule:       consecutive dashes or underscores that are a line, not text
    typed_thickness:  points of thickness given to such a line
    max_objects:      objects read per page; bounds time on maps and plans
    max_rules:        lines at which the drawing is `full` and tables are not looked for
    max_segments:     segments of the longest path that lines are read from
    max_depth:        forms within forms
    """

    thin: float = 2.5
    min_rule: float = 4.0
    min_fill: float = 5.0
    background: float = 0.9
    white: int = 250
    fill_segments: int = 6
    straight: float = 1.0
    typed_rule: int = 10
    typed_thickness: float = 0.5
    max_objects: int = 20_000
    max_rules: int = 8_000
    max_segments: int = 4_000
    max_depth: int = 6


THRESHOLDS = DrawingThresholds()

_IDENTITY = (1.0, 0.0, 0.0, 1.0, 0.0, 0.0)
Matrix = tuple[float, float, float, float, float, float]


@dataclass(frozen=True, slots=True)
class ImagePlace:
    """An image object (a PDFium handle, valid as long as its page), its rectangle, and its matrix in user space."""

    handle: object
    rect: Rect
    matrix: Matrix


@dataclass(slots=True)
class Drawing:
    """The drawing of a page: `rules` are thin rectangles along straight lines; `fills` are larger colored areas;
    `paths` counts all drawn paths; `full` is set if a limit cut the list.
    """

    rules: list[Rect] = field(default_factory=list[Rect])
    fills: list[Rect] = field(default_factory=list[Rect])
    images: list[ImagePlace] = field(default_factory=list[ImagePlace])
    paths: int = 0
    full: bool = False


def read_drawing(page: PdfPage, frame: PageFrame) -> Drawing:
    """Reads the page's objects, including those inside form XObjects."""
    drawing = Drawing()
    for kind, handle, matrix in _objects(page):
        if kind == pdfium_c.FPDF_PAGEOBJ_IMAGE:
            rect = _bounds(handle, matrix, frame)
            if rect is not None:
                drawing.images.append(ImagePlace(handle, rect, _times(_matrix(handle), matrix)))
        elif kind == pdfium_c.FPDF_PAGEOBJ_PATH and not drawing.full:
            drawing.paths += 1
            _add_path(drawing, handle, matrix, frame)
            drawing.full = len(drawing.rules) > THRESHOLDS.max_rules
    return drawing


def _objects(page: PdfPage) -> Iterator[tuple[int, object, Matrix]]:
    """Yields (type, handle, matrix of the enclosing form) of every object that is not a form."""
    stack: list[tuple[object, bool, Matrix, int]] = [(page.raw, False, _IDENTITY, 0)]
    seen = 0
    while stack:
        parent, is_form, matrix, depth = stack.pop()
        count = pdfium_c.FPDFFormObj_CountObjects(parent) if is_form else pdfium_c.FPDFPage_CountObjects(parent)
        for index in range(count):
            seen += 1
            if seen > THRESHOLDS.max_objects:
                return
            handle = (
                pdfium_c.FPDFFormObj_GetObject(parent, index) if is_form else pdfium_c.FPDFPage_GetObject(parent, index)
            )
            kind = pdfium_c.FPDFPageObj_GetType(handle)
            if kind == pdfium_c.FPDF_PAGEOBJ_FORM:
                if depth < THRESHOLDS.max_depth:
                    stack.append((handle, True, _times(_matrix(handle), matrix), depth + 1))
            elif kind != pdfium_c.FPDF_PAGEOBJ_TEXT:
                yield kind, handle, matrix


def _matrix(handle: object) -> Matrix:
    read = pdfium_c.FS_MATRIX()
    if not pdfium_c.FPDFPageObj_GetMatrix(handle, ctypes.byref(read)):
        return _IDENTITY
    return (read.a, read.b, read.c, read.d, read.e, read.f)


def _times(first: Matrix, second: Matrix) -> Matrix:
    """Returns the matrix that applies `first`, then `second`."""
    a, b, c, d, e, f = first
    g, h, i, j, k, m = second
    return (a * g + b * i, a * h + b * j, c * g + d * i, c * h + d * j, e * g + f * i + k, e * h + f * j + m)


def _apply(matrix: Matrix, x: float, y: float) -> tuple[float, float]:
    a, b, c, d, e, f = matrix
    return a * x + c * y + e, b * x + d * y + f


def _bounds(handle: object, matrix: Matrix, frame: PageFrame) -> Rect | None:
    left, bottom, right, top = (ctypes.c_float() for _ in range(4))
    places = [ctypes.byref(value) for value in (left, bottom, right, top)]
    if not pdfium_c.FPDFPageObj_GetBounds(handle, *places):
        return None
    x0, y0, x1, y1 = left.value, bottom.value, right.value, top.value
    if matrix == _IDENTITY:
        return frame.rect(x0, y0, x1, y1)
    corners = [_apply(matrix, x, y) for x, y in ((x0, y0), (x1, y0), (x1, y1), (x0, y1))]
    xs, ys = [x for x, _ in corners], [y for _, y in corners]
    return frame.rect(min(xs), min(ys), max(xs), max(ys))


def _add_path(drawing: Drawing, handle: object, matrix: Matrix, frame: PageFrame) -> None:
    rect = _bounds(handle, matrix, frame)
    if rect is None or max(rect.width, rect.height) < THRESHOLDS.min_rule:
        return
    stroked, filled = _draw_mode(handle)
    if not (stroked or filled) or rect.x1 < 0 or rect.y1 < 0 or rect.x0 > frame.width or rect.y0 > frame.height:
        return
    if min(rect.width, rect.height) <= THRESHOLDS.thin:
        drawing.rules.append(rect)
        return
    segments = pdfium_c.FPDFPath_CountSegments(handle)
    # Few segments form a rectangle, whose edges may be table lines; more form a drawing.
    if filled and not stroked and segments <= THRESHOLDS.fill_segments:
        if (
            min(rect.width, rect.height) >= THRESHOLDS.min_fill
            and rect.area < THRESHOLDS.background * frame.width * frame.height
        ):
            drawing.fills.append(rect)
        return
    if stroked and segments <= THRESHOLDS.max_segments:
        drawing.rules.extend(_straight_segments(handle, segments, _times(_matrix(handle), matrix), frame))


def _draw_mode(handle: object) -> tuple[bool, bool]:
    """Whether the path is stroked, and whether it is filled, in a color that shows on white."""
    fill, stroke = ctypes.c_int(), pdfium_c.FPDF_BOOL()
    pdfium_c.FPDFPath_GetDrawMode(handle, ctypes.byref(fill), ctypes.byref(stroke))
    return (
        bool(stroke.value) and _shows(pdfium_c.FPDFPageObj_GetStrokeColor, handle),
        bool(fill.value) and _shows(pdfium_c.FPDFPageObj_GetFillColor, handle),
    )


def _shows(read_colour: Callable[..., int], handle: object) -> bool:
    channels = [ctypes.c_uint() for _ in range(4)]
    if not read_colour(handle, *(ctypes.byref(channel) for channel in channels)):
        return True
    red, green, blue, alpha = (channel.value for channel in channels)
    return alpha > 0 and min(red, green, blue) < THRESHOLDS.white


def _straight_segments(handle: object, count: int, matrix: Matrix, frame: PageFrame) -> Iterator[Rect]:
    """Yields the horizontal and vertical segments of a stroked path."""
    x, y = ctypes.c_float(), ctypes.c_float()
    start = last = (0.0, 0.0)
    for index in range(count):
        segment = pdfium_c.FPDFPath_GetPathSegment(handle, index)
        pdfium_c.FPDFPathSegment_GetPoint(segment, ctypes.byref(x), ctypes.byref(y))
        point = frame.point(*_apply(matrix, x.value, y.value))
        kind = pdfium_c.FPDFPathSegment_GetType(segment)
        if kind == pdfium_c.FPDF_SEGMENT_MOVETO:
            start = point
        elif kind == pdfium_c.FPDF_SEGMENT_LINETO:
            yield from _straight(last, point)
        if pdfium_c.FPDFPathSegment_GetClose(segment):
            yield from _straight(point, start)
        last = point


def _straight(a: tuple[float, float], b: tuple[float, float]) -> Iterator[Rect]:
    rect = Rect(min(a[0], b[0]), min(a[1], b[1]), max(a[0], b[0]), max(a[1], b[1]))
    if min(rect.width, rect.height) <= THRESHOLDS.straight and max(rect.width, rect.height) >= THRESHOLDS.min_rule:
        yield rect
