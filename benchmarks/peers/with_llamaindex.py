"""LlamaIndex, after its starter tutorial with local models: SimpleDirectoryReader into a VectorStoreIndex, all defaults."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from llama_index.core import Document, Settings, SimpleDirectoryReader, VectorStoreIndex
from llama_index.embeddings.huggingface import HuggingFaceEmbedding
from peer import Record


class LlamaIndex:
    packages = ("llama-index-core", "llama-index-embeddings-huggingface", "llama-index-readers-file", "pypdf")

    def __init__(self, model: Path, scratch: Path) -> None:
        Settings.embed_model = HuggingFaceEmbedding(model_name=str(model))
        Settings.llm = None
        self.index: VectorStoreIndex | None = None

    def add_pdf(self, path: Path) -> int:
        return self._add(SimpleDirectoryReader(input_files=[str(path)]).load_data())

    def add_records(self, records: Sequence[Record]) -> int:
        return self._add([Document(text=record.whole, metadata={"record": record.id}) for record in records])

    def search(self, query: str, top_k: int) -> list[str]:
        assert self.index is not None
        found = self.index.as_retriever(similarity_top_k=top_k).retrieve(query)
        return [hit.node.metadata.get("record", hit.node.get_content()) for hit in found]

    def _add(self, documents: list[Document]) -> int:
        self.index = VectorStoreIndex.from_documents(documents)
        return len(self.index.docstore.docs)


PEER = LlamaIndex
