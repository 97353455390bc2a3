"""Cohere's rerankers, and endpoints with the same API (Jina, vLLM, LiteLLM).

API: `/v2/rerank` in Cohere's OpenAPI document of August 2026.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from citewell.adapters.http import ProviderHttp
from citewell.adapters.keys import require_key
from citewell.adapters.reranker.remote import HttpReranker
from citewell.errors import ConfigurationError
from citewell.settings import CohereRerank

USUAL_MODEL = "rerank-v3.5"
ADDRESS = "https://api.cohere.com/v2"


class CohereReranker(HttpReranker):
    """Implements `citewell.ports.Reranker`. Cohere's scores are 0 to 1; other servers have their own scales."""

    def body(self, query: str, documents: Sequence[str], top_k: int) -> dict[str, Any]:
        """The request."""
        return {"model": self.model, "query": query, "documents": list(documents), "top_n": top_k}

    def ranked(self, answer: Any) -> list[tuple[int, float]]:
        """Each document's index and score."""
        return [(item["index"], item["relevance_score"]) for item in answer["results"]]


def build(settings: CohereRerank) -> CohereReranker:
    """Build the reranker. Raises `ConfigurationError` without a key, or if another server is set without a model."""
    address, model = settings.base_url, settings.model
    if address is not None and model is None:
        raise ConfigurationError(
            f"{settings.name_of('base_url')} is set, but no model. Set {settings.name_of('model')} to a model on that server."
        )
    headers: dict[str, str] = {}
    if address is None or settings.api_key is not None:
        key = require_key(settings, "COHERE_API_KEY, or CITEWELL_RERANK_BASE_URL for another endpoint")
        headers = {"authorization": f"Bearer {key}"}
    return CohereReranker(model or USUAL_MODEL, ProviderHttp(address or ADDRESS, headers, settings.seconds))
