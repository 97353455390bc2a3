"""Embedding models hosted by Pinecone, through its HTTP API.

API: Pinecone's OpenAPI document "Inference API", version 2026-04; limits: its model gallery.
"""

from __future__ import annotations

from collections.abc import Sequence

from citewell.adapters.embedder.counting import ApproximateTokenizer
from citewell.adapters.embedder.remote import ChosenModel, ModelFacts, choose, sendable, unit_rows
from citewell.adapters.http import ProviderHttp, malformed
from citewell.adapters.keys import require_key
from citewell.ports import CallLimits, FloatMatrix, TextKind
from citewell.settings import PineconeEmbedding, StoreEmbedding

USUAL_MODEL = "multilingual-e5-large"
ADDRESS = "https://api.pinecone.io"
VERSION = "2026-04"
_TEXTS = 96
LIMITS = CallLimits(texts=_TEXTS, tokens=_TEXTS * 2_048)
MODELS = {
    USUAL_MODEL: ModelFacts(dimensions=1_024, max_tokens=507, call_tokens=_TEXTS * 507),
    "llama-text-embed-v2": ModelFacts(
        dimensions=1_024, max_tokens=2_048, call_tokens=LIMITS.tokens, choices=frozenset({384, 512, 768, 2_048})
    ),
}
_KINDS = {"document": "passage", "query": "query"}


class PineconeEmbedder:
    """Implements `citewell.ports.RemoteEmbedder`: documents have the input type `passage`, queries `query`.

    Does not retry.
    """

    def __init__(self, model: ChosenModel, key: str, address: str = ADDRESS) -> None:
        self.fingerprint = model.fingerprint
        self.max_tokens = model.max_tokens
        self.limits = model.limits
        self.tokenizer = ApproximateTokenizer()
        self._model = model
        self._http = ProviderHttp(address, {"api-key": key, "x-pinecone-api-version": VERSION})

    async def embed(self, texts: Sequence[str], kind: TextKind = "document") -> FloatMatrix:
        """As `citewell.ports.Embedder.embed`."""
        if not texts:
            return unit_rows([], self.fingerprint.dimensions)
        parameters: dict[str, object] = {"input_type": _KINDS[kind], "truncate": "END"}
        if self._model.asked_dimensions is not None:
            parameters["dimension"] = self._model.asked_dimensions
        inputs = [{"text": sendable(text)} for text in texts]
        answer = await self._http.post(
            "/embed", {"model": self._model.name, "parameters": parameters, "inputs": inputs}
        )
        try:
            rows = [item["values"] for item in answer["data"]]
        except (KeyError, TypeError):
            raise malformed("`data` or `usage` is missing") from None
        if len(rows) != len(texts):
            raise malformed(f"it has {len(rows)} vectors for {len(texts)} texts")
        return unit_rows(rows, self.fingerprint.dimensions)

    async def close(self) -> None:
        """As `citewell.ports.RemoteEmbedder.close`."""
        await self._http.close()


def build(settings: PineconeEmbedding | StoreEmbedding) -> PineconeEmbedder:
    """Build the embedder.

    If the index itself embeds texts, this only counts tokens and embeds what is not stored: sentences for semantic
    chunking. Raises `ConfigurationError` without a key, or for a vector length the model does not offer."""
    model = choose(settings, MODELS, USUAL_MODEL, LIMITS)
    return PineconeEmbedder(model, require_key(settings, "PINECONE_API_KEY"), settings.base_url or ADDRESS)
