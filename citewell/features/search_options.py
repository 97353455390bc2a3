"""The options of a search that the bodies of searches and questions share."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from citewell.features.schemas import RequestBody
from citewell.types import RerankLimits, SearchOptions


class SearchOptionsIn(RequestBody):
    """How to search. As the last base but one of a body, it has these fields described after those of the last."""

    rerank: bool | None = Field(default=None, description="let the reranker order what is found")
    rerank_candidates: int | None = Field(
        default=None, description="1 to 1,000: how many passages the reranker is given"
    )
    rerank_top_n: int | None = Field(default=None, description="1 to 100: how many passages it keeps")
    rerank_threshold: float | None = Field(
        default=None, allow_inf_nan=False, description="passages that it scores lower are left out"
    )
    ignore_inferred: Annotated[list[Annotated[str, Field(max_length=300)]], Field(max_length=64)] | bool | None = Field(
        default=None, description="filters not to infer from the words, by id; true for none at all"
    )
    time_zone: Annotated[str, Field(max_length=64)] | None = Field(
        default=None,
        description="where the caller is, such as Europe/Berlin (IANA): when `yesterday` was; as configured where it is left out",
    )
    indexes: list[str] | None = Field(
        default=None, description="1 to 8 ids of indexes to ask in place of the one that answers; merged by rank"
    )
    debug: bool = False

    def options(self) -> SearchOptions:
        """How to search."""
        ignored = self.ignore_inferred
        return SearchOptions(
            rerank=self.rerank,
            rerank_limits=RerankLimits(
                candidates=self.rerank_candidates, top_n=self.rerank_top_n, threshold=self.rerank_threshold
            ),
            ignore_inferred=tuple(ignored) if isinstance(ignored, list) else bool(ignored),
            time_zone=self.time_zone,
            indexes=None if self.indexes is None else tuple(self.indexes),
            debug=self.debug,
        )
