"""Turns hits into passages: merges neighboring hits of a file, adds the text around them or the rest of their table or list, and puts the best at the ends."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Protocol, TypeVar

from citewell.types import Chunk, ChunkPlace, ChunkType, Hit, Passage, Scores, StoredChunk

MAX_REST = 3
"""Chunks added to the best hit to complete its table or list. A statement of accounts has up to four."""
ITEM = re.compile(r"^\s*(?:[-*•‣▪◦]|\(?\d{1,2}[.)]|\(?[a-z][.)])\s+\S")
"""The beginning of a list item with a bullet, a number or a letter."""
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


async def with_the_rest(owner_id: str, hits: Sequence[Hit], source: NeighbourSource, most: int = MAX_REST) -> list[Hit]:
    """As many hits, where the best one is followed by up to `most` chunks of the table or list that it is a part of; the last hits make room.

    The nearest chunks are chosen, and given in reading order. They have the best hit's score, and no scores of their own.
    """
    if not hits or most < 1 or not (_may_continue(hits[0].chunk) or _may_begin_before(hits[0].chunk)):
        return list(hits)
    best = _place(hits[0].chunk)
    steps = [step for step in range(-most, most + 1) if step and best.ordinal + step >= 0]
    around = await source.at(owner_id, [best._replace(ordinal=best.ordinal + step) for step in steps])
    near: list[StoredChunk] = []
    for way in (1, -1):
        last = hits[0].chunk
        for step in range(1, most + 1):
            found = around.get(best._replace(ordinal=best.ordinal + way * step))
            if found is None or not _belong(*((last, found.chunk)[::way])):
                break
            near.append(found)
            last = found.chunk
    near.sort(key=lambda one: abs(one.chunk.ordinal - best.ordinal))
    rest = sorted(near[:most], key=lambda one: one.chunk.ordinal)
    known = {one.chunk.id for one in rest}
    score = hits[0].score
    added = [
        Hit(chunk=one.chunk, filename=one.filename, score=score, scores=Scores(), provenance=one.provenance)
        for one in rest
    ]
    return [hits[0], *added, *(hit for hit in hits[1:] if hit.chunk.id not in known)][: max(len(hits), 1 + len(added))]


def _belong(first: Chunk, second: Chunk) -> bool:
    """Whether two chunks, one after the other in a file, are parts of one table or list, or the second the list that the first announces."""
    if first.type is not second.type or first.locator.headings != second.locator.headings:
        return False
    if first.type is ChunkType.TABLE:
        one = {piece.element_id for piece in first.pieces} & {piece.element_id for piece in second.pieces}
        return bool(one) or _header(first) == _header(second)
    return _may_continue(first) and ITEM.match(_lines(second)[0]) is not None


def _may_continue(chunk: Chunk) -> bool:
    """Whether the next chunk may be part of this one's table or list: a text ends with an item, or announces a list."""
    if chunk.type is not ChunkType.TEXT:
        return chunk.type is ChunkType.TABLE
    last = _lines(chunk)[-1]
    return ITEM.match(last) is not None or last.rstrip().endswith((":", "："))


def _may_begin_before(chunk: Chunk) -> bool:
    return chunk.type is ChunkType.TEXT and ITEM.match(_lines(chunk)[0]) is not None


def _lines(chunk: Chunk) -> list[str]:
    return [line for line in chunk.text.splitlines() if line.strip()] or [""]


def _header(chunk: Chunk) -> str:
    return chunk.text.split("\n", 1)[0]


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
