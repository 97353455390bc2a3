"""Rerankers hosted by Pinecone, through its HTTP API, for at most 100 documents.

API: Pinecone's OpenAPI document "Inference API", version 2026-04.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from citewell.adapters.embedder.pinecone import ADDRESS, VERSION
from citewell.adapters.http import ProviderHttp
from citewell.adapters.keys import require_key
from citewell.adapters.reranker.remote import HttpReranker
from citewell.settings import PineconeRerank

USUAL_MODEL = "bge-reranker-v2-m3"


class PineconeReranker(HttpReranker):
    """Implements `citewell.ports.Reranker`.

    Scores are 0 to 1; queries and texts beyond the model's limit are truncated.
    """

    max_documents = 100

    def body(self, query: str, documents: Sequence[str], top_k: int) -> dict[str, Any]:
        """The request."""
        return {
            "model": self.model,
            "query": query,
            "documents": [{"text": text} for text in documents],
            "top_n": top_k,
            "return_documents": False,
            "parameters": {"truncate": "END"},
        }

    def ranked(self, answer: Any) -> list[tuple[int, float]]:
        """Each document's index and score."""
        return [(item["index"], item["score"]) for item in answer["data"]]


def build(settings: PineconeRerank) -> PineconeReranker:
    """Build the reranker. Raises `ConfigurationError` without a key."""
    headers = {"api-key": require_key(settings, "PINECONE_API_KEY"), "x-pinecone-api-version": VERSION}
    http = ProviderHttp(settings.base_url or ADDRESS, headers, settings.seconds)
    return PineconeReranker(settings.model or USUAL_MODEL, http)
