"""The keyword arguments of searches and questions in Python."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from typing import TypeAlias, TypedDict

from citewell.types import ChunkType, Expression, JsonValue, RerankLimits, SearchOptions

# Conditions and groups of them, or the same as JSON: see docs/filters.md.
Filters: TypeAlias = Iterable[Expression] | JsonValue


class ScopeKeywords(TypedDict, total=False):
    """Where to look, and how.

    project:    its id or name; projects: of several, any of which counts; resource_ids: ids or identifiers of files
    conditions: filters, as in docs/filters.md; rerank: whether the reranker orders what is found, as configured unless given
    rerank_limits: how many passages it sees and keeps, and their least score, as configured unless given
    ignore_inferred: ids of filters not to infer from the words of the query, or True for all
    time_zone:  where it is asked, such as Europe/Berlin: when `yesterday` was
    indexes:    ids of indexes to ask in place of the one that answers, merged by rank
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
    """How and where to search. types: of passages, such as tables; vector_threshold: their least cosine with the query, 0..1."""

    types: Iterable[ChunkType] | None
    vector_threshold: float | None


class AskKeywords(ScopeKeywords, total=False):
    """From what to answer a question, and how. thread_id: of the answer that this one follows."""

    thread_id: str | None


def options_of(wishes: ScopeKeywords) -> SearchOptions:
    """How to search, as the keyword arguments say."""
    ignored, indexes = wishes.get("ignore_inferred", False), wishes.get("indexes")
    return SearchOptions(
        rerank=wishes.get("rerank"),
        rerank_limits=wishes.get("rerank_limits") or RerankLimits(),
        ignore_inferred=ignored if isinstance(ignored, bool) else tuple(ignored),
        time_zone=wishes.get("time_zone"),
        indexes=None if indexes is None else tuple(indexes),
    )


def require_known(wishes: Mapping[str, object], kind: type[ScopeKeywords], method: str) -> None:
    """`TypeError` for a name that `kind` does not have, as Python raises for arguments: a misspelt one would have no effect."""
    known = kind.__annotations__
    for name in wishes:
        if name not in known:
            close = get_close_matches(name, known, 1)
            hint = f" Did you mean {close[0]!r}?" if close else ""
            raise TypeError(f"{method}() got an unexpected keyword argument {name!r}.{hint}")
