"""Diversity of hits: one passage a page first, removal of near-duplicates, and maximal marginal relevance."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from citewell.ports import FloatMatrix
from citewell.types import Hit

_WORD = re.compile(r"\w+")


def over_pages(hits: Sequence[Hit], decay: float) -> list[Hit]:
    """The hits, best first, once the score of each is multiplied by `decay` for every better hit on its page.

    A page is read as a whole, so its second passage adds less than the first of another page. Hits in files without pages keep their scores.
    """
    seen = Counter[tuple[str, int, int]]()
    kept: list[Hit] = []
    for hit in hits:
        page = page_of(hit)
        if page is None:
            kept.append(hit)
            continue
        kept.append(replace(hit, score=hit.score * decay ** seen[page]) if seen[page] else hit)
        seen[page] += 1
    return sorted(kept, key=lambda hit: -hit.score)


def share_a_page(hits: Sequence[Hit]) -> bool:
    """Whether two of the hits are on one page."""
    pages = [page for hit in hits if (page := page_of(hit)) is not None]
    return len(set(pages)) < len(pages)


def page_of(hit: Hit) -> tuple[str, int, int] | None:
    """The file, its version and the page on which the hit begins; None in a file without pages."""
    place = hit.chunk.locator
    page = place.page if place.page is not None else next(iter(place.pages), None)
    return None if page is None else (hit.chunk.resource_id, hit.chunk.version, page)


def without_near_duplicates(hits: Sequence[Hit], threshold: float) -> list[Hit]:
    """The hits whose words have a Jaccard similarity (0..1) below `threshold` to those of every better hit."""
    kept: list[tuple[Hit, frozenset[str]]] = []
    for hit in hits:
        words = frozenset(_WORD.findall(hit.chunk.text.casefold()))
        if all(_jaccard(words, others) < threshold for _, others in kept):
            kept.append((hit, words))
    return [hit for hit, _ in kept]


def maximal_marginal_relevance(
    hits: Sequence[Hit], vectors: Mapping[str, FloatMatrix], weight: float, count: int
) -> list[Hit]:
    """At most `count` hits; each next one maximizes its score minus `weight` times its greatest cosine with the hits before it.

    Carbonell and Goldstein, "The Use of MMR", 1998; scores are scaled to 0..1. A hit without a vector has a cosine of 0 with every other.
    """
    best = max((hit.score for hit in hits), default=0.0) or 1.0
    left, chosen = list(hits), list[Hit]()
    likeness = {hit.chunk.id: 0.0 for hit in hits}
    while left and len(chosen) < count:
        pick = max(left, key=lambda hit: (1 - weight) * hit.score / best - weight * likeness[hit.chunk.id])
        left.remove(pick)
        chosen.append(pick)
        vector = vectors.get(pick.chunk.id)
        if vector is None:
            continue
        for hit in left:
            other = vectors.get(hit.chunk.id)
            if other is not None:
                likeness[hit.chunk.id] = max(likeness[hit.chunk.id], float(np.dot(vector, other)))
    return chosen


def _jaccard(one: frozenset[str], other: frozenset[str]) -> float:
    return len(one & other) / len(one | other) if one or other else 1.0
