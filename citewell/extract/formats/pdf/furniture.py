"""Running headers, footers and page numbers: text at the same place at the edge of neighboring pages."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from citewell.extract.formats.pdf.lines import Line, rows

_DIGITS = re.compile(r"\d+")
_ROMAN = re.compile(r"^[\W_]*[ivxlc]{1,7}[\W_]*$", re.IGNORECASE)
_NUMBER = re.compile(r"^[\W_]*(?:page|seite|página|pagina|p\.)?[\W_]*#(?:\s*(?:of|/|von|de|sur)\s*#)?[\W_]*$")
_CAPTION = re.compile(r"^(?:table|figure|exhibit|tab\.|fig\.)\s*[\w.-]*#", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class FurnitureThresholds:
    """Thresholds for finding running headers, footers and page numbers; heights are shares of the page's.

    Set by hand on the development documents. Larger zones mistake a recurring first line of text for a header (letters,
    forms).

    edge_rows:    outermost rows at the top and at the bottom that may be headers or footers
    edge_zone:    height at the top and at the bottom in which those rows lie
    number_zone:  height at the bottom, and half of it at the top, in which a lone number is a page number, even on a
                  single page
    same_place:   points by which the height of a header may vary from page to page
    min_letters:  fewest letters of a header; shorter text does not recur by intention
    neighbours:   pages before and after that are searched for the same text: two, because left and right pages differ
    """

    edge_rows: int = 3
    edge_zone: float = 0.25
    number_zone: float = 0.1
    same_place: float = 5.0
    min_letters: int = 3
    neighbours: int = 2


THRESHOLDS = FurnitureThresholds()


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
    """Returns the runs of the outermost rows of a page."""
    found = rows(
        [run for run in runs if run.y1 < THRESHOLDS.edge_zone * height or run.y0 > (1 - THRESHOLDS.edge_zone) * height]
    )
    middle = height / 2
    above = [row for row in found if row[0].y0 < middle][: THRESHOLDS.edge_rows]
    below = [row for row in found if row[0].y0 >= middle][-THRESHOLDS.edge_rows :]
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
    """Returns the `id`s of runs that are headers or footers, given the edges of the surrounding pages."""
    found: set[int] = set()
    for edge in edges:
        if _NUMBER.match(edge.key):
            if _in_number_zone(edge, height) or _recurs(edge, neighbours):
                found.add(id(edge.run))
        elif _is_wordy(edge.key) and not _CAPTION.match(edge.key) and _recurs(edge, neighbours):
            found.add(id(edge.run))
    return found


def _is_wordy(key: str) -> bool:
    return sum(c.isalpha() for c in key) >= THRESHOLDS.min_letters


def _in_number_zone(edge: Edge, height: float) -> bool:
    return edge.y0 < THRESHOLDS.number_zone * height / 2 or edge.y0 > (1 - THRESHOLDS.number_zone) * height


def _recurs(edge: Edge, neighbours: Sequence[Sequence[Edge]]) -> bool:
    return any(
        other.top == edge.top and other.key == edge.key and abs(other.y0 - edge.y0) < THRESHOLDS.same_place
        for page in neighbours
        for other in page
    )
