"""Voyage AI's text and picture embeddings, through its HTTP API.

Limits: Voyage's API reference (text embedding models) as of 2026; its OpenAPI document 1.1 still had 128 texts a call.
"""

from __future__ import annotations

import base64
from collections.abc import Sequence

from citewell.adapters.embedder.counting import ApproximateTokenizer
from citewell.adapters.embedder.remote import ChosenModel, ModelFacts, choose, ordered, sendable, unit_rows
from citewell.adapters.http import ProviderHttp, malformed
from citewell.adapters.keys import require_key
from citewell.ports import CallLimits, Capability, FloatMatrix, ImageInput, Pictured, TextKind
from citewell.settings import VoyageEmbedding

USUAL_MODEL = "voyage-4"
ADDRESS = "https://api.voyageai.com/v1"
# Keys created in MongoDB Atlas have this prefix and work only there, as in Voyage's own package.
ATLAS_ADDRESS, _ATLAS_KEY = "https://ai.mongodb.com/v1", "al-"
LIMITS = CallLimits(texts=1_000, tokens=120_000)
_LENGTHS = frozenset({256, 512, 2_048})
_READ = 32_000
MODELS = {
    "voyage-4-large": ModelFacts(dimensions=1_024, max_tokens=_READ, call_tokens=120_000, choices=_LENGTHS),
    USUAL_MODEL: ModelFacts(dimensions=1_024, max_tokens=_READ, call_tokens=320_000, choices=_LENGTHS),
    "voyage-4-lite": ModelFacts(dimensions=1_024, max_tokens=_READ, call_tokens=1_000_000, choices=_LENGTHS),
    "voyage-3-large": ModelFacts(dimensions=1_024, max_tokens=_READ, call_tokens=120_000, choices=_LENGTHS),
    "voyage-3.5": ModelFacts(dimensions=1_024, max_tokens=_READ, call_tokens=320_000, choices=_LENGTHS),
    "voyage-3.5-lite": ModelFacts(dimensions=1_024, max_tokens=_READ, call_tokens=1_000_000, choices=_LENGTHS),
    "voyage-3": ModelFacts(dimensions=1_024, max_tokens=_READ, call_tokens=320_000),
    "voyage-3-lite": ModelFacts(dimensions=512, max_tokens=_READ, call_tokens=1_000_000),
    "voyage-code-4": ModelFacts(dimensions=1_024, max_tokens=_READ, call_tokens=120_000, choices=_LENGTHS),
    "voyage-code-3": ModelFacts(dimensions=1_024, max_tokens=_READ, call_tokens=120_000, choices=_LENGTHS),
    "voyage-code-2": ModelFacts(dimensions=1_536, max_tokens=16_000, call_tokens=120_000),
    "voyage-finance-2": ModelFacts(dimensions=1_024, max_tokens=_READ, call_tokens=120_000),
    "voyage-law-2": ModelFacts(dimensions=1_024, max_tokens=16_000, call_tokens=120_000),
    "voyage-multilingual-2": ModelFacts(dimensions=1_024, max_tokens=_READ, call_tokens=120_000),
    "voyage-multimodal-3.5": ModelFacts(dimensions=1_024, max_tokens=_READ, call_tokens=320_000, choices=_LENGTHS),
    "voyage-multimodal-3": ModelFacts(dimensions=1_024, max_tokens=_READ, call_tokens=320_000),
}
_MULTIMODAL = "voyage-multimodal-"


def address_of(key: str) -> str:
    """The API address that accepts a key: Voyage's own or MongoDB's."""
    return ATLAS_ADDRESS if key.startswith(_ATLAS_KEY) else ADDRESS


class VoyageEmbedder:
    """Implements `citewell.ports.RemoteEmbedder`: `input_type` distinguishes documents and queries. Does not retry."""

    def __init__(self, model: ChosenModel, key: str, address: str = ADDRESS) -> None:
        self.fingerprint = model.fingerprint
        self.max_tokens = model.max_tokens
        self.limits = model.limits
        self.tokenizer = ApproximateTokenizer()
        self._model = model
        self._http = ProviderHttp(address, {"authorization": f"Bearer {key}"})

    async def embed(self, texts: Sequence[str], kind: TextKind = "document") -> FloatMatrix:
        """As `citewell.ports.Embedder.embed`."""
        return await self._embed("/embeddings", {"input": [sendable(text) for text in texts]}, len(texts), kind)

    async def _embed(self, path: str, inputs: dict[str, object], count: int, kind: TextKind) -> FloatMatrix:
        dimensions = self.fingerprint.dimensions
        if not count:
            return unit_rows([], dimensions)
        body = {**inputs, "model": self._model.name, "input_type": kind, "truncation": True}
        if self._model.asked_dimensions is not None:
            body["output_dimension"] = self._model.asked_dimensions
        answer = await self._http.post(path, body)
        try:
            rows = [(item["index"], item["embedding"]) for item in answer["data"]]
        except (KeyError, TypeError):
            raise malformed("`data` or `usage` is missing") from None
        return unit_rows(ordered(rows, count), dimensions)

    async def close(self) -> None:
        """As `citewell.ports.RemoteEmbedder.close`."""
        await self._http.close()


class VoyageMultimodalEmbedder(VoyageEmbedder):
    """Implements `citewell.ports.MultimodalEmbedder`: texts, pictures, and both combined, in one vector space."""

    capabilities = frozenset({Capability.MULTIMODAL})

    async def embed(self, texts: Sequence[str], kind: TextKind = "document") -> FloatMatrix:
        """As `citewell.ports.Embedder.embed`."""
        return await self._contents([[_words(text)] for text in texts], kind)

    async def embed_pictures(self, pictures: Sequence[Pictured]) -> FloatMatrix:
        """As `citewell.ports.MultimodalEmbedder.embed_pictures`."""
        inputs = [[_words(one.text)] * bool(one.text.strip()) + [_image(one.image)] for one in pictures]
        return await self._contents(inputs, "document")

    async def _contents(self, contents: Sequence[Sequence[dict[str, str]]], kind: TextKind) -> FloatMatrix:
        inputs: dict[str, object] = {"inputs": [{"content": content} for content in contents]}
        return await self._embed("/multimodalembeddings", inputs, len(contents), kind)


def _words(text: str) -> dict[str, str]:
    return {"type": "text", "text": sendable(text)}


def _image(image: ImageInput) -> dict[str, str]:
    data = base64.b64encode(image.data).decode()
    return {"type": "image_base64", "image_base64": f"data:{image.mime_type};base64,{data}"}


def build(settings: VoyageEmbedding) -> VoyageEmbedder:
    """Build the embedder. Raises `ConfigurationError` without a key, or for an unsupported vector length."""
    model = choose(settings, MODELS, USUAL_MODEL, LIMITS)
    kind = VoyageMultimodalEmbedder if model.name.startswith(_MULTIMODAL) else VoyageEmbedder
    key = require_key(settings, "VOYAGE_API_KEY")
    return kind(model, key, settings.base_url or address_of(key))
