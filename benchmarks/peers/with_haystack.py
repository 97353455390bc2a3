"""Haystack, after its documentation of PyPDFToDocument and its preprocessing tutorial: 150 words with 50 overlap, in memory."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from haystack import Document, Pipeline
from haystack.components.converters import PyPDFToDocument
from haystack.components.preprocessors import DocumentCleaner, DocumentSplitter
from haystack.components.retrievers.in_memory import InMemoryEmbeddingRetriever
from haystack.components.writers import DocumentWriter
from haystack.document_stores.in_memory import InMemoryDocumentStore
from haystack_integrations.components.embedders.sentence_transformers import (
    SentenceTransformersDocumentEmbedder,
    SentenceTransformersTextEmbedder,
)
from peer import Record


class Haystack:
    packages = ("haystack-ai", "sentence-transformers-haystack", "pypdf")

    def __init__(self, model: Path, scratch: Path) -> None:
        self.store = InMemoryDocumentStore()
        self.converter = PyPDFToDocument()
        self.indexing = Pipeline()
        self.indexing.add_component("cleaner", DocumentCleaner())
        self.indexing.add_component("splitter", DocumentSplitter(split_by="word", split_length=150, split_overlap=50))
        self.indexing.add_component(
            "embedder", SentenceTransformersDocumentEmbedder(model=str(model), progress_bar=False)
        )
        self.indexing.add_component("writer", DocumentWriter(self.store))
        for source, target in (("cleaner", "splitter"), ("splitter", "embedder"), ("embedder", "writer")):
            self.indexing.connect(source, target)
        self.querying = Pipeline()
        self.querying.add_component("embedder", SentenceTransformersTextEmbedder(model=str(model), progress_bar=False))
        self.querying.add_component("retriever", InMemoryEmbeddingRetriever(self.store))
        self.querying.connect("embedder.embedding", "retriever.query_embedding")
        self.querying.run({"embedder": {"text": "Load the model now."}})
        self.indexing.get_component("embedder").warm_up()

    def add_pdf(self, path: Path) -> int:
        return self._add(self.converter.run(sources=[path])["documents"])

    def add_records(self, records: Sequence[Record]) -> int:
        return self._add([Document(content=record.whole, meta={"record": record.id}) for record in records])

    def search(self, query: str, top_k: int) -> list[str]:
        found = self.querying.run({"embedder": {"text": query}, "retriever": {"top_k": top_k}})
        return [document.meta.get("record", document.content) for document in found["retriever"]["documents"]]

    def _add(self, documents: list[Document]) -> int:
        self.indexing.run({"cleaner": {"documents": documents}})
        return self.store.count_documents()


PEER = Haystack
