"""Reads where a page's words leave ink: per line where lines are apart, per word and glyph where they overlap."""

from __future__ import annotations

import ctypes
import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from citewell.extract.formats.pdf import native
from citewell.extract.formats.pdf.geometry import PageFrame, Rect
from citewell.extract.formats.pdf.ink import THRESHOLDS, Ink, Pieces, Rects, Unit, inset, touching
from citewell.extract.formats.pdf.words import Word

Indices: TypeAlias = npt.NDArray[np.intp]

_NO_TEXT = re.compile(r"[\x01-\x08\x0e-\x1f\x7f\uffff]+")


def read_ink(textpage: int, text: str, words: Sequence[Word], frame: PageFrame) -> Ink | None:
    """Returns the ink of a page's words on the shown page; `textpage` is the address of PDFium's text page.

    None for a page without words, or with more lines than a page can have.
    """
    nameless = [match.span() for match in _NO_TEXT.finditer(text)]
    begins = _unit_begins(words, nameless)
    if not words or len(begins) + len(nameless) > THRESHOLDS.max_units:
        return None
    bounds = list(pairwise([*begins, len(words)]))
    spans = [(words[a].start, words[b - 1].end) for a, b in bounds]
    unit_rects = _flat_as_set(_ink_of(textpage, [*spans, *nameless], frame), words, bounds)
    apart = np.array([_has_height(textpage, start, end) for start, end in spans] + [False] * len(nameless))
    for some, others in _touching_pairs(unit_rects):
        apart[some] = apart[others] = False
    units = [
        Unit(a, b - 1, rect[1] + THRESHOLDS.margin, rect[3] - THRESHOLDS.margin, alone and rect[0] == rect[0])
        for (a, b), rect, alone in zip(bounds, unit_rects.tolist(), apart.tolist(), strict=False)
    ]
    unit_of = [unit for unit in units for _ in range(unit.first, unit.last + 1)]
    mixed = [index for unit in units if not unit.apart for index in range(unit.first, unit.last + 1)]
    rects = np.concatenate([_rects_by_unit(words, unit_of), unit_rects[len(units) :]])
    single = [number for number, unit in enumerate(units) if unit.first == unit.last]
    rects[[units[number].first for number in single]] = unit_rects[single]
    if mixed:
        inked = _ink_of(textpage, [(words[index].start, words[index].end) for index in mixed], frame)
        rects[mixed] = _flat_as_set(inked, words, [(index, index + 1) for index in mixed])
    return Ink(words, rects, unit_of, _cleared(textpage, words, rects, mixed, frame))


def _unit_begins(words: Sequence[Word], nameless: Sequence[tuple[int, int]]) -> list[int]:
    """Returns indices of the words that do not directly follow the previous word on its line, from left to right."""
    begins: list[int] = []
    right = 0.0
    waiting = iter(nameless)
    stop = next(waiting, (1 << 62, 0))[0]
    for index, word in enumerate(words):
        while stop < word.start:
            stop = next(waiting, (1 << 62, 0))[0]
            right = float("inf")
        if not index or word.breaks or word.x0 < right - THRESHOLDS.overlap or word.style.angle:
            begins.append(index)
        right = word.x1
    return begins


def _has_height(textpage: int, start: int, end: int) -> bool:
    """Whether the first and last glyph of a span have outlines; PDFium omits glyphs without."""
    box = (ctypes.c_double * 8)()
    place = ctypes.addressof(box)
    native.char_box(textpage, start, place, place + 8, place + 16, place + 24)
    native.char_box(textpage, end - 1, place + 32, place + 40, place + 48, place + 56)
    return box[3] - box[2] > THRESHOLDS.flat < box[7] - box[6]


def _rects_by_unit(words: Sequence[Word], unit_of: Sequence[Unit]) -> Rects:
    """Returns rectangles as wide as the word's advance and as high as the ink of its unit."""
    return np.array([(word.x0, unit.y0, word.x1, unit.y1) for word, unit in zip(words, unit_of, strict=True)])


def _flat_as_set(rects: Rects, words: Sequence[Word], bounds: Sequence[tuple[int, int]]) -> Rects:
    """Replaces rectangles without height or width, found in fonts without outlines, with the font's boxes."""
    flat = np.flatnonzero((rects[:, 2] - rects[:, 0] < THRESHOLDS.flat) | (rects[:, 3] - rects[:, 1] < THRESHOLDS.flat))
    for number in flat[flat < len(bounds)].tolist():
        some = words[slice(*bounds[number])]
        rect = rects[number]
        if rect[2] - rect[0] < THRESHOLDS.flat:
            rect[0], rect[2] = min(word.x0 for word in some), max(word.x1 for word in some)
        if rect[3] - rect[1] < THRESHOLDS.flat:
            rect[1], rect[3] = min(word.y0 for word in some), max(word.y1 for word in some)
    return rects


