"""LangChain with Chroma, after its tutorial "Build a semantic search engine": pypdf, 1,000 characters with 200 overlap."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from langchain_chroma import Chroma
from langchain_core.documents import Document
from langchain_huggingface import HuggingFaceEmbeddings
from langchain_text_splitters import RecursiveCharacterTextSplitter
from peer import Record
from pypdf import PdfReader

_MAX_PER_CALL = 5_000  # Chroma refuses more than 5,461 at once.


class LangChain:
    packages = ("langchain-core", "langchain-chroma", "chromadb", "langchain-text-splitters", "pypdf")

    def __init__(self, model: Path, scratch: Path) -> None:
        embeddings = HuggingFaceEmbeddings(model_name=str(model))
        self.store = Chroma(collection_name="example", embedding_function=embeddings, persist_directory=str(scratch))
        self.splitter = RecursiveCharacterTextSplitter(chunk_size=1000, chunk_overlap=200, add_start_index=True)

    def add_pdf(self, path: Path) -> int:
        pages = PdfReader(path).pages
        return self._add([Document(page.extract_text(), metadata={"page": i}) for i, page in enumerate(pages, 1)])

    def add_records(self, records: Sequence[Record]) -> int:
        return self._add([Document(record.whole, metadata={"record": record.id}) for record in records])

    def search(self, query: str, top_k: int) -> list[str]:
        found = self.store.similarity_search(query, k=top_k)
        return [document.metadata.get("record", document.page_content) for document in found]

    def _add(self, documents: list[Document]) -> int:
        chunks = self.splitter.split_documents(documents)
        for start in range(0, len(chunks), _MAX_PER_CALL):
            self.store.add_documents(chunks[start : start + _MAX_PER_CALL])
        return len(chunks)


PEER = LangChain
