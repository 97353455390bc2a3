"""The keyword arguments of searches and questions in Python."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from typing import TypeAlias, TypedDict

from citewell.types import ChunkType, Expression, JsonValue, OriginalPicture, RerankLimits, SearchOptions

# Conditions and groups of conditions, or the same as JSON: see docs/filters.md.
Filters: TypeAlias = Iterable[Expression] | JsonValue


class ScopeKeywords(TypedDict, total=False):
    """Where to look, and how.

    project, projects: the id or name of a project, or several, any of which may match
    resource_ids:      ids or identifiers of files
    conditions:        filters (docs/filters.md)
    rerank:            whether to rerank the results; None means as configured
    rerank_limits:     how many passages the reranker sees and keeps, and the lowest score to keep; None means as configured
    ignore_inferred:   ids of filters not to infer from the query, or True for all
    time_zone:         an IANA name such as Europe/Berlin, which defines words such as `yesterday`
    indexes:           ids of indexes to search instead of the active one, merged by rank
    """

    project: str | None
    projects: Iterable[str] | None
    resource_ids: Iterable[str] | None
    conditions: Filters
    rerank: bool | None
    rerank_limits: RerankLimits | None
    ignore_inferred: Iterable[str] | bool
    time_zone: str | None
    indexes: Iterable[str] | None


class SearchKeywords(ScopeKeywords, total=False):
    """Where and how to search. types: kinds of passages, such as tables; vector_threshold: the lowest cosine with the query, 0..1."""

    types: Iterable[ChunkType] | None
    vector_threshold: float | None


class AskKeywords(ScopeKeywords, total=False):
    """Where and how to find an answer.

    thread_id: that of the previous answer, for a follow-up
    repeat:    give the earlier answer again if an equal question was answered before and its files are unchanged
    """

    thread_id: str | None
    repeat: bool


class PictureKeywords(TypedDict, total=False):
    """Which pictures to find. example: a picture's path, or a picture that was found before."""

    example: str | os.PathLike[str] | OriginalPicture | None
    top_k: int | None
    project: str | None
    resource_ids: Iterable[str] | None
    conditions: Filters


def options_of(wishes: ScopeKeywords) -> SearchOptions:
    """The keyword arguments as `SearchOptions`."""
    ignored, indexes = wishes.get("ignore_inferred", False), wishes.get("indexes")
    return SearchOptions(
        rerank=wishes.get("rerank"),
        rerank_limits=wishes.get("rerank_limits") or RerankLimits(),
        ignore_inferred=ignored if isinstance(ignored, bool) else tuple(ignored),
        time_zone=wishes.get("time_zone"),
        indexes=None if indexes is None else tuple(indexes),
    )


def require_known(wishes: Mapping[str, object], kind: type[ScopeKeywords] | type[PictureKeywords], method: str) -> None:
    """Raise `TypeError` for a name that `kind` does not have, as Python does for arguments: a misspelled one would have no effect."""
    known = kind.__annotations__
    for name in wishes:
        if name not in known:
            close = get_close_matches(name, known, 1)
            hint = f" Did you mean {close[0]!r}?" if close else ""
            raise TypeError(f"{method}() got an unexpected keyword argument {name!r}.{hint}")
