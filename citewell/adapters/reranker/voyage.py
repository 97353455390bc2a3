"""Voyage AI's rerankers, through its HTTP API.

API reference of 2026: at most 1,000 documents; Voyage truncates longer texts.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from citewell.adapters.embedder.voyage import address_of
from citewell.adapters.http import ProviderHttp
from citewell.adapters.keys import require_key
from citewell.adapters.reranker.remote import HttpReranker
from citewell.ports.metering import tokens_used
from citewell.settings import VoyageRerank

USUAL_MODEL = "rerank-2.5"


class VoyageReranker(HttpReranker):
    """Implements `citewell.ports.Reranker`. Scores are 0 to 1."""

    def body(self, query: str, documents: Sequence[str], top_k: int) -> dict[str, Any]:
        """The request."""
        return {"model": self.model, "query": query, "documents": list(documents), "top_k": top_k, "truncation": True}

    def ranked(self, answer: Any) -> list[tuple[int, float]]:
        """Each document's index and score."""
        tokens_used(answer["usage"]["total_tokens"])
        return [(item["index"], item["relevance_score"]) for item in answer["data"]]


def build(settings: VoyageRerank) -> VoyageReranker:
    """Build the reranker. Raises `ConfigurationError` without a key."""
    key = require_key(settings, "VOYAGE_API_KEY")
    http = ProviderHttp(settings.base_url or address_of(key), {"authorization": f"Bearer {key}"}, settings.seconds)
    return VoyageReranker(settings.model or USUAL_MODEL, http)
