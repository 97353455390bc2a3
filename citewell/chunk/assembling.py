"""Assembles elements into flows: tracks the heading path, joins related texts, and anchors tables and images."""

from __future__ import annotations

from dataclasses import dataclass, replace

from citewell.chunk.flow import Flow, FlowBuilder, Part
from citewell.types import Element, ElementType

WINDOW = 65_536
"""Length of a flow, in characters, at which its chunks are emitted.

Bounds memory; cuts are optimal only within a window, so smaller windows cut worse.
"""

_ASIDES = frozenset({ElementType.CAPTION, ElementType.FOOTNOTE})
_CLOSE = frozenset({ElementType.LIST_ITEM, ElementType.FORM_FIELD})
_SENTENCE_ENDS = tuple(".!?…:;。！？」』”\"')]）।॥؟۔|")


class HeadingPath:
    """Tracks the current heading path while a document is read from front to back."""

    def __init__(self) -> None:
        self._open: list[tuple[int, str]] = []

    def reset(self) -> None:
        """Forget all headings, at the start of a new slide or sheet."""
        self._open.clear()

    def enter(self, element: Element) -> tuple[str, ...]:
        """The heading path of an element; a heading's own text is last. A path given by the reader takes precedence."""
        stated = element.locator.headings
        if element.type is not ElementType.TITLE:
            return stated or tuple(name for _, name in self._open)
        level = element.level if element.level is not None else 1
        while self._open and self._open[-1][0] >= level:
            self._open.pop()
        name = " ".join(element.text.split())
        if stated:
            return stated if stated[-1] == name else (*stated, name)
        self._open.append((level, name))
        return tuple(name for _, name in self._open)


@dataclass(frozen=True, slots=True)
class Anchored:
    """A table or image at `position` of a flow; `caption` is the text of the nearest CAPTION element on its page."""

    position: int
    element: Element
    headings: tuple[str, ...]
    caption: str = ""


class Assembler:
    """Collects the current flow and the tables and images anchored in it."""

    def __init__(self) -> None:
        self.headings = HeadingPath()
        self._builder = FlowBuilder()
        self._asides: list[tuple[Element, tuple[str, ...]]] = []
        self._anchored: list[Anchored] = []
        self._anchored_length = 0
        self._caption: Element | None = None
        self._awaits_caption = False
        self._full_at = WINDOW
        self._unit: tuple[str | None, int | None] = (None, None)

    @property
    def is_full(self) -> bool:
        """Whether the flow is long enough to be cut."""
        return self._builder.length >= self._full_at

    @property
    def has_full_window_of_anchored(self) -> bool:
        """Whether the anchored tables and images alone fill a window."""
        return self._anchored_length >= WINDOW

    @property
    def is_empty(self) -> bool:
        """Whether nothing has been collected."""
        return not (self._builder.length or self._anchored or self._asides)

    def leaves_unit(self, element: Element) -> bool:
        """Whether an element begins a new slide or sheet; if so, the headings are reset."""
        unit = (element.locator.sheet, element.locator.slide)
        if unit == self._unit:
            return False
        self._unit = unit
        self.headings.reset()
        return True

    def add(self, element: Element) -> None:
        """Append an element that is neither a row nor page furniture."""
        headings = self.headings.enter(element)
        if element.type in (ElementType.TABLE, ElementType.IMAGE):
            self._add_anchored(element, headings)
        elif element.text.strip():
            self._add_text(element, headings)

    def take(self) -> tuple[Flow, list[Anchored]]:
        """Return everything collected and leave the assembler empty."""
        self._add_asides()
        flow, anchored = self._builder.build(), self._anchored
        self._builder, self._anchored = FlowBuilder(), []
        self._full_at, self._anchored_length = WINDOW, 0
        self._awaits_caption, self._caption = False, None
        return flow, anchored

    def put_back(self, flow: Flow, anchored: list[Anchored]) -> None:
        """Continue with the rest of a flow that `take` returned."""
        self._builder, self._anchored = FlowBuilder(flow), anchored
        self._anchored_length = sum(len(item.element.text) for item in anchored)
        self._full_at = len(flow.text) + WINDOW

    def _add_anchored(self, element: Element, headings: tuple[str, ...]) -> None:
        if not element.text.strip():
            return
        caption = self._caption.text if self._caption and _same_page(self._caption, element) else ""
        self._anchored.append(Anchored(self._builder.length, element, headings, caption))
        self._anchored_length += len(element.text)
        self._awaits_caption = not caption
        self._caption = None

    def _add_text(self, element: Element, headings: tuple[str, ...]) -> None:
        if element.type is ElementType.CAPTION:
            self._note_caption(element)
        else:
            self._caption, self._awaits_caption = None, False
        last = self._builder.last
        # Footnotes and captions inside an unfinished paragraph wait until it is complete.
        if element.type in _ASIDES and last is not None and _is_open(last.element):
            self._asides.append((element, headings))
            return
        if last is not None and last.headings == headings and continues(last.element, element):
            self._builder.add(element, headings, _joint(last, element), joined=True)
            self._add_asides()
            return
        self._add_asides()
        last = self._builder.last
        close = last is not None and element.type in _CLOSE and last.element.type in _CLOSE
        self._builder.add(element, headings, "\n" if close else "\n\n")

    def _note_caption(self, element: Element) -> None:
        if self._awaits_caption and _same_page(self._anchored[-1].element, element):
            self._anchored[-1] = replace(self._anchored[-1], caption=element.text)
            self._awaits_caption = False
        else:
            self._caption = element

    def _add_asides(self) -> None:
        for element, headings in self._asides:
            self._builder.add(element, headings, "\n\n")
        self._asides.clear()


def continues(first: Element, second: Element) -> bool:
    """Whether `second` continues the paragraph `first`, in the next column or on the next page."""
    if second.type is not ElementType.PARAGRAPH or not _is_open(first):
        return False
    start = second.text.lstrip()[:1]
    if start.isupper() or not start.isalpha():
        return False
    before, after = first.locator, second.locator
    if before.boxes and after.boxes:
        last, new = before.boxes[-1], after.boxes[0]
        return new.page == last.page + 1 or (new.page == last.page and new.y1 < last.y0)
    pages = (before.pages or (before.page,))[-1], after.page
    return pages[0] is not None and pages[1] == pages[0] + 1


def _is_open(element: Element) -> bool:
    """Whether a paragraph may continue elsewhere: it is on a page and does not end with a sentence."""
    kinds = (ElementType.PARAGRAPH, ElementType.LIST_ITEM)
    return (
        element.type in kinds
        and element.locator.page is not None
        and not element.text.rstrip().endswith(_SENTENCE_ENDS)
    )


def _joint(last: Part, element: Element) -> str:
    """The separator between joined texts: a space, or nothing in scripts without spaces."""
    before, after = last.element.text.rstrip()[-1:], element.text.lstrip()[:1]
    return "" if _is_wide(before) and _is_wide(after) else " "


def _is_wide(character: str) -> bool:
    return "\u2e80" <= character <= "\u9fff" or "\uf900" <= character <= "\ufaff"


def _same_page(one: Element, other: Element) -> bool:
    return one.locator.page == other.locator.page
