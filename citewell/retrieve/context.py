"""Turns hits into passages: merges neighboring hits of a file, adds the text around them, and puts the best at the ends."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Protocol, TypeVar

from citewell.types import Chunk, ChunkPlace, Hit, Passage, StoredChunk

_MAX_OVERLAP = 1_000
_MIN_OVERLAP = 16
T = TypeVar("T")


class NeighbourSource(Protocol):
    """Loads chunks by place. Everything it returns belongs to the given owner."""

    async def at(self, owner_id: str, places: Sequence[ChunkPlace]) -> Mapping[ChunkPlace, StoredChunk]:
        """The chunks at these places, without the places that have none."""
        ...


async def passages_around(
    owner_id: str, hits: Sequence[Hit], source: NeighbourSource, before: int = 1, after: int = 1
) -> list[Passage]:
    """The hits with up to `before` and `after` chunks around each, merged where they touch, best first."""
    found = {_place(hit.chunk) for hit in hits}
    wanted = {
        ChunkPlace(place.resource_id, place.version, place.ordinal + step)
        for place in found
        for step in range(-before, after + 1)
        if place.ordinal + step >= 0
    }
    around = await source.at(owner_id, sorted(wanted - found))
    return merge_neighbours(hits, {place: stored.chunk for place, stored in around.items()})


def merge_neighbours(hits: Sequence[Hit], around: Mapping[ChunkPlace, Chunk] | None = None) -> list[Passage]:
    """Merge hits whose chunks (with those of `around`) are consecutive in one version of a resource; best first."""
    by_place = {_place(hit.chunk): hit for hit in hits}
    chunks = dict(around or {}) | {place: hit.chunk for place, hit in by_place.items()}
    passages: list[Passage] = []
    for _, run in groupby(enumerate(sorted(chunks)), key=lambda item: _run_key(*item)):
        places = [place for _, place in run]
        found = sorted((by_place[place] for place in places if place in by_place), key=lambda hit: -hit.score)
        if found:
            parts = tuple(chunks[place] for place in places)
            passages.append(Passage(_joined(parts), found[0].filename, parts, tuple(found)))
    return sorted(passages, key=lambda passage: -passage.score)


def best_at_the_ends(ranked: Sequence[T]) -> list[T]:
    """Ranked items with the best first and the second best last, the weakest in the middle, where models read least.

    Liu et al., "Lost in the Middle: How Language Models Use Long Contexts", 2023.
    """
    return [*ranked[::2], *reversed(ranked[1::2])]


def _place(chunk: Chunk) -> ChunkPlace:
    return ChunkPlace(chunk.resource_id, chunk.version, chunk.ordinal)


def _run_key(index: int, place: ChunkPlace) -> tuple[str, int, int]:
    """Equal for consecutive places, because their ordinals grow as fast as their positions in the sorted list."""
    return place.resource_id, place.version, place.ordinal - index


def _joined(chunks: Sequence[Chunk]) -> str:
    text = chunks[0].text
    for chunk in chunks[1:]:
        shared = _overlap(text, chunk.text)
        text = f"{text}{chunk.text[shared:]}" if shared else f"{text}\n{chunk.text}"
    return text


def _overlap(first: str, second: str) -> int:
    """How many characters at the end of `first` are repeated at the beginning of `second`."""
    longest = min(len(first), len(second), _MAX_OVERLAP)
    return next((size for size in range(longest, _MIN_OVERLAP - 1, -1) if first.endswith(second[:size])), 0)
