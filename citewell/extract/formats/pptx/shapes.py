"""The shapes of a slide in reading order: the title, then from top to bottom and left to right."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from citewell.extract.core.safexml import XmlElement, local_name
from citewell.extract.formats.ooxml.graphics import chosen
from citewell.extract.formats.ooxml.package import attribute, child

TITLES = frozenset(("title", "ctrTitle"))
FURNITURE = frozenset(("ftr", "dt", "sldNum", "hdr"))
_SHAPES = frozenset(("sp", "pic", "graphicFrame", "cxnSp", "contentPart"))
_BAND = 228_600  # a quarter of an inch in English Metric Units: shapes whose tops differ by less share a row


@dataclass(frozen=True, slots=True)
class Placeholder:
    """The role of a shape in its layout. `index` links it to the layout's shape."""

    type: str
    index: str


def shapes_in_order(tree: XmlElement, layout: XmlElement | None) -> list[XmlElement]:
    """Returns all shapes of a slide's `spTree` in reading order, with groups expanded."""
    places = _layout_places(layout)
    ordered = list(_ordered(tree, places))
    return sorted(ordered, key=lambda shape: _is_title(shape) is False)


def placeholder(shape: XmlElement) -> Placeholder | None:
    """Returns the shape's placeholder; None for a shape that is not one."""
    for properties in shape:
        if local_name(properties).startswith("nv"):
            found = child(properties, "nvPr", "ph")
            if found is not None:
                return Placeholder(attribute(found, "type") or "body", attribute(found, "idx") or "")
    return None


def drawing_properties(shape: XmlElement) -> XmlElement | None:
    """Returns the `cNvPr` of a shape: its name, alternative text and visibility."""
    return next((child(inner, "cNvPr") for inner in shape if local_name(inner).startswith("nv")), None)


def _is_title(shape: XmlElement) -> bool:
    found = placeholder(shape)
    return found is not None and found.type in TITLES


def _ordered(tree: XmlElement, places: dict[Placeholder, tuple[int, int]]) -> Iterator[XmlElement]:
    members: list[tuple[tuple[int, int], XmlElement]] = []
    last = (0, 0)
    for shape in _members(tree):
        last = _position(shape, places) or last
        members.append((last, shape))
    for _, shape in sorted(members, key=lambda member: (member[0][0] // _BAND, member[0][1])):
        if local_name(shape) == "grpSp":
            yield from _ordered(shape, places)
        else:
            yield shape


def _members(tree: XmlElement) -> Iterator[XmlElement]:
    for inner in tree:
        name = local_name(inner)
        if name in _SHAPES or name == "grpSp":
            yield inner
        elif name == "AlternateContent":
            yield from _members(chosen(inner))


def _position(shape: XmlElement, places: dict[Placeholder, tuple[int, int]]) -> tuple[int, int] | None:
    """Returns (top, left) in English Metric Units, from the shape itself or its layout."""
    for path in (("spPr", "xfrm", "off"), ("grpSpPr", "xfrm", "off"), ("xfrm", "off")):
        offset = child(shape, *path)
        if offset is not None:
            return _number(offset.get("y")), _number(offset.get("x"))
    found = placeholder(shape)
    if found is None:
        return None
    return places.get(found) or places.get(Placeholder("", found.index)) or places.get(Placeholder(found.type, ""))


def _layout_places(layout: XmlElement | None) -> dict[Placeholder, tuple[int, int]]:
    """Returns positions of a layout's placeholders by (type, index), by index and by type alone."""
    out: dict[Placeholder, tuple[int, int]] = {}
    for shape in layout.iter() if layout is not None else ():
        found = placeholder(shape) if local_name(shape) == "sp" else None
        position = _position(shape, {}) if found is not None else None
        if found is not None and position is not None:
            out[found] = position
            if found.index:
                out.setdefault(Placeholder("", found.index), position)
            out.setdefault(Placeholder(found.type, ""), position)
    return out


def _number(text: str | None) -> int:
    try:
        return int(text or 0)
    except ValueError:
        return 0
