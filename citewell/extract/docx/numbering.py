"""Word's automatic numbers, counted as Word counts them: `2.`, `3.1.4`, `(b)`, `Article IV`."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from citewell.extract.ooxml.package import attribute, child, value
from citewell.extract.safexml import XmlElement, local_name

_PLACEHOLDER = re.compile(r"%([1-9])")
_ROMAN = (
    (1000, "m"),
    (900, "cm"),
    (500, "d"),
    (400, "cd"),
    (100, "c"),
    (90, "xc"),
    (50, "l"),
    (40, "xl"),
    (10, "x"),
    (9, "ix"),
    (5, "v"),
    (4, "iv"),
    (1, "i"),
)
_UNNUMBERED = frozenset(("bullet", "none"))


@dataclass(frozen=True, slots=True)
class _Level:
    format: str
    text: str
    start: int


@dataclass(slots=True)
class _Definition:
    """An abstract numbering: its levels and how far each has counted."""

    levels: dict[int, _Level] = field(default_factory=dict[int, _Level])
    counts: dict[int, int] = field(default_factory=dict[int, int])


class Numbering:
    """The numbering part of a document; empty when it has none."""

    def __init__(self, root: XmlElement | None) -> None:
        self._definitions: dict[str, _Definition] = {}
        self._numbers: dict[str, str] = {}
        self._overrides: dict[str, dict[int, int]] = {}
        for element in root if root is not None else ():
            if local_name(element) == "abstractNum":
                self._definitions[attribute(element, "abstractNumId") or ""] = _definition(element)
            elif local_name(element) == "num":
                self._add_number(element)

    def label(self, number: str, level: int) -> str:
        """The label of the next paragraph with this numbering; empty for bullets. Counts on."""
        definition = self._definitions.get(self._numbers.get(number, ""))
        if definition is None or level not in definition.levels:
            return ""
        restart = self._overrides.get(number, {}).pop(level, None)
        here = definition.levels[level]
        before = definition.counts.get(level)
        definition.counts[level] = restart if restart is not None else here.start if before is None else before + 1
        for deeper in [key for key in definition.counts if key > level]:
            del definition.counts[deeper]
        if here.format in _UNNUMBERED:
            return ""
        return _PLACEHOLDER.sub(lambda match: self._counted(definition, int(match.group(1)) - 1), here.text).strip()

    def _counted(self, definition: _Definition, level: int) -> str:
        known = definition.levels.get(level)
        if known is None:
            return ""
        return formatted(definition.counts.setdefault(level, known.start), known.format)

    def _add_number(self, element: XmlElement) -> None:
        number = attribute(element, "numId") or ""
        self._numbers[number] = value(element, "abstractNumId") or ""
        for override in element:
            level = attribute(override, "ilvl") or ""
            start = value(override, "startOverride") or ""
            if local_name(override) == "lvlOverride" and level.isdigit() and start.isdigit():
                self._overrides.setdefault(number, {})[int(level)] = int(start)


def formatted(number: int, style: str) -> str:
    """A count in one of Word's number formats; decimal for those of other scripts."""
    if style in ("lowerLetter", "upperLetter") and number > 0:
        letter = chr(ord("a") + (number - 1) % 26) * min((number - 1) // 26 + 1, 8)
        return letter.upper() if style == "upperLetter" else letter
    if style in ("lowerRoman", "upperRoman") and 0 < number < 4000:
        return _roman(number).upper() if style == "upperRoman" else _roman(number)
    if style == "decimalZero":
        return f"{number:02d}"
    return str(number)


def _roman(number: int) -> str:
    out = ""
    for size, letters in _ROMAN:
        while number >= size:
            out += letters
            number -= size
    return out


def _definition(element: XmlElement) -> _Definition:
    definition = _Definition()
    for level in element:
        index = attribute(level, "ilvl") or ""
        if local_name(level) != "lvl" or not index.isdigit():
            continue
        start = value(level, "start") or ""
        definition.levels[int(index)] = _Level(
            format=value(level, "numFmt") or _alternative_format(level),
            text=value(level, "lvlText") or "",
            start=int(start) if start.isdigit() else 0,
        )
    return definition


def _alternative_format(level: XmlElement) -> str:
    """Newer number formats stand in `mc:AlternateContent`; the fallback names an old one."""
    return value(child(level, "AlternateContent", "Fallback"), "numFmt") or "decimal"