def _ink_of(textpage: int, spans: Sequence[tuple[int, int]], frame: PageFrame) -> Rects:
    """Returns the rectangle around the glyphs of each span of characters."""
    boxes = np.full((len(spans), 4), np.nan)
    place = boxes.ctypes.data
    for number, (start, end) in enumerate(spans):
        count = native.count_rects(textpage, start, end - start)
        if count == 1:
            native.text_rect(textpage, 0, place, place + 8, place + 16, place + 24)
        elif count > 1:
            boxes[number] = _joined(textpage, count)
        place += 32
    for number in np.flatnonzero(boxes[:, 2] - boxes[:, 0] <= 0).tolist():
        boxes[number] = _from_first_to_last(textpage, *spans[number])
    left, top, right, bottom = (boxes[:, i] for i in range(4))
    return frame.rects(left, bottom, right, top)


def _from_first_to_last(textpage: int, start: int, end: int) -> tuple[float, float, float, float]:
    """Returns left, top, right, bottom around the first and last character of a span, for glyphs without outlines."""
    box = (ctypes.c_double * 8)()
    place = ctypes.addressof(box)
    native.char_box(textpage, start, place, place + 8, place + 16, place + 24)
    native.char_box(textpage, end - 1, place + 32, place + 40, place + 48, place + 56)
    return min(box[0], box[4]), max(box[3], box[7]), max(box[1], box[5]), min(box[2], box[6])


def _joined(textpage: int, count: int) -> tuple[float, float, float, float]:
    """Returns left, top, right, bottom around the rectangles that PDFium last counted."""
    parts = (ctypes.c_double * (4 * count))()
    place = ctypes.addressof(parts)
    for number in range(count):
        native.text_rect(textpage, number, place, place + 8, place + 16, place + 24)
        place += 32
    values = parts[:]
    return min(values[0::4]), max(values[1::4]), max(values[2::4]), min(values[3::4])


def _touching_pairs(rects: Rects) -> Iterator[tuple[Indices, Indices]]:
    """Yields two aligned arrays of indices of touching rectangles; each pair once."""
    order = np.argsort(rects[:, 1])
    ordered = rects[order]
    inner = ordered + np.array([THRESHOLDS.margin, THRESHOLDS.margin, -THRESHOLDS.margin, -THRESHOLDS.margin])
    for start in range(0, len(order), THRESHOLDS.rows_at_once):
        some = inner[start : start + THRESHOLDS.rows_at_once]
        end = start + int(np.searchsorted(ordered[start:, 1], np.fmax.reduce(some[:, 3])))
        rows, columns = np.triu(touching(some, ordered[start:end]), k=1).nonzero()
        yield order[start + rows], order[start + columns]


def _partners(rects: Rects) -> dict[int, list[int]]:
    """Returns the rectangles that each one touches; nothing if too many do."""
    found: dict[int, list[int]] = {}
    pairs = 0
    for some, others in _touching_pairs(rects):
        pairs += len(some)
        if pairs > THRESHOLDS.max_pairs:
            return {}
        for a, b in zip(some.tolist(), others.tolist(), strict=True):
            found.setdefault(a, []).append(b)
            found.setdefault(b, []).append(a)
    return found


def _cleared(
    textpage: int, words: Sequence[Word], rects: Rects, mixed: Sequence[int], frame: PageFrame
) -> dict[int, Pieces]:
    """Finds, for words whose rectangles touch others', rectangles that touch only their own glyphs, where possible."""
    glyphs: dict[int, list[Glyph]] = {}
    found: dict[int, Pieces] = {}
    for number, partners in _partners(rects[mixed]).items():
        others = [mixed[partner] for partner in partners]
        index = mixed[number]
        for which in (index, *others):
            if which not in glyphs:
                glyphs[which] = _glyphs(textpage, words[which], frame)
        if own := glyphs[index]:
            found[index] = clear_pieces(own, [box for other in others for _, box in glyphs[other]])
    return found


