"""Running headers, footers and page numbers: text at the same place at the edge of neighboring pages."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from citewell.extract.formats.pdf.lines import Line, make_line, rows
from citewell.types.page_numbers import without_page_number

_DIGITS = re.compile(r"\d+")
_CAPTION = re.compile(r"^(?:table|figure|exhibit|tab\.|fig\.)\s*[\w.-]*#", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class FurnitureThresholds:
    """Thresholds for finding running headers, footers and page numbers; heights are shares of the page's.

    Set by hand on the development documents. Larger zones mistake a recurring first line of text for a header (letters,
    forms).

    edge_rows:    outermost rows at the top and at the bottom that may be headers or footers
    edge_zone:    height at the top and at the bottom in which those rows lie
    number_zone:  height at the bottom, and half of it at the top, in which a lone number is a page number, even on a
                  single page, and a line whose numbers change from page to page may be a header or footer
    set_apart:    font sizes of the gap that sets a line apart from the page's text
    larger:       ratio to the body size at which a line is rather a title
    many_pages:   other pages near it on which the same large line makes it a header all the same
    same_place:   points by which the height of a header may vary from page to page
    min_letters:  fewest letters of a header; shorter text does not recur by intention
    neighbours:   pages before and after that are searched for the same text: two, because left and right pages differ
    """

    edge_rows: int = 8
    edge_zone: float = 0.25
    number_zone: float = 0.1
    set_apart: float = 1.2
    larger: float = 1.15
    many_pages: int = 2
    same_place: float = 5.0
    min_letters: int = 3
    neighbours: int = 2


THRESHOLDS = FurnitureThresholds()


@dataclass(frozen=True, slots=True)
class Edge:
    """A run near the top or bottom of a page.

    text:       its text without a page number
    key:        that text with numbers replaced
    row:        the index of its row, from the top
    set_apart:  whether a gap parts it, or the rows between, from the page's text
    continued:  whether the row next to it, away from the edge, differs in numbers only
    """

    text: str
    key: str
    row: int
    y0: float
    top: bool
    set_apart: bool
    continued: bool
    run: Line


def page_edges(runs: Sequence[Line], height: float) -> list[Edge]:
    """Returns the runs of the outermost rows of a page."""
    found = rows(runs)
    middle, zone = height / 2, THRESHOLDS.edge_zone * height
    above = [row for row in found if row[0].y0 < middle]
    below = [row for row in found if row[0].y0 >= middle][::-1]
    edges: list[Edge] = []
    for top, group in ((True, above), (False, below)):
        # The text begins, seen from the edge, after the first wide gap.
        inward = group + (below if top else above)[::-1]
        apart = _rows_apart(inward)
        for index, row in enumerate(group[: THRESHOLDS.edge_rows]):
            beside = {_key(run.text) for run in inward[index + 1]} if index + 1 < len(inward) else set[str]()
            edges += [
                Edge(
                    without_page_number(run.text),
                    _key(without_page_number(run.text)),
                    index if top else -1 - index,
                    run.y0,
                    top,
                    index < apart,
                    _key(run.text) in beside,
                    run,
                )
                for run in row
                if (run.y1 < zone if top else run.y0 > height - zone)
            ]
    return edges


def _rows_apart(inward: Sequence[Sequence[Line]]) -> int:
    """Returns how many of the outermost rows a wide gap parts from the rest; 0 if there is none."""
    for index, (outer, inner) in enumerate(pairwise(inward[: THRESHOLDS.edge_rows + 1]), start=1):
        lower, upper = (outer, inner) if outer[0].y0 > inner[0].y0 else (inner, outer)
        gap = min(run.y0 for run in lower) - max(run.y1 for run in upper)
        if gap >= THRESHOLDS.set_apart * max(run.size for run in (*outer, *inner)):
            return index
    return len(inward) if len(inward) <= THRESHOLDS.edge_rows else 0


def _key(text: str) -> str:
    return " ".join(_DIGITS.sub("#", text).casefold().split())


def running(edges: Sequence[Edge], neighbours: Sequence[Sequence[Edge]], height: float, body_size: float) -> set[int]:
    """Returns the `id`s of runs that are headers or footers, given the edges of the surrounding pages.

    The same text on several pages is furniture if it is apart from the page's text or in the margin, and text that
    differs in its numbers if it is both. A line that is larger than the body, or goes on in the row beside it, is
    content.

    body_size: font size of the page's text, in points
    """
    found: set[int] = set()
    for edge in edges:
        if not edge.text:
            is_furniture = _in_margin(edge, height) or bool(_alike(edge, neighbours))
        else:
            is_furniture = _may_run(edge) and _is_running(edge, neighbours, height, body_size)
        if is_furniture:
            found.add(id(edge.run))
    # A label that recurs beside a value that does not is part of a form.
    parted = {
        edge.row for edge in edges if id(edge.run) not in found and not (edge.set_apart and _in_margin(edge, height))
    }
    return {id(edge.run) for edge in edges if id(edge.run) in found and (edge.row not in parted or not edge.text)}


def parted(run: Line) -> list[Line]:
    """Returns a header or footer, and a page number at its end as a line of its own."""
    text = without_page_number(run.text)
    for count in range(1, len(run.words)):
        if text and " ".join(make_line(run.words[:count]).text.split()) == text:
            return [make_line(run.words[:count]), make_line(run.words[count:])]
    return [run]


def _is_running(edge: Edge, neighbours: Sequence[Sequence[Edge]], height: float, body_size: float) -> bool:
    alike = _alike(edge, neighbours)
    same = sum(1 for other in alike if other.text == edge.text)
    if edge.run.size >= THRESHOLDS.larger * body_size:
        return same >= THRESHOLDS.many_pages
    in_margin = _in_margin(edge, height)
    return edge.set_apart or in_margin if same else bool(alike) and edge.set_apart and in_margin


def _alike(edge: Edge, neighbours: Sequence[Sequence[Edge]]) -> list[Edge]:
    """Returns the edges of other pages at the same place whose text differs in numbers only."""
    return [
        other
        for page in neighbours
        for other in page
        if other.top == edge.top and other.key == edge.key and abs(other.y0 - edge.y0) < THRESHOLDS.same_place
    ]


def _may_run(edge: Edge) -> bool:
    """Whether a text by itself may be a header: it has letters, and is neither a caption nor part of a series."""
    letters = sum(c.isalpha() for c in edge.key)
    return letters >= THRESHOLDS.min_letters and not _CAPTION.match(edge.key) and not edge.continued


def _in_margin(edge: Edge, height: float) -> bool:
    return edge.y0 < THRESHOLDS.number_zone * height / 2 or edge.y0 > (1 - THRESHOLDS.number_zone) * height
