"""Word's paragraph styles: identifies headings, captions and lists, following the styles they are based on."""

from __future__ import annotations

import re
from dataclasses import dataclass

from citewell.extract.core.safexml import XmlElement, local_name
from citewell.extract.formats.ooxml.package import attribute, child, value

_BODY_LEVEL = 9
"""The outline level that means body text (ECMA-376, 17.3.1.20)."""
_MAX_CHAIN = 20
"""Most styles followed in a chain of base styles; more is a loop."""
_HEADING = re.compile(r"heading ([1-9])")


@dataclass(frozen=True, slots=True)
class Style:
    """A paragraph style by its built-in (English) name in lowercase."""

    name: str
    based_on: str | None
    outline_level: int | None
    numbering: tuple[str | None, str | None]


class Styles:
    """The styles part of a document; empty if it has none."""

    def __init__(self, root: XmlElement | None) -> None:
        self._styles: dict[str, Style] = {}
        self._default: str | None = None
        self._raised: set[str] = set()
        for element in root if root is not None else ():
            if local_name(element) == "style" and attribute(element, "type") in (None, "paragraph"):
                self._add(element)
            elif raises(child(element, "rPr")):
                self._raised.add(attribute(element, "styleId") or "")

    def raises(self, style_id: str | None) -> bool:
        """Whether a character style raises its text."""
        return style_id in self._raised

    def name(self, style_id: str | None) -> str:
        """Returns the style's name in lowercase; empty for an unknown one."""
        style = self._styles.get(style_id or self._default or "")
        return style.name if style else ""

    def heading_level(self, style_id: str | None) -> int | None:
        """Returns the heading level (1 = top) set by the style; 0 for the document's title, None for other text."""
        for style in self._chain(style_id):
            if style.name == "title":
                return 0
            match = _HEADING.fullmatch(style.name)
            if match:
                return int(match.group(1))
            if style.outline_level is not None:
                return None if style.outline_level >= _BODY_LEVEL else style.outline_level + 1
        return None

    def numbering(self, style_id: str | None) -> tuple[str | None, str | None]:
        """Returns the (numbering id, level) set by the style, each None if it sets none."""
        number, level = None, None
        for style in self._chain(style_id):
            number = number or style.numbering[0]
            level = level or style.numbering[1]
        return number, level

    def is_caption(self, style_id: str | None) -> bool:
        """Whether the text is the caption of a figure or table."""
        return any(style.name == "caption" for style in self._chain(style_id))

    def _add(self, element: XmlElement) -> None:
        style_id = attribute(element, "styleId") or ""
        level = value(element, "pPr", "outlineLvl") or ""
        self._styles[style_id] = Style(
            name=(value(element, "name") or style_id).lower(),
            based_on=value(element, "basedOn"),
            outline_level=int(level) if level.isdigit() else None,
            numbering=(value(element, "pPr", "numPr", "numId"), value(element, "pPr", "numPr", "ilvl")),
        )
        if attribute(element, "default") in ("1", "true"):
            self._default = style_id

    def _chain(self, style_id: str | None) -> list[Style]:
        """Returns the style and the styles it is based on; a cycle is cut."""
        out: list[Style] = []
        current = style_id or self._default
        while current in self._styles and len(out) < _MAX_CHAIN:
            out.append(self._styles[current])
            current = out[-1].based_on
        return out


def raises(properties: XmlElement | None) -> bool | None:
    """Whether run properties raise their text (ECMA-376 part 1, 17.3.2.24 and 17.3.2.42); None if they do not say."""
    aligned = value(properties, "vertAlign")
    if aligned is not None:
        return aligned == "superscript"
    position = value(properties, "position")
    return None if position is None else position.isdigit() and int(position) > 0


def outline_level(properties: XmlElement | None) -> int | None:
    """Returns the heading level that a paragraph sets for itself; -1 if it declares itself body text."""
    found = child(properties, "outlineLvl")
    level = (attribute(found, "val") or "") if found is not None else ""
    if not level.isdigit():
        return None
    return -1 if int(level) >= _BODY_LEVEL else int(level) + 1
