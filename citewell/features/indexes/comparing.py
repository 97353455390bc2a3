"""Compares two indexes over the same questions: overlap, ranking of cited passages, time and cost."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

from citewell.types import Hit

MAX_CHANGED = 20
"""Questions shown side by side: those whose passages change most."""


@dataclass(frozen=True, slots=True)
class IndexHits:
    """The hits of one index for a question, best first, and the milliseconds it took."""

    hits: tuple[Hit, ...]
    milliseconds: float

    @property
    def ids(self) -> tuple[str, ...]:
        """The passages' ids."""
        return tuple(hit.chunk.id for hit in self.hits)


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryComparison:
    """One question in two indexes; `cited` are the passages its answer cited that still exist."""

    query: str
    ours: IndexHits
    theirs: IndexHits
    cited: tuple[str, ...] = ()

    @property
    def overlap(self) -> float:
        """The share of the first index's hits that the second also has."""
        ours = set(self.ours.ids)
        return round(len(ours & set(self.theirs.ids)) / len(ours), 4) if ours else 1.0

    def gain(self, found: IndexHits, cutoff: int) -> float:
        """nDCG of the cited passages among the hits."""
        from citewell.retrieve.evaluate import normalised_gain  # takes longer to load than the rest of the feature

        return normalised_gain(found.ids, dict.fromkeys(self.cited, 1), cutoff)

    @property
    def change(self) -> float:
        """How much the ranking changes, from 0 (the same list) to 1 (entirely different); differences at the top count more."""
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
    """A comparison of two indexes. Answers cite what the active index found, which favours it."""

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
        """The number of questions with cited passages."""
        return sum(bool(one.cited) for one in self.queries)

    @property
    def changed(self) -> list[QueryComparison]:
        """The questions whose passages change most, most changed first."""
        moved = [one for one in self.queries if one.change > 0.0]
        return sorted(moved, key=lambda one: one.change, reverse=True)[:MAX_CHANGED]


def side_figures(
    queries: Sequence[QueryComparison], found: Sequence[IndexHits], cutoff: int, dollars: float | None
) -> SideFigures:
    """The figures of one index. found: its hits for each question."""
    gains = [one.gain(each, cutoff) for one, each in zip(queries, found, strict=True) if one.cited]
    return SideFigures(
        ndcg=round(fmean(gains), 4) if gains else None,
        milliseconds=round(fmean(one.milliseconds for one in found), 1) if found else 0.0,
        dollars=dollars,
    )


def milliseconds_since(started: float) -> float:
    """Milliseconds since a value of `time.perf_counter`."""
    return (time.perf_counter() - started) * 1000
