"""Ruling lines for table detection: pieces joined, double lines and touching edges of fills merged."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from citewell.extract.formats.pdf.geometry import Rect
from citewell.extract.formats.pdf.tables.thresholds import THRESHOLDS


@dataclass(frozen=True, slots=True)
class Rule:
    """A straight line. `at` is its y (horizontal) or x (vertical); it runs from `start` to `end` along the other axis."""

    at: float
    start: float
    end: float

    @property
    def length(self) -> float:
        """The line's length."""
        return self.end - self.start

    def covers(self, start: float, end: float) -> float:
        """Returns the length of [start, end] that the line covers."""
        return max(0.0, min(self.end, end) - max(self.start, start))


@dataclass(frozen=True, slots=True)
class Rules:
    """Horizontal lines sorted by y, vertical ones by x."""

    horizontal: Sequence[Rule] = ()
    vertical: Sequence[Rule] = ()

    def within(self, area: Rect) -> Rules:
        """Returns the lines inside an area."""
        margin = THRESHOLDS.rules.snap
        return Rules(
            [
                r
                for r in self.horizontal
                if area.y0 - margin <= r.at <= area.y1 + margin
                and r.covers(area.x0, area.x1) > THRESHOLDS.rules.inside * r.length
            ],
            [
                r
                for r in self.vertical
                if area.x0 - margin <= r.at <= area.x1 + margin
                and r.covers(area.y0, area.y1) > THRESHOLDS.rules.inside * r.length
            ],
        )


def collect_rules(lines: Iterable[Rect], fills: Iterable[Rect]) -> Rules:
    """Collects lines from thin rectangles and from the edges of filled areas."""
    horizontal: list[Rule] = []
    vertical: list[Rule] = []
    for rect in lines:
        if rect.width >= rect.height:
            horizontal.append(Rule((rect.y0 + rect.y1) / 2, rect.x0, rect.x1))
        else:
            vertical.append(Rule((rect.x0 + rect.x1) / 2, rect.y0, rect.y1))
    for rect in fills:
        horizontal += [Rule(rect.y0, rect.x0, rect.x1), Rule(rect.y1, rect.x0, rect.x1)]
        vertical += [Rule(rect.x0, rect.y0, rect.y1), Rule(rect.x1, rect.y0, rect.y1)]
    return Rules(_merged(horizontal), _merged(vertical))


def _merged(rules: list[Rule]) -> list[Rule]:
    """Merges lines at nearly the same position, and joins touching pieces on one position."""
    merged: list[Rule] = []
    for group in _same_place(rules):
        at = sum(r.at * r.length for r in group) / max(1e-6, sum(r.length for r in group))
        pieces = sorted(group, key=lambda r: r.start)
        start, end = pieces[0].start, pieces[0].end
        for piece in pieces[1:]:
            if piece.start <= end + THRESHOLDS.rules.join:
                end = max(end, piece.end)
            else:
                merged.append(Rule(at, start, end))
                start, end = piece.start, piece.end
        merged.append(Rule(at, start, end))
    return merged


def _same_place(rules: list[Rule]) -> list[list[Rule]]:
    groups: list[list[Rule]] = []
    for rule in sorted(rules, key=lambda r: r.at):
        if groups and rule.at - groups[-1][0].at <= THRESHOLDS.rules.snap:
            groups[-1].append(rule)
        else:
            groups.append([rule])
    return groups


def cluster(values: Iterable[float]) -> list[float]:
    """Returns the mean of each group of nearby values, ascending."""
    groups: list[list[float]] = []
    for value in sorted(values):
        if groups and value - groups[-1][0] <= THRESHOLDS.rules.snap:
            groups[-1].append(value)
        else:
            groups.append([value])
    return [sum(group) / len(group) for group in groups]
