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
    said = _said(hits)
    best = {picture: max(judged.get(one.judged, 0.0) for one in all_said) for picture, all_said in said.items()}
    fitting = sorted((picture for picture in said if best[picture] >= least), key=lambda picture: -best[picture])
    return [_shown(said[picture][0]) for picture in fitting]


def every_picture(hits: Sequence[Hit]) -> list[Statement]:
    """What is said of each picture first, in the order of the hits."""
    return [_shown(statements[0]) for statements in _said(hits).values()]


def _said(hits: Sequence[Hit]) -> dict[_Picture, list[Statement]]:
    """What is said of each picture: what somebody or a model said before the name, size and format of its file."""
    said: dict[_Picture, list[Statement]] = {_picture(hit): [] for hit in hits if hit.chunk.type is ChunkType.IMAGE}
    for statement in cut_statements([hit for hit in hits if hit.chunk.type is ChunkType.IMAGE]):
        said[_picture(statement.hit)].append(statement)
    return {picture: sorted(statements, key=_is_of_the_file) for picture, statements in said.items() if statements}


def _is_of_the_file(statement: Statement) -> bool:
    hit = statement.hit
    return hit.chunk.text.startswith((f"Picture {hit.filename}: ", f"Video {hit.filename}: "))


def _shown(statement: Statement) -> Statement:
    return replace(statement, shown=_LABEL.sub("", statement.shown, count=1))


def count_pictures(hits: Sequence[Hit]) -> int:
    """How many pictures, frames or moments the hits are of."""
    return len({_picture(hit) for hit in hits if hit.chunk.type is ChunkType.IMAGE})


def _picture(hit: Hit) -> _Picture:
    return hit.chunk.resource_id, hit.picture.blob if hit.picture else None, hit.chunk.locator.second
