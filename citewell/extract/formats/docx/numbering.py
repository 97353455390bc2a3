"""The numbering part of a Word document: its list definitions, and the lists that use them."""

from __future__ import annotations

from citewell.extract.core.numbering import Level, ListDefinition
from citewell.extract.core.safexml import XmlElement, local_name
from citewell.extract.formats.ooxml.package import attribute, child, value


class Numbering:
    """The numbering part of a document; empty if it has none."""

    def __init__(self, root: XmlElement | None) -> None:
        self._definitions: dict[str, ListDefinition] = {}
        self._numbers: dict[str, str] = {}
        self._overrides: dict[str, dict[int, int]] = {}
        for element in root if root is not None else ():
            if local_name(element) == "abstractNum":
                self._definitions[attribute(element, "abstractNumId") or ""] = _definition(element)
            elif local_name(element) == "num":
                self._add_number(element)

    def label(self, number: str, level: int) -> str:
        """Returns the next paragraph's label in this numbering, and counts on; empty for bullets."""
        definition = self._definitions.get(self._numbers.get(number, ""))
        if definition is None:
            return ""
        return definition.next_label(level, self._overrides.get(number, {}).pop(level, None))

    def _add_number(self, element: XmlElement) -> None:
        number = attribute(element, "numId") or ""
        self._numbers[number] = value(element, "abstractNumId") or ""
        for override in element:
            level = attribute(override, "ilvl") or ""
            start = value(override, "startOverride") or ""
            if local_name(override) == "lvlOverride" and level.isdigit() and start.isdigit():
                self._overrides.setdefault(number, {})[int(level)] = int(start)


def _definition(element: XmlElement) -> ListDefinition:
    definition = ListDefinition()
    for level in element:
        index = attribute(level, "ilvl") or ""
        if local_name(level) != "lvl" or not index.isdigit():
            continue
        start = value(level, "start") or ""
        definition.levels[int(index)] = Level(
            format=value(level, "numFmt") or _alternative_format(level),
            text=value(level, "lvlText") or "",
            start=int(start) if start.isdigit() else 0,
        )
    return definition


def _alternative_format(level: XmlElement) -> str:
    """Returns a newer number format from `mc:AlternateContent`, whose fallback names an older one."""
    return value(child(level, "AlternateContent", "Fallback"), "numFmt") or "decimal"
