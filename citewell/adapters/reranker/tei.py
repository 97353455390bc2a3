"""Rerankers served by Text Embeddings Inference: `POST /rerank` in its OpenAPI document, version 1.7.1."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from citewell.adapters.http import ProviderHttp
from citewell.adapters.reranker.remote import HttpReranker
from citewell.errors import ConfigurationError
from citewell.ports import Reranked
from citewell.settings import TeiRerank

USUAL_MODEL = "served"


class TeiReranker(HttpReranker):
    """Implements `citewell.ports.Reranker`.

    Scores are 0 to 1. The server ranks all texts of a request; by default, it accepts 32.
    """

    max_documents = 32

    def body(self, query: str, documents: Sequence[str], top_k: int) -> dict[str, Any]:
        """The request."""
        return {"query": query, "texts": list(documents), "truncate": True}

    def ranked(self, answer: Any) -> list[tuple[int, float]]:
        """Each document's index and score."""
        return [(item["index"], item["score"]) for item in answer]

    async def rerank(self, query: str, documents: Sequence[str], top_k: int) -> list[Reranked]:
        """As `citewell.ports.Reranker.rerank`."""
        return (await super().rerank(query, documents, len(documents)))[:top_k] if top_k > 0 else []


def build(settings: TeiRerank) -> TeiReranker:
    """Build the reranker. Raises `ConfigurationError` without an address."""
    if settings.base_url is None:
        raise ConfigurationError(
            f"{settings.name_of('provider')} is 'tei', but no address is set. Set {settings.name_of('base_url')}."
        )
    key = settings.api_key
    headers = {} if key is None else {"authorization": f"Bearer {key.get_secret_value()}"}
    return TeiReranker(settings.model or USUAL_MODEL, ProviderHttp(settings.base_url, headers, settings.seconds))
