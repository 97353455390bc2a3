"""Shared by the vendors' rerankers: converts responses to ranked scores."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

from citewell.adapters.embedder.remote import sendable
from citewell.adapters.http import ProviderHttp, malformed
from citewell.ports import Reranked


class HttpReranker(ABC):
    """Implements `citewell.ports.Reranker` over a vendor's HTTP API; subclasses define requests and responses.

    Documents beyond `max_documents` are neither sent nor ranked. Does not retry, because somebody is waiting.
    """

    path = "/rerank"
    max_documents = 1_000

    def __init__(self, model: str, http: ProviderHttp) -> None:
        self.model = model
        self._http = http

    @abstractmethod
    def body(self, query: str, documents: Sequence[str], top_k: int) -> dict[str, Any]:
        """The request."""

    @abstractmethod
    def ranked(self, answer: Any) -> list[tuple[int, float]]:
        """Each document's index and score.

        Raises KeyError or TypeError if the response differs from the documentation.
        """

    async def rerank(self, query: str, documents: Sequence[str], top_k: int) -> list[Reranked]:
        """As `citewell.ports.Reranker.rerank`."""
        sent = [sendable(text) for text in documents[: self.max_documents]]
        if not sent or top_k < 1:
            return []
        answer = await self._http.post_any(self.path, self.body(sendable(query), sent, min(top_k, len(sent))))
        try:
            found = [Reranked(int(index), float(score)) for index, score in self.ranked(answer)]
        except (KeyError, OverflowError, TypeError, ValueError):
            raise malformed("the ranks or scores are missing") from None
        if not all(math.isfinite(one.score) for one in found):
            raise malformed("a score is not a number")
        numbers = {one.index for one in found}
        if len(numbers) != len(found) or not numbers <= set(range(len(sent))) or len(found) != min(top_k, len(sent)):
            raise malformed(f"it ranks {len(found)} of {len(sent)} documents, or unknown ones")
        return sorted(found, key=lambda one: -one.score)

    async def close(self) -> None:
        """Close the connections of this event loop."""
        await self._http.close()
