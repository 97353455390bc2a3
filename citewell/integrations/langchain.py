"""Citewell as a LangChain retriever: `pip install "citewell[langchain]"`."""

from __future__ import annotations

import asyncio

from langchain_core.callbacks import AsyncCallbackManagerForRetrieverRun, CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever

from citewell.integrations.passages import metadata_of
from citewell.library import Citewell
from citewell.types import Expression


class CitewellRetriever(BaseRetriever):
    """Passages of an open `Citewell` as documents, best first; `metadata` has the source of each.

        with Citewell("data") as cw:
            documents = CitewellRetriever(citewell=cw, top_k=5).invoke("opening hours")

    project, resource_ids, conditions: narrow the search, as in `Citewell.search`; `invoke(query, top_k=3)` overrides `top_k`
    """

    citewell: Citewell
    top_k: int | None = None
    project: str | None = None
    resource_ids: list[str] | None = None
    conditions: tuple[Expression, ...] = ()
    rerank: bool | None = None

    def _get_relevant_documents(
        self, query: str, *, run_manager: CallbackManagerForRetrieverRun, top_k: int | None = None
    ) -> list[Document]:
        return self._documents(query, top_k)

    async def _aget_relevant_documents(
        self, query: str, *, run_manager: AsyncCallbackManagerForRetrieverRun, top_k: int | None = None
    ) -> list[Document]:
        return await asyncio.to_thread(self._documents, query, top_k)

    def _documents(self, query: str, top_k: int | None) -> list[Document]:
        hits = self.citewell.search(
            query,
            self.top_k if top_k is None else top_k,
            project=self.project,
            resource_ids=self.resource_ids,
            conditions=self.conditions,
            rerank=self.rerank,
        )
        return [Document(id=hit.chunk.id, page_content=hit.chunk.text, metadata=metadata_of(hit)) for hit in hits]
