"""Two indexes over the same questions: how far they agree, how well each ranks what answers cited, how long and how dear each is."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

from citewell.types import Hit

MAX_CHANGED = 20
"""Questions that are shown side by side: those whose passages change most."""


@dataclass(frozen=True, slots=True)
class FoundBy:
    """What one index found for a question, best first, and in how many milliseconds."""

    hits: tuple[Hit, ...]
    milliseconds: float

    @property
    def ids(self) -> tuple[str, ...]:
        """The passages' ids."""
        return tuple(hit.chunk.id for hit in self.hits)


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryComparison:
    """One question in two indexes; `cited` are the passages that its answer cited and that still exist."""

    query: str
    ours: FoundBy
    theirs: FoundBy
    cited: tuple[str, ...] = ()

    @property
    def overlap(self) -> float:
        """The share of the first index's hits that the second has too."""
        ours = set(self.ours.ids)
        return round(len(ours & set(self.theirs.ids)) / len(ours), 4) if ours else 1.0

    def gain(self, found: FoundBy, cutoff: int) -> float:
        """nDCG of the cited passages in what was found."""
        from citewell.retrieve.evaluate import normalised_gain  # takes longer to load than the rest of the feature

        return normalised_gain(found.ids, dict.fromkeys(self.cited, 1), cutoff)

    @property
    def change(self) -> float:
        """How much the ranking changes: from 0 for the same list to 1 for others altogether, differences at the top counting more."""
        ours, theirs = self.ours.ids, self.theirs.ids
        weights = [1.0 / (rank + 1) for rank in range(max(len(ours), len(theirs)))]
        if not weights:
            return 0.0
        shared = sum(
            weight * len(set(ours[: rank + 1]) & set(theirs[: rank + 1])) / (rank + 1)
            for rank, weight in enumerate(weights)
        )
        return 1.0 - shared / sum(weights)


@dataclass(frozen=True, slots=True, kw_only=True)
class SideFigures:
    """One index over all questions: nDCG (None without citations), mean milliseconds, US dollars per 1,000 questions (None unknown)."""

    ndcg: float | None
    milliseconds: float
    dollars: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexComparison:
    """Two indexes over some questions. Answers cited what the active index had found, which favours it."""

    queries: tuple[QueryComparison, ...]
    ours: SideFigures
    theirs: SideFigures
    cutoff: int

    @property
    def overlap(self) -> float:
        """The mean overlap."""
        return round(fmean(one.overlap for one in self.queries), 4) if self.queries else 1.0

    @property
    def judged(self) -> int:
        """How many of the questions have cited passages."""
        return sum(bool(one.cited) for one in self.queries)

    @property
    def changed(self) -> list[QueryComparison]:
        """The questions that change most, those that change most first."""
        moved = [one for one in self.queries if one.change > 0.0]
        return sorted(moved, key=lambda one: one.change, reverse=True)[:MAX_CHANGED]


def side_figures(
    queries: Sequence[QueryComparison], found: Sequence[FoundBy], cutoff: int, dollars: float | None
) -> SideFigures:
    """The figures of one side; `found` is what it found for each of the questions."""
    gains = [one.gain(each, cutoff) for one, each in zip(queries, found, strict=True) if one.cited]
    return SideFigures(
        ndcg=round(fmean(gains), 4) if gains else None,
        milliseconds=round(fmean(one.milliseconds for one in found), 1) if found else 0.0,
        dollars=dollars,
    )


def milliseconds_since(started: float) -> float:
    """Since a moment of `time.perf_counter`."""
    return (time.perf_counter() - started) * 1000
