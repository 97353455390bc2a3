"""Questions for pictures: each picture, frame or moment of a video that fits, with what is said of it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from citewell.agent.extractive.scoring import ScoredStatement
from citewell.agent.extractive.thresholds import ExtractiveThresholds
from citewell.agent.statements import Statement, cut_statements
from citewell.types import ChunkType, Hit

_Picture = tuple[str, str | None, float | None]

_LABEL = re.compile(r"^(?:[A-Z][\w-]*\s){0,2}[\w-]+:\s+(?=\S)")


def find_pictures(
    scored: Sequence[ScoredStatement], hits: Sequence[Hit], limits: ExtractiveThresholds
) -> list[Statement]:
    """For each picture of `hits` of which something nearly as good is said as of the best, what is said of it first; the best first.

    Two pictures of which the same is said are two: what is repeated is judged once, and counts for each.
    """
    judged = {s.statement.judged: s.score for s in scored}
    least = limits.picture_share * scored[0].score
    said: dict[_Picture, Statement] = {}
    best: dict[_Picture, float] = {}
    for statement in cut_statements([hit for hit in hits if hit.chunk.type is ChunkType.IMAGE]):
        picture = _picture(statement.hit)
        said.setdefault(picture, statement)
        best[picture] = max(best.get(picture, 0.0), judged.get(statement.judged, 0.0))
    fitting = sorted((picture for picture in said if best[picture] >= least), key=lambda picture: -best[picture])
    return [replace(said[picture], shown=_LABEL.sub("", said[picture].shown, count=1)) for picture in fitting]


def count_pictures(hits: Sequence[Hit]) -> int:
    """How many pictures, frames or moments the hits are of."""
    return len({_picture(hit) for hit in hits if hit.chunk.type is ChunkType.IMAGE})


def _picture(hit: Hit) -> _Picture:
    return hit.chunk.resource_id, hit.picture.blob if hit.picture else None, hit.chunk.locator.second
