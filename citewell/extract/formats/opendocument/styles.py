"""OpenDocument styles as far as the reader needs them: page breaks, and numbered list levels."""

from __future__ import annotations

from dataclasses import dataclass

from citewell.extract.core.numbering import formatted
from citewell.extract.core.safexml import XmlElement, local_name
from citewell.extract.formats.opendocument.package import attribute

_FORMATS = {"a": "lowerLetter", "A": "upperLetter", "i": "lowerRoman", "I": "upperRoman"}
_MAX_CHAIN = 20


@dataclass(frozen=True, slots=True)
class ListLevel:
    """One numbered level of a list style."""

    format: str
    prefix: str
    suffix: str
    start: int
    shown_levels: int


class OpenStyles:
    """Paragraph and list styles of a document, from its content (automatic styles) and its styles part."""

    def __init__(self, *roots: XmlElement | None) -> None:
        self._parents: dict[str, str] = {}
        self._breaks: set[str] = set()
        self._raised: dict[str, bool] = {}
        self._lists: dict[str, dict[int, ListLevel]] = {}
        for root in roots:
            for element in root.iter() if root is not None else ():
                if local_name(element) == "style":
                    self._add_style(element)
                elif local_name(element) == "list-style":
                    self._lists[attribute(element, "name") or ""] = _levels(element)

    def breaks_page(self, style: str | None) -> bool:
        """Whether a paragraph of this style begins a new page."""
        for _ in range(_MAX_CHAIN):
            if style is None:
                return False
            if style in self._breaks:
                return True
            style = self._parents.get(style)
        return False

    def raises(self, style: str | None) -> bool | None:
        """Whether a text style raises its text (OpenDocument 1.3, 20.396); None if neither it nor its parents say."""
        for _ in range(_MAX_CHAIN):
            if style is None or style in self._raised:
                break
            style = self._parents.get(style)
        return self._raised.get(style or "")

    def list_level(self, style: str | None, level: int) -> ListLevel | None:
        """Returns the numbering of a list level (from 1); None for bullets and unknown styles."""
        return self._lists.get(style or "", {}).get(level)

    def _add_style(self, element: XmlElement) -> None:
        name = attribute(element, "name") or ""
        parent = attribute(element, "parent-style-name")
        if parent:
            self._parents[name] = parent
        if attribute(element, "master-page-name"):
            self._breaks.add(name)
        for properties in element:
            if local_name(properties) == "paragraph-properties" and attribute(properties, "break-before") == "page":
                self._breaks.add(name)
            position = attribute(properties, "text-position") if local_name(properties) == "text-properties" else None
            if position is not None:
                self._raised[name] = position.startswith("super") or position[:1] in set("123456789")


def label(numbers: list[int], levels: list[ListLevel | None]) -> str:
    """Returns an item's label; `numbers` are its counts from the outermost list inward, one per level."""
    here = levels[-1]
    if here is None:
        return ""
    shown = list(zip(numbers, levels, strict=True))[-max(1, here.shown_levels) :]
    counts = [formatted(number, level.format) for number, level in shown if level is not None]
    return here.prefix + ".".join(counts) + here.suffix


def _levels(element: XmlElement) -> dict[int, ListLevel]:
    out: dict[int, ListLevel] = {}
    for level in element:
        number = attribute(level, "level") or ""
        form = attribute(level, "num-format")
        if local_name(level) == "list-level-style-number" and number.isdigit() and form:
            start, shown = attribute(level, "start-value") or "1", attribute(level, "display-levels") or "1"
            out[int(number)] = ListLevel(
                _FORMATS.get(form, "decimal"),
                attribute(level, "num-prefix") or "",
                attribute(level, "num-suffix") or "",
                int(start) if start.isdigit() else 1,
                int(shown) if shown.isdigit() else 1,
            )
    return out
