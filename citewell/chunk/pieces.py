"""From a part of an element's text to its rectangles, pages and place."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

from citewell.types import Box, Element, Locator, Piece


@dataclass(frozen=True, slots=True)
class Slice:
    """`element.text[start:end]`."""

    element: Element
    start: int
    end: int

    @property
    def piece(self) -> Piece:
        """The form in which a chunk remembers it."""
        return Piece(self.element.id, self.start, self.end)


def boxes_of(part: Slice) -> tuple[Box, ...]:
    """The rectangles that hold the slice's text; all of the element's where it does not say which text each one holds."""
    element, starts = part.element, part.element.span_starts
    boxes = element.locator.boxes
    if len(starts) != len(boxes) or (part.start <= 0 and part.end >= len(element.text)):
        return boxes
    first = max(0, bisect_right(starts, part.start) - 1)
    chosen: list[Box] = []
    for index in range(first, len(boxes)):
        if starts[index] >= part.end:
            break
        stop = starts[index + 1] if index + 1 < len(starts) else len(element.text)
        if element.text[max(starts[index], part.start) : min(stop, part.end)].strip():
            chosen.append(boxes[index])
    return tuple(chosen)


def pages_of(part: Slice) -> tuple[int, ...]:
    """The pages on which the slice's characters stand, ascending."""
    boxes = boxes_of(part)
    if boxes:
        return tuple(sorted({box.page for box in boxes}))
    locator = part.element.locator
    return locator.pages or ((locator.page,) if locator.page is not None else ())


def locate(slices: Sequence[Slice], headings: tuple[str, ...]) -> Locator:
    """The place of slices that follow each other, under a heading path."""
    first, last = slices[0].element.locator, slices[-1].element.locator
    pages = tuple(sorted({page for part in slices for page in pages_of(part)}))
    starts = [start for part in slices if (start := _char_span(part)[0]) is not None]
    ends = [end for part in slices if (end := _char_span(part)[1]) is not None]
    row_end = last.row_end if last.row_end is not None else last.row
    return Locator(
        page=pages[0] if pages else None,
        pages=pages,
        page_label=first.page_label,
        boxes=tuple(box for part in slices for box in boxes_of(part)),
        sheet=first.sheet,
        row=first.row,
        row_end=row_end if row_end != first.row else first.row_end,
        cell=first.cell,
        slide=first.slide,
        char_start=min(starts) if starts else None,
        char_end=max(ends) if ends else None,
        headings=headings,
    )


def _char_span(part: Slice) -> tuple[int | None, int | None]:
    """Offsets in the decoded file; the whole element's where its text is not the file's own, character by character."""
    locator = part.element.locator
    if locator.char_start is None or locator.char_end is None:
        return locator.char_start, locator.char_end
    if locator.char_end - locator.char_start != len(part.element.text):
        return locator.char_start, locator.char_end
    return locator.char_start + part.start, locator.char_start + part.end
