"""Citewell as a Haystack retriever: `pip install "citewell[haystack]"`."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

from haystack import Document, component, default_from_dict, default_to_dict

from citewell.errors import InvalidFilter
from citewell.integrations.passages import metadata_of
from citewell.library import Citewell
from citewell.types import JsonValue

_COMPARISONS = {
    "==": "eq",
    "!=": "ne",
    ">": "gt",
    ">=": "gte",
    "<": "lt",
    "<=": "lte",
    "in": "in",
    "not in": "not_in",
}
_GROUPS = {"AND": "all", "OR": "any"}
_OWN = "meta.metadata."


@component
class CitewellRetriever:
    """Passages of a data folder as documents with scores, best first; `meta` has the source of each.

        pipeline.add_component("retriever", CitewellRetriever("data", top_k=5))

    data: the folder, which is opened by `warm_up`, or by the first run. Only one process can hold it. A `Citewell` that is open already
        works too, but such a component cannot be serialized.
    project, resource_ids: narrow the search, as in `Citewell.search`
    filters: Haystack's; `meta.metadata.KEY` is a file's metadata, and other fields are Citewell's own, such as `meta.filename`
    """

    def __init__(
        self,
        data: str | Citewell,
        top_k: int = 10,
        *,
        filters: Mapping[str, Any] | None = None,
        project: str | None = None,
        resource_ids: Sequence[str] | None = None,
        rerank: bool | None = None,
    ) -> None:
        self.data = data
        self.top_k = top_k
        self.filters = filters
        self.project = project
        self.resource_ids = resource_ids
        self.rerank = rerank
        self._citewell = data if isinstance(data, Citewell) else None

    def warm_up(self) -> None:
        """Open the data folder. Raises `DataFolderBusy` if another process holds it."""
        if self._citewell is None:
            assert isinstance(self.data, str)
            self._citewell = Citewell(self.data).__enter__()

    def close(self) -> None:
        """Release the data folder, if this component opened it."""
        if self._citewell is not None and self._citewell is not self.data:
            self._citewell.close()
            self._citewell = None

    def to_dict(self) -> dict[str, Any]:
        """The component's parameters. Raises `ValueError` if it was made of an open `Citewell`."""
        if not isinstance(self.data, str):
            raise ValueError("A retriever of an open Citewell cannot be serialized. Give the data folder's path.")
        return default_to_dict(
            self,
            data=self.data,
            top_k=self.top_k,
            filters=None if self.filters is None else dict(self.filters),
            project=self.project,
            resource_ids=None if self.resource_ids is None else list(self.resource_ids),
            rerank=self.rerank,
        )

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> CitewellRetriever:
        """A component with these parameters."""
        return default_from_dict(cls, data)

    @component.output_types(documents=list[Document])
    def run(self, query: str, filters: dict[str, Any] | None = None, top_k: int | None = None) -> dict[str, Any]:
        """The best passages for a query. filters, top_k: instead of the component's"""
        self.warm_up()
        assert self._citewell is not None
        narrowed = self.filters if filters is None else filters
        hits = self._citewell.search(
            query,
            self.top_k if top_k is None else top_k,
            project=self.project,
            resource_ids=self.resource_ids,
            conditions=[_condition(narrowed)] if narrowed else [],
            rerank=self.rerank,
        )
        return {
            "documents": [
                Document(id=hit.chunk.id, content=hit.chunk.text, meta=metadata_of(hit), score=hit.score)
                for hit in hits
            ]
        }

    @component.output_types(documents=list[Document])
    async def run_async(
        self, query: str, filters: dict[str, Any] | None = None, top_k: int | None = None
    ) -> dict[str, Any]:
        """The same, without blocking the event loop."""
        return await asyncio.to_thread(self.run, query, filters, top_k)


def _condition(given: Mapping[str, Any]) -> dict[str, JsonValue]:
    """One of Haystack's filters as one of Citewell's. Raises `InvalidFilter`."""
    operator, conditions = given.get("operator"), given.get("conditions")
    if operator == "NOT" and isinstance(conditions, list):
        return {"not": {"all": [_condition(one) for one in conditions]}}
    if operator in _GROUPS and isinstance(conditions, list):
        return {_GROUPS[operator]: [_condition(one) for one in conditions]}
    field = given.get("field")
    if operator not in _COMPARISONS or not isinstance(field, str) or "value" not in given:
        raise InvalidFilter("A filter has `operator` with `conditions`, or `field`, `operator` and `value`.")
    name = f"metadata.{field.removeprefix(_OWN)}" if field.startswith(_OWN) else field.removeprefix("meta.")
    return {"field": name, "operator": _COMPARISONS[operator], "value": given["value"]}
