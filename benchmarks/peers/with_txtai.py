"""txtai, after its README and the notebook on text extraction: Textractor by paragraphs into an Embeddings database."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import liteparse
from peer import Record
from txtai import Embeddings
from txtai.pipeline import Textractor


class Txtai:
    packages = ("txtai", "liteparse", "faiss-cpu")

    def __init__(self, model: Path, scratch: Path) -> None:
        self.embeddings = Embeddings(path=str(model), content=True)
        self.textractor = Textractor(paragraphs=True, backend="liteparse")
        # By default LiteParse fetches an OCR model for pages with pictures; there is nothing to fetch from here.
        self.textractor.html.backend.liteparse = liteparse.LiteParse(
            output_format="markdown", ocr_enabled=False, quiet=True
        )
        self.by_record = False

    def add_pdf(self, path: Path) -> int:
        self.embeddings.index(self.textractor(str(path)))
        return self.embeddings.count()

    def add_records(self, records: Sequence[Record]) -> int:
        self.by_record = True
        self.embeddings.index((record.id, record.whole) for record in records)
        return self.embeddings.count()

    def search(self, query: str, top_k: int) -> list[str]:
        return [row["id" if self.by_record else "text"] for row in self.embeddings.search(query, top_k)]


PEER = Txtai
