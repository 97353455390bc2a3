"""Citewell as a LlamaIndex retriever: `pip install "citewell[llamaindex]"`."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode

from citewell.integrations.passages import metadata_of
from citewell.library import Citewell
from citewell.types import Expression


class CitewellRetriever(BaseRetriever):
    """Passages of an open `Citewell` as nodes with scores, best first; `metadata` has the source of each.

        with Citewell("data") as cw:
            nodes = CitewellRetriever(cw, top_k=5).retrieve("opening hours")

    project, resource_ids, conditions: narrow the search, as in `Citewell.search`
    """

    def __init__(
        self,
        citewell: Citewell,
        top_k: int | None = None,
        *,
        project: str | None = None,
        resource_ids: Sequence[str] | None = None,
        conditions: Sequence[Expression] = (),
        rerank: bool | None = None,
    ) -> None:
        super().__init__()
        self._citewell = citewell
        self._top_k = top_k
        self._project = project
        self._resource_ids = resource_ids
        self._conditions = conditions
        self._rerank = rerank

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        hits = self._citewell.search(
            query_bundle.query_str,
            self._top_k,
            project=self._project,
            resource_ids=self._resource_ids,
            conditions=self._conditions,
            rerank=self._rerank,
        )
        return [
            NodeWithScore(
                node=TextNode(id_=hit.chunk.id, text=hit.chunk.text, metadata=metadata_of(hit)), score=hit.score
            )
            for hit in hits
        ]

    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return await asyncio.to_thread(self._retrieve, query_bundle)
