"""Searches several indexes of any models and stores, and merges their hits by rank, because scores of different models are not comparable."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace

from citewell.errors import CitewellError, ProviderError, Unavailable
from citewell.ports import FloatMatrix
from citewell.retrieve.fusion import in_places_of, reciprocal_rank
from citewell.retrieve.legs import Found, Searching
from citewell.types import Expression, Filter, JsonValue, ScoredId, Trace
from citewell.types.search import SKIPPED_INDEXES

log = logging.getLogger(__name__)
SLOWEST_SECONDS = 10.0
"""How long a search over several indexes waits for each; it then continues with the others' hits."""
Unmoved = Callable[[Sequence[str]], Awaitable[set[str]]]
"""The chunks that a gradual build has not moved yet."""


@dataclass(frozen=True, slots=True)
class SearchedIndex:
    """An index to search, with its name in the trace; `conditions` restrict its points."""

    name: str
    legs: Searching
    conditions: tuple[Expression, ...] = ()

    async def ask(self, query: str, scope: Filter, limit: int, trace: Trace) -> Found | CitewellError:
        """Its hits, or why it is left out. Records its name and time in the trace."""
        started = time.perf_counter()
        narrowed = replace(scope, conditions=(*scope.conditions, *self.conditions))
        outcome: Found | CitewellError
        try:
            async with asyncio.timeout(SLOWEST_SECONDS):
                outcome = await self.legs.find(query, narrowed, limit, trace)
        except TimeoutError:
            outcome = Unavailable(f"It has not answered within {SLOWEST_SECONDS:g} s.")
        except (ProviderError, Unavailable) as error:
            outcome = error
        told: dict[str, JsonValue] = {
            "index": self.name,
            "ms": round((time.perf_counter() - started) * 1000, 3),
        }
        if isinstance(outcome, CitewellError):
            log.warning("a search continues without the index %s: %s", self.name, outcome.message)
            told["error"] = f"{outcome.code}: {outcome.message}"
        else:
            told["found"] = len(outcome.fused)
        asked = trace.details.get("indexes")
        trace.details["indexes"] = [*(asked if isinstance(asked, list) else []), told]
        return outcome


class SeveralLegs:
    """The legs of several indexes, joined by reciprocal rank. One that is down is left out, and named in the trace."""

    def __init__(self, sources: Sequence[SearchedIndex]) -> None:
        self._sources = sources

    @property
    def compares(self) -> bool:
        """See `Searching.compares`: whether any of them does."""
        return any(source.legs.compares for source in self._sources)

    async def find(self, query: str, scope: Filter, limit: int, trace: Trace) -> Found:
        """Like `Legs.find`. Raises the first index's error if none can be searched."""
        asked = await asyncio.gather(*(source.ask(query, scope, limit, trace) for source in self._sources))
        found = [one for one in asked if isinstance(one, Found)]
        failed = [one for one in asked if isinstance(one, CitewellError)]
        if not found:
            raise failed[0]
        if failed:
            names = [source.name for source, one in zip(self._sources, asked, strict=True) if one in failed]
            trace.details[SKIPPED_INDEXES] = list[JsonValue](names)
        return _joined(found, reciprocal_rank([one.fused for one in found]))

    async def cosines(self, query: str, vector: FloatMatrix | None, ids: Sequence[str]) -> dict[str, float]:
        """Like `Legs.cosines`, with each chunk's cosine from the first index that has it."""
        known: dict[str, float] = {}
        for source in self._sources:
            left = [key for key in ids if key not in known]
            known |= await source.legs.cosines(query, None, left) if left else {}
        return known

    async def vectors(self, ids: Sequence[str]) -> dict[str, FloatMatrix]:
        """Like `Legs.vectors`, from the first index only: vectors of different models cannot be compared."""
        return await self._sources[0].legs.vectors(ids)

    async def holds_any(self, words: Sequence[str], scope: Filter) -> bool:
        """Like `Legs.holds_any`, for any of the indexes that can be searched."""
        for source in self._sources:
            try:
                if await source.legs.holds_any(words, scope):
                    return True
            except (ProviderError, Unavailable) as error:
                log.warning("the index %s cannot be searched: %s", source.name, error.message)
        return False


class MovingLegs(SeveralLegs):
    """The legs of two indexes during a gradual build: `before` has every file, `after` those that were moved.

    Moved files are ranked by `after`, and take the ranks that `before` gives to moved files. So nothing is ever lost, and the order changes
    gradually from one model's to the other's.
    """

    def __init__(self, before: SearchedIndex, after: SearchedIndex, unmoved: Unmoved) -> None:
        super().__init__((before, after))
        self._unmoved = unmoved

    async def find(self, query: str, scope: Filter, limit: int, trace: Trace) -> Found:
        """Like `Legs.find`. If one of the two is down, the other's hits are the answer."""
        first, second = self._sources
        before, after = await asyncio.gather(
            first.ask(query, scope, limit, trace), second.ask(query, scope, limit, trace)
        )
        if not isinstance(before, Found):
            if not isinstance(after, Found):
                raise before
            trace.details[SKIPPED_INDEXES] = [first.name]
            return after
        if not isinstance(after, Found):  # `before` has all of its files too
            return before
        ids = {one.id for one in (*before.fused, *after.fused)}
        moved = ids - await self._unmoved(sorted(ids))
        return _joined([after, before], in_places_of(before.fused, after.fused, moved))


def _joined(found: Sequence[Found], fused: Sequence[ScoredId]) -> Found:
    """Several results as one; a chunk's scores are those of the first index that found it."""
    dense = {one.id: one for each in reversed(found) for one in each.dense}
    lexical = {one.id: one for each in reversed(found) for one in each.lexical}
    similar = {key: value for each in reversed(found) for key, value in each.similar.items()}
    named = frozenset[str]().union(*(each.named for each in found))
    return Found(
        found[0].language,
        None,
        tuple(dense.values()),
        tuple(lexical.values()),
        tuple(fused),
        named=named,
        similar=similar,
    )
