"""Running headers and footers: what stands at the same place at the edge of neighbouring pages."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from citewell.extract.formats.pdf.lines import Line, rows

_DIGITS = re.compile(r"\d+")
_ROMAN = re.compile(r"^[\W_]*[ivxlc]{1,7}[\W_]*$", re.IGNORECASE)
_NUMBER = re.compile(r"^[\W_]*(?:page|seite|página|pagina|p\.)?[\W_]*#(?:\s*(?:of|/|von|de|sur)\s*#)?[\W_]*$")
_CAPTION = re.compile(r"^(?:table|figure|exhibit|tab\.|fig\.)\s*[\w.-]*#", re.IGNORECASE)
_EDGE_ROWS = 3
_EDGE_ZONE = 0.25
_NUMBER_ZONE = 0.1
_SAME_PLACE = 5.0
_MIN_LETTERS = 3


@dataclass(frozen=True, slots=True)
class Edge:
    """A run near the top or bottom of a page: its text with numbers replaced, its place, and whether it is at the top."""

    key: str
    x0: float
    x1: float
    y0: float
    top: bool
    run: Line


def page_edges(runs: Sequence[Line], height: float) -> list[Edge]:
    """The runs of the outermost rows of a page."""
    found = rows([run for run in runs if run.y1 < _EDGE_ZONE * height or run.y0 > (1 - _EDGE_ZONE) * height])
    middle = height / 2
    above = [row for row in found if row[0].y0 < middle][:_EDGE_ROWS]
    below = [row for row in found if row[0].y0 >= middle][-_EDGE_ROWS:]
    return [
        Edge(_key(run.text), run.x0, run.x1, run.y0, top, run)
        for top, group in ((True, above), (False, below))
        for row in group
        for run in row
    ]


def _key(text: str) -> str:
    folded = " ".join(_DIGITS.sub("#", text).casefold().split())
    return "#" if _ROMAN.match(folded) else folded


def running(edges: Sequence[Edge], neighbours: Sequence[Sequence[Edge]], height: float) -> set[int]:
    """`id`s of those runs that are headers or footers, given the edges of the pages around."""
    found: set[int] = set()
    for edge in edges:
        if _NUMBER.match(edge.key):
            if _in_number_zone(edge, height) or _recurs(edge, neighbours):
                found.add(id(edge.run))
        elif _is_wordy(edge.key) and not _CAPTION.match(edge.key) and _recurs(edge, neighbours):
            found.add(id(edge.run))
    return found


def _is_wordy(key: str) -> bool:
    return sum(c.isalpha() for c in key) >= _MIN_LETTERS


def _in_number_zone(edge: Edge, height: float) -> bool:
    return edge.y0 < _NUMBER_ZONE * height / 2 or edge.y0 > (1 - _NUMBER_ZONE) * height


def _recurs(edge: Edge, neighbours: Sequence[Sequence[Edge]]) -> bool:
    return any(
        other.top == edge.top and other.key == edge.key and abs(other.y0 - edge.y0) < _SAME_PLACE
        for page in neighbours
        for other in page
    )