def _glyphs(textpage: int, word: Word, frame: PageFrame) -> list[Glyph]:
    """Returns a word's characters by index with the rectangles of their glyphs, without those that leave no ink."""
    left, right, bottom, top = (ctypes.c_double() for _ in range(4))
    addresses = [ctypes.addressof(value) for value in (left, right, bottom, top)]
    found: list[Glyph] = []
    for number in range(word.end - word.start):
        if native.char_box(textpage, word.start + number, *addresses):
            rect = frame.rect(left.value, bottom.value, right.value, top.value)
            if rect.width > THRESHOLDS.flat and rect.height > THRESHOLDS.flat:
                found.append((number, (rect.x0, rect.y0, rect.x1, rect.y1)))
    return found


Box: TypeAlias = tuple[float, float, float, float]
Glyph: TypeAlias = tuple[int, Box]
"""The index of a character in its word, and x0, y0, x1, y1 of its glyph."""


def clear_pieces(own: Sequence[Glyph], others: Sequence[Box]) -> Pieces:
    """Returns rectangles that touch all of the word's glyphs and no others, each with its first character; needs a
    glyph.

    One for the word if possible, else one per part. A word right on top of other glyphs keeps its rectangle.
    """
    whole = _around([box for _, box in own])
    foreign = [box for box in others if _touch(box, whole)]
    if len(own) > THRESHOLDS.max_glyphs or len(foreign) > THRESHOLDS.max_others:
        return [(0, inset(whole))]
    rect = _narrowed(whole, [box for _, box in own], foreign)
    if rect or len(own) == 1:
        return [(0, rect or inset(whole))]
    pieces: list[tuple[int, Rect]] = []
    for run in _runs(own, foreign):
        boxes = [box for _, box in run]
        around = _around(boxes)
        near = [box for box in (*foreign, *(box for _, box in own)) if _touch(box, around) and box not in boxes]
        narrowed = _narrowed(around, boxes, near)
        if narrowed is None:
            return [(0, inset(whole))]
        pieces.append((run[0][0] if pieces else 0, narrowed))
    return pieces


def _runs(own: Sequence[Glyph], foreign: Sequence[Box]) -> list[list[Glyph]]:
    """Groups glyphs in order, as many together as touch no others."""
    runs: list[list[Glyph]] = []
    for glyph in own:
        if runs and glyph[1] == runs[-1][-1][1]:  # a ligature's letters
            runs[-1].append(glyph)
            continue
        if runs:
            around = _around([box for _, box in (*runs[-1], glyph)])
            besides = (other for other in own if other is not glyph and other not in runs[-1])
            if not any(_touch(box, around) for box in foreign) and not any(_touch(b, around) for _, b in besides):
                runs[-1].append(glyph)
                continue
        runs.append([glyph])
    return runs


def _around(boxes: Sequence[Box]) -> Box:
    return min(b[0] for b in boxes), min(b[1] for b in boxes), max(b[2] for b in boxes), max(b[3] for b in boxes)


def _touch(a: Box, b: Box) -> bool:
    return (
        a[0] < b[2] - THRESHOLDS.margin
        and a[2] > b[0] + THRESHOLDS.margin
        and a[1] < b[3] - THRESHOLDS.margin
        and a[3] > b[1] + THRESHOLDS.margin
    )


def _narrowed(whole: Box, own: Sequence[Box], foreign: Sequence[Box]) -> Rect | None:
    """Reduces the rectangle's height, else its width, until it touches only its own glyphs; None if impossible."""
    if not foreign:
        return inset(whole)
    for low, high in ((1, 3), (0, 2)):
        band = _free_band([(box[low], box[high]) for box in own], [(box[low], box[high]) for box in foreign])
        if band:
            narrowed = list(whole)
            narrowed[low], narrowed[high] = band
            return inset(narrowed)
    return None


def _free_band(own: Sequence[tuple[float, float]], taken: Sequence[tuple[float, float]]) -> tuple[float, float] | None:
    """Returns the widest band that touches all of `own` and none of `taken`."""
    start, most = min(low for low, _ in own), max(high for _, high in own)
    highest, lowest = max(low for low, _ in own), min(high for _, high in own)
    best: tuple[float, float] | None = None
    for low, high in [*sorted(taken), (most, most)]:
        end = min(low, most)
        reaches = end - highest > 3 * THRESHOLDS.margin and lowest - start > 3 * THRESHOLDS.margin
        if end - start > 4 * THRESHOLDS.margin and reaches and (best is None or end - start > best[1] - best[0]):
            best = start, end
        start = max(start, high)
    return best
