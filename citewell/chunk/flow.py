"""Running text: the texts of elements that follow each other, as one string that knows where each character came from."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, replace

from citewell.chunk.pieces import Slice
from citewell.types import Element, ElementType


@dataclass(frozen=True, slots=True)
class Part:
    """An element's text from `offset` on, at `start` of the flow.

    headings is the path in force, for a title with its own text as last; joined says that the part goes on with the
    sentence of the part before it.
    """

    start: int
    element: Element
    headings: tuple[str, ...]
    offset: int = 0
    joined: bool = False

    @property
    def end(self) -> int:
        """Where it ends in the flow."""
        return self.start + len(self.element.text) - self.offset

    @property
    def is_title(self) -> bool:
        """Whether it is a heading."""
        return self.element.type is ElementType.TITLE


@dataclass(frozen=True, slots=True)
class Cut:
    """What becomes a chunk: `flow.text[start:end]`, under a heading path."""

    start: int
    end: int
    headings: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Flow:
    """Parts in order, with the separators between them, as one text."""

    text: str = ""
    parts: tuple[Part, ...] = ()

    def slices(self, start: int, end: int) -> list[Slice]:
        """The elements' parts that stand in [start, end), those without visible text left out."""
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
        """Index of the part that holds `position`, or that precedes it."""
        return max(0, bisect_right(self.parts, position, key=lambda part: part.start) - 1)

    def headings_at(self, position: int) -> tuple[str, ...]:
        """The heading path in force at `position`."""
        return self.parts[self.index_at(position)].headings if self.parts else ()

    def trim(self, start: int, end: int) -> tuple[int, int]:
        """The same range without white space at its ends; empty when there is nothing else in it."""
        while end > start and self.text[end - 1].isspace():
            end -= 1
        while start < end and self.text[start].isspace():
            start += 1
        return start, end

    def rectangle_starts(self, part: Part) -> frozenset[int] | None:
        """Where in the flow the rectangles of a part begin, white space skipped; None when the element does not say."""
        starts = part.element.span_starts
        if not starts or len(starts) != len(part.element.locator.boxes):
            return None
        shift = part.start - part.offset
        return frozenset(self._skip_space(start + shift) for start in starts if start >= part.offset)

    def clean_cuts(self, start: int, end: int) -> list[int]:
        """The places inside (start, end) at which a cut divides no rectangle that is known, ascending; parts begin at some."""
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
    """Gathers parts into a flow."""

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
        """Append an element's text behind a separator (which the first one does not get)."""
        if self._parts:
            self._texts.append(separator)
            self.length += len(separator)
        self._parts.append(Part(self.length, element, headings, joined=joined))
        self._texts.append(element.text)
        self.length += len(element.text)

    def build(self) -> Flow:
        """What was gathered."""
        return Flow("".join(self._texts), tuple(self._parts))
