"""Flows: the texts of successive elements as one string that maps each character to its element, page and rectangle."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace

from citewell.types import Box, Element, ElementType, Locator, Piece

FURNITURE = frozenset({ElementType.HEADER, ElementType.FOOTER})


@dataclass(frozen=True, slots=True)
class Slice:
    """`element.text[start:end]`."""

    element: Element
    start: int
    end: int

    @property
    def piece(self) -> Piece:
        """The form stored with a chunk."""
        return Piece(self.element.id, self.start, self.end)


@dataclass(frozen=True, slots=True)
class Part:
    """An element's text from `offset` on, at position `start` of the flow.

    headings: the heading path; a title's own text is its last entry
    joined:   whether the part continues the sentence of the previous part
    """

    start: int
    element: Element
    headings: tuple[str, ...]
    offset: int = 0
    joined: bool = False

    @property
    def end(self) -> int:
        """End position in the flow."""
        return self.start + len(self.element.text) - self.offset

    @property
    def is_title(self) -> bool:
        """Whether it is a heading."""
        return self.element.type is ElementType.TITLE


@dataclass(frozen=True, slots=True)
class Cut:
    """A future chunk: `flow.text[start:end]`, under a heading path."""

    start: int
    end: int
    headings: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Flow:
    """Parts in order, with the separators between them, as one text."""

    text: str = ""
    parts: tuple[Part, ...] = ()

    def slices(self, start: int, end: int) -> list[Slice]:
        """The element slices in [start, end) that hold visible text."""
        found: list[Slice] = []
        for part in self.parts[self.index_at(start) :]:
            if part.start >= end:
                break
            low, high = max(start, part.start), min(end, part.end)
            if low < high and self.text[low:high].strip():
                shift = part.offset - part.start
                found.append(Slice(part.element, low + shift, high + shift))
        return found

    def index_at(self, position: int) -> int:
        """Index of the part that contains or precedes `position`."""
        return max(0, bisect_right(self.parts, position, key=lambda part: part.start) - 1)

    def headings_at(self, position: int) -> tuple[str, ...]:
        """The heading path at `position`."""
        return self.parts[self.index_at(position)].headings if self.parts else ()

    def trim(self, start: int, end: int) -> tuple[int, int]:
        """The range without white space at its ends; empty if it is all white space."""
        while end > start and self.text[end - 1].isspace():
            end -= 1
        while start < end and self.text[start].isspace():
            start += 1
        return start, end

    def rectangle_starts(self, part: Part) -> frozenset[int] | None:
        """Flow positions where a part's rectangles begin, after white space; None if the element does not say."""
        starts = part.element.span_starts
        if not starts or len(starts) != len(part.element.locator.boxes):
            return None
        shift = part.start - part.offset
        return frozenset(self._skip_space(start + shift) for start in starts if start >= part.offset)

    def clean_cuts(self, start: int, end: int) -> list[int]:
        """Ascending positions in (start, end) where a cut splits no known rectangle: starts of rectangles and parts."""
        found: set[int] = set()
        for part in self.parts[self.index_at(start) :]:
            if part.start >= end:
                break
            found.update(self.rectangle_starts(part) or (), (part.start,))
        return sorted(position for position in found if start < position < end)

    def _skip_space(self, position: int) -> int:
        while position < len(self.text) and self.text[position].isspace():
            position += 1
        return position

    def tail(self, position: int) -> Flow:
        """The flow from `position` on."""
        if not self.parts:
            return self
        kept: list[Part] = []
        for part in self.parts[self.index_at(position) :]:
            if part.end <= position:
                continue
            skipped = max(0, position - part.start)
            start = part.start + skipped - position
            kept.append(replace(part, start=start, offset=part.offset + skipped, joined=part.joined and not skipped))
        return Flow(self.text[position:], tuple(kept))


class FlowBuilder:
    """Collects parts into a flow."""

    def __init__(self, carried: Flow | None = None) -> None:
        flow = carried or Flow()
        self._texts = [flow.text] if flow.text else []
        self._parts = list(flow.parts)
        self.length = len(flow.text)

    @property
    def last(self) -> Part | None:
        """The part added last."""
        return self._parts[-1] if self._parts else None

    def add(self, element: Element, headings: tuple[str, ...], separator: str, *, joined: bool = False) -> None:
        """Append an element's text after a separator (the first one gets none)."""
        if self._parts:
            self._texts.append(separator)
            self.length += len(separator)
        self._parts.append(Part(self.length, element, headings, joined=joined))
        self._texts.append(element.text)
        self.length += len(element.text)

    def build(self) -> Flow:
        """The flow of all parts."""
        return Flow("".join(self._texts), tuple(self._parts))


def boxes_of(part: Slice) -> tuple[Box, ...]:
    """The rectangles that hold the slice's text; all of the element's if it does not record their texts."""
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
    """The pages of the slice's characters, ascending."""
    boxes, locator = boxes_of(part), part.element.locator
    # A running header has the rectangles of its first page only.
    if boxes and part.element.type not in FURNITURE:
        return tuple(sorted({box.page for box in boxes}))
    return locator.pages or ((locator.page,) if locator.page is not None else ())


def locate(slices: Sequence[Slice], headings: tuple[str, ...]) -> Locator:
    """The locator of successive slices under a heading path."""
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
        second=first.second,
        char_start=min(starts) if starts else None,
        char_end=max(ends) if ends else None,
        headings=headings,
    )


def _char_span(part: Slice) -> tuple[int | None, int | None]:
    """Offsets in the decoded file; the whole element's if its text length differs from the file's."""
    locator = part.element.locator
    if locator.char_start is None or locator.char_end is None:
        return locator.char_start, locator.char_end
    if locator.char_end - locator.char_start != len(part.element.text):
        return locator.char_start, locator.char_end
    return locator.char_start + part.start, locator.char_start + part.end
